"""Arguments of the wrong kind are refused by name, wherever they go in."""

import pickle

import numpy as np
import pytest

import closedform as cf
from closedform.applications import redundancy
from closedform.applications.motion.torques import torques
from closedform.applications.motion.trajectories import cosines

PLANAR, CRITERION = cf.load("planar3r"), redundancy.Manipulability()
TASK = redundancy.PlanarPosition("tip")
Q = np.array([0.3, 0.6, 0.4])
X = np.asarray(cf.frame_pose(PLANAR, Q, "tip"), dtype=float)[:2, 3]


def follow(**more):
    return redundancy.resolved_motion(PLANAR, TASK, np.stack([X, 0.99 * X]), CRITERION, Q, **more)


@pytest.mark.parametrize(("call", "text"), [
    (lambda: cf.flexible.stiffness_matrix(3), "arm must be a cf.FlexibleArm, not int"),
    (lambda: cf.flexible.damping_matrix("arm"), "arm must be a cf.FlexibleArm, not str"),
    (lambda: cf.flexible.load(3), "source must be a path or the name of a built-in arm, not int"),
    (lambda: cf.base_parameters(PLANAR, field="Q"), "field must be a field of exact numbers"),
    (lambda: redundancy.branches(PLANAR, TASK, X, CRITERION, starts=-3), "starts must be"),
    (lambda: redundancy.track(PLANAR, TASK, redundancy.Path(np.stack([X, X]), times="ab"),
                              CRITERION, Q), "times of a path must be 2 increasing numbers"),
    (lambda: follow(speed="a"), "speed and step must be positive numbers"),
    (lambda: cf.load("planar2r", floating=True).reduced({"root_joint": np.zeros(7)}),
     "unit quaternion"),
    (lambda: cf.compile(PLANAR).frame_jacobian(Q, "tip", "LOCAL"), "reference must be cf.LOCAL"),
    (lambda: torques(PLANAR, cosines(PLANAR), np.linspace(0, 1, 5)).write("x.xyz"),
     r"x\.xyz: the name of a table ends in \.csv or \.parquet"),
])
def test_it_is_refused_by_name(call, text):
    with pytest.raises(cf.ArgumentError, match=text):
        call()


def test_a_pickled_kernel_still_takes_wrenches():
    arm, rng = cf.compile(PLANAR), np.random.default_rng(0)
    q, v, a, F = Q, *rng.normal(size=(2, 3)), rng.normal(size=(len(PLANAR.bodies), 6))
    again = pickle.loads(pickle.dumps(arm.inverse_dynamics))
    np.testing.assert_array_equal(again(q, v, a, wrenches=F),
                                  arm.inverse_dynamics(q, v, a, wrenches=F))
