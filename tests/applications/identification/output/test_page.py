"""What was found, as a page and as a file."""

import tomllib

import pytest

import closedform as cf
from measured_runs import other_inertias, run

idn = cf.identification
TRUE = cf.load("ur5")
FILE = other_inertias(TRUE)
SIGNALS = idn.Signals(cutoff=5.0, delay=0.0)


@pytest.fixture(scope="module")
def fit():
    model = idn.Model(FILE, idn.Friction("viscous", "coulomb", slip=1e-3))
    return idn.fit(idn.information(model, idn.read(run(TRUE), FILE), signals=SIGNALS))


def test_the_page_and_the_file_say_what_was_found(fit, tmp_path):
    trial = idn.validate(fit, idn.read(run(TRUE, 7), FILE))
    page = fit.report(tmp_path / "fit.html", trial).read_text(encoding="utf8")
    assert "holds on motion it has not seen" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    found = tomllib.loads(fit.to_toml(tmp_path / "fit.toml").read_text(encoding="utf8"))
    assert len(found["unknown"]) == len(fit.x) and len(found["rows"]) == len(TRUE.bodies)
    masses = {b["name"]: b["parameters"][0] for b in found["rows"]}
    assert masses == {b.name: pytest.approx(b.inertia.mass) for b in fit.robot.bodies}
    assert cf.load(fit.robot.to_urdf()).nv == 6


def test_names_of_a_file_cannot_leave_the_page(tmp_path):
    from dataclasses import replace
    evil = replace(TRUE, name="<script>alert(1)</script>")
    info = idn.information(idn.Model(evil, idn.Friction("viscous")), idn.read(run(TRUE), evil),
                           signals=SIGNALS)
    page = idn.fit(info, weight=1e-5).report(tmp_path / "fit.html").read_text(encoding="utf8")
    assert "<script>" not in page and "&lt;script&gt;" in page
