"""Random robots with equal limbs: mirrored or not, one unlike the others, every kind of joint."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from closedform.model.joints import Fixed, Free, Mimic, Prismatic, Revolute
from closedform.model.pose import from_rpy, pose
from closedform.model.robot import Body, Robot
from random_robots import KINDS, random_inertia, random_joint

IN_LIMBS = tuple(kind for kind in KINDS if kind not in ("free", "mimic"))


def limbed_robot(seed, mirrored=True, floating=True, odd=True, follows=False, loaded=False):
    """A trunk with two to five limbs, some with fingers; `odd`: one limb differs in its numbers.

    With `follows` the last joint of a limb is a mimic of its first, with `loaded` there are springs
    and rotors in the limbs, and weights are carried.
    """
    rng = np.random.default_rng(seed)
    bodies = [Body("trunk", None, Free() if floating else Revolute((0, 1, 0)),
                   inertia=random_inertia(rng))]
    if not floating and rng.random() < 0.5:
        bodies = [Body("trunk", None, Fixed(), inertia=random_inertia(rng))]
    count, length = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    fingers = int(rng.choice([0, 0, 2, 3])) if count < 5 else 0
    links = [_link(rng, loaded, seed % 3 == 0) for _ in range(length)]
    tip = _link(rng, loaded, False)
    different = int(rng.integers(count)) if odd else -1
    for i in range(count):
        side = np.diag([1.0, -1.0 if mirrored and i % 2 else 1.0, 1.0])
        place = np.eye(4) if mirrored else pose(from_rpy(0, 0, 1.1 * i), np.zeros(3))
        for k, (joint, T, inertia) in enumerate(links):
            body = _placed(f"limb{i}_{k}", f"limb{i}_{k - 1}" if k else "trunk", joint,
                           place @ T if k == 0 else T, inertia, side)
            if follows and k == length - 1 and k and links[0][0].nv == 1:
                moving = replace(Revolute((0, 0, 1)), name=None)
                body = replace(body, joint=Mimic(moving, of=f"limb{i}_0", ratio=0.5, offset=0.1))
            bodies.append(_changed(body, rng) if i == different and k == length - 1 else body)
        for f in range(fingers):
            joint, T, inertia = tip
            T = pose(from_rpy(0.4 * f, 0, 0), np.array([0.1 * f, 0, 0])) @ T
            bodies.append(_placed(f"tip{i}_{f}", f"limb{i}_{length - 1}", joint, T, inertia, side))
    carried = 0.5 if loaded else 0.0
    return Robot(f"limbs{seed}", [bodies[0], *(replace(b, gravity_compensation=carried)
                                               for b in bodies[1:])])


def _link(rng, loaded, any_kind):
    """Joint, placement and inertia of a link, for all limbs."""
    if any_kind:
        joint = replace(random_joint(IN_LIMBS[rng.integers(len(IN_LIMBS))], rng),
                        rotor_inertia=None)
    else:
        axis = tuple(np.eye(3)[rng.integers(3)] if rng.random() < 0.7 else rng.normal(size=3))
        joint = (Revolute if rng.random() < 0.7 else Prismatic)(axis)
    if loaded and joint.nv == 1:
        joint = replace(joint, rotor_inertia=0.1, stiffness=2.0, spring_reference=0.3)
    turn = from_rpy(*(rng.choice([0, np.pi / 2, 0.3]) for _ in range(3)))
    return joint, pose(turn, rng.uniform(-0.5, 0.5, size=3)), random_inertia(rng)


def _placed(name, parent, joint, T, inertia, side):
    """A body of a limb, reflected with its side."""
    T = pose(side @ T[:3, :3] @ side, side @ T[:3, 3])
    own = type(inertia)(inertia.mass, side @ inertia.com, side @ inertia.tensor @ side)
    return Body(name, parent, joint, T, own)


def _changed(body, rng):
    T = body.placement @ pose(from_rpy(*0.2 * rng.normal(size=3)), 0.1 * rng.normal(size=3))
    return replace(body, inertia=random_inertia(rng), placement=T)


def unlike_limbs(seed, odd=True, loaded=False, floating=True):
    """Legs on a pelvis, longer arms on a torso, some with fingers, and sometimes a neck.

    Joints are those of the arms as far as legs and neck go, places and inertias are not.
    """
    rng = np.random.default_rng(seed)
    count, legs = int(rng.integers(1, 3)), int(rng.integers(2, 4))
    arms = legs + int(rng.integers(0, 3))
    joints = [_link(rng, loaded, seed % 3 == 2)[0] for _ in range(arms)]
    root = Free() if floating else Prismatic((0, 0, 1))
    bodies = [Body("pelvis", None, root, inertia=random_inertia(rng)),
              *_random_chain("torso", "pelvis", [Revolute((0, 1, 0))] * count, rng)]
    last = bodies[-1].name
    for name, parent, length, copies in (
            ("leg", "pelvis", legs, 2), ("arm", last, arms, 2),
            ("neck", last, 2, int(rng.integers(0, 2)))):
        chain = _random_chain(name, parent, joints[:length], rng)
        for i in range(copies):
            side = np.diag([1.0, 1.0 - 2 * i, 1.0])
            for k, b in enumerate(chain):
                own = _placed(f"{name}{i}_{k}", f"{name}{i}_{k - 1}" if k else parent, b.joint,
                              b.placement, b.inertia, side)
                bodies.append(_changed(own, rng) if odd and i and k == length - 1 else own)
    hands = [f"arm{i}_{arms - 1}" for i in range(2)] if seed % 2 else []
    for hand in hands:
        for f in range(2):
            bodies += _random_chain(f"{hand}_{f}_", hand, joints[:2], np.random.default_rng(f))
    return Robot(f"unlike{seed}", bodies)


def _random_chain(name, parent, joints, rng):
    """Bodies one behind the other on these joints."""
    return [Body(f"{name}{k}", f"{name}{k - 1}" if k else parent, joint,
                 pose(from_rpy(*(rng.choice([0, np.pi / 2, 0.3]) for _ in range(3))),
                      rng.uniform(-0.5, 0.5, size=3)), random_inertia(rng))
            for k, joint in enumerate(joints)]
