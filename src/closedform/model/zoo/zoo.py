"""The built-in robots: tables in `robots/`, none with rotor inertia or friction."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files

from closedform.errors import UnknownName
from closedform.model.formats.dh import unknown
from closedform.model.formats.table import read_table
from closedform.model.robot import Robot

BUILTIN = {
    "planar2r": "two revolute links in a vertical plane, point masses (Müller & Kumar 2021)",
    "planar3r": "three revolute links in a plane, redundant for its tip (Chang 1987)",
    "puma560": "Unimation PUMA 560, 6 joints (Gautier & Khalil 1990; Armstrong et al. 1986)",
    "stanford": "Stanford arm, 5 revolute joints and a prismatic one (Paul 1981)",
    "rx90": "Stäubli RX-90, 6 joints, estimated inertias (SYMORO's geometry)",
    "ur5": "Universal Robots UR5, 6 joints",
    "iiwa14": "KUKA LBR iiwa 14 R820, 7 joints, identified inertias (Müller & Kumar 2021)",
    "panda": "Franka Emika Panda with its hand, 7 joints, fingers locked",
    "humanoid25": "humanoid of 76.4 kg on a free base, 25 joints, synthetic (TORO's tree)",
    "four_bar": "crank, coupler and rocker in a vertical plane: one loop, 1 degree of freedom",
    "five_bar": "planar parallel robot with two motors at its base: one loop",
    "palletiser": "palletising robot, 4 motors: three parallelograms",
    "delta": "Delta robot with six rods: six loops, 3 degrees of freedom",
    "stewart": "Gough-Stewart platform on six legs: six loops, 6 degrees of freedom",
    "ankle": "humanoid ankle pushed by two rods: two loops, pitch and roll",
}
"""Names of the built-in robots, each with one line about it."""

NAMES = tuple(BUILTIN)


@cache
def builtin(name: str, floating: bool = False) -> Robot:
    """The built-in robot of that name; with `floating` its root link is on a free joint."""
    if name not in BUILTIN:
        raise UnknownName(unknown("built-in robot", name, NAMES))
    with as_file(files("closedform.model.zoo") / "robots" / f"{name}.toml") as path:
        return read_table(path, floating)
