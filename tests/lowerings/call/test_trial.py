"""New programs and machine code are compared with their definitions before they are used."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closedform as cf
from closedform.applications.compile import forms
from closedform.applications.compile.preparation import Preparation
from closedform.applications.compile.requests import Request
from closedform.applications.compile.states import nearby
from closedform.lowerings import lanes
from closedform.lowerings.call import code
from closedform.lowerings.call.trial import Trial, function_trial
from closedform.lowerings.store.cache import Cache
from closedform.maths.canonical.frames import Canonical
from closedform.maths.catalogue import CATALOGUE, quantity
from closedform.model.inertia import Inertia
from closedform.program import pipeline
from closedform.program.record import record
from nearly_parallel_robots import flap, ship, three_links, tilted
from random_robots import random_robot

ROWS = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
LEFT_OUT = ("operational_space_inertia", "inverse_dynamics_second_derivatives",
            "state_derivatives", "parameter_derivatives", "time_derivatives", "jacobian_jet")
"""What needs six joints, and what takes long."""


def with_body(robot, k, **changes):
    bodies = [replace(b, **changes) if i == k else b for i, b in enumerate(robot.bodies)]
    return cf.Robot(robot.name, bodies, robot.gravity, robot.frames, robot.source)


def shifted_frames(robot, canonical=forms.canonical):
    """Canonical frames of which one is a micrometre off."""
    found = canonical(robot)
    T = found.robot.bodies[2].placement.copy()
    T[0, 3] += 1e-6
    return Canonical(with_body(found.robot, 2, placement=T), found.offset, found.places)


def heavier(robot, regrouped=forms.regrouped):
    """Regrouped mass of which a millionth is lost."""
    found = regrouped(robot)
    array = found.bodies[2].inertia.array * (1 - 1e-6)
    return with_body(found, 2, inertia=Inertia.from_parameters(array))


def wrong_rule(program, *rules, simplify=pipeline.simplify):
    """Rules that take a sum for a difference."""
    found = simplify(program, *rules)
    k = next(k for k, x in enumerate(found.program.code) if x.op == "add")
    wrong = [x._replace(op="sub") if i == k else x for i, x in enumerate(found.program.code)]
    return found._replace(program=replace(found.program, code=tuple(wrong)))


BROKEN = {"canonical": (forms, shifted_frames), "regrouped": (forms, heavier),
          "simplify": (pipeline, wrong_rule)}


def arguments(robot, name):
    q, v, a = np.random.default_rng(4).normal(size=(3, robot.nv))
    return (q, v, a)[:len(quantity(name).inputs)]


def assert_right(kernel, robot, name):
    given = arguments(robot, name)
    expected = getattr(cf, name)(robot, *given)
    np.testing.assert_allclose(kernel(*given), expected, rtol=0, atol=1e-12 * abs(expected).max())


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("name", ROWS)
def test_a_kernel_that_is_wrong_in_cheap_frames_is_made_in_the_users(name, what, monkeypatch):
    monkeypatch.setattr(BROKEN[what][0], what, BROKEN[what][1])
    robot = cf.load("ur5")
    with pytest.warns(cf.ModelWarning, match=f"{name} of ur5: .* in the frames of the model"):
        kernel = getattr(cf.compile(robot, cache=Cache(None)), name)
    assert_right(kernel, robot, name)


def test_the_warning_names_the_joints_that_are_nearly_parallel(monkeypatch):
    monkeypatch.setattr(forms, "canonical", shifted_frames)
    robot = tilted(cf.load("ur5"), 1e-5, only=2)
    with pytest.warns(cf.ModelWarning, match=r"nearly parallel to the one before: elbow_joint by"):
        kernel = cf.compile(robot, cache=Cache(None)).mass_matrix
    assert_right(kernel, robot, "mass_matrix")


def test_the_warning_names_the_joint_from_which_on_frames_are_misplaced(monkeypatch):
    monkeypatch.setattr(forms, "canonical", lambda robot: Canonical(
        with_body(forms_of(robot).robot, 1, placement=np.eye(4)), *offset_and_places(robot)))
    with pytest.warns(cf.ModelWarning, match="misplaced from the joint shoulder_lift_joint on"):
        cf.compile(cf.load("ur5"), cache=Cache(None)).mass_matrix  # noqa: B018 (it compiles)


def forms_of(robot, canonical=forms.canonical):
    return canonical(robot)


def offset_and_places(robot):
    found = forms_of(robot)
    return found.offset, found.places


def test_what_was_taken_instead_is_kept_without_another_warning(tmp_path, monkeypatch):
    robot, cache = cf.load("ur5"), Cache(tmp_path / "cache")
    with monkeypatch.context() as broken:
        broken.setattr(forms, "canonical", shifted_frames)
        with pytest.warns(cf.ModelWarning):
            cf.compile(robot, cache=cache).mass_matrix  # noqa: B018
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel = cf.compile(robot, cache=cache).mass_matrix
        q = np.random.default_rng(1).normal(size=(40, robot.nv))
        np.testing.assert_array_equal(kernel(q)[7], kernel(q[7]))
    assert_right(kernel, robot, "mass_matrix")


def test_exported_programs_are_compared_too(tmp_path, monkeypatch):
    monkeypatch.setattr(forms, "canonical", shifted_frames)
    robot = cf.load("ur5")
    with pytest.warns(cf.ModelWarning, match="frames of the model"):
        cf.export(robot, "mass_matrix", "python", tmp_path)
    found = {}
    exec((tmp_path / "ur5_mass_matrix.py").read_text(encoding="utf8"), found)
    assert_right(found["ur5_mass_matrix"], robot, "mass_matrix")


def test_a_step_of_a_simulation_is_compared_too(monkeypatch):
    monkeypatch.setattr(forms, "regrouped", heavier)
    monkeypatch.setenv("CLOSEDFORM_CACHE", "off")
    from closedform.applications.motion.rigid import RigidSystem
    with pytest.warns(cf.ModelWarning, match="rigid_step"):
        assert RigidSystem(cf.load("ur5")).step is not None


def test_elastic_kernels_are_compared_too(monkeypatch):
    monkeypatch.setattr(forms, "canonical", shifted_frames)
    model = cf.ElasticJoints(cf.load("ur5"), stiffness=1e3, motor_inertia=1e-3, gear_ratio=1.0)
    arm = cf.elastic.compile(model, cache=Cache(None))
    with pytest.warns(cf.ModelWarning, match="elastic_motor_torque"):
        kernel = arm.motor_torque
    q, rates = np.full(6, 0.3), np.full((4, 6), 0.2)
    expected = cf.elastic.inverse_dynamics(model, q, rates).motor_torque
    np.testing.assert_allclose(kernel(q, rates), expected, rtol=1e-11, atol=1e-11)


def test_machine_code_that_does_not_compute_its_program_is_refused(monkeypatch):
    compiled = code._compiled

    def wrong(program, layout, kind):
        k = next(k for k, x in enumerate(program.code) if x.op == "mul")
        steps = [x._replace(op="add") if i == k else x for i, x in enumerate(program.code)]
        return compiled(replace(program, code=tuple(steps)), layout, kind)

    monkeypatch.setattr(code, "_compiled", wrong)
    with pytest.raises(cf.ClosedformError, match="machine code does not compute its program"):
        cf.compile(cf.load("planar2r"), cache=Cache(None)).mass_matrix  # noqa: B018


def test_every_layout_and_precision_is_compared_once(monkeypatch, tmp_path):
    seen, judged = [], Trial.code

    def noted(self, program, run, dtype):
        seen.append((dtype, run.__qualname__))
        return judged(self, program, run, dtype)

    monkeypatch.setattr(Trial, "code", noted)
    for _ in range(2):
        kernel = cf.compile(cf.load("planar2r"), cache=Cache(tmp_path / "cache")).mass_matrix
        for dtype in (np.float64, np.float32):
            for shape in ((2,), (9, 2)):
                kernel(np.ones(shape, dtype))
    native = [dtype for dtype, run in seen if "_over_states" in run]
    assert native == [np.float64, np.float64, np.float32, np.float32]


def assert_no_alarm(robot, row):
    request = Request(row, robot.frame_names[-1] if row.framed else None,
                      cf.LOCAL_WORLD_ALIGNED if row.takes("reference") else None)
    preparation = Preparation(robot)
    trial = preparation.trial([request])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program = trial.program(preparation.unjudged([request], False, ()))
        assert trial.code(program, lanes.over_blocks(program), np.dtype(np.float32)) is program


@given(st.integers(0, 10_000), st.sampled_from([r for r in CATALOGUE if r.name not in LEFT_OUT]))
def test_nothing_that_is_right_raises_an_alarm(seed, row):
    assert_no_alarm(random_robot(seed, bodies=3), row)


@pytest.mark.parametrize("robot", [ship(), flap(), flap((1, 2, 3)), three_links(pi=3.141593),
                                   tilted(cf.load("ur5"), 1e-6)],
                         ids=["ship", "flap", "oblique flap", "three links", "calibrated arm"])
@pytest.mark.parametrize("name", [*ROWS, "bias", "coriolis_matrix", "mass_matrix_inverse"])
def test_very_unequal_and_nearly_parallel_robots_raise_no_alarm(name, robot):
    assert_no_alarm(robot, quantity(name))


def test_a_singular_robot_is_compared_nowhere_and_raises_no_alarm():
    """Two links on one axis: M has no inverse."""
    inertia = cf.Inertia(1, (0, 0, 0), np.eye(3))
    bodies = [cf.Body("a", None, cf.Revolute((0, 0, 1)), inertia=cf.Inertia()),
              cf.Body("b", "a", cf.Revolute((0, 0, 1)), inertia=inertia)]
    robot = cf.Robot("one axis", bodies)
    trial = Preparation(robot).trial([Request(quantity("mass_matrix_inverse"))])
    program = record(lambda q: np.stack([q, q]), {"q": (2,)}, "mass_matrix_inverse")
    assert trial.program(program) is program


def test_a_robot_beside_another_differs_by_the_part_that_is_told():
    robot = cf.load("ur5")
    q = np.full(6, 0.4)
    M, near = (cf.mass_matrix(r, q) for r in (robot, nearby(robot, 1e-5)))
    assert 1e-6 < np.abs(near - M).max() / np.abs(M).max() < 1e-3


def test_a_function_is_the_definition_of_what_is_recorded_from_it():
    def f(x):
        return np.stack([x[0] * x[1] + x[1], x[0] - x[1]])

    right, wrong = (record(g, {"x": (2,)}, "f") for g in (f, lambda x: f(1.0001 * x)))
    trial = function_trial("f", {"x": (2,)}, f)
    assert trial.program(right) is right
    with pytest.warns(cf.ModelWarning, match="f: in the cheapest frames"):
        assert trial.program(wrong).digest == right.digest
