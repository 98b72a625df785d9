"""A headless Chromium for tests of pages, skipped loudly where there is none."""

import shutil
import time
from contextlib import contextmanager

import pytest

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--no-first-run",
         "--disable-dev-shm-usage")


@contextmanager
def browser(folder):
    """A driver of the browser, with its profile in a folder."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: "
                                    "THE PAGE WAS NOT TESTED IN A BROWSER")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("no Chromium (apt install chromium chromium-driver): "
                    "THE PAGE WAS NOT TESTED IN A BROWSER")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield made
    finally:
        made.quit()


def wait(condition, what, seconds=120.0):
    """What a condition gives, once it is true; a busy machine draws late."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError(f"waited in vain for {what}")


def widen(driver, width):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})


def scheme(driver, name):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": name}]})


def complaints(driver):
    """What the console says is an error."""
    return [x for x in driver.get_log("browser") if x["level"] == "SEVERE"]


def loose(driver):
    """What sticks out of the window, but for what scrolls by itself."""
    return driver.execute_script(
        "return [...document.querySelectorAll('body *')].filter(e => !e.closest('.scroll, svg') && "
        "e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80))")


def brightness(driver):
    """Of text and of the page, 0 to 255."""
    found = driver.execute_script(
        "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]")
    return [sum(int(x) for x in c[4:-1].split(",")) / 3 for c in found]
