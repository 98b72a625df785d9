"""The documentation is true: its code runs, its links lead somewhere, and it builds clean."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import closedform as cf
from closedform.applications.export.options import options_of
from closedform.applications.export.sources import SOURCES
from closedform.applications.export.targets import TARGETS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(p for p in DOCS.rglob("*.md") if "_build" not in p.parts)]
RUN = [ROOT / "README.md", DOCS / "index.md", DOCS / "quickstart.md", DOCS / "compiler.md",
       DOCS / "export.md",
       *sorted(DOCS.glob("howto/*.md")), *sorted(DOCS.glob("coming_from/*.md"))]


def name(path):
    return str(path.relative_to(ROOT))


def blocks(path):
    """The python blocks of a page."""
    return re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf8"), re.M | re.S)


def links(path):
    """Relative links of a page, without their anchors."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf8"), flags=re.M | re.S)
    found = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text))
    return [link.split("#")[0] for link in found if not re.match(r"[a-z]+:|#", link)]


@pytest.mark.parametrize("path", RUN, ids=name)
def test_the_code_of_a_page_runs_from_top_to_bottom(path, tmp_path):
    code = "\n".join(blocks(path))
    assert code
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True,
                          text=True, timeout=300, env={**os.environ, "MPLBACKEND": "Agg"},
                          check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_relative_links_lead_to_files(path):
    assert [link for link in links(path) if not (path.parent / link).exists()] == []


def test_every_page_is_in_a_table_of_contents():
    listed = re.findall(r"^```\{toctree\}\n(.*?)^```", (DOCS / "index.md").read_text("utf8"),
                        re.M | re.S)
    entries = {line for block in listed for line in block.splitlines() if line[:1].isalpha()}
    pages = {str(p.relative_to(DOCS).with_suffix("")) for p in PAGES if DOCS in p.parents}
    assert pages - {"index"} == entries


def test_every_public_name_is_in_the_api_reference():
    text = (DOCS / "api.md").read_text(encoding="utf8")
    init = Path(cf.__file__).read_text(encoding="utf8")
    public = re.findall(r" as ([a-zA-Z]\w+)", init)
    assert [n for n in public if not re.search(rf"\b{n}\b", text)] == []


def test_the_page_of_exports_has_the_table_of_targets_and_every_option():
    text = (DOCS / "export.md").read_text(encoding="utf8")
    for name, target in TARGETS.items():
        files = ", ".join(f"`{x}`" for x in target.files)
        assert f"| `{name}` | {files} | `{target.check}` | {target.needs} |" in text
        assert [x for x in options_of(target) if f"`{x}`" not in text] == []
    for source in SOURCES.values():
        assert [x for x in options_of(source) if f"`{x}`" not in text] == []


def test_every_test_that_a_page_names_exists():
    sources = "\n".join(p.read_text(encoding="utf8") for p in (ROOT / "tests").rglob("*.py"))
    defined = set(re.findall(r"def (test_\w+)", sources))
    files = {p.stem for p in (ROOT / "tests").rglob("*.py")}
    ours = [p for p in PAGES if p.name != "real-files.md"]     # that one lists other people's files
    named = {n for p in ours for n in re.findall(r"\btest_\w+", p.read_text(encoding="utf8"))}
    assert named - defined - files - {"test_vectors", "test_NAME"} == set()


@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None
                    or importlib.util.find_spec("furo") is None
                    or importlib.util.find_spec("myst_parser") is None,
                    reason="NOT TESTED: pip install -e '.[docs]'")
def test_it_builds_without_warnings(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", str(DOCS), str(tmp_path)],
        capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_the_cheat_sheet_has_every_quantity_beside_names_that_pinocchio_has():
    pin = pytest.importorskip("pinocchio", reason="NOT TESTED: pip install pin")
    data = pin.Model().createData()
    rows = [line.split("|")[1:-1] for line in (DOCS / "cheat_sheet.md").read_text(
        encoding="utf8").splitlines() if line.startswith("| `")]
    ours = {re.match(r" `(\w+)\(([^)]*)\)", row[0]) for row in rows if len(row) == 3}
    assert {m[1] for m in ours} == {q.name for q in cf.CATALOGUE}
    for q in cf.CATALOGUE:
        given = next(m[2] for m in ours if m[1] == q.name).split(", ")
        assert tuple(given[:len(q.inputs)]) == q.inputs and ("frame" in given) == q.framed
    theirs = {name for row in rows for name in re.findall(r"`([\w.]+)`", row[-1])}
    assert [n for n in theirs if not hasattr(data if n.startswith("data.") else pin,
                                             n.removeprefix("data."))] == []
