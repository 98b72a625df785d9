"""The page in headless Chromium: no errors, sections, figures with content, no overflow."""

import shutil

import pytest

from report_fixture import planar_report

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: "
                                "THE PAGE WAS NOT TESTED IN A BROWSER")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no Chromium (apt install chromium chromium-driver): "
    "THE PAGE WAS NOT TESTED IN A BROWSER")

SECTIONS = ("robot", "equations", "parameters", "derivatives", "certificates", "speed",
            "redundancy")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--no-first-run",
         "--disable-dev-shm-usage")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    path = planar_report().write(folder / "page.html")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.get(path.as_uri())
    yield driver
    driver.quit()


def widen(browser, width):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})


def test_the_page_loads_without_console_errors(browser):
    assert [x for x in browser.get_log("browser") if x["level"] == "SEVERE"] == []


def test_all_sections_are_there_and_say_something(browser):
    for name in SECTIONS:
        assert len(browser.find_element("id", name).text) > 100, name


def test_figures_have_content(browser):
    drawn = browser.execute_script(
        "return [...document.querySelectorAll('figure svg')].map(s => "
        "[s.querySelectorAll('path').length, s.getBoundingClientRect().height])")
    assert len(drawn) >= 8
    assert all(paths > 10 and height > 100 for paths, height in drawn)


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_overflows(browser, width):
    widen(browser, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    loose = browser.execute_script(
        "return [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll') && "
        "e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))")
    assert loose == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(browser, scheme):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": scheme}]})
    ink, paper = browser.execute_script(
        "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]")
    bright = [sum(int(x) for x in c[4:-1].split(",")) / 3 for c in (ink, paper)]
    assert (bright[0] < bright[1]) == (scheme == "light")
    assert abs(bright[0] - bright[1]) > 150
