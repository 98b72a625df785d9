"""Names of robots, bodies, joints and frames: one line of text that reads as it is written.

Names go into source code, pages and terminals. A line break or another control character could end
a comment there, and a mark that turns the direction of writing shows another text than the one
that is compiled; such names are refused.
"""

from __future__ import annotations

import re

from closedform.errors import ModelError

REFUSED = re.compile(
    r"[\x00-\x1f\x7f-\x9f"              # control characters, line breaks and NEL among them
    r"\u2028\u2029"                     # separators of lines and paragraphs
    r"\u202a-\u202e\u2066-\u2069"       # marks that turn the direction of writing
    r"\ud800-\udfff]")                  # halves of a pair, which no file can hold


def name_fault(name: str) -> str | None:
    """What is wrong with the characters of a name, or None."""
    found = REFUSED.search(name)
    return None if found is None else (
        f"{name!r:.80} holds the control character U+{ord(found[0]):04X}; "
        "a name is one line of visible text")


def checked_name(name: object, what: str) -> None:
    """A `ModelError` if this is no name."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"{what} name must be a non-empty text, not {name!r:.80}")
    fault = name_fault(name)
    if fault is not None:
        raise ModelError(f"{what} name {fault}")
