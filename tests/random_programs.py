"""Seeded random programs with every operation, whose values stay of order one."""

import numpy as np

from closedform.program.check import check
from closedform.program.ops import OPS
from closedform.program.program import Entry, Instruction, Output, Program, Slot

UNARY = tuple(op.name for op in OPS.values() if op.arity == 1)
BINARY = tuple(op.name for op in OPS.values() if op.arity == 2)


def random_program(seed, operations=60, shapes=((5,), (3, 2), ()), outputs=((4,), (3, 3), ())):
    """A program; every argument of a root and every divisor is 1 + (...)²."""
    rng = np.random.default_rng(seed)
    code = [Instruction("input", (s, k)) for s, shape in enumerate(shapes)
            for k in range(int(np.prod(shape)))]
    code += [Instruction("const", (), float(x)) for x in rng.uniform(0.2, 1.5, size=4)]
    one = len(code)
    code.append(Instruction("const", (), 1.0))
    bounded = list(range(len(code)))
    known = {}

    def add(op, *args):
        instruction = Instruction(op, tuple(int(i) for i in args))
        if instruction not in known:
            known[instruction] = len(code)
            code.append(instruction)
        return known[instruction]

    def above_one(i):
        return add("add", add("mul", i, i), one)

    for _ in range(operations):
        op = rng.choice(UNARY + BINARY * 3)
        x, y = rng.choice(bounded, size=2)
        if op == "sqrt":
            made = add("sqrt", above_one(x))
        elif op in UNARY:
            made = add(op, x)
        elif op == "div":
            made = add("div", x, above_one(y))
        else:
            made = add("cos", add(op, x, y)) if rng.random() < 0.1 else add(op, x, y)
        bounded.append(made if op in UNARY else add("div", made, above_one(made)))
    return check(Program(
        f"random_{seed}", tuple(Slot(f"x{k}", s) for k, s in enumerate(shapes)),
        tuple(_output(rng, f"y{k}", s, bounded) for k, s in enumerate(outputs)), tuple(code)))


def _output(rng, name, shape, places):
    def entry():
        if rng.random() < 0.2:
            return Entry(-1, 0, float(rng.choice([0.0, 0.0, 2.5])))
        return Entry(int(rng.choice(places)), int(rng.choice([-1, 1])))

    return Output(name, shape, tuple(entry() for _ in range(int(np.prod(shape)))))


def random_inputs(program, seed, batch=()):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(*batch, *slot.shape)) for slot in program.inputs]
