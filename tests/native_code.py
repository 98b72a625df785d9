"""Programs as native functions of a chosen target, without the layers above."""

import ctypes

import numpy as np

from closedform.lowerings.call.code import c_library
from closedform.lowerings.native.cpu import Cpu, host, load, object_code
from closedform.lowerings.native.functions import batch_module, scalar_module
from closedform.program.program import Entry, Instruction, Output, Program, Slot

SINCOS = Program(
    "sincos", (Slot("x", ()),),
    (Output("s", (), (Entry(1, 1),)), Output("c", (), (Entry(2, 1),))),
    (Instruction("input", (0, 0)), Instruction("sin", (0,)), Instruction("cos", (0,))),
)

KINDS = {np.float64: "double", np.float32: "float"}


def targets():
    """This machine, and lesser ones that it can stand for."""
    here = host()
    found = {"host": here}
    if here.triple.startswith("x86_64"):
        if here.register >= 32:
            found["avx2"] = Cpu(here.triple, "haswell", "+avx2,+fma", 32, fma=True)
        found["sse2"] = Cpu(here.triple, "x86-64", "", 16, fma=False)
    return found


class NativeCode:
    """Both functions of a program on a target, called with NumPy arrays."""

    def __init__(self, program, cpu, dtype=np.float64):
        self.program, self.dtype = program, dtype
        kind = KINDS[dtype]
        self.width = cpu.lanes(kind).width
        one = scalar_module(program, cpu.lanes(kind, 1))
        many = batch_module(program, cpu.lanes(kind))
        self._one = load(object_code(one, cpu), one.imports, cpu)
        self._one.bind(c_library())
        self._many = load(object_code(many, cpu), many.imports, cpu)
        self._many.bind(c_library() | {"kernel": self._one.address("kernel")})
        count = len(program.inputs) + len(program.outputs)
        self.kernel = ctypes.CFUNCTYPE(
            None, *[ctypes.c_void_p] * count)(self._one.address("kernel"))
        self.batch = ctypes.CFUNCTYPE(
            None, ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_int64] * count,
        )(self._many.address("batch"))

    def one_state(self, *inputs):
        arrays = [np.ascontiguousarray(x, self.dtype) for x in inputs]
        outputs = [np.full(o.shape, 99.0, self.dtype) for o in self.program.outputs]
        self.kernel(*(x.ctypes.data for x in (*arrays, *outputs)))
        return outputs

    def states(self, count, *inputs):
        """The inputs have a leading axis, with whatever stride, or are shared by all states."""
        arrays = [np.asarray(x, self.dtype) for x in inputs]
        outputs = [np.full((count, *o.shape), 99.0, self.dtype) for o in self.program.outputs]
        arguments = []
        for x, slot in zip((*arrays, *outputs), (*self.program.inputs, *self.program.outputs),
                           strict=True):
            arguments += [x.ctypes.data, x.strides[0] if x.ndim > len(slot.shape) else 0]
        self.batch(count, *arguments)
        return outputs
