"""Which kernel a call of an operator is for."""

import pytest

import closedform as cf
from closedform.lowerings.frameworks.calls import OperatorCall


@pytest.fixture(scope="module")
def arm():
    return cf.compile(cf.load("ur5"))


def test_equal_kernels_give_equal_calls(arm):
    again = cf.compile(cf.load("ur5"))
    assert OperatorCall.of(arm.bias) == OperatorCall.of(again.bias)
    assert hash(OperatorCall.of(arm.bias)) == hash(OperatorCall.of(again.bias))
    assert OperatorCall.of(arm.bias) != OperatorCall.of(arm.inverse_dynamics)


def test_shapes_are_known_before_a_derivative_is_made(arm, monkeypatch):
    call = OperatorCall.of(arm.inverse_dynamics).tangent([0, 2])
    monkeypatch.setattr(type(arm.inverse_dynamics), "_made_derivative", None)
    assert [slot.shape for slot in call.inputs] == [(6,)] * 5
    back = call.cotangent(["q", "a"])
    assert [slot.name for slot in back.inputs] == ["q", "v", "a", "inverse_dynamics"]
    assert [slot.name for slot in back.outputs] == ["q", "a"]
    assert back.transposed_cotangent(["q", "a"]) == call


def test_a_whole_jacobian_is_taken_where_it_pays(arm):
    """The catalogue's row for many vectors, products for one; written out where it is small."""
    tangent = OperatorCall.of(arm.inverse_dynamics).tangent([0, 1, 2])
    assert tangent.jacobian(1) is None
    assert tangent.jacobian(18) is tangent.kernel.jacobian()    # maybe of another, equal arm
    small = OperatorCall.of(arm.frame_pose.at("tool0")).tangent([0])
    assert small.jacobian(6) is small.kernel.jacobian()
    fused = OperatorCall.of(cf.fuse(arm.robot, ["coriolis_matrix", "mass_matrix"])).tangent([0, 1])
    assert fused.jacobian(12) is None                # no row, and too large to be written out
    assert OperatorCall.of(arm.bias).jacobian(18) is None
