"""Whatever the text about a program holds, it stays text in every language."""

import ast
import random
import re

from hypothesis import example, given
from hypothesis import strategies as st

from closedform.lowerings.source.comments import (
    LATEX,
    c_comment,
    c_words,
    docstring,
    latex_words,
    line_comments,
    one_line,
)
from export_tools import WARNINGS, run, tool
from hostile_texts import HOSTILE

LINES = st.lists(st.text() | st.sampled_from(HOSTILE)
                 | st.text(alphabet='*/\\?"%{}#\n\r\u2028 '), min_size=1)


@given(st.text())
def test_a_line_stays_one_line_of_what_prints(text):
    assert one_line(text).isprintable() and len(one_line(text)) <= len(text)


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"])))
def test_what_prints_stays_as_it_is(text):
    assert one_line(text) == text


@given(LINES)
@example(['"', '"'])
@example(["\\"])
@example(['x"""'])
def test_a_docstring_reads_back_as_the_lines(lines):
    text = "\n".join(docstring(lines))
    assert ast.literal_eval(text).removesuffix("\n") == "\n".join(map(one_line, lines))


@given(LINES)
def test_every_line_of_a_header_begins_with_the_sign(lines):
    made = "\n".join(line_comments("%", lines)).splitlines()
    assert len(made) == len(lines) and all(x == "%" or x.startswith("% ") for x in made)


@given(LINES)
def test_nothing_ends_or_opens_a_comment_of_c_nor_goes_on_in_the_next_line(lines):
    first, *inside, last = "\n".join(c_comment(lines)).splitlines()
    assert (first, last, len(inside)) == ("/*", " */", len(lines))
    for line in inside:
        assert line.startswith(" *") and not line.endswith("\\")
        assert not re.search(r"\*/|/\*|\?\?", line)


def test_gcc_sees_no_code_in_a_hostile_comment(tmp_path):
    """5000 lines made of what comments are sensitive to, and one variable behind them."""
    rng = random.Random(1)
    made = ["".join(rng.choices('*/\\?#"\n\r !x', k=rng.randint(1, 12))) for _ in range(5000)]
    text = "\n".join([*c_comment([*HOSTILE, *made]), "int x;",
                      *(f"/* {c_words(t)}; see x.h. */" for t in [*HOSTILE, *made])])
    (tmp_path / "x.c").write_text(text + "\n", encoding="utf8")
    for standard in ("c99", "gnu17"):
        told = run([tool("gcc"), f"-std={standard}", *WARNINGS, "-E", "-P", "x.c"], tmp_path)
        assert told.split() == ["int", "x;"]


@given(st.text() | st.sampled_from(HOSTILE) | st.text(alphabet="".join(LATEX)))
def test_words_of_latex_hold_no_command_but_those_that_print_a_character(text):
    known = sorted(map(re.escape, LATEX.values()), key=len, reverse=True)
    rest = re.sub("|".join(known), "", latex_words(text))
    assert not set(rest) & set(LATEX) and rest.isprintable()
