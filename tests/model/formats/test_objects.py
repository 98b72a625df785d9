"""Objects of other libraries and names of robot_descriptions are sources as files are."""

import re
import subprocess
import sys
import types
import warnings

import numpy as np
import pytest

from closedform.errors import ArgumentError, MissingDependency, ModelWarning
from closedform.maths.definitions.closed_form import mass_matrix
from closedform.model.formats.objects import reader_of
from closedform.model.formats.urdf.write import urdf_text
from closedform.model.lint.lint import lint
from closedform.model.load import load
from mjcf_models import ARM, BALLS, FREE, SEVERAL

mujoco = pytest.importorskip("mujoco")

JOINT = re.compile(r'<joint name="([^"]*)" type="(?:revolute|prismatic|continuous)"')
MIMIC = re.compile(r"<mimic [^>]*>")


@pytest.mark.parametrize("text", [ARM, BALLS, FREE, SEVERAL])
def test_models_and_specs_of_mujoco_are_robots(text):
    file = load(text)
    spec = mujoco.MjSpec.from_string(text)
    geoms, q = len(spec.geoms), file.random(1)
    for robot in (load(mujoco.MjModel.from_xml_string(text)), load(spec)):
        assert robot.name == file.name
        assert (robot.body_names, robot.frame_names) == (file.body_names, file.frame_names)
        np.testing.assert_array_equal(mass_matrix(robot, q), mass_matrix(file, q))
    assert len(spec.geoms) == geoms  # not written to


def test_a_spec_keeps_its_geoms():
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="b", mass=1, inertia=[1, 1, 1], explicitinertial=True)
    body.add_joint(name="j", axis=[0, 0, 1])
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0])
    assert load(spec).joint_names == ("j",)
    assert len(spec.geoms) == 1


def test_objects_take_floating_and_open_loops_and_are_linted():
    loop = ARM.replace("</mujoco>", '<equality><connect body1="b" body2="c" anchor="0 0 0"/>'
                       "</equality></mujoco>")
    model = mujoco.MjModel.from_xml_string(loop)
    assert load(model).loops
    with pytest.warns(ModelWarning, match="connect equality of b and c"):
        assert load(model, loops="open").nv == 3
    assert not any(f.rule == "unreadable" for f in lint(model))


def test_an_object_of_yourdfpy_is_read_by_its_text_and_its_mimics():
    panda = load("panda", floating=False)
    text = urdf_text(panda)
    mimics = [types.SimpleNamespace(name=m[1], mimic=None) for m in JOINT.finditer(text)]
    mimics[-1].mimic = types.SimpleNamespace(joint=mimics[0].name, multiplier=0.5, offset=0.25)
    urdf = type("URDF", (), {"__module__": "yourdfpy.urdf"})()
    urdf.write_xml_string = lambda: MIMIC.sub("", text).encode()
    urdf.robot = types.SimpleNamespace(joints=mimics)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = load(urdf)
    follower = next(b for b in robot.bodies if b.joint_name == mimics[-1].name)
    assert follower.joint.driver[1:] == (0.5, 0.25, ())


@pytest.mark.parametrize(("package", "name", "attribute"), [
    ("dm_control.mujoco.wrapper.core", "MjModel", "ptr"),
    ("robosuite.utils.binding_utils", "MjModel", "_model"),
])
def test_wrappers_of_mujocos_model_are_read_by_what_they_wrap(package, name, attribute):
    wrapper = type(name, (), {"__module__": package})()
    setattr(wrapper, attribute, mujoco.MjModel.from_xml_string(ARM))
    assert load(wrapper).joint_names == ("h", "t", "w")


def test_an_element_of_dm_control_is_read_by_its_text_and_its_meshes():
    text = """<mujoco><asset><mesh name="m" file="m.obj"/></asset><worldbody><body name="b">
      <joint name="j"/><geom type="mesh" mesh="m" density="6"/></body></worldbody></mujoco>"""
    mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"

    class RootElement:
        """Stands for dm_control's."""

        __module__ = "dm_control.mjcf.element"

        def to_xml_string(self):
            return text

        def get_assets(self):
            return {"m.obj": mesh.encode()}

    assert load(RootElement()).mass == pytest.approx(1)  # a tetrahedron of 1/6 m³


def test_strangers_are_not_read():
    class MjModel:
        """No model of MuJoCo."""

    assert reader_of(MjModel()) is None
    with pytest.raises(ArgumentError, match="source must be"):
        load(MjModel())


def test_no_library_is_imported_for_those_who_do_not_use_it():
    code = ("import sys, closedform as cf; cf.load('panda');"
            "print([m for m in ('mujoco', 'pinocchio', 'yourdfpy', 'robot_descriptions')"
            " if m in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---------------------------------------------------------------------- robot_descriptions
@pytest.fixture
def descriptions(monkeypatch, tmp_path):
    """A package of that name with one description, as it fetches them."""
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    package, arm = types.ModuleType("robot_descriptions"), types.ModuleType("arm")
    package.__path__ = [str(tmp_path)]
    arm.MJCF_PATH = str(path)
    (tmp_path / "broken_description.py").write_text("raise OSError('no network')\n")
    (tmp_path / "empty_description.py").write_text("")
    monkeypatch.setitem(sys.modules, "robot_descriptions", package)
    monkeypatch.setitem(sys.modules, "robot_descriptions.arm_mj_description", arm)
    return path


def test_a_name_of_robot_descriptions_is_its_file(descriptions):
    robot = load("robot_descriptions:arm_mj_description")
    assert robot.joint_names == load(descriptions).joint_names
    assert robot.source == str(descriptions)
    assert lint("robot_descriptions:arm_mj_description") == lint(descriptions)


@pytest.mark.parametrize(("name", "words"), [
    ("no_description", "has no 'no_description'"), ("broken_description", "no network"),
    ("empty_description", "names no file"), ("a.b", "must be followed by"), ("", "followed by"),
    ("_cache", "must be followed by"),
])
@pytest.mark.usefixtures("descriptions")
def test_names_that_are_none_are_refused(name, words):
    with pytest.raises(ArgumentError, match=words):
        load(f"robot_descriptions:{name}")


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    with pytest.raises(MissingDependency, match="pip install robot_descriptions"):
        load("robot_descriptions:panda_description")
