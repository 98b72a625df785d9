r"""Text about a program inside its source: in comments, docstrings and headings it stays text.

It holds names out of files of others. Whatever they are, a line stays one line (what does not print
becomes a space), and what would end its comment, string or group is taken apart or escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

LATEX: Mapping[str, str] = MappingProxyType({
    **{c: f"\\{c}" for c in "_&%#${}"},
    "\\": r"\ensuremath{\backslash}", "^": r"\ensuremath{\wedge}", "~": r"\ensuremath{\sim}",
    **{c: rf"\ensuremath{{{c}}}" for c in "<>|"}})
"""Characters that LaTeX reads as commands, or prints as others, in words and in formulas."""


def one_line(text: str) -> str:
    """The text without line breaks and all else that does not print."""
    return "".join(c if c.isprintable() else " " for c in text).rstrip()


def line_comments(sign: str, lines: Iterable[str]) -> list[str]:
    """Comments that end with their lines: MATLAB's and LaTeX's."""
    return [f"{sign} {one_line(line)}".rstrip() for line in lines]


def c_comment(lines: Iterable[str]) -> list[str]:
    """A comment of C."""
    return ["/*", *(f" * {c_words(line)}".rstrip() for line in lines), " */"]


def c_words(text: str) -> str:
    """What may stand in a comment of C: no end of it, none within it, no line that goes on.

    ??/ is a backslash in C99, and a backslash at a line's end joins the next line to it.
    """
    apart = re.sub(r"(?<=\*)(?=/)|(?<=/)(?=\*)|(?<=\?)(?=\?)", " ", one_line(text))
    return apart.rstrip("\\ ")


def docstring(lines: Iterable[str]) -> list[str]:
    """A docstring of Python that reads back as these lines."""
    first, *rest = (re.sub(r'"(?="|$)', r"\"", one_line(x).replace("\\", "\\\\")) for x in lines)
    return [f'"""{first}', *rest, '"""'] if rest else [f'"""{first}"""']


def latex_words(text: str) -> str:
    """Words of LaTeX, in text and in formulas."""
    return "".join(LATEX.get(c, c) for c in one_line(text))
