"""Names of pictures that commands write."""

from __future__ import annotations

from pathlib import Path

from closedform.errors import ArgumentError

FORMATS = (".png", ".svg", ".pdf")


def refuse_other_formats(picture: Path | None, option: str) -> None:
    """An error, before anything is computed, if matplotlib could not write this file."""
    if picture is not None and picture.suffix.lower() not in FORMATS:
        raise ArgumentError(f"{option}: a file ending in {', '.join(FORMATS)} expected, "
                            f"not {picture}")
