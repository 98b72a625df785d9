"""Recording turns a function over arrays into a program."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest

from closedform.arrays import namespace
from closedform.errors import ArgumentError
from closedform.lowerings import reference
from closedform.program.check import check
from closedform.program.program import Entry
from closedform.program.record import record, replay


class Parts(NamedTuple):
    M: object
    g: object


def rotation(q):
    xp = namespace(q)
    s, c = xp.sin(q[0]), xp.cos(q[0])
    return xp.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def test_a_recorded_function_computes_what_the_function_computes():
    rng = np.random.default_rng(1)
    q, p = rng.normal(size=2), rng.normal(size=(3, 2))
    f = lambda q, p: rotation(q) @ p * q[1]
    program = check(record(f, {"q": (2,), "p": (3, 2)}, "turned"))
    (result,) = reference.run(program, q, p)
    np.testing.assert_allclose(result, f(q, p), rtol=1e-15, atol=1e-15)


def test_several_results_keep_their_names_and_shapes():
    f = lambda q: Parts(M=rotation(q), g=q)
    program = record(f, {"q": (2,)}, "parts")
    assert [(o.name, o.shape) for o in program.outputs] == [("M", (3, 3)), ("g", (2,))]
    by_dict = record(lambda q: {"M": rotation(q), "g": q}, {"q": (2,)}, "parts")
    assert by_dict.digest == program.digest


def test_numbers_among_the_results_become_constants():
    (output,) = record(rotation, {"q": (1,)}, "R").outputs
    assert output.entries[2] == Entry(-1, 0, 0.0) and output.entries[8] == Entry(-1, 0, 1.0)
    assert output.entries[1].index == output.entries[3].index
    assert output.entries[1].sign == -output.entries[3].sign == -1
    structure = record(rotation, {"q": (1,)}, "R").structure()["R"]
    assert structure.tolist() == [[True, True, False], [True, True, False], [False, False, True]]


def test_what_no_result_needs_is_not_kept():
    def f(q):
        _ = q[0] * q[1] * q[2]
        return q[0] + q[1]
    assert [i.op for i in record(f, {"q": (3,)}, "f").code] == ["input", "input", "add"]


def test_scalars_go_in_and_out():
    program = record(lambda x, y: x * y + 1, {"x": (), "y": ()}, "f")
    (value,) = reference.run(program, 3.0, 4.0)
    assert value.shape == () and value == 13.0


def test_operations_count_products_sums_and_sines_apart():
    def f(q):
        s = q[0].sin()
        return s * q[1] + q[2] / s - (q[1] + 1.0).sqrt() + (s - q[2]).cos() * s
    count = record(f, {"q": (3,)}, "f").operations
    assert (count.mul, count.div, count.sqrt, count.add, count.trig) == (4, 1, 1, 5, 2)
    assert count.total == 9
    assert count.instructions == 7  # s·q1 and cos·s are fused into the sums that use them


def test_a_product_that_is_used_twice_is_not_fused():
    f = lambda q: {"x": q[0] * q[1] + q[2], "y": q[0] * q[1]}
    assert record(f, {"q": (3,)}, "f").operations.instructions == 2


def test_a_program_survives_pickling_and_its_digest_names_its_content():
    program = record(rotation, {"q": (1,)}, "R")
    again = pickle.loads(pickle.dumps(program))
    assert again.code == program.code and again.digest == program.digest
    assert record(rotation, {"q": (1,)}, "R").digest == program.digest
    assert record(lambda q: 1.5 * q, {"q": (1,)}, "f").digest != record(
        lambda q: np.nextafter(1.5, 2.0) * q, {"q": (1,)}, "f").digest
    assert record(rotation, {"q": (2,)}, "R").digest != program.digest


def test_replaying_a_program_on_recorded_scalars_gives_the_program_again():
    f = lambda q, v: rotation(q) @ v / (q[0] * v[1] - 2.0).sqrt()
    shapes = {"q": (1,), "v": (3,)}
    program = record(f, shapes, "f")
    assert record(lambda *arrays: replay(program, arrays), shapes, "f").digest == program.digest


@pytest.mark.parametrize("result, message", [
    (lambda q: (q, q), "names"),
    (lambda q: ["no number"], "number or a recorded scalar"),
    (lambda q: [q[0], float("nan")], "finite"),
])
def test_results_that_are_no_arrays_of_scalars_are_refused(result, message):
    with pytest.raises(ArgumentError, match=message):
        record(result, {"q": (1,)}, "f")


def test_a_scalar_of_another_recording_is_refused():
    kept = []
    record(lambda q: kept.append(q[0]) or q, {"q": (1,)}, "first")
    with pytest.raises(ArgumentError, match="another recording"):
        record(lambda q: kept[0], {"q": (1,)}, "second")
