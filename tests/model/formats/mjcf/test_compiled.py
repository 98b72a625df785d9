"""Compiling without geoms and meshes: the same masses, and files whose meshes are not there."""

import warnings

import numpy as np
import pytest

from closedform.errors import FormatError, ModelWarning
from closedform.model.load import load
from mjcf_models import INERTIAL, document

mujoco = pytest.importorskip("mujoco")

MESH = ('<asset><mesh name="m" file="missing.obj"/><texture name="t" type="2d" file="missing.png"/>'
        '<material name="mat" texture="t"/></asset>')
GEOM = '<geom name="g{k}" type="{kind}" size=".1 .2 .3" material="mat" group="{k}"/>'
STATED = INERTIAL.format(m=2)


def bodies(inertials, geom):
    inside = ""
    for k, inertial in reversed(list(enumerate(inertials))):
        inside = (f'<body name="b{k}" pos=".1 0 .2"><joint name="j{k}" axis="0 1 {k}"/>{inertial}'
                  f'{geom.format(k=k, kind="box")}<site name="s{k}" material="mat"/>'
                  f'{inside}</body>')
    return inside


def test_absent_meshes_and_pictures_do_not_matter_where_inertials_are_given():
    geom = '<geom name="g{k}" type="mesh" mesh="m" material="mat"/>'
    text = document(bodies([STATED] * 2, geom), MESH +
                    '<sensor><framepos objtype="geom" objname="g0"/></sensor>'
                    '<contact><pair geom1="g0" geom2="g1"/></contact>')
    robot = load(text)
    assert [b.inertia.mass for b in robot.bodies] == [2, 2]
    assert robot.frame_names == ("s0", "s1")
    with pytest.raises(FormatError, match=r"missing\.obj"):
        load(document(bodies([STATED, ""], geom), MESH))


OPTIONS = ["", '<compiler inertiafromgeom="true"/>', '<compiler inertiafromgeom="auto"/>',
           '<compiler inertiagrouprange="1 1"/>', '<compiler balanceinertia="true"/>',
           '<compiler boundmass="3" boundinertia="1"/>', '<compiler settotalmass="7"/>',
           '<compiler fusestatic="true"/>']


@pytest.mark.parametrize("option", OPTIONS)
def test_masses_are_those_of_the_whole_model(option):
    inside = bodies([STATED, "", STATED], GEOM.replace(' material="mat"', ""))
    text = document(inside.replace(' material="mat"', "")).replace("<worldbody>",
                                                                   option + "<worldbody>")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # settotalmass is deprecated
        model = mujoco.MjModel.from_xml_string(text)
        robot = load(text)
    for b in range(1, model.nbody):
        inertia = robot.bodies[b - 1].inertia
        assert inertia.mass == model.body_mass[b]
        np.testing.assert_allclose(inertia.com, model.body_ipos[b], atol=1e-15)
        moments = np.linalg.eigvalsh(inertia.tensor)
        np.testing.assert_allclose(moments, np.sort(model.body_inertia[b]), rtol=1e-12)


def test_geoms_that_tendons_wrap_around_stay():
    wrap = ('<tendon><spatial name="t"><site site="s0"/><geom geom="g1"/><site site="s1"/>'
            '</spatial></tendon>')
    geom = '<geom name="g{k}" type="sphere" size=".01"/><geom type="mesh" mesh="m"/>'
    with pytest.warns(ModelWarning, match="1 tendon"):
        robot = load(document(bodies([STATED] * 2, geom), MESH + wrap))
    assert robot.nv == 2


def test_remarks_of_mujoco_are_part_of_the_one_warning(capfd):
    text = document(bodies([STATED], GEOM.replace(' material="mat"', "")).replace(
        ' material="mat"', "")).replace("<worldbody>", '<compiler settotalmass="7"/><worldbody>')
    with pytest.warns(ModelWarning) as caught:
        load(text)
    assert len(caught) == 1
    assert "MuJoCo remarks: compiler attribute 'settotalmass'" in str(caught[0].message)
    assert capfd.readouterr().err == ""


def test_the_users_handler_of_warnings_comes_back():
    def mine(text):
        """Of the user."""
    mujoco.set_mju_user_warning(mine)
    try:
        load(document(bodies([STATED], "")))
        assert mujoco.get_mju_user_warning() is mine
    finally:
        mujoco.set_mju_user_warning(None)
