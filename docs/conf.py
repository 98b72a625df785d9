"""Sphinx builds the documentation from MyST pages and from the docstrings: `make docs`."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import closedform

project = "closedform"
author = "The closedform developers"
copyright = "the closedform developers, Apache-2.0"
release = version = closedform.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"closedform {release}"
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["docs.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5fa5", "color-brand-content": "#0b5fa5"},
    "dark_css_variables": {"color-brand-primary": "#6db3f2", "color-brand-content": "#6db3f2"},
}


def rendered(lines: list[str]) -> Iterator[str]:
    """A docstring as reStructuredText: indented lines are formulas, shown letter for letter."""
    for kind, group in groupby(lines, lambda line: "" if not line.strip() else line[0].isspace()):
        block = list(group)
        if kind == "":
            yield from block
        elif kind:
            yield from ["", "::", "", *block, ""]
        else:
            yield from prose("\n".join(block)).splitlines()


def prose(text: str) -> str:
    """Plain text with `code` in it: code becomes a literal, everything else stands for itself."""
    parts = re.split(r"`([^`]+)`", text)
    parts[::2] = [re.sub(r"([\\*|_`])", r"\\\1", words) for words in parts[::2]]
    parts[1::2] = [rf"\ ``{' '.join(code.split())}``\ " for code in parts[1::2]]
    return "".join(parts)


def render_docstring(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str],
) -> None:
    lines[:] = rendered(lines)


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", render_docstring)
