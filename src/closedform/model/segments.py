"""The tree the equations walk: every joint with a constant motion subspace, every mimic resolved.

A robot's bodies and its segments are the same list, except that a `Universal` joint becomes two
revolute segments, the first of them massless, and that a `Mimic` becomes the joint it drives, with
a ratio on a shared column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from closedform.arrays import Array
from closedform.errors import ModelError
from closedform.model.inertia import Inertia
from closedform.model.joints import KEYWORDS, Joint, Mimic, Revolute, Universal

if TYPE_CHECKING:
    from closedform.model.robot import Body


@dataclass(frozen=True, eq=False)
class Segment:
    """One joint with a constant S and the body it carries (inertia None: it carries none).

    `parent` counts segments from 1; 0 is the world. `owner` is the number of the body whose joint
    this is a part of. `q_index` and `v_index` are the entries of the robot's q and v; the joint's
    own coordinates are ratio · q[q_index] + offset.
    """

    name: str
    parent: int
    placement: Array
    joint: Joint
    inertia: Inertia | None
    owner: int
    q_index: tuple[int, ...]
    v_index: tuple[int, ...]
    ratio: Any = 1
    offset: Any = 0

    @property
    def S(self) -> Array:
        """(6, len(v_index)): the body twist for each velocity, the mimic's ratio included."""
        return self.joint.S * self.ratio

    @property
    def body(self) -> int | None:
        """The number of the body it carries; None for the massless one inside a universal joint."""
        return None if self.inertia is None else self.owner

    def coordinates(self, q: Array) -> Array:
        """The joint's own coordinates, (nq_k,)."""
        return self.ratio * (q[np.array(self.q_index)] if self.q_index else q[:0]) + self.offset

    def velocities(self, v: Array) -> Array:
        """Those of the robot's velocities that move this joint; S times them is its twist."""
        return v[np.array(self.v_index)] if self.v_index else v[:0]


def segments_of(bodies: tuple[Body, ...]) -> tuple[Segment, ...]:
    """The segments of a tree of bodies, parents first."""
    index = {body.name: k for k, body in enumerate(bodies)}
    q_start, v_start = starts(bodies)
    last: dict[str | None, int] = {None: 0}
    result: list[Segment] = []

    def add(owner: int, parent: int, joint: Joint, q: tuple[int, ...], v: tuple[int, ...],
            ratio: Any = 1, offset: Any = 0) -> int:
        body = bodies[owner]
        result.append(Segment(body.name, parent, body.placement, joint, body.inertia, owner, q, v,
                              ratio, offset))
        return len(result)

    for k, body in enumerate(bodies):
        p, joint = last[body.parent], body.joint
        iq = tuple(range(q_start[k], q_start[k] + joint.nq))
        iv = tuple(range(v_start[k], v_start[k] + joint.nv))
        if isinstance(joint, Universal):
            first, second = turns(joint)
            p = add(k, p, first, iq[:1], iv[:1])
            result[-1] = replace(result[-1], name=body.name + "/axis1", inertia=None)
            last[body.name] = add(k, p, second, iq[1:], iv[1:])
            result[-1] = replace(result[-1], placement=np.eye(4))
        elif isinstance(joint, Mimic):
            driver, ratio, offset = _driver(body, bodies, index)
            iq, iv = (q_start[driver],), (v_start[driver],)
            last[body.name] = add(k, p, joint.joint, iq, iv, ratio, offset)
        else:
            last[body.name] = add(k, p, joint, iq, iv)
    return tuple(result)


def turns(joint: Universal) -> tuple[Revolute, Revolute]:
    """The two revolute joints of a universal one, each with its own share of the keywords."""
    def share(i: int) -> dict[str, Any]:
        given = {k: getattr(joint, k) for k in KEYWORDS[1:] if getattr(joint, k) is not None}
        return {k: x if np.ndim(x) == 0 else x[i] for k, x in given.items()}
    return Revolute(joint.axis1, **share(0)), Revolute(joint.axis2, **share(1))


def starts(bodies: tuple[Body, ...]) -> tuple[list[int], list[int]]:
    """Where each body's coordinates start in q and in v."""
    sizes = np.array([[0, 0], *((b.joint.nq, b.joint.nv) for b in bodies)])
    q_start, v_start = np.cumsum(sizes, axis=0).T
    return q_start.tolist(), v_start.tolist()


def _driver(body: Body, bodies: tuple[Body, ...], index: dict[str, int]) -> tuple[int, Any, Any]:
    """The body whose joint a mimic follows in the end, with the whole way's ratio and offset."""
    ratio, offset, seen, at = 1.0, 0.0, [body.name], body
    while isinstance(at.joint, Mimic):
        ratio, offset = ratio * at.joint.ratio, ratio * at.joint.offset + offset
        if at.joint.of not in index:
            raise ModelError(f"{at.name!r} mimics {at.joint.of!r}, which is no body of the robot")
        at = bodies[index[at.joint.of]]
        if at.name in seen:
            circle = " → ".join([*seen, at.name])
            raise ModelError(f"mimic joints follow each other in a circle: {circle}")
        seen.append(at.name)
    if at.joint.nq != 1:
        kind = type(at.joint).__name__
        raise ModelError(f"{body.name!r} mimics {at.name!r}, whose {kind} joint does not have "
                         "one coordinate")
    return index[at.name], ratio, offset
