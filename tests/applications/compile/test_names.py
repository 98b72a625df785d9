"""What several requests return has names of its own, legal in every language."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closedform as cf
from closedform.applications.compile.names import legal_name, output_names
from closedform.applications.compile.requests import Request
from closedform.lowerings.store.cache import Cache
from closedform.maths.catalogue import quantity
from export_tools import check_folder
from random_robots import random_placement

NOWHERE = Cache(None)
POSE, JACOBIAN = quantity("frame_pose"), quantity("frame_jacobian")


def with_frames(*names):
    rng = np.random.default_rng(0)
    arm = cf.load("planar2r")
    tip = arm.bodies[-1].name
    return arm.with_frames(*(cf.Frame(name, tip, random_placement(rng)) for name in names))


def test_two_feet_are_in_one_kernel():
    robot, q = with_frames("FL", "FR"), np.array([0.3, 0.5])
    both = cf.compile(robot, [cf.At("frame_pose", "FL"), cf.At("frame_pose", "FR"), "mass_matrix"],
                      cache=NOWHERE)(q)
    assert both._fields == ("frame_pose_FL", "frame_pose_FR", "mass_matrix")
    for name in ("FL", "FR"):
        np.testing.assert_allclose(getattr(both, f"frame_pose_{name}"),
                                   cf.frame_pose(robot, q, name), atol=1e-14)


def test_references_of_one_frame_are_told_apart():
    names = output_names([Request(JACOBIAN, "tip", cf.LOCAL), Request(JACOBIAN, "tip", cf.WORLD),
                          Request(POSE, "tip")])
    assert names == [["frame_jacobian_tip_local"], ["frame_jacobian_tip_world"], ["frame_pose"]]


def test_fields_of_two_quantities_are_told_apart_by_the_quantities():
    rows = [quantity("inverse_dynamics_derivatives"), quantity("inverse_dynamics_and_derivatives")]
    first, second = output_names([Request(row) for row in rows])
    assert first[0] == "inverse_dynamics_derivatives_dtau_dq"
    assert second[:2] == ["tau", "inverse_dynamics_and_derivatives_dtau_dq"]


@given(st.lists(st.text(min_size=1, max_size=70), min_size=1, max_size=6, unique=True))
def test_whatever_frames_are_called_their_names_differ_and_are_legal(frames):
    texts = [frame.encode("utf8", "ignore").decode() for frame in frames]
    found = output_names([Request(POSE, frame) for frame in dict.fromkeys(texts)])
    names = [name for group in found for name in group]
    assert len(set(names)) == len(names)
    assert all(legal_name(name) == name for name in names)


@pytest.mark.parametrize("target", ["c", "python"])
def test_frames_that_differ_in_punctuation_leave_in_one_function(target, tmp_path):
    robot = with_frames("t 1", "t-1")
    cf.export(robot, [cf.At("frame_pose", "t 1"), cf.At("frame_pose", "t-1")], target, tmp_path,
              fused=True)
    assert "all passed" in check_folder(tmp_path, target)


def test_asking_twice_for_the_same_is_refused():
    with pytest.raises(cf.ArgumentError, match="mass_matrix is asked for 2 times"):
        cf.compile(cf.load("planar2r"), ["mass_matrix", "bias", "mass_matrix"], cache=NOWHERE)
