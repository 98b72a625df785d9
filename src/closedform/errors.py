"""The errors of closedform: one parent, a few children.

Each says what was given and what was expected, and is named for what is wrong.
"""

# ruff: noqa: N818

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from types import FrameType

LISTED = 10
"""Of so many names at most a message has a list; the others it counts."""


class ClosedformError(Exception):
    """Anything that closedform refuses to do, with the reason."""


class ModelError(ClosedformError, ValueError):
    """A robot that cannot exist: unknown parents, repeated names, impossible numbers."""


class FormatError(ModelError):
    """A file or text that cannot be read as a robot; the message names the place."""


class ModelWarning(UserWarning):
    """A robot that is read or written, but is doubtful: an impossible inertia, something lost."""


class ArgumentError(ClosedformError, ValueError):
    """An argument of the wrong size, kind or value; the message names the argument."""


class UnknownName(ClosedformError, KeyError):
    """A body, joint, frame or quantity that does not exist; the message lists those that do."""

    def __str__(self) -> str:  # KeyError would print the message in quotes
        return str(self.args[0]) if self.args else ""


class MissingDependency(ClosedformError, ImportError):
    """An optional library that is not installed; the message says what to install."""


class SingularMatrix(ClosedformError, ArithmeticError):
    """A linear system without a unique solution, as for an operational inertia at a singularity."""


class OpenLoop(ModelError):
    """A closed loop that cannot be closed here; the message names it and how far it stays open."""


class SingularLoop(SingularMatrix):
    """A loop where the independent joints do not tell how the others move.

    The message has the singular values, and says whether others would do or branches meet.
    """


def suggestion(name: object, known: Iterable[object]) -> str:
    """What a message about an unknown name ends with: the nearest name, and those that there are.

    "did you mean 'panda'? there are planar2r, planar3r, puma560 and 6 more"
    """
    names = list(dict.fromkeys(str(x) for x in known))
    plain = {x.casefold(): x for x in reversed(names)}
    near = get_close_matches(str(name)[:100].casefold(), plain, n=1, cutoff=0.5)
    hint = f"did you mean {plain[near[0]]!r}? " if near else ""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{hint}there are {', '.join(names[:LISTED]) or 'none'}{more}"


def warn_user(message: str) -> None:
    """A `ModelWarning` at the user's line: the last of the stack that is not of this package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and is_own(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, ModelWarning, stacklevel=level)


def is_own(frame: FrameType) -> bool:
    """Whether it is this package that runs there, or `dataclasses` for it."""
    name = str(frame.f_globals.get("__name__", ""))
    return name.partition(".")[0] in ("closedform", "dataclasses")
