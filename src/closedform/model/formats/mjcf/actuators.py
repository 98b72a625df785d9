"""What MuJoCo's actuators on single joints tell of the joints: limits, armature, damping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from closedform.errors import ModelError
from closedform.model.formats.mjcf.compiled import import_mujoco


class Actuation(NamedTuple):
    """What all actuators of a joint together add, seen at the joint."""

    effort: float = 0.0  # infinite if one of them has no limit
    armature: float = 0.0
    damping: float = 0.0


def actuations(model: Any) -> dict[int, Actuation]:
    """The actuations of joints with one coordinate, by their numbers."""
    found: dict[int, Actuation] = {}
    for i in range(model.nu):
        j, armature = _joint(model, i), _number(model, "actuator_armature", i)
        if j is None:
            if armature:
                name = model.actuator(i).name or i
                raise ModelError(f"the actuator {name!r} has an armature of {armature:g} and does "
                                 "not act on one hinge or slide; a robot has no place for it: "
                                 "remove it")
            continue
        gear, sofar = float(model.actuator_gear[i][0]), found.get(j, Actuation())
        damping = _number(model, "actuator_damping", i)
        found[j] = Actuation(sofar.effort + abs(gear) * _force_limit(model, i),
                             sofar.armature + (gear * gear * armature if armature else 0.0),
                             sofar.damping + (gear * gear * damping if damping else 0.0))
    return found


def driven_joints(model: Any) -> list[tuple[int, ...]]:
    """The joints of each actuator: the one that it acts on, or those of its fixed tendon."""
    found: list[tuple[int, ...]] = []
    for i in range(model.nu):
        kind = import_mujoco().mjtTrn(int(model.actuator_trntype[i])).name
        j = _joint(model, i)
        if j is not None:
            found.append((j,))
        elif kind == "mjTRN_TENDON":
            joints = [k for k, _ in fixed_tendon(model, int(model.actuator_trnid[i][0]))]
            found.append(tuple(k for k in joints if k is not None and None not in joints))
    return found


def fixed_tendon(model: Any, t: int) -> Iterator[tuple[int | None, float]]:
    """Joints and coefficients of a tendon; None for what is no joint."""
    start = int(model.tendon_adr[t])
    for w in range(start, start + int(model.tendon_num[t])):
        fixed = import_mujoco().mjtWrap(int(model.wrap_type[w])).name == "mjWRAP_JOINT"
        yield (int(model.wrap_objid[w]) if fixed else None), float(model.wrap_prm[w])


def _joint(model: Any, i: int) -> int | None:
    kind = import_mujoco().mjtTrn(int(model.actuator_trntype[i])).name
    j = int(model.actuator_trnid[i][0])
    on_joint = kind in ("mjTRN_JOINT", "mjTRN_JOINTINPARENT")
    return j if on_joint and int(model.jnt_type[j]) in (2, 3) else None


def _number(model: Any, name: str, i: int) -> float:
    """An entry of an array that newer versions have."""
    return float(np.asarray(getattr(model, name))[i]) if hasattr(model, name) else 0.0


def _force_limit(model: Any, i: int) -> float:
    """Of |force|: its range, and of a plain motor the range of its control times its gain."""
    limits = [np.inf]
    if model.actuator_forcelimited[i]:
        limits.append(float(np.abs(model.actuator_forcerange[i]).max()))
    plain = not (model.actuator_gaintype[i] or model.actuator_biastype[i]
                 or model.actuator_dyntype[i])
    if plain and model.actuator_ctrllimited[i]:
        gain = abs(float(model.actuator_gainprm[i][0]))
        limits.append(gain * float(np.abs(model.actuator_ctrlrange[i]).max()))
    return min(limits)
