"""The reference run is plain IEEE arithmetic."""

import math

import numpy as np
import pytest

from closedform.errors import ArgumentError
from closedform.lowerings.reference import run
from closedform.program.program import Entry, Instruction, Output, Program, Slot
from closedform.program.record import record

INF, NAN = math.inf, math.nan


def one(op, *values):
    """The value of a single operation."""
    n = len(values)
    code = (*(Instruction("input", (0, k)) for k in range(n)), Instruction(op, tuple(range(n))))
    program = Program(op, (Slot("x", (n,)),), (Output("y", (), (Entry(n, 1),)),), code)
    return run(program, values)[0].item()


@pytest.mark.parametrize("op, values, expected", [
    ("add", (INF, -INF), NAN), ("sub", (1.0, INF), -INF), ("mul", (0.0, INF), NAN),
    ("mul", (1e308, 10.0), INF), ("div", (1.0, 0.0), INF), ("div", (1.0, -0.0), -INF),
    ("div", (-2.0, 0.0), -INF), ("div", (0.0, 0.0), NAN), ("div", (NAN, 0.0), NAN),
    ("sqrt", (-1.0,), NAN), ("sqrt", (INF,), INF), ("sqrt", (4.0,), 2.0), ("sqrt", (NAN,), NAN),
    ("sin", (INF,), NAN), ("cos", (NAN,), NAN), ("sin", (1.0,), math.sin(1.0)),
    ("cos", (1.0,), math.cos(1.0)), ("sign", (-3.0,), -1.0), ("sign", (0.0,), 0.0),
    ("sign", (NAN,), NAN), ("div", (1.0, 3.0), 1.0 / 3.0),
])
def test_operations_give_what_ieee_arithmetic_gives(op, values, expected):
    np.testing.assert_equal(one(op, *values), expected)


def test_outputs_carry_signs_and_constants():
    code = (Instruction("input", (0, 0)), Instruction("const", (), 2.0), Instruction("mul", (0, 1)))
    outputs = (Output("y", (1, 2), (Entry(2, -1), Entry(0, 1))),
               Output("c", (), (Entry(-1, 0, 5.0),)))
    y, c = run(Program("f", (Slot("x", (1,)),), outputs, code), [3.0])
    np.testing.assert_array_equal(y, [[-6.0, 3.0]])
    assert c == 5.0 and c.shape == () and y.dtype == c.dtype == np.float64


def test_arguments_of_the_wrong_number_or_shape_are_refused():
    program = record(lambda q, v: q * v, {"q": (2,), "v": (2,)}, "power")
    with pytest.raises(ArgumentError, match="power takes q, v; 1 arguments"):
        run(program, [1.0, 2.0])
    with pytest.raises(ArgumentError, match=r"power: v must have the shape \(2,\), not \(3,\)"):
        run(program, [1.0, 2.0], [1.0, 2.0, 3.0])
