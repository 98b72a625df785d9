"""What a look at a model finds: a fault or a doubt, where it is, and how to repair it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import final

from closedform.errors import FormatError, warn_user

TOLD = 5
"""Of so many doubts a warning tells; the others it counts."""


class Level(Enum):
    """How bad a finding is."""

    ERROR = "error"  # the model is refused, or its mathematics breaks
    WARNING = "warning"  # it loads, and is probably not what was meant
    INFO = "info"  # worth knowing


@final
@dataclass(frozen=True)
class Finding:
    """One finding; `rule` is a short stable name, `subject` the link, joint or body it is about."""

    level: Level
    rule: str
    subject: str
    message: str
    repair: str = ""
    file: str = ""
    line: int | None = None

    def __str__(self) -> str:
        """`file:line: level: message (repair)`."""
        repair = f" ({self.repair})" if self.repair else ""
        return f"{self.place}: {self.level.value}: {self.message}{repair}"

    @property
    def place(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


def refuse_errors(findings: Iterable[Finding]) -> None:
    """Raise the first error among the findings, with its place and how many there are."""
    errors = [f for f in findings if f.level is Level.ERROR]
    if errors:
        first = errors[0]
        repair = f"; {first.repair}" if first.repair else ""
        more = f" (and {len(errors) - 1} more; `lint` lists them all)" if len(errors) > 1 else ""
        raise FormatError(f"{first.place}: {first.message}{repair}{more}")


def warn_once(file: str, doubts: Iterable[Finding | str]) -> None:
    """One `ModelWarning` about a file, if its warnings or other texts say that there is a doubt."""
    texts = [f"line {d.line}: {d.message}" if isinstance(d, Finding) else d for d in doubts
             if isinstance(d, str) or d.level is Level.WARNING]
    if texts:
        more = f"; and {len(texts) - TOLD} more, `lint` lists them all" if len(texts) > TOLD else ""
        warn_user(f"{file}: {'; '.join(texts[:TOLD])}{more}")
