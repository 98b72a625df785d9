"""The page in headless Chromium: no errors, sections, figures with content, no overflow."""

import base64
import re
from dataclasses import replace

import numpy as np
import pytest
from lxml import html

import chromium
import closedform as cf
from chromium import brightness, complaints, loose, scheme, widen
from closedform.applications.report import figures
from closedform.applications.report.bodies import placeholders
from closedform.applications.report.page import page
from closedform.applications.report.tables import plain_words
from report_fixture import planar_report

SECTIONS = ("live", "robot", "equations", "parameters", "derivatives", "certificates", "speed",
            "redundancy", "export")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    path = planar_report().write(folder / "page.html")
    with chromium.browser(folder) as driver:
        driver.get(path.as_uri())
        yield driver


def test_the_page_loads_without_console_errors(browser):
    assert complaints(browser) == []


def test_all_sections_are_there_and_say_something(browser):
    for name in SECTIONS:
        assert len(browser.find_element("id", name).text) > 100, name


def test_figures_have_content(browser):
    drawn = browser.execute_script(
        "return [...document.querySelectorAll('figure svg')].map(s => "
        "[s.querySelectorAll('path').length, s.getBoundingClientRect().height])")
    assert len(drawn) >= 7
    assert all(paths > 10 and height > 100 for paths, height in drawn)


def test_no_two_elements_have_one_id(browser):
    ids = browser.execute_script("return [...document.querySelectorAll('[id]')].map(x => x.id)")
    assert len(ids) == len(set(ids)) > 100


def test_tables_and_figures_can_be_read_without_eyes(browser):
    """Heads have scopes, tables captions; figures have words of their own and their numbers."""
    assert browser.execute_script("return document.querySelectorAll('th:not([scope])').length") == 0
    bare = "return [...document.querySelectorAll('table')].filter(t => !t.caption).length"
    assert browser.execute_script(bare) == 0
    told = browser.execute_script(
        "return [...document.querySelectorAll('figure')].map(f => [f.querySelector('svg')"
        ".getAttribute('aria-label'), f.querySelector('figcaption').firstChild.textContent.trim(), "
        "f.querySelector('a.csv')?.href ?? ''])")
    assert all(alt and alt != caption for alt, caption, _ in told)
    for _, caption, link in told:
        lines = base64.b64decode(link.partition(",")[2]).decode().splitlines()
        assert len(lines) > 2 and len({line.count(",") for line in lines}) == 1, caption


def test_the_head_says_where_the_page_comes_from(browser):
    told = browser.find_element("css selector", "header").text
    for part in ("closedform", cf.__version__, "UTC", "fixed", "seed 0", "kernels ready"):
        assert part in told, part


def test_the_robot_at_the_head_moves(browser):
    before = browser.find_element("css selector", ".live svg").get_attribute("innerHTML")
    browser.execute_script("""const x = document.querySelector('.live input');
        x.value = +x.max; x.dispatchEvent(new Event('input'));""")
    chromium.wait(lambda: browser.find_element("css selector", ".live svg").get_attribute(
        "innerHTML") != before, "the robot")


def test_the_table_of_quantities_can_be_sorted(browser):
    head = browser.find_elements("css selector", "table.sortable thead button")[1]
    numbers = """return [...document.querySelectorAll('table.sortable tbody tr')].map(
        r => +r.cells[1].dataset.sort)"""
    for sign in (1, -1):
        browser.execute_script("arguments[0].click()", head)
        found = browser.execute_script(numbers)
        assert found == sorted(found, key=lambda x: sign * x)


def test_on_paper_everything_is_unfolded_and_pages_are_numbered(browser, tmp_path):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    heights = browser.execute_script(
        "return [...document.querySelectorAll('main section:not(#live) details')].map("
        "x => x.getBoundingClientRect().height - x.querySelector('summary')"
        ".getBoundingClientRect().height)")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert heights and min(heights) > 10
    pdf = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})["data"]
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", base64.b64decode(pdf))
    assert boxes and all(abs(float(x) - 595) < 1 and abs(float(y) - 842) < 1 for x, y in boxes)


def test_numbers_have_a_true_minus_and_zero_is_zero(browser):
    text = browser.find_element("css selector", "main").text
    assert "0.0e+00" not in text and not re.search(r"[\s(]-\d", text.split("Take it away")[0])


def test_names_of_others_are_shown_as_text(tmp_path_factory):
    """A report whose robot's names want to be elements and scripts."""
    made, x = planar_report(), "<img src=x onerror=document.title='PWNED'>"
    inertia = cf.Inertia(1.0, (0.1, 0, 0), np.eye(3) * 0.1)
    robot = cf.Robot(f"</title>{x}", [
        cf.Body(f"{x}{k}", f"{x}{k - 1}" if k else None, cf.Revolute((0, 0, 1), name=f"|{x}{k}"),
                inertia=inertia) for k in range(3)])
    motion = replace(made.motion, robot=robot)
    text = page(replace(made, robot=robot, motion=motion, base="", redundancy=""))
    found = html.fromstring(text)
    assert found.xpath("//img") == [] and len(found.xpath("//script")) == 3
    assert f"|{x}0" in found.text_content()
    assert found.xpath("//title/text()")[0].startswith("</title><img")


@pytest.mark.parametrize("limbs, said", [(1, False), (4, True)])
def test_mass_on_no_joint_is_told_and_doubted_where_limbs_hang_on_it(limbs, said):
    text = page(replace(planar_report(), root=(1.16, limbs)))
    assert "1.16 kg stand still and are not counted" in text
    assert ("--floating" in text) == said


def test_limits_that_nobody_measured_are_told():
    inertia = cf.Inertia(1.0, (0.1, 0, 0), np.eye(3) * 0.1)
    robot = cf.Robot("r", [
        cf.Body("a", None, cf.Revolute((0, 0, 1), name="j", lower=-10.0, upper=10.0, velocity=2.1,
                                       effort=1000.0), inertia=inertia),
        cf.Body("b", "a", cf.Prismatic((0, 0, 1), name="k", lower=-0.3, upper=0.4, velocity=0.0,
                                       effort=87.0), inertia=inertia)])
    assert list(placeholders(robot)) == [
        "j: upper limit ±10 rad", "j: effort limit 1000 N m", "k: velocity limit 0 m/s"]


def test_words_for_readers_have_no_shapes_and_no_back_ticks():
    for row in cf.CATALOGUE:
        words = plain_words(row.summary)
        assert "`" not in words and not re.search(r"\(n[vq],", words), words


def test_curves_of_one_panel_have_one_unit_and_are_few():
    robot = cf.load("humanoid25")
    groups = figures.limbs(robot)
    assert sorted(k for x in groups for k in x) == list(range(robot.nv))
    assert max(map(len, groups)) <= 7 and [0, 1, 2] in groups       # the base's forces alone


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_nothing_overflows(browser, width):
    widen(browser, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert loose(browser) == []


@pytest.mark.parametrize("shown", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(browser, shown):
    scheme(browser, shown)
    ink, paper = brightness(browser)
    assert (ink < paper) == (shown == "light") and abs(ink - paper) > 150
