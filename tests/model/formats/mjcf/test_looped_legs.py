"""Legs and feet with loops in MJCF, as those of real files are: rods, leaf springs, chains."""

import numpy as np
import pytest

from closedform.maths.definitions.closed_form import forward_dynamics, inverse_dynamics
from closedform.maths.loops.forces import loop_residual
from closedform.model.load import load
from mjcf_models import document

pytest.importorskip("mujoco")

HINGE = '<joint name="{}" axis="0 0 1" {}/>'


def part(name, place, joint, mass, inside=""):
    inertia = f'<inertial pos=".02 .01 0" mass="{mass}" diaginertia=".01 .012 .008"/>'
    return f'<body name="{name}" {place}>{joint}{inertia}{inside}</body>'


def hinged(name, place, mass, inside="", more=""):
    return part(name, place, HINGE.format(name, more), mass, inside)


def leg(side, s):
    """Hip, knee, leaf-sprung shin, tarsus with heel spring, foot with crank and rod."""
    crank = hinged(f"{side}_crank", 'pos=".058 -.034 .0228" euler="0 0 -40"', 0.13,
                   hinged(f"{side}_plantar_rod", 'pos=".055 0 -.008" euler="0 0 50"', 0.12))
    heel = hinged(f"{side}_heel", 'pos="-.0127 -.0306 .0009" euler="4 -3 -145"', 0.13,
                  more='stiffness="1250"')
    foot = hinged(f"{side}_foot", 'pos=".408 -.04 0" euler="0 0 -80"', 0.15)
    tarsus = hinged(f"{side}_tarsus", 'pos=".435 .02 0" euler="0 0 70"', 0.8, heel + crank + foot)
    shin = hinged(f"{side}_shin", 'pos=".061 .047 0"', 0.6, tarsus, 'stiffness="1500"')
    knee = hinged(f"{side}_knee", f'pos=".12 0 {0.0045 * s}" euler="0 0 -60"', 0.8, shin)
    rod = part(f"{side}_achilles_rod", f'pos="0 0 {0.045 * s}" quat=".71 .5 .3 .4"',
               f'<joint name="{side}_ball" type="ball"/>', 0.16)
    pitch = hinged(f"{side}_pitch", 'pos="0 0 -.09" quat=".5 -.5 -.5 -.5"', 5.5, rod + knee)
    yaw = hinged(f"{side}_yaw", 'pos="0 0 -.07" euler="0 -90 0"', 1.2, pitch)
    return hinged(f"{side}_roll", f'pos=".02 {0.135 * s} 0" quat="0 -1 0 0"', 1.8, yaw)


def biped():
    rods = "".join(f'<connect body1="{s}_plantar_rod" body2="{s}_foot" anchor=".35 0 0"/><connect '
                   f'body1="{s}_achilles_rod" body2="{s}_heel" anchor=".5 0 0"/>' for s in "lr")
    motors = "".join(f'<motor joint="{s}_{j}"/>' for s in "lr"
                     for j in ("roll", "yaw", "pitch", "knee", "foot"))
    pelvis = part("pelvis", 'pos="0 0 1"', "<freejoint/>", 10.3, leg("l", 1) + leg("r", -1))
    return document(pelvis, f"<equality>{rods}</equality><actuator>{motors}</actuator>")


def test_a_biped_with_rods_and_leaf_springs_has_twenty_two_degrees_of_freedom():
    """Cassie's structure: 32 velocities; four connections of 12 rows, of which 10 count."""
    robot = load(biped())
    assert (robot.tree.nv, robot.mobility, robot.closure.count, len(robot.closure.rows)) == (
        32, 22, 12, 10)
    assert robot.is_floating and set(robot.actuated) <= set(robot.independent)
    assert robot.body("l_shin").joint.stiffness == 1500
    q, v = robot.random(np.random.default_rng(0)), np.linspace(-1, 1, 22)
    np.testing.assert_allclose(loop_residual(robot, q), 0, atol=1e-12)
    assert np.abs(q - robot.neutral()).max() > 0.1
    a = forward_dynamics(robot, q, v, inverse_dynamics(robot, q, v, v))
    np.testing.assert_allclose(a, v, atol=1e-9)


def soft_foot(chains):
    """Arches joined by chains of links; on the links rods to plates on two hinges."""
    loops, soles = [], []
    for k in range(chains):
        sole = ""
        for i in (3, 2, 1):
            n = f"m{k}_{i}"
            rod = part(f"{n}_rod", 'pos="0 .004 .005" euler="0 10 5"', '<joint type="ball"/>', 0.01)
            plate = part(f"{n}_plate", 'pos=".025 .004 .02"',
                         '<joint axis="0 1 0"/><joint axis="1 0 0"/>', 0.01)
            place = f'pos=".01 {0.015 * k} -.03"' if i == 1 else 'pos=".035 0 0" euler="0 4 0"'
            sole = part(n, place, '<joint axis="0 1 0" stiffness=".05"/>', 0.05,
                        rod + plate + sole)
            loops.append(f'<connect body1="{n}_rod" body2="{n}_plate" anchor=".03 0 0"/>')
        soles.append(sole)
        loops.append(f'<connect body1="m{k}_3" body2="back" anchor=".03 0 0"/>')
    front = part("front", 'euler="0 20 0"', '<joint axis="0 1 0"/>', 0.1, "".join(soles))
    back = part("back", 'pos=".11 0 0" euler="0 -10 0"', '<joint axis="0 1 0"/>', 0.1)
    return document(part("foot", "", "<freejoint/>", 0.3, front + back),
                    f"<equality>{''.join(loops)}</equality>")


@pytest.mark.parametrize("chains", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_a_soft_foot_has_one_redundant_row_for_each_of_its_chains(chains):
    """SoftFoot's numbers with five chains: 60 rows of rank 55."""
    robot = load(soft_foot(chains))
    assert (robot.closure.count, len(robot.closure.rows)) == (12 * chains, 11 * chains)
    assert robot.tree.nv == 8 + 18 * chains and robot.mobility == 8 + 7 * chains
    np.testing.assert_allclose(loop_residual(robot, robot.neutral()), 0, atol=1e-12)


GRIPPER = """<worldbody><body name="base"><geom size=".01" mass=".1"/>
  <body name="outer" pos="0 .03 0"><joint name="outer_joint" axis="1 0 0"/>
    <inertial pos="0 .01 .01" mass=".02" diaginertia="1e-5 1e-5 1e-5"/>
    <body name="finger" pos="0 .035 .04"><joint name="finger_joint" axis="1 0 0"/>
      <inertial pos="0 0 .02" mass=".02" diaginertia="1e-5 1e-5 1e-5"/></body></body>
  <body name="inner" pos="0 .01 .01"><joint name="inner_joint" axis="1 0 0"/>
    <inertial pos="0 .01 .01" mass=".02" diaginertia="1e-5 1e-5 1e-5"/></body>
  <body name="other" pos="0 -.03 0"><joint name="other_joint" axis="-1 0 0"/>
    <inertial pos="0 -.01 .01" mass=".02" diaginertia="1e-5 1e-5 1e-5"/></body></body></worldbody>
  <tendon><fixed name="split"><joint joint="outer_joint" coef=".5"/>
    <joint joint="other_joint" coef=".5"/></fixed></tendon>
  <equality><connect body1="finger" body2="inner" anchor="0 .01 .02"/>
    <joint joint1="outer_joint" joint2="other_joint"/></equality>
  <actuator>{}</actuator>"""


@pytest.mark.filterwarnings("ignore:.*left out")
@pytest.mark.parametrize("motor", [
    '<general tendon="split"/>', '<motor joint="outer_joint"/>', '<motor joint="other_joint"/>'])
def test_a_joint_that_is_driven_by_a_tendon_or_through_its_follower_is_independent(motor):
    robot = load(f"<mujoco>{GRIPPER.format(motor)}</mujoco>")
    assert robot.mobility == 1 and robot.independent == robot.actuated == ("other",)


@pytest.mark.filterwarnings("ignore:.*left out")
def test_a_tendon_over_joints_that_move_apart_is_no_motor_of_theirs():
    text = GRIPPER.format('<general tendon="split"/>')
    robot = load("<mujoco>" + text.replace('<joint joint1="outer_joint" joint2="other_joint"/>',
                                           "") + "</mujoco>")
    assert robot.mobility == 2 and robot.actuated is None
