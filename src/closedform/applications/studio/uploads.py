"""Files that a browser sends: bounded, checked by name, read in a process that can be killed.

No path is ever taken from a browser: a file is its last name and its bytes. It is written into a
folder of its own, read there by a child with bounds on time and memory, and the folder is removed.
"""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from closedform.errors import ClosedformError, FormatError
from closedform.model.findings import Finding, Level
from closedform.model.formats.urdf.extensions import xacro_findings
from closedform.model.formats.xml import read_xml, tag
from closedform.model.robot import Robot

ROBOTS = (".urdf", ".xml", ".mjcf", ".sdf", ".toml")
LOGS = (".csv", ".txt", ".tsv", ".npz", ".npy", ".parquet", ".mcap", ".db3")
LARGEST = {**dict.fromkeys(ROBOTS, 8 << 20), **dict.fromkeys(LOGS, 64 << 20)}
"""Bytes of an upload, by the end of its name."""
LONGEST = 255
"""Signs of the name of a file."""
UNPACKED = 512 << 20
"""Bytes that a packed log may grow to."""
SECONDS, PATIENCE, MEMORY = 20, 180, 4 << 30
"""What reading a file may take: of CPU, of the clock on a busy machine, bytes."""
FILES = ("file", *(f"file{side}" for side in ("right", "left", "up", "down", "front", "back")))
FOLDERS = ("meshdir", "texturedir", "assetdir")
"""Attributes that name other files, and where MuJoCo would look for them."""
ELSEWHERE = ("/", "\\", "${", ":")
"""Signs in the name of a file that does not lie beside the one that names it."""


class Upload(NamedTuple):
    """A file as it was read: findings and the robot, if it could be loaded, or a log's rows."""

    name: str
    robot: Robot | None = None
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    samples: Any = None                    # identification's `Samples`

    @property
    def refused(self) -> bool:
        """Whether it is a robot's file that cannot be loaded; the findings say why."""
        return self.robot is None and self.samples is None


def kind_of(name: str) -> str:
    """`robot`, `log`, or nothing for a file that is neither."""
    end = Path(name).suffix.lower()
    return "robot" if end in ROBOTS else "log" if end in LOGS else ""


def allowed(name: str, size: int) -> str:
    """Why a file of this name and size is refused; nothing if it is not."""
    if not name.isprintable() or len(name) > LONGEST:
        return f"a name of a file that can be printed, of {LONGEST} signs at most, was expected"
    end = Path(name).suffix.lower()
    if end not in LARGEST:
        return (f"{name[:80]}: a robot ({', '.join(ROBOTS)}) or a log ({', '.join(LOGS)}) was "
                "expected")
    if not 0 < size <= LARGEST[end]:
        return f"{name[:80]}: {size} bytes; {LARGEST[end] >> 20} MiB is the limit for {end}"
    return ""


def read_upload(name: str, content: bytes, robot: Robot | None = None) -> Upload:
    """A robot or a log of a robot from the bytes of a file; a `FormatError` that names it else."""
    name = Path(name.replace("\\", "/")).name
    reason = allowed(name, len(content)) or _bomb(name, content)
    if reason:
        raise FormatError(reason)
    with tempfile.TemporaryDirectory(prefix="closedform-upload-") as folder:
        path = Path(folder, f"upload{Path(name).suffix.lower()}")
        path.write_bytes(content)
        code = "from closedform.applications.studio.uploads import child; child()"
        try:
            done = subprocess.run([sys.executable, "-c", code, str(path), name],
                                  input=pickle.dumps(robot), capture_output=True,
                                  timeout=PATIENCE, check=False, cwd=folder,
                                  env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
        except subprocess.TimeoutExpired:
            raise FormatError(f"{name}: reading it took too long") from None
    if done.returncode:
        raise FormatError(f"{name}: reading it took more than {SECONDS} s or {MEMORY >> 30} GiB")
    answer = pickle.loads(done.stdout)
    if isinstance(answer, str):
        raise FormatError(answer)
    return Upload(name, *answer)


def _bomb(name: str, content: bytes) -> str:
    """Why a packed file is refused before anything is unpacked."""
    if not zipfile.is_zipfile(io.BytesIO(content)):
        return ""
    if Path(name).suffix.lower() != ".npz":
        return f"{name}: a zip file under another name"
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
    except zipfile.BadZipFile as error:
        return f"{name}: {error}"
    if size > UNPACKED:
        return (f"{name}: would unpack to {size >> 20} MiB; {UNPACKED >> 20} MiB is the limit")
    return ""


# ---------------------------------------------------------------------- in the child
def child() -> None:
    """Read the file named on the command line; its robot is on standard input, the answer goes out.
    """
    _bound()
    sys.modules["xacro"] = None             # type: ignore[assignment]  # what it reads it also runs
    path, name = sys.argv[1:3]
    robot = pickle.loads(sys.stdin.buffer.read())
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            answer: Any = _read(Path(path), robot)
        notes = (*(str(w.message) for w in told), *answer[2])
        answer = (answer[0], answer[1], tuple(x.replace(path, name) for x in notes), answer[3])
    except ClosedformError as error:
        text = str(error).replace(path, name)
        answer = text if name in text else f"{name}: {text}"
    except RecursionError:
        answer = f"{name}: nested too deeply"
    except (OSError, ValueError, KeyError, TypeError, MemoryError, OverflowError) as error:
        answer = f"{name}: cannot be read: {type(error).__name__}: {error}"[:300]
    sys.stdout.buffer.write(pickle.dumps(answer))


def _read(path: Path, robot: Robot | None) -> tuple[Any, ...]:
    if kind_of(path.name) == "robot":
        _refuse_other_files(path)
        from closedform.model.lint.lint import lint
        from closedform.model.load import load
        findings = tuple(replace(f, file="") for f in lint(path))
        try:
            return load(path), findings, (), None
        except FormatError as error:
            if not findings:
                raise
            return None, findings, (str(error),), None
    if robot is None:
        raise FormatError("a log needs the robot that it is of")
    from closedform.applications.identification.logs.read import read
    log = read(path, robot)
    return None, (), tuple(log.notes), log.samples()


def _refuse_other_files(path: Path) -> None:
    """An upload is one file that is read: it names no other, and is no program to be run here."""
    if path.suffix == ".toml":
        return
    root = read_xml(path).checked_root()
    program = [f for f in xacro_findings(root, str(path)) if f.level is Level.ERROR]
    if tag(root) == "robot" and program:
        raise FormatError(f"{path}:{program[0].line}: a xacro file is a program, which is not run "
                          "for a browser; expand it first: `xacro FILE > robot.urdf`")
    for element in root.iter("{*}*"):
        named = " ".join(str(x) for name, x in element.attrib.items() if name in FILES)
        if tag(element) == "include" or any(sign in named for sign in ELSEWHERE) or (
                tag(root) == "mujoco" and any(_is_outside(element.get(x)) for x in FOLDERS)):
            raise FormatError(f"{path}:{element.sourceline}: <{tag(element)}> names another file; "
                              "an upload is one file")


def _is_outside(folder: str | None) -> bool:
    """Whether a folder that MuJoCo would look into is not below the file's own."""
    return bool(folder) and (Path(str(folder)).is_absolute() or any(
        sign in str(folder) for sign in ("..", *ELSEWHERE[1:])))


def _bound() -> None:
    """Bounds on time and memory, where the system has them."""
    try:
        import resource
    except ImportError:                     # Windows: the parent's clock remains
        return
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (UNPACKED, UNPACKED))
