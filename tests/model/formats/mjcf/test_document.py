"""What MuJoCo reads is read, though it be no XML; what is no MJCF is not taken for it."""

import pytest

from closedform.errors import FormatError
from closedform.model.formats.mjcf.document import is_mjcf
from closedform.model.lint.lint import lint
from closedform.model.load import load
from mjcf_models import ARM

mujoco = pytest.importorskip("mujoco")

LOOSE = {
    "double hyphen in a comment": ARM.replace("<worldbody>", "<!-- a -- b --><worldbody>"),
    "comment before the root": "<!-- <robot/> -- -->\n" + ARM,
    "further end tag": ARM + "</mujoco>",
    "declaration of another version": '<?xml version="0.0" ?>\n' + ARM,
    "leading lines": "\n\n  " + ARM,
}


@pytest.mark.parametrize("text", LOOSE.values(), ids=LOOSE)
def test_the_owner_of_the_format_decides_what_is_well_formed(text, tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(text)
    mujoco.MjModel.from_xml_path(str(path))  # MuJoCo reads it
    for source in (text, path):
        assert load(source).joint_names == ("h", "t", "w")
        assert not [f for f in lint(source) if f.level.value == "error"]


@pytest.mark.parametrize(("text", "expected"), [
    (ARM, True), ("\ufeff<mujoco/>", True), ("<mujoco>", True), ("<mujoco", True),
    ("<mujocos/>", False), ("<mujoco_x/>", False), ("<robot><mujoco/></robot>", False),
    ("<!-- <mujoco/> --><robot/>", False), ("<!-- <mujoco/>", False), ("", False),
    ("<!DOCTYPE a><mujoco/>", True),
])
def test_the_first_element_decides(text, expected):
    assert is_mjcf(text) is expected


def test_an_endless_row_of_comments_takes_no_time():
    assert not is_mjcf("<!-- a -->" * 20_000 + "<robot/>")


def test_names_are_looked_at_in_loose_documents_too():
    loose = LOOSE["further end tag"].replace('name="a"', 'name="a&#10;b"')
    with pytest.raises(FormatError, match="body name"):
        load(loose)


def test_depth_stays_bounded():
    with pytest.raises(FormatError):
        load("<mujoco><worldbody>" + "<body>" * 3000 + "-- <!-- -- -->")


def chain(count, before="", name="a"):
    body = ('<body name="b{}" pos="0.1 0 0"><joint axis="0 1 0"/>'
            '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>')
    return (f'{before}<mujoco model="{name}"><worldbody>' + "".join(map(body.format, range(count)))
            + "</body>" * count + "</worldbody></mujoco>")


def test_a_chain_of_three_hundred_bodies_inside_each_other_loads(tmp_path):
    """Refused once, at the parser's depth of 256; MuJoCo's own reader goes to 500."""
    path = tmp_path / "chain.xml"
    path.write_text(chain(300))
    assert load(path).nv == load(chain(300)).nv == 300
    assert not [f for f in lint(path) if f.level.value == "error"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp500"])
def test_depth_and_entities_together_stay_refused(tmp_path, encoding):
    entities = '<!DOCTYPE a [<!ENTITY a "x"><!ENTITY b "&a;&a;">]>'
    declared = f'<?xml version="1.0" encoding="{encoding}"?>' if encoding != "utf-16" else ""
    path = tmp_path / "chain.xml"
    path.write_bytes(chain(300, declared + entities, "&b;").encode(encoding))
    with pytest.raises(FormatError):
        load(path)


@pytest.mark.parametrize("blank", ["&#10;", " ", "\t "])
def test_blanks_where_numbers_stand_never_reach_mujoco(blank):
    """Its parser gives up there, and the next file with a remark would wait for ever."""
    text = ARM.replace("</mujoco>", f'<equality><connect body1="a" body2="b" anchor="{blank}"/>'
                       "</equality></mujoco>")
    with pytest.raises(FormatError, match="the attribute anchor of <connect> is blank"):
        load(text)
    assert [f.rule for f in lint(text)] == ["blank"]
