"""Names that would leave their line are refused, wherever they come from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import closedform as cf
from closedform.model.names import name_fault

REFUSED = ["\0", "\t", "\n", "\v", "\f", "\r", "\x1b", "\x1c", "\x7f", "\x85", "\u2028", "\u2029",
           "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068", "\u2069",
           "\ud800", "\udfff"]
ODD_BUT_LEGAL = ["*/", "\\", "??/", '"""', "%}", "'", "$(x)", "</script>", "a b", "Größe",
                 "рука", "手", "a\u200cb", "\u00a0", "😀"]
LINK = cf.FlexibleLink(1.0, 1.0, 1.0)


def body(name="b", **joint):
    return cf.Body(name, None, cf.Revolute((0, 0, 1), **joint), inertia=cf.Inertia(1.0))


MAKERS = {
    "robot": lambda name: cf.Robot(name, [body()]), "body": body,
    "frame": lambda name: cf.Frame(name, None), "joint": lambda name: cf.Free(name=name),
    "mimic": lambda name: cf.Mimic(cf.Prismatic((0, 0, 1)), "b", name=name),
    "arm": lambda name: cf.FlexibleArm((LINK,), name=name),
    "table": lambda name: cf.from_modified_dh([{"name": name}]),
    "screws": lambda name: cf.from_screws([{"screw": (0, 0, 0, 0, 0, 1), "joint_name": name}]),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_everything_with_a_name_refuses_characters_that_leave_their_line(make):
    for character in REFUSED:
        for name in (character, f"a{character}b", f"a{character}"):
            with pytest.raises(cf.ModelError, match=f"U\\+{ord(character):04X}"):
                make(name)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_all_other_characters_may_stand_in_names(make):
    for name in ODD_BUT_LEGAL:
        make(name)


@given(st.text(min_size=1))
def test_a_legal_name_is_one_line_in_every_reading(name):
    if name_fault(name) is None:
        assert name.splitlines() == [name]
        assert name.encode("utf8").decode("utf8") == name


@pytest.mark.parametrize("name", ["", 3, None])
def test_an_arm_needs_a_name_as_a_robot_does(name):
    with pytest.raises(cf.ModelError, match="arm name must be a non-empty text"):
        cf.FlexibleArm((LINK,), name=name)


URDF = """<robot name="{robot}">
  <link name="base"/>
  <link name="{link}"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="{joint}" type="continuous"><parent link="base"/><child link="{link}"/></joint>
</robot>
"""
MJCF = """<mujoco model="{robot}">
  <worldbody>
    <body name="{link}">
      <joint name="{joint}"/><geom size="1"/>
      <site name="{site}"/>
    </body>
  </worldbody>
</mujoco>
"""
TOML = """name = "{robot}"
convention = "bodies"
[[rows]]
name = "{link}"
joint = "revolute"
joint_name = "{joint}"
axis = [0, 0, 1]
mass = 1
[[frames]]
name = "{site}"
"""
PLAIN = {"robot": "r", "link": "l", "joint": "j", "site": "s"}
CASES = [("urdf", URDF, {"robot": 1, "link": 3, "joint": 5}),
         ("xml", MJCF, {"robot": 1, "link": 3, "joint": 4, "site": 5}),
         ("toml", TOML, {"robot": 1, "link": 4, "joint": 6, "site": 10})]


@pytest.mark.parametrize("suffix, text, place", [
    (suffix, text, place) for suffix, text, lines in CASES for place in lines.items()])
def test_loaders_and_lint_say_in_which_line_a_refused_name_stands(suffix, text, place, tmp_path):
    if suffix == "xml":
        pytest.importorskip("mujoco", reason="NOT TESTED: pip install mujoco")
    what, line = place
    path = tmp_path / f"model.{suffix}"
    for code in ("000A", "2028", "202E"):
        reference = f"\\u{code}" if suffix == "toml" else f"&#x{code};"
        path.write_text(text.format(**{**PLAIN, what: f"x{reference}system"}), encoding="utf8")
        with pytest.raises(cf.FormatError, match=f"model.{suffix}:{line}: .*U\\+{code}"):
            cf.load(path)
        findings = [f for f in cf.lint(path) if f"U+{code}" in f.message]
        assert findings and findings[0].level is cf.Level.ERROR
        assert f"model.{suffix}:{line}" in str(findings[0])
    path.write_text(text.format(**PLAIN), encoding="utf8")
    assert cf.load(path).joint_names == ("j",)
    assert not [f for f in cf.lint(path) if "U+" in f.message]


def test_lint_lists_every_refused_name_of_a_urdf():
    text = URDF.format(robot="a&#10;", link="b&#10;", joint="c&#13;")
    assert [f.line for f in cf.lint(text) if f.rule == "bad-name"] == [1, 3, 5]


def test_refused_names_in_nested_tables_and_over_several_lines_are_found(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text('convention = "bodies"\nname = """a\nb"""\n')
    with pytest.raises(cf.FormatError, match=r"model.toml: name 'a\\nb' holds"):
        cf.load(path)
    path.write_text('convention = "bodies"\n\nframes = [{name = "x\\u001b", body = "b"}]\n')
    with pytest.raises(cf.FormatError, match=r"model.toml:3: name 'x\\x1b' holds"):
        cf.load(path)


def test_prose_may_have_lines_but_no_other_control_characters(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text('source = """a\nb"""\n' + TOML.format(**PLAIN))
    assert cf.load(path).source == "a\nb"
    path.write_text('source = "a\\u001b[2J"\n' + TOML.format(**PLAIN))
    with pytest.raises(cf.FormatError, match=r"model.toml:1: source .*U\+001B"):
        cf.load(path)


def test_names_of_flexible_arms_in_files_are_checked_with_their_line(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text('[[links]]\nlength = 1\ndensity = 1\nstiffness = 1\n[payload]\nmass = 1\n')
    cf.flexible.load(path)
    path.write_text('# an arm\nname = "a\\nb"\n' + path.read_text())
    with pytest.raises(cf.FormatError, match=r"arm.toml:2: name .*U\+000A"):
        cf.flexible.load(path)
