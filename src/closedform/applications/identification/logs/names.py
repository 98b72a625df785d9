"""What a column's name says: `panda_joint1.position`, `q1`, `/joint_states/elbow/velocity`."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

WORDS = {
    "t": "t time times timestamp timestamps stamp seconds secs clock header.stamp",
    "q": "q pos position positions theta angle angles joint_position joint_positions q_meas "
         "q_actual actual_q actual_joint_positions",
    "v": "v dq qd qdot dq_dt vel velocity velocities speed speeds joint_velocity joint_velocities "
         "actual_qd",
    "a": "a ddq qdd qddot acc accel acceleration accelerations joint_acceleration",
    "tau": "tau effort efforts torque torques trq joint_torque joint_torques tau_j tau_meas",
    "current": "current currents i cur actual_current motor_current",
    "motor_position": "motor_position motor_positions motor_pos theta_m q_m q_motor theta_motor "
                      "motor_angle",
    "motor_torque": "motor_torque motor_torques tau_m tau_motor motor_effort",
}
KIND_OF = {word: kind for kind, words in WORDS.items() for word in words.split()}
COMMANDED = re.compile(r"desired|target|command|cmd|setpoint|reference|error|(^|[_./])(des|ref)\b")
_WORD = "|".join(sorted(map(re.escape, KIND_OF), key=len, reverse=True))
_LAST = re.compile(rf"(?:(.*?)([./:\s_-]+))?(?:measured_|actual_|msr_)?({_WORD})", re.IGNORECASE)
_FIRST = re.compile(rf"(?:.*[./:])?({_WORD})([./:\s_-]|\[|\()+(.+?)[\])]?", re.IGNORECASE)
_NUMBERED = re.compile(rf"(?:.*[./:])?(?:measured_|actual_|msr_)?({_WORD})[_.\s-]*"
                       r"(?:joint|axis|j)?[_.\s-]*\[?\(?(\d+)\)?\]?", re.IGNORECASE)
_NUMBER_FIRST = re.compile(r"(?:.*[./:])?(?:joint|axis|j)[_\s-]*(\d+)", re.IGNORECASE)


class Meaning(NamedTuple):
    """A kind, and for which joint (a name, a number, or None: not said)."""

    kind: str
    joint: str | int | None


def meaning(name: str, joints: Collection[str]) -> Meaning | None:
    """What a column holds, or None; `joints` are the robot's names, which go before all else."""
    plain = name.strip().strip("_")
    if plain in joints:
        return Meaning("q", plain)
    if COMMANDED.search(plain.lower()):
        return None
    by_joint = _with_joint(plain, joints)
    if by_joint is not None and by_joint.joint in joints:
        return by_joint
    match = _NUMBERED.fullmatch(plain)
    if match:
        return Meaning(KIND_OF[match[1].lower()], int(match[2]))
    match = _LAST.fullmatch(plain)
    if match and (not match[1] or "/" in match[2] or "." in match[2]) and _path_only(match[1]):
        return Meaning(KIND_OF[match[3].lower()], None)
    return by_joint


def _path_only(rest: str | None) -> bool:
    """Whether what stands before a word names no joint: nothing, or a topic."""
    return not rest or rest.rpartition("/")[2] in ("", "joint_states", "state")


def _with_joint(plain: str, joints: Collection[str]) -> Meaning | None:
    """`joint.word` or `word.joint`; what is no joint of the robot may be one under another name."""
    last, first = _LAST.fullmatch(plain), _FIRST.fullmatch(plain)
    for match, word, rest in ((last, 3, 1), (first, 1, 3)):
        if match and match[rest] and _joint(match[rest], joints) in joints:
            return Meaning(KIND_OF[match[word].lower()], _joint(match[rest], joints))
    if last and last[1] and len(last[3]) > 1:
        number = _NUMBER_FIRST.fullmatch(last[1])
        joint = int(number[1]) if number else last[1].rpartition("/")[2]
        return Meaning(KIND_OF[last[3].lower()], joint) if joint != "" else None
    if first and len(first[1]) > 1 and not first[3].isdigit():
        return Meaning(KIND_OF[first[1].lower()], first[3])
    return None


def _joint(rest: str, joints: Collection[str]) -> str:
    """The joint at the end of a path, which may have separators in its name."""
    if rest in joints:
        return rest
    tails = [rest[m.end():] for m in re.finditer(r"[./:]", rest)]
    return next((tail for tail in tails if tail in joints), rest)


def other_prefix(wanted: Collection[str], found: Collection[str]) -> dict[str, str] | None:
    """The one way in which the names wanted become names found by exchanging a prefix, or None.

    `panda_joint1 … panda_joint7` are `fer_joint1 … fer_joint7`; of two arms `left_…` and `right_…`
    no single way leads to the joints of one.
    """
    first = next(iter(wanted), "")
    ways = []
    for name in found:
        same = 0
        while same < min(len(first), len(name)) and first[-1 - same] == name[-1 - same]:
            same += 1
        old, new = first[:len(first) - same], name[:len(name) - same]
        way = {w: new + w.removeprefix(old) for w in wanted if w.startswith(old)}
        letters = re.search(r"[^\W\d_]", first[len(old):])
        if letters and len(way) == len(wanted) and set(way.values()) <= set(found):
            ways.append(way)
    return ways[0] if len(ways) == 1 else None
