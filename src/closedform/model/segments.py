"""The tree the equations walk: every joint with a constant motion subspace, every mimic resolved.

A robot's bodies and its segments are the same list, except that a joint of several parts becomes a
segment for each, the last of which carries the body, and that a mimic becomes the joint it moves,
with a ratio on a shared column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from closedform.arrays import Array, namespace
from closedform.errors import ModelError, suggestion
from closedform.model.bodies import Body, Seam
from closedform.model.inertia import Inertia
from closedform.model.joints import Joint
from closedform.model.joints.joint import Driver
from closedform.model.joints.polynomial import Polynomial, composed, value


@dataclass(frozen=True, eq=False)
class Segment:
    """One joint with a constant S and the body it carries (inertia None: it carries none).

    `parent` counts segments from 1; 0 is the world. `owner` is the number of the body whose joint
    this is a part of, `carried` the fraction of its weight that is carried from outside. `q_index`
    and `v_index` are the entries of the robot's q and v; the joint's own coordinates are
    ratio · q[q_index] + offset, or with `higher` a polynomial of them, as its driver has it.
    """

    name: str
    parent: int
    placement: np.ndarray
    joint: Joint
    inertia: Inertia | None
    owner: int
    q_index: tuple[int, ...]
    v_index: tuple[int, ...]
    ratio: Any = 1
    offset: Any = 0
    carried: float = 0.0
    higher: Polynomial = ()
    summed: Callable[[Any], Any] | None = None     # of the bodies that share it (`Body.summed`)
    seam: Seam | None = None                       # `Body.seam`
    parents: tuple[int, ...] = ()                  # those of the seam

    @property
    def S(self) -> Array:
        """(6, len(v_index)): the body twist for each velocity, the mimic's ratio included."""
        if self.higher:
            raise ModelError(f"{self.name!r} follows another joint by a polynomial and so has no "
                             "constant motion subspace; closedform.maths.embedding has what it has")
        return self.joint.S * np.asarray(self.ratio) if isinstance(self.ratio, tuple) \
            else self.joint.S * self.ratio

    @property
    def body(self) -> int | None:
        """The number of the body it carries; None for the massless ones between a joint's parts."""
        return None if self.inertia is None else self.owner

    @cached_property
    def turns_about_z(self) -> bool:
        """Whether the joint's rotation is one about the body's z axis."""
        return not np.any(self.joint.S[3:5] != 0) and bool(np.any(self.joint.S[5] != 0))

    @property
    def weight(self) -> Any:
        """The share of the body's weight that is left to the joints: 1, if nothing is carried."""
        return 1 - self.carried if self.carried else 1

    def together(self, x: Any) -> Any:
        """What the parent gets of x: the sum over the bodies that share this segment, mostly x."""
        return x if self.summed is None else self.summed(x)

    def above(self, states: Sequence[Any]) -> Any:
        """Of the states of all segments and the world, that of what this segment hangs on."""
        if self.seam is None:
            return states[self.parent]
        return self.seam.down([states[p] for p in self.parents])

    def shares(self, x: Any) -> list[tuple[int, Any]]:
        """The parents, mostly one, and what each gets of x, which is as they see it."""
        if self.seam is None:
            return [(self.parent, self.together(x))]
        return [*zip(self.parents, self.seam.up(x), strict=True)]

    def coordinates(self, q: Array) -> Array:
        """The joint's own coordinates, (nq_k,)."""
        own = q[np.array(self.q_index)] if self.q_index else q[:0]
        if self.higher:
            return value((self.offset, self.ratio, *self.higher), own)
        if isinstance(self.ratio, tuple):
            terms = [r * x for r, x in zip(self.ratio, own, strict=True)]
            return namespace(q).stack([sum(terms[1:], terms[0]) + self.offset])
        return self.ratio * own + self.offset

    def velocities(self, v: Array) -> Array:
        """Those of the robot's velocities that move this joint; S times them is its twist."""
        return v[np.array(self.v_index)] if self.v_index else v[:0]


def segments_of(bodies: tuple[Body, ...]) -> tuple[Segment, ...]:
    """The segments of a tree of bodies, parents first."""
    index = {body.name: k for k, body in enumerate(bodies)}
    q_start, v_start = starts(bodies)
    last: dict[str | None, int] = {None: 0}
    result: list[Segment] = []
    for k, body in enumerate(bodies):
        p, at, q, v = last[body.parent], body.placement, q_start[k], v_start[k]
        if body.joint.driver is not None:
            drivers, ratio, offset, higher = _drivers(body, bodies, index)
            result.append(Segment(body.name, p, at, body.joint.moving, body.inertia, k,
                                  tuple(q_start[x] for x in drivers),
                                  tuple(v_start[x] for x in drivers), ratio, offset,
                                  body.gravity_compensation, higher))
        else:
            for name, joint in named_parts(body):
                inertia = body.inertia if name == body.name else None
                result.append(Segment(name, p, at, joint, inertia, k,
                                      tuple(range(q, q + joint.nq)), tuple(range(v, v + joint.nv)),
                                      carried=body.gravity_compensation,
                                      **_shared(body, last) if at is body.placement else {}))
                p, at, q, v = len(result), np.eye(4), q + joint.nq, v + joint.nv
        last[body.name] = len(result)
    return tuple(result)


def _shared(body: Body, last: dict[str | None, int]) -> dict[str, Any]:
    """What the first segment of a body is told of lanes."""
    parents = () if body.seam is None else tuple(last[name] for name in body.seam.parents)
    return {"summed": body.summed, "seam": body.seam, "parents": parents}


def named_parts(body: Body) -> list[tuple[str, Joint]]:
    """The parts of a body's joint: the last under the body's name, those before it numbered."""
    *before, joint = body.joint.parts()
    return [*((f"{body.name}/axis{i}", part) for i, part in enumerate(before, start=1)),
            (body.name, joint)]


def starts(bodies: tuple[Body, ...]) -> tuple[list[int], list[int]]:
    """Where each body's coordinates start in q and in v."""
    sizes = np.array([[0, 0], *((b.joint.nq, b.joint.nv) for b in bodies)])
    q_start, v_start = np.cumsum(sizes, axis=0).T
    return q_start.tolist(), v_start.tolist()


def _drivers(body: Body, bodies: tuple[Body, ...], index: dict[str, int],
             above: tuple[str, ...] = ()) -> tuple[tuple[int, ...], Any, Any, Polynomial]:
    """The bodies whose joints a mimic follows in the end: ratio, offset and higher powers."""
    chain, at = [body.name], body
    while at.joint.driver is not None and isinstance(at.joint.driver.of, str):
        if at.joint.driver.of not in index or at.joint.driver.of in chain:
            break                                          # refused by `_driver`
        at = bodies[index[at.joint.driver.of]]
        chain.append(at.name)
    if at.joint.driver is None or isinstance(at.joint.driver.of, str):
        driver, (offset, ratio, *higher) = _driver(body, bodies, index)
        return (driver,), ratio, offset, tuple(higher)
    way: Polynomial = (0.0, 1.0)
    for name in chain[:-1]:
        way = composed(way, _of(bodies[index[name]]).polynomial)
    if len(way) > 2:
        raise ModelError(f"{body.name!r} follows {at.name!r}, which follows several joints, by a "
                         "polynomial; only ratios go with that")
    several = _of(at)
    totals, offset = dict[int, Any](), way[0] + way[1] * several.offset
    for name, r in zip(several.of, several.ratio, strict=True):
        if name not in index:
            raise ModelError(f"{at.name!r} mimics {name!r}, which is no body of the robot; "
                             f"{suggestion(name, index)}")
        seen = (*above, *chain)
        if name in seen:
            raise ModelError("mimic joints follow each other in a circle: "
                             f"{' → '.join([*seen, name])}")
        other = bodies[index[name]]
        if other.joint.driver is None:
            if (other.joint.nq, other.joint.nv) != (1, 1):
                raise ModelError(f"{at.name!r} mimics {name!r}, whose {type(other.joint).__name__} "
                                 "joint does not have one coordinate")
            totals[index[name]] = totals.get(index[name], 0) + way[1] * r
            continue
        drivers, ratios, extra, bent = _drivers(other, bodies, index, seen)
        if bent:
            raise ModelError(f"{at.name!r} follows {name!r} among several joints, which follows by "
                             "a polynomial; only ratios go with that")
        offset = offset + way[1] * r * extra
        for driver, x in zip(drivers, ratios if isinstance(ratios, tuple) else (ratios,),
                             strict=True):
            totals[driver] = totals.get(driver, 0) + way[1] * r * x
    if len(totals) == 1:
        (driver, ratio), = totals.items()
        return (driver,), ratio, offset, ()
    return tuple(totals), tuple(totals.values()), offset, ()


def _of(body: Body) -> Driver:
    driver = body.joint.driver
    assert driver is not None
    return driver


def _driver(
    body: Body, bodies: tuple[Body, ...], index: dict[str, int],
) -> tuple[int, Polynomial]:
    """The body whose joint a mimic follows in the end, with the whole way's polynomial."""
    way, seen, at = (0.0, 1.0), [body.name], body
    while (driver := at.joint.driver) is not None:
        way = composed(way, driver.polynomial)
        if driver.of not in index:
            raise ModelError(f"{at.name!r} mimics {driver.of!r}, which is no body of the robot; "
                             f"{suggestion(driver.of, index)}")
        at = bodies[index[driver.of]]
        if at.name in seen:
            circle = " → ".join([*seen, at.name])
            raise ModelError(f"mimic joints follow each other in a circle: {circle}")
        seen.append(at.name)
    if (at.joint.nq, at.joint.nv) != (1, 1):
        kind = type(at.joint).__name__
        raise ModelError(f"{body.name!r} mimics {at.name!r}, whose {kind} joint does not have "
                         "one coordinate")
    return index[at.name], way
