"""The live page: what it shows is what the library says, in a browser without a network."""

import io
import json
import re

import numpy as np
import pytest
from lxml import html
from PIL import Image

import chromium
import closedform as cf
from chromium import brightness, complaints, loose, scheme, widen
from closedform.applications.live.cells import number
from closedform.applications.live.page import live_part
from curved_robots import curved_robot
from hostile_texts import LEGAL
from random_robots import KINDS, random_robot

ROBOTS = {"panda": lambda: cf.load("panda"), "humanoid25": lambda: cf.load("humanoid25"),
          "curved": lambda: curved_robot(floating=True),
          "every kind": lambda: random_robot(3, kinds=KINDS, bodies=12)}
TOLD = ("mass_matrix", "gravity_torque", "inverse_dynamics", "center_of_mass")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium.browser(tmp_path_factory.mktemp("browser")) as driver:
        yield driver


def opened(browser, robot, path, **how):
    browser.get(cf.live(robot, path, **how).resolve().as_uri())
    browser.get_log("browser")
    wait(browser, 1)


def serial(browser):
    return int(browser.execute_script("return document.querySelector('.live').dataset.serial||0"))


def wait(browser, at_least):
    chromium.wait(lambda: serial(browser) >= at_least, "an update of the page")


def moved(browser, of="q", seed=1):
    """Every slider of an array somewhere else."""
    before = serial(browser)
    parts = np.random.default_rng(seed).uniform(0.02, 0.98, 200).tolist()
    browser.execute_script("""
        [...document.querySelectorAll(`input[data-of=${arguments[0]}]`)].forEach((x, k) => {
          x.value = +x.min + arguments[1][k % 200] * (x.max - x.min);
          x.dispatchEvent(new Event("input")); })""", of, parts)
    wait(browser, before + 1)


def state(browser):
    text = browser.execute_script("return document.querySelector('pre.state').textContent")
    return {line[0]: np.array([float(x) for x in re.findall(r"[-\d.e]+", line[4:])])
            for line in text.splitlines()}


def shown(browser):
    """Every number of every table, from the cells' titles, by name."""
    return {name: np.array(values, dtype=float) for name, values in browser.execute_script("""
        const found = {};
        for (const table of document.querySelectorAll("table[data-values]")) {
          const names = table.dataset.values.split(" ");
          const cells = [...table.querySelectorAll("tbody td.n")];
          names.forEach((name, j) => { found[name] =
            cells.filter((_, k) => k % names.length === j).map(x => x.title); });
        }
        return found;""").items()}


@pytest.mark.parametrize("name", ROBOTS)
def test_numbers_shown_are_the_librarys_at_the_state_shown(name, browser, tmp_path):
    robot = ROBOTS[name]()
    opened(browser, robot, tmp_path / "page.html")
    for seed in range(3):
        for of in "qva":
            moved(browser, of, seed)
        at, found = state(browser), shown(browser)
        expected = {
            "mass_matrix": cf.mass_matrix(robot, at["q"]),
            "gravity_torque": cf.gravity_torque(robot, at["q"]),
            "inverse_dynamics": cf.inverse_dynamics(robot, at["q"], at["v"], at["a"]),
            "center_of_mass": cf.center_of_mass(robot, at["q"])}
        assert np.abs(at["v"]).min() > 0 and found.keys() == expected.keys() == set(TOLD)
        for key, value in expected.items():
            np.testing.assert_allclose(found[key], value.ravel(),
                                       atol=1e-11 * max(1, np.abs(value).max()))
        for at_unit in (s for b, s, _ in robot.parts if b.joint.moving.unit for s in [
                slice(s.start + b.joint.moving.unit.start, s.start + b.joint.moving.unit.stop)]):
            assert abs(np.linalg.norm(at["q"][at_unit]) - 1) < 1e-15
    assert complaints(browser) == []


def test_a_flexible_arm_bends_by_its_sliders_and_its_numbers_are_the_librarys(browser, tmp_path):
    arm = cf.flexible.load("deluca_siciliano")
    opened(browser, arm, tmp_path / "page.html")
    moved(browser, "q"), moved(browser, "v", 2), moved(browser, "a", 3)
    at, found = state(browser), shown(browser)
    for key, inputs in (("inertia_matrix", "q"), ("gravity_torque", "q"), ("tip_position", "q"),
                        ("inverse_dynamics", "qva")):
        expected = getattr(cf.flexible, key)(arm, *(at[x] for x in inputs))
        np.testing.assert_allclose(found[key], expected.ravel(),
                                   atol=1e-12 * max(1, np.abs(expected).max()))
    drawn = browser.execute_script(
        "return [...document.querySelectorAll('svg.robot .bone')].map(x => +x.getAttribute('x2'))")
    points = cf.flexible.arm_points(arm, at["q"])
    scale = 0.85 * 200 / 1.1 / sum(link.length for link in arm.links)
    assert len(drawn) == 16 and drawn[7] == pytest.approx(scale * points[0, -1, 0], abs=0.2)
    assert drawn[-1] == pytest.approx(scale * points[1, -1, 0], abs=0.2)
    assert complaints(browser) == [] and loose(browser) == []


def picture(browser):
    data = browser.find_element("css selector", "svg.robot").screenshot_as_png
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=int)


def test_pixels_change_when_a_slider_moves_and_not_without(browser, tmp_path):
    opened(browser, cf.load("panda"), tmp_path / "page.html")
    first, again = picture(browser), picture(browser)
    moved(browser)
    other = picture(browser)
    assert np.mean(np.any(first != again, axis=2)) < 1e-3
    assert np.mean(np.any(first != other, axis=2)) > 0.01


def test_a_robot_that_floats_stays_in_the_view(browser, tmp_path):
    opened(browser, cf.load("humanoid25"), tmp_path / "page.html")
    before = serial(browser)
    browser.execute_script("""
        [...document.querySelectorAll("input[data-of=q]")].slice(0, 3).forEach(x => {
          x.value = x.max; x.dispatchEvent(new Event("input")); })""")
    wait(browser, before + 1)
    assert np.all(state(browser)["q"][:3] >= 1)
    far = browser.execute_script("""
        return [...document.querySelectorAll("svg.robot .joint")].map(x =>
          Math.max(Math.abs(x.getAttribute("cx")), Math.abs(x.getAttribute("cy"))))""")
    assert max(far) < 200


def test_keys_move_a_joint_reach_zero_and_turn_the_view(browser, tmp_path):
    opened(browser, cf.load("panda"), tmp_path / "page.html")
    slider = browser.find_element("css selector", "input[data-of=q]")
    q0, at = state(browser)["q"], serial(browser)
    slider.send_keys("\ue014\ue014")                        # right, right
    wait(browser, at + 1)
    low, high = cf.load("panda").lower[0], cf.load("panda").upper[0]
    chromium.wait(lambda: state(browser)["q"][0] == pytest.approx(q0[0] + (high - low) / 50),
                  "two steps")
    at = serial(browser)
    slider.send_keys("0")
    wait(browser, at + 1)
    assert state(browser)["q"][0] == 0
    drawn = browser.find_element("css selector", "svg.robot")
    before = drawn.get_attribute("innerHTML")
    drawn.send_keys("\ue012")
    assert drawn.get_attribute("innerHTML") != before


def test_buttons_go_back_go_anywhere_and_speak_degrees(browser, tmp_path):
    opened(browser, cf.load("panda"), tmp_path / "page.html", q=[0.1] * 3 + [-1.0] + [0.1] * 3)
    first = state(browser)["q"]
    np.testing.assert_array_equal(first, [0.1] * 3 + [-1.0] + [0.1] * 3)
    for does, changed in (("random", True), ("home", False)):
        at = serial(browser)
        browser.find_element("css selector", f"button[data-does={does}]").click()
        wait(browser, at + 1)
        assert np.any(state(browser)["q"] != first) == changed
    browser.find_element("css selector", "button[data-does=degrees]").click()
    assert browser.find_element("css selector", "output").text == "5.73 °"


@pytest.mark.parametrize("name", ["iiwa14", "panda"])
def test_the_page_of_an_arm_is_small_and_quick(name, browser, tmp_path):
    path = tmp_path / "page.html"
    opened(browser, cf.load(name), path)
    spent = []
    for seed in range(20):
        moved(browser, seed=seed)
        spent.append(float(browser.execute_script(
            "return document.querySelector('.live').dataset.ms")))
    assert path.stat().st_size <= 64_000
    assert min(spent) <= 10             # what else runs on the machine is not the page's


def test_the_page_asks_for_nothing_and_may_not(browser, tmp_path):
    opened(browser, cf.load("planar2r"), tmp_path / "page.html")
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    policy = browser.find_element("css selector", "meta[http-equiv]").get_attribute("content")
    assert policy.startswith("default-src 'none'") and "http" not in policy
    refused = browser.execute_async_script(
        "const done = arguments[0]; fetch('http://127.0.0.1:1/').then(() => done(0), "
        "() => done(1))")
    assert refused == 1


@pytest.mark.parametrize("width", [390, 1280, 1920])
@pytest.mark.parametrize("name", ["panda", "humanoid25"])
def test_nothing_overflows(name, width, browser, tmp_path):
    widen(browser, width)
    opened(browser, cf.load(name), tmp_path / "page.html")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert loose(browser) == []


@pytest.mark.parametrize("wanted", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(wanted, browser, tmp_path):
    opened(browser, cf.load("planar2r"), tmp_path / "page.html")
    scheme(browser, wanted)
    ink, paper = brightness(browser)
    assert (ink < paper) == (wanted == "light") and abs(ink - paper) > 150


def test_on_paper_there_are_no_sliders_and_the_state_is_written_out(browser, tmp_path):
    opened(browser, cf.load("planar2r"), tmp_path / "page.html")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        heights = browser.execute_script("""
            const height = x => document.querySelector(x).getBoundingClientRect().height;
            return ["label", ".tools", "details:has(label)", "pre.state", "svg.robot"].map(height)
            """)
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert heights[:3] == [0, 0, 0] and heights[3] > 20 and 100 < heights[4] < 300


def hostile():
    """A robot whose names want to be elements, scripts and attributes."""
    texts = ["<img src=x onerror=document.title='PWNED'>",
             "<script>document.title='PWNED'</script>",
             "\"><script>document.title='PWNED'</script>",
             "' onfocus='document.title=1", *LEGAL]
    inertia = cf.Inertia(1.0, (0.1, 0, 0), np.eye(3) * 0.1)
    bodies = [cf.Body(f"{x}{k}", None if not k else f"{texts[k - 1]}{k - 1}",
                      cf.Revolute((0, k % 2, 1 - k % 2), name=f"{x} joint {k}"), inertia=inertia)
              for k, x in enumerate(texts)]
    return cf.Robot("</title><script>document.title='PWNED'</script>", bodies)


def test_names_of_others_are_shown_as_text(browser, tmp_path):
    robot = hostile()
    opened(browser, robot, tmp_path / "page.html")
    assert browser.title.startswith("</title><script>")
    assert browser.execute_script("return document.querySelectorAll('img, b').length") == 0
    assert browser.execute_script("return document.querySelectorAll('script').length") == 2
    labels = browser.execute_script(
        "return [...document.querySelectorAll('label span')].map(x => x.textContent)")
    assert any(x.startswith("<img src=x onerror") for x in labels)
    assert complaints(browser) == []


@pytest.mark.parametrize("still", [False, True])
def test_without_scripts_the_picture_and_the_numbers_of_the_start_remain(still, tmp_path):
    robot = cf.load("iiwa14")
    q = robot.random(1)
    text = cf.live(robot, tmp_path / "page.html", q, still).read_text(encoding="utf8")
    page = html.fromstring(re.sub(r"<script.*?</script>", "", text, flags=re.S))
    assert ("<script" in text) == (not still) and ("WebAssembly" in text) == (not still)
    cells = page.xpath("//table[@data-values='mass_matrix']/tbody//td/@title")
    np.testing.assert_allclose(np.array(cells, dtype=float),
                               cf.mass_matrix(robot, q).ravel(), atol=1e-13)
    assert len(page.xpath("//line[@class='bone']")) == 7
    ends = {(x.get("x2"), x.get("y2")) for x in page.xpath("//line[@class='bone']")}
    assert len(ends) >= 3


@pytest.mark.parametrize("given, message", [
    ({"q": [0.0]}, "q must have the shape"), ({"q": [np.nan] * 7}, "finite"),
    ({"q": "home"}, "q"), ({"robot": "panda"}, "must be a cf.Robot"),
    ({"robot": cf.ElasticJoints(cf.load("planar2r"), 100.0, 0.1, 1.0)}, r"give it the \.robot"),
    ({"robot": cf.flexible.load("deluca_siciliano"), "q": [0.0]}, "q must have the shape")])
def test_what_cannot_be_shown_is_refused(given, message, tmp_path):
    with pytest.raises(cf.ArgumentError, match=message):
        cf.live(**{"robot": cf.load("panda"), "path": tmp_path / "x.html", **given})
    assert not (tmp_path / "x.html").exists()


def test_numbers_are_short_with_a_true_minus():
    found = [number(x) for x in (0.0, -0.0, 1e-12, -3.14159, 1234.5, 1.5e-7, 9.99e9)]
    assert found == ["0", "0", "0", "−3.14", "1230", "1.50e−07", "9.99e+09"]


def test_a_page_of_loops_has_sliders_of_independent_joints_and_what_closes_the_others():
    robot = cf.load("four_bar")
    text = live_part(robot, robot.neutral())
    data = json.loads(re.search(r'id="live-data">(.*?)</script>', text)[1])
    assert text.count('data-of="q"') == 1 and text.count('class="cut"') == 1
    assert data["loops"]["y"] == [0] and len(data["loops"]["start"]) == 3
    assert [name for name, _ in data["loops"]["arrays"]] == ["q", "loop_step"]
