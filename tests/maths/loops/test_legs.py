"""∂τ of platforms on legs, by complex steps on the loops."""

import numpy as np
import pytest

import closedform as cf
from closedform.maths.embedding import embedding
from closedform.maths.loops.legs import point_motion
from closedform.model.coordinates import rates as coordinate_rates
from loop_mechanisms import at, random_inertia, stewart

H, X, Y, Z = 1e-30, (1, 0, 0), (0, 1, 0), (0, 0, 1)


def platform(legs=6, independent=None, crank=False, arm=False):
    """A free plate on legs, of universal joints and slides, or of cranks and rods."""
    rng = np.random.default_rng(legs)
    angles = np.array([0.2, 1.9, 2.3, 4.0, 4.4, 6.08])[:legs]
    places = 0.5 * np.stack([np.cos(angles), np.sin(angles), 0.1 * angles], axis=1)
    points = 0.3 * np.stack([np.cos(angles + 0.4), np.sin(angles + 0.4), 0.2 * angles], axis=1)
    centre, loops = np.array([0.02, 0.01, 0.6]), []
    bodies, guess = [], {"plate": [*centre, 0, 0, 0, 1]}
    for i, (low, high) in enumerate(zip(places, points, strict=True)):
        way = centre + high - low - (np.array([0.1, 0, 0]) if crank else 0)
        length, (x, y, z) = np.linalg.norm(way), way / np.linalg.norm(way)
        turns = [np.arctan2(x, z), -np.arcsin(y)]
        if crank:
            bodies += [cf.Body(f"leg{i}", None, cf.Revolute(Z), at(*low), random_inertia(rng)),
                       cf.Body(f"rod{i}", f"leg{i}", cf.Universal(Y, X), at(0.1),
                               random_inertia(rng))]
            guess |= {f"leg{i}": 0, f"rod{i}": turns}
            end = (f"rod{i}", (0, 0, length))
        else:
            bodies += [cf.Body(f"tube{i}", None, cf.Universal(Y, X), at(*low), random_inertia(rng)),
                       cf.Body(f"leg{i}", f"tube{i}", cf.Prismatic(Z), inertia=random_inertia(rng))]
            guess |= {f"tube{i}": turns, f"leg{i}": length}
            end = (f"leg{i}", (0, 0, 0))
        loops.append(cf.Loop(f"ball{i}", end, ("plate", high)))
    bodies.append(cf.Body("plate", None, cf.Free(), inertia=random_inertia(rng)))
    if arm:
        bodies.append(cf.Body("arm", "plate", cf.Revolute(X), at(0.1, 0.2, 0.1),
                              random_inertia(rng)))
    return cf.Robot("platform", bodies, loops=loops, guess=guess,
                    independent=independent or [f"leg{i}" for i in range(legs)])


STANDING = {
    "by lengths": stewart,
    "by its pose": lambda: platform(2, ["plate"]),
    "by lengths and turns": lambda: platform(4, [
        *(f"leg{i}" for i in range(4)), "plate[4]", "plate[5]"]),
    "with an arm": lambda: platform(2, [
        "leg0", "leg1", *(f"plate[{i}]" for i in (0, 2, 3, 5)), "arm"], arm=True),
    "on cranks, by its pose": lambda: platform(2, ["plate"], crank=True),
}


@pytest.mark.parametrize("name", STANDING)
def test_torques_of_platforms_on_legs_change_with_the_state_as_their_derivatives_say(name):
    robot = STANDING[name]()
    e, rng = embedding(robot), np.random.default_rng(0)
    assert e.platform is not None
    q, (v, a) = robot.random(0), rng.normal(size=(2, robot.nv))
    F = 0.3 * rng.normal(size=(len(robot.bodies), 6))
    d = cf.inverse_dynamics_derivatives(robot, q, v, a, F)

    def torque(q, v, a):
        return cf.inverse_dynamics(robot, q, v, a, F).imag / H

    way, (by_q, by_v, by_a) = 1j * H * rng.normal(size=robot.nv), d
    moved = e.stepped(q + coordinate_rates(robot.tree, q, e.here(q).G @ way))
    for found, wanted in ((by_q, torque(moved, v, a)), (by_v, torque(q, v + way, a)),
                          (by_a, torque(q, v, a + way))):
        assert np.allclose(found @ (way.imag / H), wanted, rtol=0,
                           atol=1e-10 * max(1, np.abs(found).max()))


def test_cranks_that_drive_keep_derivatives_where_a_leg_is_stretched():
    """There P's velocity does not tell the crank's, though the crank's tells P's."""
    assert embedding(platform(crank=True)).platform is None
    assert embedding(cf.load("ankle")).platform is None


def test_points_move_as_their_matrices_say():
    robot = platform(2, ["plate"])
    tree, rng = robot.tree, np.random.default_rng(3)
    q, (v, a) = robot.random(1), rng.normal(size=(2, tree.nv))
    point = ((1, 2, 3), np.array([0.1, -0.2, 0.3]))
    own = list(point_motion(tree, point, q, v, a).ways)

    def fixed(q):
        found = point_motion(tree, point, q, v, a)
        return found.R @ found.J

    here = point_motion(tree, point, q, v, a)
    for n, i in enumerate(own):
        moved = q + 1j * H * coordinate_rates(tree, q, np.eye(tree.nv)[i])
        change = here.R.T @ fixed(moved).imag / H
        assert np.allclose(change, np.stack(here.D[n], axis=1), atol=1e-12)
        assert np.allclose(change @ v[own], here.W[:, n], atol=1e-12)
