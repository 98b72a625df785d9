"""Coordinates of a tree: neutral and random ones, limits, moving along tangent vectors and back.

    q ⊕ dv = q · exp(dv),    q1 ⊖ q0 = log(q0⁻¹ · q1)        for each joint's own group

Batch axes come first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from closedform.arrays import NUMBERS, Array, ArrayLike, Floats, Namespace, namespace, real_array
from closedform.errors import ArgumentError
from closedform.model.groups.matrices import (
    ad_se3,
    right_jacobian_se3,
    right_jacobian_se3_inverse,
)
from closedform.model.groups.quaternions import normalised, squared_length
from closedform.model.joints import Joint
from closedform.model.tree import Tree


def neutral(tree: Tree) -> np.ndarray:
    """q with every joint at its zero and every quaternion at (0, 0, 0, 1)."""
    return np.concatenate([np.zeros(0), *(b.joint.neutral() for b, _, _ in tree.parts)])


def random(tree: Tree, rng: int | np.random.Generator | None = None) -> np.ndarray:
    """A random q; `rng` is a NumPy generator or a seed."""
    rng = generator(rng)
    return np.concatenate([np.zeros(0), *(b.joint.random(rng) for b, _, _ in tree.parts)])


def generator(rng: int | np.random.Generator | None) -> np.random.Generator:
    """A NumPy generator, or that of a seed."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise ArgumentError("rng must be a NumPy generator, a seed that is not negative or "
                            f"None, not {rng!r}") from error


def limits(tree: Tree, keyword: str, missing: float) -> np.ndarray:
    """The numbers of a keyword, one for each entry of q (`lower`, `upper`) or of v."""
    by = "nq" if keyword in ("lower", "upper") else "nv"
    parts = [b.joint.per_coordinate(keyword, getattr(b.joint, by), missing)
             for b, _, _ in tree.parts]
    return np.concatenate([np.zeros(0), *parts])


def integrate(tree: Tree, q: ArrayLike, dv: ArrayLike) -> np.ndarray:
    """q ⊕ dv, (..., nq)."""
    return np.asarray(moved(tree, *together(tree, "integrate", q=q, dv=dv)))


def moved(tree: Tree, q: Array, dv: Array) -> Array:
    """q ⊕ dv, (..., nq), over generic arrays."""
    parts = [b.joint.integrate(q[..., i], dv[..., j]) for b, i, j in tree.parts]
    return namespace(q, dv).concatenate([q[..., :0], *parts], axis=-1)


def difference(tree: Tree, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
    """q1 ⊖ q0, (..., nv)."""
    return np.asarray(way_between(tree, *together(tree, "difference", q0=q0, q1=q1)))


def way_between(tree: Tree, q0: Array, q1: Array) -> Array:
    """q1 ⊖ q0, (..., nv), over generic arrays."""
    parts = [b.joint.difference(q0[..., i], q1[..., i]) for b, i, _ in tree.parts]
    return namespace(q0, q1).concatenate([q0[..., :0], *parts], axis=-1)


def rates(tree: Tree, q: Array, v: Array, xp: Namespace = NUMBERS) -> Array:
    """q̇ = Γ(q) v, (nq,), over generic arrays."""
    return xp.concatenate([q[:0], *(b.joint.rates(q[i], v[j], xp) for b, i, j in tree.parts)])


def units(tree: Tree) -> dict[str, slice]:
    """Where q holds unit vectors (quaternions), by joint."""
    return {b.joint_name: slice(i.start + b.joint.unit.start, i.start + b.joint.unit.stop)
            for b, i, _ in tree.parts if b.joint.unit}


def projected(tree: Tree, q: Array) -> Array:
    """q with its unit vectors (quaternions) at length one, (..., nq), over generic arrays."""
    for at in units(tree).values():
        q = _with(q, at, normalised(q[..., at]))
    return q


def integrand(tree: Tree, y: Array, q: Array, v: Array) -> Array:
    """ẏ = Γ(y) v, (nq,), over generic arrays; q is `projected` y.

    Unit vectors in y may drift from length one while an integrator runs: their rates are right in
    direction for any length.
    """
    xp = namespace(y, q, v)
    dy = rates(tree, q, v, xp)
    for at in units(tree).values():
        dy = _with(dy, at, dy[at] * xp.sqrt(squared_length(y[at])))
    return dy


def _with(q: Array, at: slice, x: Array) -> Array:
    return namespace(q, x).concatenate([q[..., :at.start], x, q[..., at.stop:]], axis=-1)


def coordinate_names(slices: Mapping[str, slice]) -> list[str]:
    """One name for each coordinate: the joint's, with a number where it has several."""
    return [name if at.stop - at.start == 1 else f"{name}[{i}]"
            for name, at in slices.items() for i in range(at.stop - at.start)]


def integrate_jacobians(tree: Tree, q: ArrayLike, dv: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """∂(q ⊕ dv)/∂q = Ad(exp dv)⁻¹ and ∂(q ⊕ dv)/∂dv = J_r(dv), (..., nv, nv) each.

    Both sides are tangent vectors: at q or dv, and at q ⊕ dv.
    """
    q, dv = together(tree, "integrate_jacobians", q=q, dv=dv)
    return (_blocks(tree, dv, lambda S, P, d: _identity(d) - _ad(S, P, d) @ _right(S, P, d)),
            _blocks(tree, dv, _right))


def difference_jacobians(tree: Tree, q0: ArrayLike, q1: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """∂(q1 ⊖ q0)/∂q0 = −J_l⁻¹ and ∂(q1 ⊖ q0)/∂q1 = J_r⁻¹ at the difference, (..., nv, nv) each.

    J_l⁻¹(d) = J_r⁻¹(−d).
    """
    d = difference(tree, q0, q1)
    return -_blocks(tree, -d, _right_inverse), _blocks(tree, d, _right_inverse)


Block = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""(S, S⁺, d) -> a joint's block (..., nv, nv) at its tangent vectors d (..., nv)."""


def _blocks(tree: Tree, d: np.ndarray, of_group: Block) -> np.ndarray:
    """A matrix with each joint's block on the diagonal; that of joints with v = q̇ is 1."""
    result = np.zeros((*d.shape, tree.nv))
    for body, _, at in tree.parts:
        result[..., at, at] = _identity(d[..., at]) if body.joint.is_vector else \
            of_group(*_subspace(body.joint), d[..., at])
    return result


def _subspace(joint: Joint) -> tuple[np.ndarray, np.ndarray]:
    """S and S⁺: a joint's motions are a group within SE(3), whose matrices act on S alone."""
    S = np.asarray(joint.S)
    return S, np.linalg.pinv(S)


def _identity(d: np.ndarray) -> np.ndarray:
    return np.broadcast_to(np.eye(d.shape[-1]), (*d.shape, d.shape[-1]))


def _right(S: np.ndarray, P: np.ndarray, d: np.ndarray) -> np.ndarray:
    return P @ right_jacobian_se3(d @ S.T) @ S


def _right_inverse(S: np.ndarray, P: np.ndarray, d: np.ndarray) -> np.ndarray:
    return P @ right_jacobian_se3_inverse(d @ S.T) @ S


def _ad(S: np.ndarray, P: np.ndarray, d: np.ndarray) -> np.ndarray:
    return P @ ad_se3(d @ S.T) @ S


# ---------------------------------------------------------------------- checking
def together(tree: Tree, function: str, **given: ArrayLike) -> tuple[Floats, Floats]:
    """Two arrays of numbers as wide as q or v, broadcast to the batch axes they have together."""
    title = f"{function} of {tree.name}"
    arrays = {name: real_array(x, (tree.nv if name == "dv" else tree.nq,), f"{title}: {name}")
              for name, x in given.items()}
    try:
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ArgumentError(f"{title}: the batch axes do not fit together: {shapes}") from None
    a, b = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in arrays.values())
    return a, b
