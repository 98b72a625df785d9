"""Exports that check themselves: every target, run for real, against the closed forms on floats."""

import json
import re
import struct
import subprocess
import sys

import numpy as np
import pytest
import sympy

import closedform as cf
from closedform.applications.export.options import options_of
from closedform.applications.export.sources import SOURCES
from closedform.applications.export.symbolic import substituted, symbolic
from closedform.applications.export.targets import TARGETS
from closedform.maths.catalogue import gradient
from closedform.maths.elastic.catalogue import ELASTIC_CATALOGUE
from curved_robots import curved_robot
from export_tools import check_folder, compile_folder, run
from loaded_robots import loaded_robot

DYNAMICS = ("mass_matrix", "coriolis_matrix", "gravity_torque", "inverse_dynamics",
            "forward_dynamics")


def errors(told):
    return [float(x) for x in re.findall(r"largest error (\S+?),", told)]


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_agrees_with_the_closed_form_on_an_arm(target, tmp_path):
    names = DYNAMICS[2:4] if target in ("jax", "sympy", "latex") else DYNAMICS
    cf.export(cf.load("ur5"), names, target, tmp_path)
    told = check_folder(tmp_path, target)
    assert "all passed" in told and told.count("passed ") == len(names)
    assert max(errors(told)) < 1e-12


@pytest.mark.parametrize("target", [
    "c", "matlab", "python", "casadi", "jax", "javascript", "wasm"])
def test_every_target_agrees_on_the_humanoid(target, tmp_path):
    names = ("inverse_dynamics", "mass_matrix") if target != "jax" else ("inverse_dynamics",)
    cf.export(cf.load("humanoid25"), names, target, tmp_path)
    told = check_folder(tmp_path, target)
    assert told.count("passed ") == len(names) and max(errors(told)) < 1e-12


def plain(row):
    return row.name if not row.framed else cf.At(row.name, "tip")


@pytest.mark.parametrize("target", ["c", "python", "listing", "javascript", "wasm"])
def test_every_quantity_of_the_catalogue_leaves(target, tmp_path):
    rows = [r for r in cf.CATALOGUE if r.name != "operational_space_inertia"]   # needs six joints
    cf.export(cf.load("planar2r"), [plain(r) for r in rows], target, tmp_path)
    told = check_folder(tmp_path, target)
    assert told.count("passed ") == len(rows) and "all passed" in told


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma560", "iiwa14", "panda", "stanford", "rx90"])
@pytest.mark.parametrize("target", [
    "c", "matlab", "python", "casadi", "jax", "sympy", "latex", "javascript", "wasm"])
def test_every_target_agrees_on_more_arms(target, name, tmp_path):
    names = (*DYNAMICS, "inverse_dynamics_derivatives", "regressor", "inverse_dynamics_jet")
    cf.export(cf.load(name), names, target, tmp_path)
    assert check_folder(tmp_path, target).count("passed ") == len(names)


@pytest.mark.slow
@pytest.mark.parametrize("target", [
    "c", "python", "casadi", "matlab", "sympy", "latex", "jax", "javascript", "wasm"])
def test_more_of_the_humanoid_leaves(target, tmp_path):
    names = DYNAMICS[:4]
    if target not in ("sympy", "latex"):
        names = (*DYNAMICS, "inverse_dynamics_derivatives", "center_of_mass")
    cf.export(cf.load("humanoid25"), names, target, tmp_path)
    assert check_folder(tmp_path, target).count("passed ") == len(names)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("robot", [curved_robot(floating=True),
                                   loaded_robot(2, ("planar", "spherical"), bodies=2)],
                         ids=["curved", "sprung"])
def test_every_target_agrees_on_couplings_by_polynomials_and_on_turning_springs(robot, target,
                                                                                tmp_path):
    names = ["inverse_dynamics", "gravity_torque", "potential_energy", "mass_matrix"]
    names = names[1:3] if target in ("jax", "sympy", "latex") else names
    cf.export(robot, names, target, tmp_path)
    told = check_folder(tmp_path, target)
    assert told.count("passed ") == len(names) and max(errors(told)) < 1e-11


@pytest.mark.parametrize("target", TARGETS)
def test_equations_of_a_flexible_arm_leave_the_same_way(target, tmp_path):
    names = ("inertia_matrix", "coriolis_torque", "forward_dynamics")
    cf.export(cf.flexible.load("deluca_siciliano"), names, target, tmp_path)
    assert check_folder(tmp_path, target).count("passed ") == 3


@pytest.mark.parametrize("compiler, options", [
    ("gcc", ("-O2",)), ("clang", ("-O2",)), ("g++", ("-O1",))])
def test_exported_c_has_no_warnings_under_any_compiler(compiler, options, tmp_path):
    cf.export(cf.load("panda"), ["inverse_dynamics", "forward_dynamics_derivatives"], "c", tmp_path)
    assert "static void panda_forward_dynamics_derivatives_0" in (
        tmp_path / "panda_forward_dynamics_derivatives.c").read_text()
    compile_folder(tmp_path, compiler, *options)
    assert "all passed" in run(["./check"], tmp_path)


RUNTIME = [cf.Gravity(), cf.PayloadAt("tip")]


@pytest.mark.parametrize("target", [
    "c", "matlab", "python", "casadi", "jax", "javascript", "wasm"])
@pytest.mark.parametrize("inputs", [cf.Parameters(), RUNTIME], ids=["parameters", "payload"])
def test_parameters_payload_and_gravity_may_be_given_at_run_time(target, inputs, tmp_path):
    cf.export(cf.load("planar3r" if inputs is not RUNTIME else "planar2r"),
              ["inverse_dynamics", "regressor"], target, tmp_path, inputs=inputs, wrenches=True)
    assert check_folder(tmp_path, target).count("passed ") == 2


def test_single_precision_agrees_to_single_rounding(tmp_path):
    cf.export(cf.load("ur5"), DYNAMICS[:4], "c", tmp_path, single=True)
    told = check_folder(tmp_path, "c")
    assert told.count("passed ") == 4 and 1e-9 < max(errors(told)) < 1e-5


def test_fused_quantities_are_one_function_under_a_name(tmp_path):
    files = cf.export(cf.load("ur5"), ["mass_matrix", "bias"], "c", tmp_path, fused=True,
                      name="ur5_model")
    assert {f.name for f in files} == {"ur5_model.c", "ur5_model.h", "ur5_model_vectors.h",
                                       "test_vectors.c"}
    assert "all passed" in check_folder(tmp_path, "c")


def test_a_folder_grows_and_its_runner_with_it(tmp_path):
    robot = cf.load("planar2r")
    for target in ("c", "python"):
        cf.export(robot, "mass_matrix", target, tmp_path)
        cf.export(robot, "gravity_torque", target, tmp_path)
        assert check_folder(tmp_path, target).count("passed ") == 2


@pytest.mark.parametrize("target, file", [
    ("c", "planar2r_mass_matrix.c"), ("matlab", "planar2r_mass_matrix.m"),
    ("python", "planar2r_mass_matrix.py"), ("jax", "planar2r_mass_matrix_jax.py"),
    ("casadi", "planar2r_mass_matrix_casadi.py"), ("sympy", "planar2r_mass_matrix_sympy.py"),
    ("latex", "planar2r_mass_matrix.tex"), ("listing", "planar2r_mass_matrix.txt"),
    ("javascript", "planar2r_mass_matrix.mjs"), ("wasm", "planar2r_mass_matrix.wasm")])
def test_the_runner_fails_where_the_export_is_wrong(target, file, tmp_path):
    cf.export(cf.load("planar2r"), "mass_matrix", target, tmp_path)
    path, (right, wrong) = tmp_path / file, (b"0.3125", b"0.3126")             # m_2 l_2²
    if target == "wasm":
        right, wrong = struct.pack("<d", 0.3125), struct.pack("<d", 0.3126)
    assert right in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(right, wrong))
    with pytest.raises(AssertionError, match="FAILED"):
        check_folder(tmp_path, target)


def test_vectors_come_from_the_closed_form_and_not_from_the_program(tmp_path, monkeypatch):
    """A wrong program is exported and found out by its own vectors."""
    from closedform.applications.export.sources import robots as module

    class Wrong(module.Preparation):
        def program(self, requests, wrenches=False):
            return super().program([module.Request(module.quantity("coriolis_torque"))
                                    if r.row.name == "bias" else r for r in requests], wrenches)

    monkeypatch.setattr(module, "Preparation", Wrong)
    cf.export(cf.load("planar2r"), "bias", "python", tmp_path)
    done = subprocess.run([sys.executable, "test_vectors.py"], cwd=tmp_path, check=False,
                          capture_output=True, text=True)
    assert done.returncode == 1 and "FAILED" in done.stdout


def test_output_is_the_same_every_time(tmp_path):
    for target in TARGETS:
        folders = [tmp_path / target / str(k) for k in range(2)]
        written = [cf.export(cf.load("ur5"), "gravity_torque", target, f) for f in folders]
        for one, other in zip(*written, strict=True):
            assert one.read_bytes() == other.read_bytes()


def test_every_file_says_what_it_is(tmp_path):
    robot = cf.load("humanoid25")
    program = cf.fuse(robot, "gravity_torque")
    for target, suffix in (("c", ".h"), ("matlab", ".m"), ("python", ".py"), ("latex", ".tex"),
                           ("listing", ".txt"), ("javascript", ".mjs"), ("wasm", ".wasm")):
        cf.export(robot, "gravity_torque", target, tmp_path)
        text = (tmp_path / f"humanoid25_gravity_torque{suffix}").read_bytes().decode(
            "utf8", "replace")
        for part in ("gravity_torque of humanoid25", "closedform 0.1.0", "quaternion",
                     f"{program.operations.mul} multiplications", robot.joint_names[-1]):
            assert part in text, (target, part)


def test_the_jet_leaves_at_order_two_unless_told(tmp_path):
    cf.export(cf.load("planar2r"), "inverse_dynamics_jet", "python", tmp_path)
    cf.export(cf.load("planar2r"), "inverse_dynamics_jet", "python", tmp_path / "3", order=3)
    name = "planar2r_inverse_dynamics_jet_vectors.json"
    shapes = [json.loads((f / name).read_text())["output_shapes"]
              for f in (tmp_path, tmp_path / "3")]
    assert shapes == [[[3, 2]], [[4, 2]]]


# ------------------------------------------------------------------------------------- symbols
def test_the_planar_2r_comes_out_as_in_the_textbook(tmp_path):
    cf.export(cf.load("planar2r"), ["mass_matrix", "gravity_torque"], "latex", tmp_path,
              symbols=True)
    M = (tmp_path / "planar2r_mass_matrix.tex").read_text(encoding="utf8")
    assert (r"M_{11} &= 2 m_{2} l_{1} l_{2} c_{2} + m_{2} l_{2}^{2} "
            r"+ l_{1}^{2} \left(m_{1} + m_{2}\right)") in M
    assert r"M_{12} &= m_{2} l_{1} l_{2} c_{2} + m_{2} l_{2}^{2}" in M
    assert r"M_{22} &= m_{2} l_{2}^{2}" in M
    g = (tmp_path / "planar2r_gravity_torque.tex").read_text(encoding="utf8")
    assert r"g_{2} &= m_{2} g l_{2} c_{12}" in g
    assert "all passed" in check_folder(tmp_path, "latex")


def test_the_torques_of_the_2r_and_their_derivatives_are_the_papers(tmp_path):
    cf.export(cf.load("planar2r"), "inverse_dynamics_jet", "sympy", tmp_path, symbols=True)
    module = {}
    exec((tmp_path / "planar2r_inverse_dynamics_jet_sympy.py").read_text(encoding="utf8"), module)
    full = [[sympy.sympify(x).subs(module["terms"]) for x in row]
            for row in module["outputs"]["inverse_dynamics_jet"]]
    q1, q2, v1, v2, a1, a2, j1, j2, s1, s2 = (module[x] for x in (
        "q1", "q2", *(f"rates_{k}_{i}" for k in range(1, 5) for i in (1, 2))))
    m1, m2, L1, L2, g = (module[x] for x in ("m_1", "m_2", "l_1", "l_2", "g"))
    c, s = sympy.cos, sympy.sin
    published = {
        (0, 0): (m1 + m2) * L1**2 * a1 + m2 * L2**2 * (a1 + a2)
        + m2 * L1 * L2 * (c(q2) * (2 * a1 + a2) - s(q2) * (2 * v1 * v2 + v2**2))
        + (m1 + m2) * g * L1 * c(q1) + m2 * g * L2 * c(q1 + q2),
        (1, 1): L2 * m2 * (L2 * (j1 + j2) + L1 * (c(q2) * j1 - s(q2) * a1 * v2
                + 2 * s(q2) * v1 * a1 + c(q2) * v1**2 * v2) - g * s(q1 + q2) * (v1 + v2)),
        (2, 1): L2 * m2 * (L2 * (s1 + s2) + L1 * (
            c(q2) * s1 - 2 * s(q2) * j1 * v2 + 2 * s(q2) * v1 * j1 + 2 * s(q2) * a1**2
            - s(q2) * a1 * a2 - c(q2) * a1 * v2**2 + 4 * c(q2) * v1 * a1 * v2
            + c(q2) * v1**2 * a2 - s(q2) * v1**2 * v2**2)
            - g * (c(q1 + q2) * (v1 + v2)**2 + s(q1 + q2) * (a1 + a2)))}
    for (k, i), expected in published.items():
        assert sympy.expand(sympy.expand_trig(full[k][i] - expected)) == 0
    assert "all passed" in check_folder(tmp_path, "sympy")


def test_a_robot_with_symbols_keeps_them(tmp_path):
    L, m = sympy.symbols("L m", positive=True)
    robot = cf.Robot("pendulum", [cf.Body("rod", None, cf.Revolute((0, 0, 1)),
                                          inertia=cf.Inertia(m, (L, 0, 0)))])
    cf.export(robot, "mass_matrix", "latex", tmp_path)
    text = (tmp_path / "pendulum_mass_matrix.tex").read_text(encoding="utf8")
    assert "M_{11} &= m L^{2}." in text
    assert "all passed" in check_folder(tmp_path, "latex")


def test_symbols_with_their_values_are_the_robot():
    robot = cf.load("planar3r")
    named, values = symbolic(robot)
    back = substituted(named, values)
    q = robot.random(1)
    np.testing.assert_allclose(cf.mass_matrix(back, q), cf.mass_matrix(robot, q), atol=1e-14)
    np.testing.assert_allclose(cf.gravity_torque(back, q), cf.gravity_torque(robot, q), atol=1e-13)


# ------------------------------------------------------------------------- targets and options
def test_a_target_is_an_object_or_its_name(tmp_path):
    robot = cf.load("planar2r")
    for target, cls in TARGETS.items():
        by_name = cf.export(robot, "gravity_torque", target, tmp_path / "name")
        by_object = cf.export(robot, "gravity_torque", cls(), tmp_path / "object")
        assert [x.read_bytes() for x in by_name] == [x.read_bytes() for x in by_object]
        stem = [x.name.replace("planar2r_gravity_torque", "NAME") for x in by_name]
        assert set(cls.files) <= set(stem)


@pytest.mark.parametrize("how", [
    {"target": cf.targets.C(single=True, batch=False)},
    {"target": "c", "single": True, "batch": False},
    {"target": "c", "options": cf.ExportOptions(single=True, batch=False)},
    {"target": cf.targets.C(batch=False), "options": cf.ExportOptions(single=True)},
    {"target": cf.targets.C(single=True), "options": cf.ExportOptions(batch=True), "batch": False},
])
def test_options_are_fields_keywords_or_one_record(how, tmp_path):
    cf.export(cf.load("planar2r"), "mass_matrix", path=tmp_path, **how)
    text = (tmp_path / "planar2r_mass_matrix.h").read_text(encoding="utf8")
    assert "const float *" in text and "_batch" not in text


def test_the_one_record_has_options_of_sources_and_targets_as_usual():
    own = {name: x.usual for record in (*SOURCES.values(), *TARGETS.values())
           for name, x in options_of(record).items()}
    assert {name: x.usual for name, x in options_of(cf.ExportOptions).items()}.items() <= (
        own.items())
    assert all(x.meaning for record in (*SOURCES.values(), *TARGETS.values())
               for x in options_of(record).values())


def test_letters_of_the_catalogue_are_those_of_the_document(tmp_path):
    cf.export(cf.load("planar2r"), ["inverse_dynamics_jet", "kinetic_energy"], "latex", tmp_path,
              order=3)
    jet = (tmp_path / "planar2r_inverse_dynamics_jet.tex").read_text(encoding="utf8")
    assert all(x in jet for x in (r"\tau_{1} &=", r"\dddot{\tau}_{2} &=", r"{q}^{(5)}_{1}"))
    assert "T &= " in (tmp_path / "planar2r_kinetic_energy.tex").read_text(encoding="utf8")
    cf.export(cf.ElasticJoints(cf.load("planar2r"), 80.0, 0.01, 0.5), "forward_dynamics", "latex",
              tmp_path)
    elastic = (tmp_path / "planar2r_elastic_forward_dynamics.tex").read_text(encoding="utf8")
    assert r"\theta_{1}" in elastic and r"\dot{\theta}_{2}" not in elastic       # no damping
    assert check_folder(tmp_path, "latex").count("passed ") == 3


# --------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize("change, message", [
    ({"target": "fortran"}, "no target 'fortran'"), ({"quantities": []}, "at least one"),
    ({"colour": 1}, "no option 'colour'"), ({"symbols": True}, "sympy and latex, not to c"),
    ({"damping": 0.1}, "of flexible arms, not of robots"), ({"order": -1}, "order must be"),
    ({"target": cf.targets.Matlab(), "single": True}, "to c and python and jax, not to matlab"),
    ({"quantities": "frame_pose"}, "needs a frame"), ({"robot": "panda"}, "robot must be"),
    ({"quantities": 3}, "quantities must be names"), ({"path": 3}, "path a folder"),
])
def test_what_cannot_be_exported_is_refused_with_the_reason(change, message, tmp_path):
    given = {"robot": cf.load("planar2r"), "quantities": "mass_matrix", "target": "c",
             "path": tmp_path / "x", **change}
    with pytest.raises(cf.ClosedformError, match=message):
        cf.export(**given)
    assert not (tmp_path / "x").exists()


def test_symbols_of_a_large_robot_are_refused(tmp_path):
    with pytest.raises(cf.ArgumentError, match="up to 4"):
        cf.export(cf.load("ur5"), "mass_matrix", "latex", tmp_path, symbols=True)


# ------------------------------------------------------------------------------------------ JAX
def imported(folder, name):
    sys.path.insert(0, str(folder))
    try:
        return getattr(__import__(f"{name}_jax"), name)
    finally:
        sys.path.remove(str(folder))


@pytest.mark.parametrize("row", [row for row in cf.CATALOGUE if gradient(row)],
                         ids=lambda row: row.name)
def test_gradients_in_jax_are_our_exact_derivatives(row, tmp_path):
    jax = pytest.importorskip("jax", reason="NOT TESTED: pip install jax")
    robot = cf.load("ur5")
    cf.export(robot, row.name, "jax", tmp_path)
    text = (tmp_path / f"ur5_{row.name}_jax.py").read_text(encoding="utf8")
    assert "jax.custom_jvp" in text
    f = imported(tmp_path, f"ur5_{row.name}")
    given = [robot.random(1), *np.random.default_rng(1).normal(size=(2, 6))]
    given = given[:len(row.inputs)]
    exact = gradient(row).definition(robot, *given)
    exact = exact if isinstance(exact, tuple) else (exact,)
    with jax.enable_x64(True):
        found = jax.jit(jax.jacrev(f, argnums=tuple(range(len(given)))))(*given)
        product = jax.jit(jax.grad(lambda *x: f(*x).sum()))(*given)
    for x, y in zip(found, exact, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-10 * np.abs(y).max())
    total = exact[0].reshape(-1, 6).sum(axis=0)
    np.testing.assert_allclose(product, total, atol=1e-9 * np.abs(exact[0]).max())


def test_quaternions_are_differentiated_by_jax_itself(tmp_path):
    cf.export(cf.load("humanoid25"), "inverse_dynamics", "jax", tmp_path)
    text = (tmp_path / "humanoid25_inverse_dynamics_jax.py").read_text(encoding="utf8")
    assert "custom_jvp" not in text


def test_jax_in_single_precision(tmp_path):
    cf.export(cf.load("planar2r"), "inverse_dynamics", "jax", tmp_path, single=True)
    told = check_folder(tmp_path, "jax")
    assert "all passed" in told and 1e-9 < max(errors(told)) < 1e-5


@pytest.mark.parametrize("name", [row.name for row in ELASTIC_CATALOGUE])
def test_equations_of_elastic_joints_leave_like_those_of_robots(name, tmp_path):
    model = cf.ElasticJoints(cf.load("planar2r"), [80.0, 60.0], 0.01, 0.5)
    cf.export(model, name, "python", tmp_path)
    done = subprocess.run([sys.executable, "test_vectors.py"], cwd=tmp_path, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_unknown_equations_of_elastic_joints_are_refused(tmp_path):
    model = cf.ElasticJoints(cf.load("planar2r"), 80.0, 0.01, 0.5)
    with pytest.raises(cf.UnknownName, match="there are motor_torque"):
        cf.export(model, "mass_matrix", "c", tmp_path)
