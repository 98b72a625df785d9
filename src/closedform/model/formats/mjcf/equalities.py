"""MuJoCo's equalities in a tree: couplings of joints, bodies welded in place, loops.

    joint    q_1 − q0_1 = a_0 + a_1 (q_2 − q0_2) + … + a_4 (q_2 − q0_2)⁴
    tendon   L_1 − L0_1 = a_0 + a_1 (L_2 − L0_2) + …,   fixed tendons: L = Σ_i c_i q_i
    weld     T_2 = T_1 W with a constant W

Those over two joints are mimic joints, over one hold it still, over more gears. A weld of a body on
a free joint puts it on the other body; one to a mocap body is a handle for a user's hand and is
dropped. All others close loops: a connection is a ball that is cut, a weld a fixed joint.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from closedform.errors import ModelError
from closedform.model.bodies import Body
from closedform.model.formats.mjcf.actuators import driven_joints, fixed_tendon
from closedform.model.formats.mjcf.compiled import import_mujoco
from closedform.model.formats.mjcf.frames import body_name, in_moving_body, placement
from closedform.model.joints import Fixed, Mimic, Spherical
from closedform.model.joints.polynomial import composed
from closedform.model.loops.records import Cut, Gear, Loop
from closedform.model.pose import pose

OPEN = "open"


@dataclass
class Constraints:
    """The tree as equalities act on it: bodies by their numbers of joints, and what is held."""

    model: Any
    tree: list[tuple[int | None, Body]]
    loops: str | None
    held: dict[str, float] = field(default_factory=dict)   # joints held still
    notes: list[str] = field(default_factory=list)         # equalities that are left out
    coupling_tendons: set[int] = field(default_factory=set)
    cuts: list[Cut] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bodies = {j: body for j, body in self.tree if j is not None}
        self.mocap: list[str] = []
        off = int(self.model.opt.disableflags) & int(
            import_mujoco().mjtDisableBit.mjDSBL_EQUALITY)
        for e in range(0 if off else self.model.neq):
            if self.model.eq_active0[e]:
                self.add(e)
        if self.mocap:
            self.notes.append(f"welds to mocap bodies: {', '.join(self.mocap)}")

    def result(self) -> list[Body]:
        """The bodies, parents first."""
        bodies = [body if j is None else self.bodies[j] for j, body in self.tree]
        return list(_parents_first(bodies))

    def add(self, e: int) -> None:
        kind = import_mujoco().mjtEq(int(self.model.eq_type[e])).name.removeprefix("mjEQ_").lower()
        if kind in ("weld", "connect"):
            self.between_bodies(e, kind)
        elif kind in ("joint", "tendon"):
            self.between_joints(e, kind)
        elif kind.startswith("flex"):
            mujoco = import_mujoco()
            name = mujoco.mj_id2name(self.model, int(mujoco.mjtObj.mjOBJ_FLEX),
                                     int(self.model.eq_obj1id[e]))
            self.refuse(f"the {kind} equality of {name or 'a flex'!r}",
                        "holds a deformable body together; only rigid bodies are read")
        else:
            self.refuse(f"the {kind} equality {self.model.equality(e).name or e!r}",
                        "closes a loop of a kind that is not read")

    def refuse(self, what: str, reason: str) -> None:
        """An error, or a note where the tree is wanted open."""
        if self.loops != OPEN:
            raise ModelError(f'{what} {reason}: load it with loops="open" to leave it out, or '
                             "remove or deactivate it")
        self.notes.append(what.removeprefix("the "))

    # ------------------------------------------------------------------ welds and connections
    def between_bodies(self, e: int, kind: str) -> None:
        model, name = self.model, self.model.equality(e).name
        one, two, W = _ends(model, e, kind)
        ends = [body_name(model, b) if b else "the world" for b in (one, two)]
        for b, other in ((one, ends[1]), (two, ends[0])):
            if _is_mocap(model, b):
                self.mocap.append(f"{body_name(model, b)} – {other}")
                return
        # a torquescale of 0 leaves the orientation loose
        if kind == "weld" and model.eq_data[e][10] != 0 and (
                self.welded(two, one, W) or self.welded(one, two, np.linalg.inv(W))):
            return
        label = f"the {kind} equality{f' {name!r}' if name else ''} of {ends[0]} and {ends[1]}"
        if self.loops == OPEN:
            self.refuse(label, "is left open")
        elif in_moving_body(model, one)[0] != in_moving_body(model, two)[0]:
            self.cuts.append(self.loop(e, kind, (one, two), W))

    def loop(self, e: int, kind: str, bodies: tuple[int, int], W: np.ndarray) -> Loop:
        """The cut joint of a connection or a weld: of a loose weld only its ball."""
        data = self.model.eq_data[e]
        one, two = (body_name(self.model, b) if b else None for b in bodies)
        if kind == "weld" and data[10] != 0:
            return Loop(self.cut_name(e), (one, W), (two, np.eye(4)), Fixed())
        if _of_sites(self.model, e):
            points = [np.array(self.model.site_pos[int(s)]) for s in (
                self.model.eq_obj1id[e], self.model.eq_obj2id[e])]
        else:                       # a weld's anchor is of the second body, its place comes after
            points = [data[3:6], data[:3]] if kind == "weld" else [data[:3], data[3:6]]
        return Loop(self.cut_name(e), (one, np.array(points[0])), (two, np.array(points[1])),
                    Spherical())

    def cut_name(self, e: int) -> str:
        return self.model.equality(e).name or f"equality{e}"

    def welded(self, free: int, other: int, W: np.ndarray) -> bool:
        """Whether the body `free` hangs on a free joint of its own; it is put on `other` at W."""
        model = self.model
        root, offset = in_moving_body(model, free)
        j = int(model.body_jntadr[root])
        if root == 0 or model.jnt_type[j] != 0 or self.bodies[j].joint.is_fixed:
            return False
        if self.hangs_on(other, root):
            return False
        at = W @ np.linalg.inv(offset)
        parent = body_name(model, other) if other else None
        self.bodies[j] = replace(self.bodies[j], parent=parent, joint=Fixed(), placement=at)
        return True

    def hangs_on(self, b: int, root: int) -> bool:
        """Whether body b is carried by `root`, also by welds already made."""
        parents = {body.name: body.parent for j, body in self.tree}
        parents.update((body.name, body.parent) for body in self.bodies.values())
        at: str | None = body_name(self.model, b) if b else None
        while at is not None and at != body_name(self.model, root):
            at = parents[at]
        return at is not None

    # ------------------------------------------------------------------ couplings
    def between_joints(self, e: int, kind: str) -> None:
        model, data = self.model, self.model.eq_data[e]
        name = model.equality(e).name
        label = f"the {kind} equality{f' {name!r}' if name else ''}"
        terms = self.terms(e, kind)
        if terms is None:
            self.refuse(label, "is over a tendon through space, which is not read")
            return
        joints = [self.bodies[j].joint_name for j in terms]
        label += f" of {', '.join(joints)}"
        if np.any(data[2:5] != 0) and int(model.eq_obj2id[e]) >= 0:
            self.bend(e, kind, label)
        elif len(terms) > 2:
            self.gear(e, terms, float(data[0]), label)
        elif len(terms) == 1:
            (j, c), = terms.items()
            self.hold(j, float(data[0]) / c)
        elif all(map(self.is_bound, terms)) or len({*map(self.leader, terms)}) == 1:
            self.gear(e, terms, float(data[0]), label)
        else:
            self.couple(terms, float(data[0]))

    def gear(self, e: int, terms: dict[int, float], a_0: float, label: str) -> None:
        """Σ_j c_j (q_j − q0_j) = a_0 as an equation of its own."""
        if self.loops == OPEN:
            self.refuse(label, "is left open")
            return
        constant = a_0 + sum(c * self.zero(j) for j, c in terms.items())
        self.cuts.append(Gear(self.cut_name(e), {self.bodies[j].name: c for j, c in terms.items()},
                              constant))

    def terms(self, e: int, kind: str) -> dict[int, float] | None:
        """c of Σ_j c_j (q_j − q0_j) = a_0, the follower first; None for tendons through space."""
        model = self.model
        one, two, ratio = (int(model.eq_obj1id[e]), int(model.eq_obj2id[e]),
                           float(model.eq_data[e][1]))
        if kind == "joint":
            return {one: 1.0} if two < 0 else {one: 1.0, two: -ratio}
        total: dict[int, float] = {}
        for tendon, factor in ((one, 1.0), (two, -ratio)):
            if tendon < 0:
                continue
            for j, c in fixed_tendon(model, tendon):
                if j is None:
                    return None
                total[j] = total.get(j, 0.0) + factor * c
            self.coupling_tendons.add(tendon)
        return {j: c for j, c in sorted(total.items(), reverse=True) if c != 0}

    def hold(self, j: int, turn: float) -> None:
        if self.is_bound(j):
            raise ModelError(f"two equalities act on the joint {self.bodies[j].joint_name!r}")
        self.held[self.bodies[j].joint_name] = self.zero(j) + turn

    def couple(self, terms: dict[int, float], a_0: float) -> None:
        """A mimic of the two joints; the first follows unless it is bound already."""
        (one, c_one), (two, c_two) = terms.items()
        if self.is_bound(one) and not self.is_bound(two) and c_two != 0:
            one, c_one, two, c_two = two, c_two, one, c_one
        if self.is_bound(one):
            raise ModelError(f"two equalities act on the joint {self.bodies[one].joint_name!r}")
        if c_two == 0:
            self.hold(one, a_0 / c_one)
            return
        ratio = -c_two / c_one
        offset = a_0 / c_one + self.zero(one) - ratio * self.zero(two)
        body = self.bodies[one]
        mimic = Mimic(body.joint, self.bodies[two].name, ratio, offset)
        self.bodies[one] = replace(body, joint=mimic)

    def bend(self, e: int, kind: str, label: str) -> None:
        """A mimic by a polynomial: c_1 (q_1 − q0_1) = Σ_k a_k (c_2 (q_2 − q0_2))ᵏ."""
        ends = [self.one_joint(int(x), kind) for x in (self.model.eq_obj1id[e],
                                                       self.model.eq_obj2id[e])]
        if ends[0] is None or ends[1] is None or ends[0][0] == ends[1][0]:
            self.refuse(label, "is a polynomial of more than one joint; a mimic joint follows one")
            return
        (one, c_one), (two, c_two) = ends[0], ends[1]
        body = self.bodies[one]
        if self.is_bound(one):
            raise ModelError(f"two equalities act on the joint {body.joint_name!r}")
        a = [float(x) / c_one for x in self.model.eq_data[e][:5]]
        offset, ratio, *higher = composed(a, (-c_two * self.zero(two), c_two))
        mimic = Mimic(body.joint, self.bodies[two].name, ratio, offset + self.zero(one), higher)
        self.bodies[one] = replace(body, joint=mimic)

    def one_joint(self, number: int, kind: str) -> tuple[int, float] | None:
        """The joint of an end of an equality with its factor; None for tendons over several."""
        terms = [(number, 1.0)] if kind == "joint" else list(fixed_tendon(self.model, number))
        (j, c), *more = terms
        return None if more or j is None or c == 0 else (j, c)

    def is_bound(self, j: int) -> bool:
        body = self.bodies[j]
        return body.joint.driver is not None or body.joint_name in self.held

    def leader(self, j: int) -> int:
        """The joint that a joint follows in the end, or itself."""
        number = {body.name: k for k, body in self.bodies.items()}
        while (driver := self.bodies[j].joint.driver) is not None:
            j = number[str(driver.of)]
        return j

    def driven(self) -> set[str]:
        """Bodies of joints with motors, and of those that all joints of a motor's tendon follow."""
        leaders = [{self.leader(j) for j in joints} for joints in driven_joints(self.model)]
        return {self.bodies[j].name for own in leaders if len(own) == 1 for j in own}

    def zero(self, j: int) -> float:
        return float(self.model.qpos0[self.model.jnt_qposadr[j]])


def _ends(model: Any, e: int, kind: str) -> tuple[int, int, np.ndarray]:
    """The two bodies of a weld or connection, and the weld's W with T_2 = T_1 W.

    Of bodies: p_1 + R_1 r = p_2 + R_2 anchor, R_2 = R_1 R; of sites: their frames are one.
    """
    one, two, data = int(model.eq_obj1id[e]), int(model.eq_obj2id[e]), model.eq_data[e]
    if _of_sites(model, e):
        S = [placement(model.site_pos[s], model.site_quat[s]) for s in (one, two)]
        bodies = [int(model.site_bodyid[s]) for s in (one, two)]
        return bodies[0], bodies[1], S[0] @ np.linalg.inv(S[1])
    if kind == "connect":
        return one, two, np.eye(4)
    R = placement(np.zeros(3), data[6:10] / np.linalg.norm(data[6:10]))[:3, :3]
    return one, two, pose(R, data[3:6] - R @ data[:3])


def _of_sites(model: Any, e: int) -> bool:
    kinds = getattr(model, "eq_objtype", None)  # older versions have bodies alone
    return kinds is not None and int(kinds[e]) == int(import_mujoco().mjtObj.mjOBJ_SITE)


def _is_mocap(model: Any, b: int) -> bool:
    """Whether a body is moved by the user's hand: a mocap body, or fixed to one."""
    while b and not model.body_jntnum[b]:
        if model.body_mocapid[b] >= 0:
            return True
        b = int(model.body_parentid[b])
    return False


def _parents_first(bodies: list[Body]) -> Iterator[Body]:
    """The bodies in their order, except that a welded one comes after its new parent."""
    known: set[str | None] = {None}
    waiting = list(bodies)
    while waiting:
        later = []
        for body in waiting:
            if body.parent in known:
                known.add(body.name)
                yield body
            else:
                later.append(body)
        waiting = later
