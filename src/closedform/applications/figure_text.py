"""Names in figures."""

from __future__ import annotations


def plain(text: str) -> str:
    """The text for matplotlib, which reads what stands between two `$` as a formula."""
    return text.replace("$", r"\$")
