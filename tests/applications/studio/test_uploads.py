"""Files from a browser: bounded, of known kinds, read apart; hostile ones are refused by name."""

import io
import re
import zipfile

import numpy as np
import pytest

import closedform as cf
from closedform.applications.studio import uploads
from closedform.applications.studio.uploads import allowed, read_upload

ROBOT = cf.load("planar2r")


def test_a_robot_is_read_with_its_findings_and_its_last_name():
    found = read_upload("..\\..//etc/arm.urdf", cf.load("puma560").to_urdf().encode())
    assert found.name == "arm.urdf"
    assert found.robot.joint_names == cf.load("puma560").joint_names
    assert isinstance(found.findings, tuple)


def test_files_over_the_limit_and_of_other_kinds_are_refused_by_name():
    assert "8 MiB" in allowed("a.urdf", (8 << 20) + 1) and allowed("a.urdf", 8 << 20) == ""
    assert "64 MiB" in allowed("a.csv", (64 << 20) + 1)
    assert allowed("a.urdf", 0)
    for name in ("a.exe", "a.zip", "a.py", "a.pickle", "urdf", "a.urdf.gz"):
        assert name in allowed(name, 10)


HOSTILE = {
    "laughs.urdf": b'<!DOCTYPE l [<!ENTITY a "a"><!ENTITY b "&a;&a;">]><robot name="&b;"/>',
    "outside.urdf": b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>',
    "include.xml": b'<mujoco><include file="/etc/passwd"/></mujoco>',
    "mesh.xml": b'<mujoco><asset><mesh file="../../x.stl"/></asset></mujoco>',
    "folder.xml": b'<mujoco><compiler meshdir="/etc"/><asset><mesh file="x.stl"/></asset></mujoco>',
    "above.xml": b'<mujoco><compiler assetdir="a/../../.."/></mujoco>',
    "sky.xml": b'<mujoco><asset><texture fileup="/etc/passwd"/></asset></mujoco>',
    "xacro.urdf": b'<robot xmlns:xacro="x"><xacro:include filename="/etc/passwd"/></robot>',
    "program.urdf": b'<robot name="${load_yaml(\'/etc/passwd\')}"><link name="a"/></robot>',
    "computed.xml": b'<robot name="r"><link name="$(env HOME)"/></robot>',
}


@pytest.mark.parametrize("name", ["a\0b.urdf", "a\nb.csv", "\u202egpj.urdf", "x" * 9999 + ".urdf"])
def test_names_that_no_file_has_are_refused(name):
    assert "a name of a file" in allowed(name, 10)
    with pytest.raises(cf.FormatError, match="a name of a file"):
        read_upload(name, b"<robot/>")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_xml_is_refused(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(HOSTILE[name])
    with pytest.raises(cf.FormatError, match=re.escape(name)):
        uploads._read(path, None)


def test_hostile_xml_is_refused_by_the_name_it_came_with():
    with pytest.raises(cf.FormatError, match=r"^outside\.urdf:"):
        read_upload("outside.urdf", HOSTILE["outside.urdf"])


def test_a_xacro_file_is_never_run_for_a_browser(tmp_path):
    secret = tmp_path / "secret.yaml"
    secret.write_text("a: told\n")
    robot = cf.load("puma560").to_urdf()
    for computed in (f"${{load_yaml('{secret}')['a']}}", "$(env HOME)", "${6 * 7}"):
        text = re.sub('<robot name="[^"]*"', f'<robot name="{computed}"', robot, count=1)
        with pytest.raises(cf.FormatError, match=r"^arm\.urdf:\d+: a xacro file is a program"):
            read_upload("arm.urdf", text.encode())
        text = text.replace(computed, "r").replace("<mass ", f'<mass was="{computed}" ')
        assert read_upload("arm.urdf", text.encode()).robot.name == "r"


def test_zip_bombs_are_refused_by_name_before_they_are_unpacked(monkeypatch):
    monkeypatch.setattr(uploads, "UNPACKED", 1 << 16)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("t.npy", b"\0" * (1 << 20))
    with pytest.raises(cf.FormatError, match=r"bomb\.npz: would unpack"):
        read_upload("bomb.npz", stream.getvalue(), ROBOT)
    with pytest.raises(cf.FormatError, match=r"bomb\.urdf: a zip file under another name"):
        read_upload("bomb.urdf", stream.getvalue(), ROBOT)


def test_a_log_is_read_in_the_robots_order():
    t = np.linspace(0, 1, 20)
    names = list(ROBOT.joint_names)
    lines = [",".join(["t", *reversed(names)])]
    lines += [f"{x},{2 * x},{3 * x}" for x in t]
    found = read_upload("run.csv", "\n".join(lines).encode(), ROBOT)
    np.testing.assert_allclose(found.samples.q[:, 0], 3 * t)


def test_a_file_that_cannot_be_loaded_comes_with_every_finding_and_its_repair():
    text = cf.load("planar2r").to_urdf().replace("<mass value=", "<mass value=\"x\" was=")
    found = read_upload("arm.urdf", text.encode())
    assert found.refused and found.robot is None
    assert len(found.findings) > 1 and all(f.rule == "bad-number" for f in found.findings)
    assert all(f.line for f in found.findings) and "arm.urdf" in found.notes[-1]
