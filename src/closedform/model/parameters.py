"""Inertial parameters of a tree: ten for each body, then the rotor inertias that are given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from closedform.arrays import ArrayLike, exact_or_float
from closedform.errors import ArgumentError, ModelError
from closedform.model.bodies import Body
from closedform.model.inertia import PARAMETER_NAMES, Inertia
from closedform.model.tree import Tree
from closedform.model.vectors import as_given

T = TypeVar("T", bound=Tree)


def parameters(tree: Tree) -> np.ndarray:
    """The numbers, in the order of `parameter_names`."""
    rotors = [np.atleast_1d(exact_or_float(given)) for _, given in _rotors(tree)]
    return np.concatenate([np.zeros(0), *(b.inertia.array for b in tree.bodies), *rotors])


def parameter_names(tree: Tree) -> tuple[str, ...]:
    """`body.Ixx`, `joint.rotor`; with a number where the velocities have rotors of their own."""
    masses = [f"{body.name}.{p}" for body in tree.bodies for p in PARAMETER_NAMES]
    rotors = [f"{body.joint_name}.rotor{i if np.ndim(r) else ''}"
              for body, r in _rotors(tree) for i in range(np.size(r))]
    return (*masses, *rotors)


def _rotors(tree: Tree) -> list[tuple[Body, Any]]:
    pairs = [(body, body.joint.rotor_inertia) for body in tree.bodies]
    return [(body, given) for body, given in pairs if given is not None]


def rotor_map(tree: Tree) -> np.ndarray:
    """(nv, given rotor inertias): what each adds to the diagonal of M; a mimic's ratio squared."""
    columns: list[np.ndarray] = []
    for k, body in enumerate(tree.bodies):
        given = body.joint.rotor_inertia
        if given is not None:       # a mimic of several joints has none, or zero
            parts = [s for s in tree.segments if s.owner == k]
            if any(s.higher for s in parts):
                raise ModelError(f"{body.joint_name!r} follows another joint by a polynomial: what "
                                 "its rotor adds to M changes with q; cf.mass_matrix has it")
            unit = [np.array([s.ratio * s.ratio if i == at and not isinstance(s.ratio, tuple) else 0
                              for i in range(tree.nv)])
                    for s in parts for at in s.v_index]
            columns += unit if np.ndim(given) else [sum(unit, np.zeros(tree.nv, dtype=int))]
    return np.stack(columns, axis=1) if columns else np.zeros((tree.nv, 0))


def with_parameters(tree: T, given: ArrayLike) -> T:
    """The same tree with other numbers, symbols or recorded scalars for its parameters."""
    pi = as_given(given, f"with_parameters of {tree.name}: parameters must be numbers")
    shape = parameters(tree).shape
    if pi.shape != shape:
        raise ArgumentError(f"with_parameters of {tree.name}: parameters must have the shape "
                            f"{shape}, not {pi.shape}")
    rest, bodies = list(pi[10 * len(tree.bodies):]), []
    for k, body in enumerate(tree.bodies):
        joint, r = body.joint, body.joint.rotor_inertia
        if r is not None:
            taken, rest = rest[:np.size(r)], rest[np.size(r):]
            joint = replace(joint, rotor_inertia=tuple(taken) if np.ndim(r) else taken[0])
        inertia = Inertia.from_parameters(pi[10 * k:10 * k + 10])
        bodies.append(replace(body, joint=joint, inertia=inertia))
    return replace(tree, bodies=tuple(bodies))
