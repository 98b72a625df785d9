"""Names of exported functions: legal in every language, and one for each thing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from closedform.applications.compile.names import legal_name as legal_name
from closedform.applications.compile.names import words
from closedform.applications.compile.requests import Request
from closedform.applications.export.targets import TARGETS
from closedform.errors import ArgumentError

ENDINGS = ("_vectors", "_batch", "_check", "_sign",
           *(target.suffix for target in TARGETS.values() if target.suffix))
"""What exporters put behind a function's name."""


def function_names(robot: str, groups: Sequence[Sequence[Request]]) -> list[str]:
    """ROBOT_QUANTITY for each group, with frames and references, as names in every language.

    A digest tells those apart that would be one: where a frame's name is not legal as it is, where
    it ends like the name of another's part, and where texts differ in case, which files may not.
    """
    texts = [f"{robot}_{'_and_'.join(map(_text, group))}" for group in groups]
    frames = [[r.frame for r in group if r.frame] for group in groups]
    names = {text: legal_name(text, any(words(x) != x or x.endswith(ENDINGS) for x in found))
             for text, found in zip(texts, frames, strict=True)}
    spelled = Counter(name.lower() for name in names.values())
    return [legal_name(text, digest=True) if spelled[names[text].lower()] > 1 else names[text]
            for text in texts]


def _text(request: Request) -> str:
    reference = "" if request.reference is None else f"_{request.reference.name.lower()}"
    return request.row.name + (f"_{request.frame}{reference}" if request.frame else "")


def checked_function_name(given: object) -> str:
    """A name that is given, if it is legal."""
    if not isinstance(given, str) or legal_name(given) != given:
        raise ArgumentError(f"name must be one of a function, such as {legal_name(str(given))!r}, "
                            f"not {given!r}")
    return given
