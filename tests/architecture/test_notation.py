"""Letters of displayed equations are defined in docs/notation.md; algorithms cite their sources."""

import ast
import re
import unicodedata
from pathlib import Path

import pytest

import closedform

PACKAGE = Path(closedform.__file__).parent
MATHS = PACKAGE / "maths"
NOTATION = PACKAGE.parents[1] / "docs" / "notation.md"
MODULES = sorted(p for p in MATHS.rglob("*.py") if p.name != "__init__.py")

CHAPTER = {"redundancy": "Redundant arms", "flexible": "Flexible arms", "elastic": "Elastic joints",
           "base_parameters": "Base parameters", "canonical": "Base parameters"}
"""The table for a folder; of the others it is the first."""

OWN_LETTERS = {"papers"}
"""Folders that keep the letters of what they reprint."""

TEXTBOOK = {"definitions/energy.py", "definitions/friction.py", "algorithms/applicability.py"}
"""Definitions that belong to nobody, and what has no equations."""


def name(path):
    return path.relative_to(MATHS).as_posix()


def equations(path):
    """Indented lines of docstrings."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef):
            for line in (ast.get_docstring(node) or "").splitlines():
                if line.startswith("    "):
                    yield unicodedata.normalize("NFD", line)


def letters(text):
    """Capital and Greek letters that stand alone, whatever is above or below them."""
    text = unicodedata.normalize("NFD", text)
    return set(re.findall(r"(?<![\w.'])([A-ZΑ-Ωα-ω])(?![A-Za-zα-ω(])", text))


def defined(chapter):
    """Letters in the first column of a chapter's table."""
    text = NOTATION.read_text(encoding="utf8")
    part = text.split(f"### {chapter}\n")[1].split("\n### ")[0]
    rows = [line.split("|")[1] for line in part.splitlines() if line.startswith("| ")]
    return set().union(*(re.findall(r"[A-ZΑ-Ωα-ω]", unicodedata.normalize("NFD", r)) for r in rows))


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_every_letter_of_an_equation_is_defined(path):
    folder = path.relative_to(MATHS).parts[0]
    if folder not in OWN_LETTERS:
        known = defined(CHAPTER.get(folder, "Rigid bodies"))
        assert set().union(*(letters(line) for line in equations(path))) <= known


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_every_algorithm_definition_and_paper_says_where_it_is_from(path):
    if path.relative_to(MATHS).parts[0] in {"algorithms", "definitions", "papers"} \
            and name(path) not in TEXTBOOK:
        assert "Cites: [" in path.read_text(encoding="utf8")


NUMBERED = ("maths", "program", "lowerings", "applications/redundancy")


@pytest.mark.parametrize("path", sorted(p for room in NUMBERED
                                        for p in (PACKAGE / room).rglob("*.py")),
                         ids=lambda p: p.relative_to(PACKAGE).as_posix())
def test_numbers_of_equations_are_printed_ones_where_a_paper_is_cited_and_else_our_own(path):
    """Ours are (i), (ii), …; an Arabic number needs a citation in the same file."""
    text = path.read_text(encoding="utf8")
    numbered = [line for line in text.splitlines()
                if re.search(r"\S {2,}(# )?\(\d+[a-z]?\)$", line)]
    assert not numbered or re.search(r"\[[A-Z]\w+(19|20)\d\d", text), numbered
