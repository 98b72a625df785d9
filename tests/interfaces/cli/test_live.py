"""`closedform live`."""

import pytest
from typer.testing import CliRunner

import closedform as cf
from closedform.interfaces.cli.main import app

RUNNER = CliRunner()


@pytest.mark.parametrize("options, scripts", [([], True), (["--still"], False)])
def test_a_page_is_written_with_or_without_what_computes(options, scripts, tmp_path):
    path = tmp_path / "page.html"
    ran = RUNNER.invoke(app, ["live", "planar2r", "--q", "0.25,-0.5", "-o", str(path), *options])
    assert ran.exit_code == 0, ran.output
    text = path.read_text(encoding="utf8")
    assert ("<script" in text) == scripts and "q = [0.25, -0.5]" in text
    assert f"{path}: planar2r" in ran.output and "kB" in ran.output


def test_a_flexible_arm_has_a_page_too(tmp_path):
    path = tmp_path / "page.html"
    q = "0.1,0.2,0,0.01,0,0"
    ran = RUNNER.invoke(app, ["live", "deluca_siciliano", "--q", q, "-o", str(path)])
    assert ran.exit_code == 0, ran.output
    assert "q = [0.1, 0.2, 0.0, 0.01, 0.0, 0.0]" in path.read_text(encoding="utf8")


@pytest.mark.parametrize("options, said", [
    (["--q", "0.1"], "must have the shape"), (["--q", "home"], "2 numbers between commas"),
    (["--q", "nan,0"], "finite"), (["-o", "/nowhere/page.html"], "there is no folder")])
def test_what_cannot_be_is_refused_in_a_sentence(options, said, tmp_path):
    path = tmp_path / "page.html"
    ran = RUNNER.invoke(app, ["live", "planar2r", "-o", str(path), *options])
    assert isinstance(ran.exception, cf.ClosedformError) and said in str(ran.exception)
    assert not path.exists()
