"""Names of exported functions: legal in every language, and one for each thing."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from closedform.applications.compile.requests import Request
from closedform.applications.export.targets import TARGETS
from closedform.errors import ArgumentError

LONGEST = 54
"""Characters of a function's name: MATLAB tells 63 apart, and `_vectors` follows."""
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
    names = {text: legal_name(text, any(_words(x) != x or x.endswith(ENDINGS) for x in found))
             for text, found in zip(texts, frames, strict=True)}
    spelled = Counter(name.lower() for name in names.values())
    return [legal_name(text, digest=True) if spelled[names[text].lower()] > 1 else names[text]
            for text in texts]


def _text(request: Request) -> str:
    reference = "" if request.reference is None else f"_{request.reference.name.lower()}"
    return request.row.name + (f"_{request.frame}{reference}" if request.frame else "")


def legal_name(text: str, digest: bool = False) -> str:
    """A name in every language: ASCII, a letter first, no two underscores in a row (CasADi, C++).

    A digest of the whole text stands at its end where letters or digits are lost, or if told.
    """
    name = _words(text)
    name = name if name[:1].isalpha() else f"robot_{name}".rstrip("_")
    if len(name) <= LONGEST and not digest and not any(
            c.isalnum() and not c.isascii() for c in text):
        return name
    return f"{name[:LONGEST - 9].rstrip('_')}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _words(text: str) -> str:
    """The letters and digits of ASCII, with one underscore for all that is between them."""
    return re.sub(r"[\W_]+", "_", text, flags=re.ASCII).strip("_")


def checked_function_name(given: object) -> str:
    """A name that is given, if it is legal."""
    if not isinstance(given, str) or legal_name(given) != given:
        raise ArgumentError(f"name must be one of a function, such as {legal_name(str(given))!r}, "
                            f"not {given!r}")
    return given
