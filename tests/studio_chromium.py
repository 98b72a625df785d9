"""A headless Chromium that draws the studio without a GPU, and what tests and tools ask it."""

import io
import shutil
import time

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = ("--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--no-first-run",
         "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-dev-shm-usage",
         "--disable-background-networking", "--disable-component-update", "--disable-sync")
PATIENCE = 200
PHONE = 500
"""Pixels below which a window is asked for by its screen: Chromium's own windows are wider."""


def chromium(profile, width=1280, height=800):
    """A driver of selenium's, its window so many pixels large."""
    from selenium import webdriver
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
        options.add_argument(flag)
    if width < PHONE:
        options.add_experimental_option("mobileEmulation", {
            "deviceMetrics": {"width": width, "height": height, "pixelRatio": 1.0}})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_page_load_timeout(PATIENCE)
    return driver


def wait(condition, what, seconds=PATIENCE):
    """What a condition gives, once it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


def click_text(driver, text):
    """Click the element that has this text of its own; whether there is one that is seen."""
    return driver.execute_script("""
        const found = [...document.querySelectorAll("body *")].filter(
          x => x.checkVisibility() && [...x.childNodes].some(
            y => y.nodeType === 3 && y.textContent.trim() === arguments[0]));
        if (!found.length) return false;
        found[0].scrollIntoView({block: innerWidth < 576 ? "start" : "nearest"});
        for (const kind of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"])
          found[0].dispatchEvent(new PointerEvent(kind, {bubbles: true, pointerId: 1}));
        return true;""", text)


def pixels(driver, css="canvas"):
    """What is drawn there, (height, width, 3)."""
    import numpy as np
    from PIL import Image
    element = driver.find_element("css selector", css)
    picture = Image.open(io.BytesIO(element.screenshot_as_png)).convert("RGB")
    return np.asarray(picture, dtype=int)
