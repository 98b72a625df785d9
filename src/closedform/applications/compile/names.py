"""Names that are legal in every language, and those of all that several requests return."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from closedform.applications.compile.requests import Request
from closedform.errors import ArgumentError

LONGEST = 54
"""Characters of a function's name: MATLAB tells 63 apart, and `_vectors` follows."""


def legal_name(text: str, digest: bool = False) -> str:
    """A name in every language: ASCII, a letter first, no two underscores in a row (CasADi, C++).

    A digest of the whole text stands at its end where letters or digits are lost, or if told.
    """
    name = words(text)
    name = name if name[:1].isalpha() else f"robot_{name}".rstrip("_")
    if len(name) <= LONGEST and not digest and not any(
            c.isalnum() and not c.isascii() for c in text):
        return name
    return f"{name[:LONGEST - 9].rstrip('_')}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def words(text: str) -> str:
    """The letters and digits of ASCII, with one underscore for all that is between them."""
    return re.sub(r"[\W_]+", "_", text, flags=re.ASCII).strip("_")


def output_names(requests: Sequence[Request]) -> list[list[str]]:
    """Names of what each request returns, no two of them alike.

    What several return under one name is told apart by its frame, or by the quantity that it is a
    field of; then by the reference; then by a digest: `frame_pose_FL`, `frame_pose_FR`.
    """
    for text, times in Counter(r.text for r in requests).items():
        if times > 1:
            raise ArgumentError(f"{text} is asked for {times} times; once is enough")
    parts = [(r, name) for r in requests for name, _ in r.row.outputs]
    found = [name for _, name in parts]
    for longer in (_by_place, _by_reference, _by_digest):
        count = Counter(found)
        found = [longer(*part) if count[name] > 1 else name
                 for part, name in zip(parts, found, strict=True)]
    rest = iter(found)
    return [[next(rest) for _ in r.row.outputs] for r in requests]


def _by_place(request: Request, name: str) -> str:
    return legal_name(f"{name}_{request.frame}" if request.frame else f"{request.row.name}_{name}")


def _by_reference(request: Request, name: str) -> str:
    reference = "" if request.reference is None else request.reference.name.lower()
    return legal_name(f"{_by_place(request, name)}_{reference}")


def _by_digest(request: Request, name: str) -> str:
    return legal_name(f"{name}_{request.frame}_{request.text}", digest=True)
