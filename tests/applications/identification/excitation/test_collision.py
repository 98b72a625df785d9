"""Lines of links and their distances."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.identification.excitation.collision import line_distances, links_of
from closedform.errors import ArgumentError

idn = cf.identification


def test_distances_are_those_of_capsules_of_another_library():
    coal = pytest.importorskip("coal")
    rng, thin = np.random.default_rng(0), 1e-4
    a, b = rng.normal(size=(2, 300, 2, 3))
    b[:20] = a[:20] + np.array([0, 0, 0.3])                   # parallel
    a[20:30, 1], b[25:35, 1] = a[20:30, 0], b[25:35, 0]       # points

    def capsule(line):
        along = line[1] - line[0]
        length = np.linalg.norm(along)
        z = along / length if length else np.array([0.0, 0.0, 1.0])
        x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
        x = x / np.linalg.norm(x)
        place = coal.Transform3s(np.column_stack([x, np.cross(z, x), z]), line.mean(axis=0))
        return coal.Capsule(thin, length), place
    theirs = [coal.distance(*capsule(x), *capsule(y), coal.DistanceRequest(),
                            coal.DistanceResult()) + 2 * thin for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(line_distances(a, b)[0], theirs, atol=1e-12)


def test_slopes_are_those_of_the_distances():
    rng, h = np.random.default_rng(1), 1e-7
    a, b, da, db = rng.normal(size=(4, 50, 2, 3))
    _, slope = line_distances(a, b)
    quotient = (line_distances(a + h * da, b + h * db)[0]
                - line_distances(a - h * da, b - h * db)[0]) / (2 * h)
    exact = np.sum(slope[:, 0] * da, axis=(1, 2)) + np.sum(slope[:, 1] * db, axis=(1, 2))
    np.testing.assert_allclose(quotient, exact, atol=1e-6)


FOLDED = {"position": ([-1.0, 1.6, 1.4], [1.0, 2.9, 2.9]), "velocity": 2.0}


def test_links_keep_their_distance_at_all_times():
    """The motion without a clearance folds the last link onto the first."""
    model, start = idn.Model(cf.load("planar3r"), rotors=False), [0.0, 2.2, 2.0]
    free = idn.excite(model, 6.0, 3, start, limits=idn.Limits(**FOLDED), starts=1)
    clear = idn.excite(model, 6.0, 3, start, limits=idn.Limits(**FOLDED, clearance=0.25), starts=1)
    t = np.linspace(0, 6, 20_001)

    def nearest(plan):
        links = links_of(plan.rows, 0.25)
        return links.along(plan.rows.room.home + plan.basis.at(t, 0) @ plan.coefficients).min()
    assert nearest(clear) >= 0.25 > nearest(free)


def test_a_start_where_links_are_too_near_is_refused():
    model = idn.Model(cf.load("planar3r"), rotors=False)
    limits = idn.Limits(**FOLDED, clearance=0.25)
    with pytest.raises(ArgumentError, match=r"m apart, less than the clearance 0\.25"):
        idn.excite(model, 6.0, 3, [0.0, 2.8, 2.4], limits=limits, starts=1)
