"""The page in headless Chromium: no errors, sections, figures with content, no overflow."""

import pytest

import chromium
from chromium import brightness, complaints, loose, scheme, widen
from report_fixture import planar_report

SECTIONS = ("robot", "equations", "parameters", "derivatives", "certificates", "speed",
            "redundancy")


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
    assert len(drawn) >= 8
    assert all(paths > 10 and height > 100 for paths, height in drawn)


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
