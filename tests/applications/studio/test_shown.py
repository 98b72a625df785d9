"""Every number shown is the library's call at the state shown; names of files are texts."""

import html
import re
import zipfile
from io import BytesIO

import numpy as np
import pytest

import closedform as cf
from closedform.applications.studio import cells, parting
from closedform.applications.studio.panels import formulas, model
from closedform.applications.studio.panels.table import PANELS
from closedform.applications.studio.shown import shown
from closedform.applications.studio.state import Wish, obey, start
from closedform.applications.studio.subject import StudioRobot
from closedform.model.lint.repair import repaired

PLANAR = StudioRobot(cf.load("planar2r"))
HOSTILE = ('<img src=x onerror="alert(1)">', "<script>alert(1)</script>", "[a](javascript:b)",
           "a&b'c\"d")


def states(subject, count):
    rng = np.random.default_rng(7)
    for seed in range(count):
        state = obey(subject, start(subject), Wish("random", seed))
        state = obey(subject, state, Wish("rates", rng.normal(size=(2, subject.robot.nv))))
        state = obey(subject, state, Wish("load", (float(seed % 3), (0.1, 0.0, 0.05))))
        yield obey(subject, state, Wish("mount", (0.1 * seed, -0.05 * seed)))


def panel(key, s):
    return next(p for p in PANELS if p.key == key).framed(s, 1)


def titles(text, label):
    """The numbers in the titles of a table's cells."""
    table = re.search(f'aria-label="{re.escape(label)}.*?</table>', text, re.S)[0]
    return [float(x) for x in re.findall(r'<td[^>]*title="[^"]*?(?:: )?([-+\w.]+)"', table)]


def test_every_number_shown_is_that_of_the_librarys_call():
    for state in states(PLANAR, 20):
        s = shown(PLANAR, state)
        r, q, v, a = s.robot, state.q, state.v, state.a
        close = lambda x, y: np.testing.assert_allclose(
            np.ravel(x), np.ravel(y), rtol=1e-8, atol=1e-10)
        close(titles(panel("M", s), "mass matrix"), cf.mass_matrix(r, q))
        close(titles(panel("C", s), "Coriolis matrix"), cf.coriolis_matrix(r, q, v))
        d = cf.inverse_dynamics_derivatives(r, q, v, a)
        close(titles(panel("dtau_dq", s), "∂τ/∂q"), d.dtau_dq)
        close(titles(panel("dtau_dv", s), "∂τ/∂v"), d.dtau_dv)
        torques = panel("torques", s)
        close(titles(torques, "τ = M a"), cf.inverse_dynamics(r, q, v, a))
        close(titles(torques, "gravity g"), cf.gravity_torque(r, q))
        close(titles(torques, "C v"), cf.coriolis_torque(r, q, v))
        energy = titles(panel("energy", s), "energies")
        close(energy[:2], [cf.kinetic_energy(r, q, v), cf.potential_energy(r, q)])
        close(s.places.frame_pose, cf.frame_pose(r, q, state.tip))
        close(s.places.center_of_mass, cf.center_of_mass(r, q))
        assert s.condition == pytest.approx(np.linalg.cond(cf.mass_matrix(r, q)), rel=1e-6)
        assert s.definite == "positive definite"


def test_the_inertia_at_the_tip_is_the_librarys():
    panda = StudioRobot(cf.load("panda"))
    s = shown(panda, next(states(panda, 1)), wait=True)
    np.testing.assert_allclose(
        s.tip_inertia, cf.operational_space_inertia(s.robot, s.state.q, s.state.tip), rtol=1e-7,
        atol=1e-9)
    np.testing.assert_allclose(s.terms.mass_matrix, cf.mass_matrix(s.robot, s.state.q), atol=1e-12)


def hostile():
    bad = HOSTILE
    bodies = [cf.Body(f"{bad[0]}", None, cf.Revolute((0, 0, 1), name=bad[1]),
                      inertia=cf.Inertia(1.0, (0.1, 0, 0), np.eye(3))),
              cf.Body(f"{bad[2]}", bad[0], cf.Revolute((0, 1, 0), name=bad[3]),
                      inertia=cf.Inertia(1.0, (0.1, 0, 0), np.eye(3)))]
    return cf.Robot(bad[1], bodies, (0, 0, -9.81))


def test_hostile_names_are_shown_as_text():
    subject = StudioRobot(hostile())
    s = shown(subject, start(subject))
    pages = [p.framed(s, 1) for p in PANELS]
    pages += [model.base_picture(subject.robot), formulas.page(formulas.prepared(subject.robot), s)]
    for page in pages:
        assert not re.search(r"<(img|script|a)\b", page, re.I)
        assert "onerror" not in re.sub(r'"[^"<>]*"', "", html.unescape("") + page).replace(
            html.escape(HOSTILE[0]), "")
    assert html.escape(HOSTILE[0]) in panel("bodies", s)


def test_a_name_is_cut_and_a_sentence_is_whole():
    text = "a" * 300
    assert cells.escape(text) == "a" * cells.NAME + "…"
    assert cells.escape(text, cells.SENTENCE) == text


def test_matrices_say_what_their_entries_are_in():
    for robot, unit in ((cf.load("planar2r"), "kg m²"), (cf.load("stanford"), "kg m², kg m, kg")):
        subject = StudioRobot(robot)
        s = shown(subject, start(subject))
        assert f'entries in</th><td>{unit}</td>' in panel("M", s)
        assert ("[N m, N]" in panel("torques", s)) == ("," in unit)


def test_a_cell_is_a_number_with_all_its_digits_as_title():
    x = 1 / 3
    assert f"{x!r}" in cells.matrix(np.array([[x]]), "A", ["a"])
    assert cells.number(0.0) == "0" and cells.number(-1.5) == "−1.5"
    assert cells.number(1098.7) == "1099" and cells.number(999.7) == "1000"
    assert cells.number(np.inf) == "∞" and cells.number(1e-9) == "1.00e−9"


def test_a_torque_beyond_its_limit_is_red_and_named():
    robot = cf.load("panda")
    subject = StudioRobot(robot)
    state = obey(subject, start(subject), Wish("load", (500.0, (0, 0, 0))))
    text = panel("torques", shown(subject, state))
    assert "beyond its limit: " in text and "panda_joint2" in text and f"rgb({cells.RED})" in text


def test_large_matrices_have_their_numbers_in_titles_alone():
    A = np.arange(100.0).reshape(10, 10)
    text = cells.matrix(A, "A", [f"j{k}" for k in range(10)])
    assert '>99<' not in text and "j9, j9: 99.0" in text


def luminance(colour):
    linear = [((x + 0.055) / 1.055) ** 2.4 if x > 0.04 else x / 12.92 for x in
              np.asarray(colour) / 255]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("paper, ink", [((255, 255, 255), (0, 0, 0)), ((36, 36, 36), (201,) * 3)])
def test_numbers_on_a_heat_map_can_be_read_in_light_and_dark(paper, ink):
    text = cells.matrix(np.diag([3.0, -3.0, 1.5, -1.5, 1e-3, -1e-3]), "A", "abcdef")
    shades = [[float(x) for x in found.split(",")] for found in re.findall(r"rgba\(([^)]*)", text)]
    assert len(shades) == 6 and "color:#" not in text
    for *colour, part in shades:
        behind = luminance(part * np.array(colour) + (1 - part) * np.array(paper))
        light, dark = sorted((behind, luminance(ink)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) > 4


# ---------------------------------------------------------------------- formulas
def test_formulas_of_small_robots_have_their_values():
    state = next(states(PLANAR, 1))
    s = shown(PLANAR, state)
    text = formulas.page(formulas.prepared(PLANAR.robot), s)
    assert "<math" in text and "data-latex" in text
    for x in cf.mass_matrix(s.robot, state.q)[np.triu_indices(2)]:
        assert cells.number(float(x)) in text


def test_larger_robots_have_their_listing():
    robot = cf.load("puma560")
    found = formulas.prepared(robot)
    assert not found.lines and "multiplications" in found.listing


# ---------------------------------------------------------------------- taken away
def test_the_python_of_a_state_gives_its_torques(capsys):
    state = list(states(PLANAR, 3))[2]
    scope = {}
    exec(parting.python(PLANAR, state), scope)
    s = shown(PLANAR, state)
    np.testing.assert_allclose(scope["tau"], s.terms.inverse_dynamics, atol=1e-12)


@pytest.mark.filterwarnings("ignore::closedform.ModelWarning")
def test_the_python_of_a_state_loads_the_robot_as_it_was_loaded(tmp_path):
    path = tmp_path / "arm.urdf"
    text = cf.load("planar2r").to_urdf().replace('ixx="', 'ixx="-1', 1)
    path.write_text(text, encoding="utf8")
    made = repaired(cf.load(path, floating=True))
    assert made.changes
    subject = StudioRobot(made.robot, str(path), is_repaired=True, floating=True, loops=None)
    state = obey(subject, start(subject), Wish("random", 1))
    scope = {}
    exec(parting.python(subject, state), scope)
    np.testing.assert_allclose(scope["M"], shown(subject, state).terms.mass_matrix, atol=1e-12)


def test_the_csv_has_every_number_to_the_last_bit():
    s = shown(PLANAR, next(states(PLANAR, 1)))
    rows = [line.split(",") for line in parting.csv_of(s).splitlines()[1:]]
    M = {(r, c): float(x) for name, r, c, x in rows if name == "mass_matrix"}
    assert M[("0", "1")] == s.terms.mass_matrix[0, 1]


def test_exports_come_as_a_zip_with_their_runner():
    with zipfile.ZipFile(BytesIO(parting.packed(PLANAR.robot, "gravity_torque", "c"))) as packed:
        names = packed.namelist()
    assert "test_vectors.c" in names and any(name.endswith(".h") for name in names)
    with pytest.raises(cf.ArgumentError):
        parting.packed(PLANAR.robot, "../../etc/passwd", "c")
