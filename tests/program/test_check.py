"""A malformed program is refused with the reason."""

import pytest

from closedform.errors import ClosedformError
from closedform.program.check import ProgramError, check
from closedform.program.program import Entry, Instruction, Output, Program, Slot

X = Instruction("input", (0, 0))
Y = Instruction("input", (0, 1))
INPUTS = (Slot("q", (2,)),)


FIRST = (Entry(0, 1),)


def program(code, entries=FIRST, inputs=INPUTS, shape=None, name="y"):
    entries = tuple(entries)
    output = Output(name, (len(entries),) if shape is None else shape, entries)
    return Program("f", inputs, (output,), tuple(code))


def test_a_well_formed_program_passes():
    good = program([X, Y, Instruction("sub", (1, 0)), Instruction("const", (), 2.0)],
                   [Entry(2, -1), Entry(-1, 0, 3.0)])
    assert check(good) is good


@pytest.mark.parametrize("bad, reason", [
    (program([X, Instruction("add", (0, 1))]), "not computed before"),
    (program([X, Instruction("sin", (-1,))]), "not computed before"),
    (program([X, Instruction("neg", (0,))]), "unknown"),
    (program([X, Instruction("mul", (0,))]), "has 1 arguments, not 2"),
    (program([X, Instruction("sin", (0,), 1.0)]), "only constants"),
    (program([X, X]), "repeats instruction 0"),
    (program([Instruction("const", (), -1.0)]), "positive finite"),
    (program([Instruction("const", (), 0.0)]), "positive finite"),
    (program([Instruction("const", (), float("nan"))]), "positive finite"),
    (program([Instruction("const", ())]), "positive finite"),
    (program([Instruction("input", (1, 0))]), "names no input"),
    (program([Instruction("input", (0, 2))]), "outside input 'q'"),
    (program([X], [Entry(1, 1)]), "neither"),
    (program([X], [Entry(0, 0)]), "neither"),
    (program([X], [Entry(0, 1, 2.0)]), "neither"),
    (program([X], [Entry(-1, 0, float("inf"))]), "neither"),
    (program([X], shape=(2,)), "has shape"),
    (program([X], inputs=(*INPUTS, *INPUTS)), "one name"),
    (program([X], name="two words"), "identifier"),
])
def test_a_malformed_program_is_refused_with_the_reason(bad, reason):
    with pytest.raises(ProgramError, match=reason) as error:
        check(bad)
    assert isinstance(error.value, ClosedformError)
