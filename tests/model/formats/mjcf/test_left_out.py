"""What MJCF has and a robot has not is told once, in `notes`, in the warning and by the linter."""

import warnings

import pytest

from closedform.errors import FormatError, ModelWarning
from closedform.model.lint.lint import lint
from closedform.model.load import load
from mjcf_models import ARM, SEVERAL, document, link

mujoco = pytest.importorskip("mujoco")

TENDON = '<tendon><fixed name="t"{}><joint joint="h" coef="1"/></fixed></tendon>'


def told(text):
    """The notes, after the one warning is found to have them all."""
    with pytest.warns(ModelWarning) as caught:
        robot = load(text)
    assert len(caught) == 1
    message = str(caught[0].message)
    assert message.startswith("<text>: left out: ")
    assert all(note.removeprefix("left out: ") in message for note in robot.notes)
    lints = [finding.message for finding in lint(text) if finding.rule == "left-out"]
    assert lints == list(robot.notes)
    return [note.removeprefix("left out: ") for note in robot.notes]


def arm_with(rest="", option=""):
    return ARM.replace("<worldbody>", option + "<worldbody>").replace("</mujoco>",
                                                                      rest + "</mujoco>")


def test_tendons_and_fluid_are_told_in_one_warning():
    fluid = '<option density="1.2" viscosity="1e-5"/>'
    assert told(arm_with(TENDON.format(' stiffness="3"'), fluid)) == ["1 tendon", "fluid forces"]


def test_ranges_of_ball_joints_and_mocap_bodies_are_told():
    ball = '<joint name="o" type="ball" range="0 20" stiffness="3"/>'
    text = document(link("a", ball, 1) + '<body name="hand" mocap="true"/>')
    assert told(text) == ["1 range of a ball joint", "1 mocap body (part of the world)"]


def test_a_flex_is_told():
    flex = ('<flexcomp name="cloth" type="grid" count="2 2 1" spacing=".1 .1 .1" mass="1" '
            'dim="2"/>')
    assert told(document(flex)) == ["1 flex (its points are loose masses)"]


def test_a_model_that_loses_nothing_is_read_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(ARM).notes == ()


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "tendon_armature"), reason="an older MuJoCo")
def test_the_armature_of_a_tendon_is_refused_by_name():
    with pytest.raises(FormatError, match="the tendon 't' has an armature of 3"):
        load(arm_with(TENDON.format(' armature="3"')))


def test_bodies_that_stand_between_the_joints_of_one_are_not_blamed():
    assert [f.message for f in lint(SEVERAL) if f.rule == "massless-body"] == []
