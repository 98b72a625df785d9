"""`load` finds out what it is given, and refuses what is no robot, quickly."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from closedform.errors import (
    LISTED,
    ArgumentError,
    ClosedformError,
    FormatError,
    ModelError,
    ModelWarning,
)
from closedform.model.formats.urdf.write import urdf_text
from closedform.model.formats.xml import MAX_BYTES
from closedform.model.inertia import Inertia
from closedform.model.joints import Free, Revolute
from closedform.model.load import load
from closedform.model.robot import Body, Robot
from closedform.model.zoo.zoo import BUILTIN

URDF = urdf_text(Robot("two", [
    Body("a", None, Revolute((0, 0, 1), name="j1"), inertia=Inertia(1.0, (0.1, 0, 0), np.eye(3))),
    Body("b", "a", Revolute((0, 1, 0), name="j2"), inertia=Inertia(2.0, (0.1, 0, 0), np.eye(3)))]))
MJCF = """<mujoco model="m"><worldbody><body name="b"><joint name="j" axis="0 0 1"/>
<geom size="0.1" mass="1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("name", BUILTIN)
def test_built_in_robots_load_by_name(name):
    assert isinstance(load(name), Robot)


def test_a_floating_built_in_hangs_on_body_0():
    fixed, floating = load("panda"), load("panda", floating=True)
    assert isinstance(floating.bodies[0].joint, Free)
    assert floating.nv == fixed.nv + 6
    assert not any(body.parent is None for body in floating.bodies[1:])


def test_a_floating_robot_is_not_floated_again():
    text = urdf_text(Robot("r", [Body("a", None, Free())]))
    with pytest.raises(ModelError, match="floating"):
        load(text, floating=True)


@pytest.mark.parametrize("source, meant", [("pandaa", "panda"), ("puma", "puma560"),
                                           ("./ur5", "ur5")])
def test_a_name_that_is_none_gets_the_nearest_and_the_list(source, meant):
    with pytest.raises(ArgumentError, match=f"did you mean '{meant}'") as caught:
        load(source)
    assert all(name in str(caught.value) for name in list(BUILTIN)[:LISTED])
    assert f"and {len(BUILTIN) - LISTED} more" in str(caught.value)


@pytest.mark.parametrize("source", ["", "no/such/file.urdf", "a\0b", "x" * 5000, 3, None,
                                    b"<robot/>"])
def test_what_is_no_source_is_refused(source):
    with pytest.raises(ArgumentError, match=r"source must be|no file and no built-in robot"):
        load(source)


@pytest.mark.parametrize("name", ["r.urdf", "r.xml", "robot"])
def test_the_root_element_decides_not_the_extension(tmp_path, name):
    path = tmp_path / name
    path.write_text(URDF)
    assert load(path).joint_names == load(str(path)).joint_names == ("j1", "j2")
    pytest.importorskip("mujoco")
    path.write_text(MJCF)
    assert load(path).joint_names == ("j",)


def test_a_toml_table_loads(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text('convention = "modified_dh"\n[[rows]]\nd = 0.4\nmass = 2.0\n')
    assert load(path).nv == 1
    assert load(path, floating=True).nv == 7


@pytest.mark.parametrize("text", [URDF, "\n  " + URDF, "\ufeff" + URDF,
                                  '<?xml version="1.0"?>' + URDF,
                                  '\n<?xml version="1.0" encoding="utf-16"?>\n' + URDF])
def test_xml_text_loads_whatever_encoding_it_declares(text):
    assert load(text).nv == 2


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "utf-8-sig"])
def test_a_files_encoding_is_honoured(tmp_path, encoding):
    path = tmp_path / "r.urdf"
    declared = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{declared}"?>' + URDF.replace('"j1"', '"gelenk-ä"')
    path.write_bytes(text.encode(encoding))
    assert load(path).joint_names == ("gelenk-ä", "j2")


def test_line_numbers_of_a_text_count_its_own_lines():
    with pytest.raises(FormatError, match="<text>:4: "):
        load('\n<?xml version="1.0"\n?>\n<robot name="r"/>')


def test_a_foreign_root_is_refused():
    with pytest.raises(FormatError, match=r":1: the root element is <html>; <robot> \(URDF\)"):
        load("<html/>")


@pytest.mark.parametrize("content", [b"", b"hello", b"\x00\x01\x02", b"\xff\xfe"])
def test_a_file_that_is_no_xml_is_refused_with_its_name(tmp_path, content):
    path = tmp_path / "r.urdf"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"r\.urdf:1: "):
        load(path)


def test_folders_and_devices_are_refused(tmp_path):
    for path in (tmp_path, *(p for p in ("/dev/zero",) if os.path.exists(p))):  # noqa: PTH110
        with pytest.raises(FormatError, match="no regular file"):
            load(path)


def test_a_file_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "r.urdf"
    with path.open("wb") as stream:
        stream.write(b"<robot>")
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(FormatError, match="larger than 32 MB"):
        load(path)


def in_robot(elements):
    return '<robot name="r">' + "".join(elements) + "</robot>"


LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
HOSTILE = {
    "deep nesting": "<robot>" + "<a>" * 3_000_000,
    "deep closed": "<robot>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>",
    "entity bomb": f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]><robot name="&l11;">&l11;</robot>',
    "doctype": '<!DOCTYPE robot><robot name="r"/>',
    "external entity": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot>&x;</robot>',
    "external dtd": '<!DOCTYPE robot SYSTEM "http://example.org/robot.dtd"><robot name="r"/>',
    "long attribute": '<robot name="' + "x" * 11_000_000 + '"/>',
    "many attributes": "<robot " + " ".join(f'a{i}="1"' for i in range(200_000)) + "/>",
    "many roots": in_robot(f'<link name="l{i}"/>' for i in range(9_999)),
    "too many links": in_robot(f'<link name="l{i}"/>' for i in range(300_000)),
    "too many elements": in_robot("<a/>" for i in range(1_000_000)),
    "long cycle": in_robot(
        f'<link name="l{i}"/><joint name="j{i}" type="fixed"><parent link="l{i}"/>'
        f'<child link="l{(i + 1) % 9_000}"/></joint>' for i in range(9_000)),
    "many mimics": in_robot(
        f'<link name="l{i}"/><joint name="j{i}" type="revolute"><parent link="l{i}"/>'
        f'<child link="l{i + 1}"/><mimic joint="j{i + 1}"/></joint>' for i in range(5_000)),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_documents_are_refused_within_seconds(text):
    """Ten seconds are many times what any of them takes: it is a hang that is looked for."""
    start = time.process_time()
    with pytest.raises(ClosedformError):
        load(text)
    assert time.process_time() - start < 10


@pytest.mark.parametrize("text", [
    '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
    '<parent link="a"/><child link="b"/><limit lower="2" upper="1" effort="1" velocity="1"/>'
    "</joint></robot>",
    '<sdf version="1.7"><model name="m"><link name="a"/><link name="b"/><joint name="j" '
    'type="revolute"><parent>a</parent><child>b</child><axis/></joint></model></sdf>',
    '<mujoco><option density="1"/><worldbody><body><joint/><geom size="1"/></body></worldbody>'
    "</mujoco>"], ids=["URDF", "SDF", "MJCF"])
def test_a_warning_names_the_line_that_loads_the_file(text):
    with pytest.warns(ModelWarning) as told:
        load(text)
    assert [Path(one.filename) for one in told] == [Path(__file__)]
