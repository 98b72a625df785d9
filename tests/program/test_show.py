"""Listings read as formulas and say exactly what is computed."""

import math

import numpy as np

from closedform.lowerings import reference
from closedform.program.record import record
from closedform.program.show import listing


def turned(q, v):
    s, c = q[1].sin(), q[1].cos()
    t = c * v[0] - s * q[0]
    return np.array([-(t * t), t - (q[0] - (v[0] + 0.5)), 0.0], dtype=object)


def test_a_listing_shows_names_formulas_and_counts():
    assert listing(record(turned, {"q": (2,), "v": (1,)}, "elbow")) == (
        "# elbow(q[2], v[1]): 3 multiplications, 4 additions, 2 sines and cosines\n"
        "s1 = sin(q1)\n"
        "c1 = cos(q1)\n"
        "t0 = v0*c1 - q0*s1\n"
        "elbow[0] = -t0*t0\n"
        "elbow[1] = t0 - (q0 - (v0 + 0.5))\n"
        "elbow[2] = 0.0\n"
    )


def test_a_listing_computes_the_program_when_run_as_python():
    """Order of evaluation included: the results are equal to the last bit."""
    rng = np.random.default_rng(2)
    weights = rng.normal(size=(6, 4))

    def f(q, A):
        x = weights @ q
        y = x[:3] * x[3:] - x[::-1][:3] / (x[0] * x[0] + 2.0)
        return {"y": A @ (y - y[::-1] * q[0].sin()), "z": -(y[0] - y[1]).sqrt() - 1.0}

    program = record(f, {"q": (4,), "A": (2, 3)}, "f")
    q, A = rng.normal(size=4), rng.normal(size=(2, 3))
    y, z = reference.run(program, q, A)
    names = {f"q{i}": x for i, x in enumerate(q.tolist())}
    names |= {f"A_{i}_{j}": A[i, j].item() for i in range(2) for j in range(3)}
    names |= {"y": [0.0, 0.0], "sin": math.sin, "sqrt": lambda x: float(np.sqrt(x))}
    with np.errstate(invalid="ignore"):
        exec(listing(program), names)
    np.testing.assert_array_equal(names["y"], y)
    np.testing.assert_array_equal(names["z"], z)


def test_names_of_values_do_not_collide_with_those_of_inputs():
    f = lambda q, s, t: q[0].sin() * s[0] + (t[0] + q[0]) ** 2
    text = listing(record(f, {"q": (1,), "s": (1,), "t": (1,)}, "f"))
    assert "s0_ = sin(q0)" in text and "t0_ = " in text


def test_long_formulas_are_broken_into_lines():
    f = lambda q: sum(q[i] * q[i + 1] for i in range(30))
    lines = listing(record(f, {"q": (31,)}, "f")).splitlines()
    assert len(lines) > 3 and max(map(len, lines[1:])) < 90
