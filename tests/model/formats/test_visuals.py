"""How robots look: shapes of URDF, SDF and MJCF at their places; no file outside is shown."""

import numpy as np
import pytest

import closedform as cf
from closedform.model.formats.visuals import visuals_of

SDF = """<sdf version="1.9"><model name="arm">
<joint name="held" type="fixed"><parent>world</parent><child>base</child></joint>
<frame name="mark" attached_to="tip"><pose>0 0 1 0 0 0</pose></frame>
<link name="base"><inertial><mass>1</mass></inertial>
<visual name="v"><geometry><box><size>1 2 3</size></box></geometry>
<material><diffuse>1 0 0 1</diffuse></material></visual></link>
<link name="tip"><pose>0 0 2 0 0 0</pose><inertial><mass>1</mass></inertial>
<visual name="a"><pose>0.5 0 0 0 0 1.5707963267948966</pose>
<geometry><cylinder><radius>0.1</radius><length>0.4</length></cylinder></geometry></visual>
<visual name="b"><pose relative_to="mark">0 1 0 0 0 0</pose>
<geometry><ellipsoid><radii>1 2 3</radii></ellipsoid></geometry></visual>
<visual name="c"><geometry><mesh><uri>model://arm/meshes/tip.stl</uri><scale>2 2 2</scale></mesh>
</geometry></visual>
<visual name="d"><geometry><mesh><uri>../../secret.stl</uri></mesh></geometry></visual>
<visual name="e"><geometry><plane><normal>0 0 1</normal></plane></geometry></visual></link>
<joint name="turn" type="revolute"><parent>base</parent><child>tip</child>
<axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""


@pytest.fixture
def arm(tmp_path):
    folder = tmp_path / "inner" / "models" / "arm"
    (folder / "meshes").mkdir(parents=True)
    (tmp_path / "secret.stl").write_bytes(b"solid x\nendsolid x\n")
    (folder / "meshes" / "tip.stl").write_bytes(b"solid x\nendsolid x\n")
    (folder / "model.sdf").write_text(SDF)
    return folder / "model.sdf"


def test_shapes_of_sdf_are_read_with_their_places(arm):
    box, cylinder, ellipsoid, mesh = visuals_of(arm)
    assert (box.link, box.shape, box.size, box.colour) == ("base", "box", (1, 2, 3), (1, 0, 0, 1))
    assert (cylinder.shape, cylinder.size) == ("cylinder", (0.1, 0.4))
    np.testing.assert_allclose(cylinder.placement[:3, 3], [0.5, 0, 0])
    np.testing.assert_allclose(cylinder.placement[:2, :2], [[0, -1], [1, 0]], atol=1e-15)
    np.testing.assert_allclose(ellipsoid.placement[:3, 3], [0, 1, 1], atol=1e-15)
    assert mesh.file.name == "tip.stl" and mesh.scale == (2, 2, 2)


def test_every_shape_of_sdf_stands_on_a_body_or_frame_of_the_robot(arm):
    robot = cf.load(arm)
    names = {*robot.body_names, *(frame.name for frame in robot.frames)}
    assert {visual.link for visual in visuals_of(arm)} <= names


def test_no_mesh_outside_the_folders_is_looked_at(arm):
    assert all("secret" not in str(visual.file) for visual in visuals_of(arm))
