"""The identified robot as a `cf.Robot`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from closedform.applications.identification.model import Model
from closedform.arrays import Floats
from closedform.errors import ArgumentError
from closedform.model.inertia import Inertia
from closedform.model.robot import Robot


def identified_robot(model: Model, standard: Floats) -> Robot:
    """The model's robot with other inertias, rotors, viscous and Coulomb friction.

    What a joint cannot hold (offsets, other numbers for each direction) stays in the fit.
    """
    values = dict(zip(model.standard_names, map(float, standard), strict=True))
    negative = below_zero(model, standard)
    if negative:
        raise ArgumentError(f"no joint has what was found: {', '.join(negative[:4])} below zero; "
                            'fit(method="consistent") keeps to what can be')
    bodies = []
    for k, body in enumerate(model.body.bodies):
        inertia = Inertia.from_parameters(standard[10 * k:10 * k + 10])
        keywords: dict[str, Any] = {"rotor_inertia": _rotor(model, k, values)}
        for kind in ("viscous", "coulomb"):
            names = [f"{model.velocity_names[i]}.{kind}" for i in _velocities(model, k)]
            found = [values[n] for n in names if n in values]
            if found:
                keywords[kind] = found[0] if len(found) == 1 else tuple(found)
        bodies.append(replace(body, inertia=inertia, joint=replace(body.joint, **keywords)))
    return replace(model.robot, bodies=tuple(bodies))


def below_zero(model: Model, standard: Floats) -> list[str]:
    """Friction and rotors that no joint has: negative ones."""
    return sorted(n for n, x in zip(model.standard_names, standard, strict=True) if x < 0 and (
        n.rpartition(".")[2] in ("viscous", "coulomb") or ".rotor" in n))


def _velocities(model: Model, k: int) -> list[int]:
    joint = model.robot.bodies[k]
    if joint.joint.driver is not None or joint.joint_name not in model.robot.v_slices:
        return []
    inside = range(*model.robot.v_slices[joint.joint_name].indices(model.robot.nv))
    return [i for i in inside if i in model.actuated]


def _rotor(model: Model, k: int, values: dict[str, float]) -> float | tuple[float, ...] | None:
    body = model.body.bodies[k]
    name, given = body.joint_name, body.joint.rotor_inertia
    if given is None:
        return values.get(f"{name}.rotor")
    if np.ndim(given) == 0:
        return values[f"{name}.rotor"]
    return tuple(values[f"{name}.rotor{i}"] for i in range(len(given)))
