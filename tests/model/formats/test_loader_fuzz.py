"""Damaged files give a robot or one of our errors, never anything else and never a hang.

Every case is made from its number alone: `mutated(number)` replays the one that a failure names.
"""

import random
import re
import time
import warnings
from importlib.resources import files

import pytest

from closedform.errors import ClosedformError
from closedform.model.formats.table import read_table
from closedform.model.lint.lint import lint
from closedform.model.load import load
from closedform.model.robot import Robot
from closedform.model.zoo.zoo import BUILTIN

SECONDS = 30
URDF = """<?xml version="1.0" encoding="utf-8"?>
<robot name="fuzz">
  <link name="base"><inertial><mass value="3"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <link name="a"><inertial><origin xyz="0.1 0 0" rpy="0.1 0.2 0.3"/><mass value="1.5"/>
    <inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>
    <visual><geometry><mesh filename="package://x/y.stl"/></geometry></visual></link>
  <link name="b"/><link name="c"/><link name="d"/><link name="e"/><link name="f"/>
  <joint name="j1" type="revolute"><origin xyz="0 0 0.3" rpy="0 1.5707963 0"/>
    <parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="2" effort="30"/>
    <dynamics damping="0.1" friction="2"/></joint>
  <joint name="j2" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
    <limit effort="1" velocity="1"/><mimic joint="j1" multiplier="0.5" offset="0.1"/></joint>
  <joint name="j3" type="fixed"><parent link="b"/><child link="c"/></joint>
  <joint name="j4" type="continuous"><parent link="c"/><child link="d"/></joint>
  <joint name="j5" type="floating"><parent link="base"/><child link="e"/></joint>
  <joint name="j6" type="planar"><parent link="e"/><child link="f"/><axis xyz="0 0 1"/></joint>
</robot>
"""
SDF = """<?xml version="1.0"?>
<sdf version="1.10"><world name="w"><gravity>0 0 -9.8</gravity><model name="m" canonical_link="b">
  <pose degrees="true">0 0 1 10 20 30</pose>
  <frame name="f" attached_to="a"><pose relative_to="a">0 1 0 0 0 0</pose></frame>
  <link name="a"><inertial><pose>0.1 0 0 0 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx>
    <iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
  <link name="b"><pose relative_to="f">0 0 1 0 0 0</pose></link><link name="c"/>
  <link name="d"/><link name="e"/>
  <joint name="j1" type="revolute"><parent>a</parent><child>c</child>
    <axis><xyz expressed_in="f">0 0 1</xyz><limit><lower>-1</lower><upper>1</upper></limit></axis>
  </joint>
  <joint name="j2" type="screw"><parent>c</parent><child>d</child><axis><xyz>1 0 0</xyz></axis>
    <screw_thread_pitch>0.1</screw_thread_pitch></joint>
  <joint name="j3" type="universal"><pose>0 0 1 0 0 0</pose><parent>d</parent><child>e</child>
    <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
  <joint name="j4" type="ball"><parent>in::x</parent><child>b</child></joint>
  <model name="in" placement_frame="x"><pose relative_to="c">0 0 1 0 0 0</pose>
    <link name="x"/></model>
  <joint name="j5" type="prismatic"><parent>e</parent><child>in</child><axis><xyz>0 0 1</xyz>
    <mimic joint="j1"><multiplier>2</multiplier></mimic></axis></joint>
</model></world></sdf>
"""
TABLES = [(files("closedform.model.zoo") / "robots" / f"{name}.toml").read_text()
          for name in BUILTIN]
NUMBERS = ("nan", "inf", "-inf", "1e999", "", "-1", "0", "1e308", "-1e308", "1e-320", "0x10", "1_0",
           "1 2", "½", "true", "[]", "{}", "'", "99999999999999999999")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?")
TAG = re.compile(r"<[^>]*>")
VALUE = re.compile(r'"[^"]*"')


def replaced(rng, text, pattern, by):
    """The text with one match of the pattern replaced."""
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = rng.choice(found)
    return text[:match.start()] + by(match[0]) + text[match.end():]


def flipped_bytes(rng, text):
    content = bytearray(text.encode("utf-8", "surrogateescape"))
    for _ in range(rng.randint(1, 4)):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return content.decode("utf-8", "surrogateescape")


def other_number(rng, text):
    return replaced(rng, text, NUMBER, lambda _: rng.choice(NUMBERS))


def without_a_tag(rng, text):
    return replaced(rng, text, TAG, lambda _: "")


def swapped_values(rng, text):
    values = VALUE.findall(text)
    return replaced(rng, text, VALUE, lambda _: rng.choice(values)) if values else text


def without_a_line(rng, text):
    lines = text.splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    return "".join(lines)


def repeated_lines(rng, text):
    lines = text.splitlines(keepends=True)
    start = rng.randrange(len(lines))
    stop = start + rng.randint(1, 8)
    at = rng.randrange(len(lines))
    return "".join(lines[:at] + lines[start:stop] + lines[at:])


def cut_short(rng, text):
    return text[:rng.randrange(len(text))]


def nested(rng, text):
    depth, at = 10 ** rng.randint(1, 5), rng.randrange(len(text))
    opening, closing = rng.choice((("<a>", "</a>"), ("[", "]"), ("{a=", "}")))
    return text[:at] + opening * depth + closing * rng.choice((0, depth)) + text[at:]


def spliced(rng, text):
    ranges = (128, 0x2FFF)
    rubbish = "".join(chr(rng.randrange(rng.choice(ranges))) for _ in range(9))
    at = rng.randrange(len(text))
    return text[:at] + rubbish + text[at:]


CHANGES = (flipped_bytes, other_number, other_number, without_a_tag, swapped_values, without_a_line,
           repeated_lines, cut_short, nested, spliced)


def mutated(number):
    """Case `number`: whether it is a table, its text with one to four changes, and floating."""
    rng = random.Random(number)
    is_table = rng.random() < 0.4
    text = rng.choice(TABLES) if is_table else rng.choice((URDF, SDF))
    for _ in range(rng.randint(1, 4)):
        text = rng.choice(CHANGES)(rng, text) or " "
    return is_table, text, rng.random() < 0.3


def outcomes(number, tmp_path):
    """What the loaders make of a case as a file and as a text: robots, or None for our errors."""
    is_table, text, floating = mutated(number)
    path = tmp_path / ("case.toml" if is_table else "case.urdf")
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    lint(path)
    read_text = read_table if is_table else load
    return [robot_or_none(load, path, floating), robot_or_none(read_text, text, floating)]


def robot_or_none(read, source, floating):
    try:
        return read(source, floating)
    except ClosedformError:
        return None


def test_damaged_files_give_a_robot_or_one_of_our_errors(tmp_path):
    end, number, robots = time.monotonic() + SECONDS, 0, 0
    while time.monotonic() < end:
        start = time.monotonic()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = outcomes(number, tmp_path)
        except Exception as error:
            _, text, floating = mutated(number)
            pytest.fail(f"case {number} (floating={floating}): {error!r}\n{text[:4000]}")
        assert all(isinstance(x, Robot | None) for x in made), f"case {number}: {made!r}"
        assert time.monotonic() - start < 10, f"case {number} hangs"
        number, robots = number + 1, robots + (made[0] is not None)
    assert number > 100 and 0 < robots < number, (number, robots)
