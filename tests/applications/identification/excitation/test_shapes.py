"""Capsules about links, given or of a file's <collision> shapes, that keep apart at all times."""

import sys

import numpy as np
import pytest

import closedform as cf
from closedform.applications.identification.excitation.collision import shapes_of
from closedform.applications.identification.excitation.shapes import capsules_of, enclosing
from closedform.errors import ArgumentError, FormatError, MissingDependency

idn = cf.identification
URDF = """<robot name="three"><link name="base"><collision><geometry><sphere radius="0.1"/>
</geometry></collision></link>{links}{joints}</robot>"""
LINK = """<link name="l{k}"><inertial><origin xyz="0.5 0 0"/><mass value="1"/><inertia ixx="0.01"
iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin xyz="0.5 0 0"
rpy="0 {pitch} 0"/><geometry>{shape}</geometry></collision></link>"""
JOINT = """<joint name="j{k}" type="revolute"><parent link="{parent}"/><child link="l{k}"/>
<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="2" effort="100"/>
</joint>"""
BOX, ROD = '<box size="0.9 0.1 0.1"/>', '<cylinder radius="0.06" length="0.9"/>'


def three(folder, shapes=(BOX, ROD, BOX)):
    """A planar arm of three links of a metre, with shapes about them."""
    path = folder / "three.urdf"
    path.write_text(URDF.format(
        links="".join(LINK.format(k=k, shape=x, pitch=1.5707963267948966 if x == ROD else 0)
                      for k, x in enumerate(shapes)),
        joints="".join(JOINT.format(k=k, x=min(k, 1), parent=f"l{k - 1}" if k else "base")
                       for k in range(3))))
    return path


def test_a_capsule_holds_its_points_and_is_tight_about_a_box():
    rng = np.random.default_rng(0)
    for points in (rng.normal(size=(200, 3)) * [3, 1, 0.5], rng.normal(size=(1, 3)),
                   np.array([[x, y, z] for x in (-1, 1) for y in (-.1, .1) for z in (-.1, .1)])):
        (a, b), radius = enclosing(points)
        along = np.clip((points - a) @ (b - a) / max((b - a) @ (b - a), 1e-300), 0, 1)
        away = np.linalg.norm(points - a - along[:, None] * (b - a), axis=1)
        assert away.max() <= radius * (1 + 1e-9) + 1e-12
    np.testing.assert_allclose(radius, np.hypot(0.1, 0.1))      # the box's half diagonal


def test_shapes_of_a_file_are_capsules_in_the_frames_of_its_links(tmp_path):
    base, box, rod, _ = capsules_of(three(tmp_path))
    assert base.link == "base" and base.radius == 0.1 and not base.ends.any()
    np.testing.assert_allclose(box.radius, np.hypot(0.05, 0.05))
    np.testing.assert_allclose(np.sort(rod.ends[:, 0]), [0.05, 0.95], atol=1e-12)
    assert rod.radius == 0.06


MOVES = {"position": ([-1.0, 0.8, 0.6], [1.0, 2.9, 2.9]), "acceleration": 20.0}
START = [0.0, 1.9, 1.7]


def nearest(plan, limits, times=20_001):
    links = shapes_of(plan.rows, limits)
    t = np.linspace(0, plan.duration, times)
    return links.along(plan.rows.room.home + plan.basis.at(t, 0) @ plan.coefficients).min()


@pytest.mark.parametrize("kind", ["fourier", "bspline"])
def test_shapes_keep_apart_at_all_times(tmp_path, kind):
    path = three(tmp_path)
    model = idn.Model(cf.load(path), rotors=False)
    limits = idn.Limits(**MOVES, collision=path, clearance=0.15)
    free = idn.excite(model, 6.0, 3, START, limits=idn.Limits(**MOVES), starts=1, kind=kind)
    plan = idn.excite(model, 6.0, 3, START, limits=limits, starts=1, kind=kind)
    assert nearest(plan, limits) >= 0.15 > nearest(free, limits)
    assert any("3 pairs" in note and "0.15 m" in note for note in plan.notes)


def test_given_capsules_are_kept_apart_as_another_library_measures(tmp_path):
    coal = pytest.importorskip("coal", reason="distances are compared with the extra coal")
    robot = cf.load(three(tmp_path))
    given = {f"l{k}": [((0.05, 0, 0), (0.95, 0, 0), 0.08)] for k in range(3)}
    limits = idn.Limits(**MOVES, collision=given, clearance=0.02)
    plan = idn.excite(idn.Model(robot, rotors=False), 6.0, 3, START, limits=limits, starts=1)
    poses = cf.compile(robot).poses(plan.sample(200.0)[1])
    rod, turn = coal.Capsule(0.08, 0.9), np.array([[0, 0, 1.0], [0, 1, 0], [-1, 0, 0]])

    def placed(T):
        return coal.Transform3s(T[:3, :3] @ turn, T[:3, :3] @ [0.5, 0, 0] + T[:3, 3])
    apart = [coal.distance(rod, placed(p[0]), rod, placed(p[2]), coal.DistanceRequest(),
                           coal.DistanceResult()) for p in poses]
    assert min(apart) >= 0.02 - 1e-9
    np.testing.assert_allclose(min(apart), nearest(plan, limits, 1201), atol=1e-3)


def test_meshes_are_read_by_coal_or_its_absence_is_told(tmp_path, monkeypatch):
    pytest.importorskip("coal", reason="meshes need the extra coal")
    (tmp_path / "bar.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 0.2 0\nv 1 0.2 0\nf 1 2 3\nf 2 4 3\n")
    mesh = '<mesh filename="package://bar.obj" scale="0.5 1 1"/>'
    path = three(tmp_path, (mesh, ROD, BOX))
    bar = capsules_of(path)[1]
    np.testing.assert_allclose(bar.radius, 0.1, rtol=1e-6)
    np.testing.assert_allclose(np.ptp(bar.ends[:, 0]), 0.5)      # flat ends
    monkeypatch.setitem(sys.modules, "coal", None)
    with pytest.raises(MissingDependency, match=r"'l0' is a mesh.*closedform\[coal\]"):
        capsules_of(path)


def test_pairs_that_may_touch_are_named(tmp_path):
    path = three(tmp_path)
    model = idn.Model(cf.load(path), rotors=False)
    with pytest.raises(ArgumentError, match=r"l0 and l2 are .*touching"):
        idn.excite(model, 6.0, 3, [0.0, 2.85, 2.85], starts=1,
                   limits=idn.Limits(position=(-3.0, 3.0), collision=path))
    links = shapes_of(idn.excite(model, 6.0, 3, START, starts=1).rows, idn.Limits(
        collision=path, touching=[("l0", "l2"), ("base", "l1")]))
    assert links.pairs.tolist() == [[0, 3]]


@pytest.mark.parametrize(("collision", "error", "message"), [
    ({"l9": ((0, 0, 0), (1, 0, 0), 0.1)}, ArgumentError, "no link 'l9'"),
    ({"l1": ((0, 0, 0), 0.1)}, ArgumentError, "collision of l1"),
    ({"l1": ((0, 0, 0), (1, 0, 0), -0.1)}, ArgumentError, "radius"),
    (7, ArgumentError, "a URDF file or capsules"),
    ("nowhere.urdf", FormatError, "nowhere.urdf"),
])
def test_what_is_no_shape_is_refused_by_name(tmp_path, collision, error, message):
    model = idn.Model(cf.load(three(tmp_path)), rotors=False)
    with pytest.raises(error, match=message):
        idn.excite(model, 6.0, 3, START, limits=idn.Limits(collision=collision), starts=1)
