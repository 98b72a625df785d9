import numpy as np
import pytest

from closedform.arrays import namespace
from closedform.errors import ArgumentError
from closedform.lowerings import reference
from closedform.lowerings.source import jax as to_jax
from closedform.lowerings.source.jax import jax_source
from closedform.program.record import record
from export_tools import jax_function
from random_programs import random_inputs, random_program

jax = pytest.importorskip("jax", reason="NOT TESTED: pip install jax")


@pytest.fixture(autouse=True)
def double_precision():
    with jax.experimental.enable_x64() if not hasattr(jax, "enable_x64") else jax.enable_x64(True):
        yield


def swing(q, v):
    xp = namespace(q)
    return xp.sin(q) * v * v + q[::-1] * xp.cos(q) / (2 + v * v)


def swing_partials(q, v):
    s, c = namespace(q).sin(q), namespace(q).cos(q)
    d = 2 + v * v
    by_q = np.diag(c * v * v - q[::-1] * s / d) + np.diag(c / d)[:, ::-1]
    by_v = np.diag(2 * s * v - 2 * q[::-1] * c * v / (d * d))
    return {"by_q": by_q, "by_v": by_v}


SHAPES = {"q": (2,), "v": (2,)}


@pytest.mark.parametrize("most", [10_000, 0], ids=["written out", "in a loop"])
@pytest.mark.parametrize("seed", range(2))
def test_the_function_computes_what_the_program_says(seed, most, monkeypatch):
    monkeypatch.setattr(to_jax, "WRITTEN_OUT", most)
    program = random_program(seed, operations=40)
    f = jax.jit(jax_function(program))
    inputs = random_inputs(program, 1)
    for x, y in zip(f(*inputs), reference.run(program, *inputs), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("most", [10_000, 0], ids=["written out", "in a loop"])
def test_it_maps_over_batches_and_differentiates_both_ways(most, monkeypatch):
    monkeypatch.setattr(to_jax, "WRITTEN_OUT", most)
    f = jax_function(record(swing, SHAPES, "swing"))
    q, v = np.random.default_rng(1).normal(size=(2, 3, 2))
    batch = jax.jit(jax.vmap(f))(q, v)
    exact = swing_partials(q[0], v[0])
    for mode in (jax.jacfwd, jax.jacrev):
        by_q, by_v = mode(f, argnums=(0, 1))(q[0], v[0])
        np.testing.assert_allclose(by_q, exact["by_q"], atol=1e-13)
        np.testing.assert_allclose(by_v, exact["by_v"], atol=1e-13)
    np.testing.assert_allclose(batch[2], f(q[2], v[2]), atol=1e-14)


def test_given_derivatives_are_used_for_both_modes():
    program = record(swing, SHAPES, "swing")
    doubled = record(lambda q, v: {k: 2 * x for k, x in swing_partials(q, v).items()},
                     SHAPES, "partials")
    f = jax_function(program, doubled)          # wrong on purpose: it shows which one is used
    q, v = np.random.default_rng(1).normal(size=(2, 2))
    exact = swing_partials(q, v)
    np.testing.assert_allclose(jax.jacfwd(f)(q, v), 2 * exact["by_q"], atol=1e-13)
    np.testing.assert_allclose(jax.jacrev(f, 1)(q, v), 2 * exact["by_v"], atol=1e-13)


def test_other_inputs_keep_their_own_derivatives():
    shapes = {**SHAPES, "g": (3,)}

    def heavy(q, v, g):
        return swing(q, v) * g[0]

    def partials(q, v, g):
        return {k: x * g[0] for k, x in swing_partials(q, v).items()}

    f = jax_function(record(heavy, shapes, "heavy"), record(partials, shapes, "partials"))
    q, v, g = np.array([0.1, 0.7]), np.array([-0.4, 1.2]), np.array([2.0, 0.0, 1.0])
    np.testing.assert_allclose(jax.jacrev(f)(q, v, g), 2 * swing_partials(q, v)["by_q"], atol=1e-13)
    by_g = np.zeros((2, 3))
    by_g[:, 0] = swing(q, v)
    np.testing.assert_allclose(jax.jacfwd(f, 2)(q, v, g), by_g, atol=1e-13)


def test_single_precision_stays_single():
    with jax.experimental.enable_x64(False) if not hasattr(jax, "enable_x64") \
            else jax.enable_x64(False):
        f = jax_function(record(swing, SHAPES, "swing"))
        q, v = np.random.default_rng(1).normal(size=(2, 2)).astype(np.float32)
        found = f(q, v)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, swing(q.astype(float), v.astype(float)), atol=1e-5)


def test_derivatives_of_other_inputs_are_refused():
    program, other = record(swing, SHAPES, "swing"), random_program(1)
    with pytest.raises(ArgumentError, match="need its inputs"):
        jax_source(program, "f", ["swing"], other)
