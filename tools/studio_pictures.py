"""Pictures of the studio: every tab and folder at three widths, light and dark.

    python tools/studio_pictures.py [ROBOT] [--out build/studio] [--tabs Posture,Motion]
    python tools/studio_pictures.py panda --one docs/_static/studio.png --tabs Dynamics

They are looked at by people; no test reads them.
"""

import argparse
import contextlib
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image
from selenium.common.exceptions import TimeoutException

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from closedform.interfaces.studio.flexible_session import FlexibleSession  # noqa: E402
from closedform.interfaces.studio.house import Studio  # noqa: E402
from closedform.interfaces.studio.theme import put_theme  # noqa: E402
from studio_chromium import chromium, click_text, wait  # noqa: E402

WIDTHS = {1280: 800, 1920: 1080, 390: 844}
TABS = ("Posture", "Dynamics", "Matrices", "Model", "Motion", "Formulas")
COLOURS, TRIES = 200, 5
FOLDERS = ("See", "Velocity and acceleration", "What if", "Data", "Take away")


def opened(studio, driver):
    """The session of the driver's page, when its jobs are done."""
    before = set(studio.sessions.values())
    driver.get(studio.gate.address)
    session = wait(lambda: next((x for x in studio.sessions.values() if x not in before), None),
                   "a session")
    if not is_flexible(session):
        wait(lambda: session.idle, "the jobs")
    else:
        wait(lambda: driver.find_elements("css selector", "[data-panel=flexible] svg"), "the page")
    time.sleep(3)
    driver.execute_script(                       # that there is no GPU
        "document.querySelectorAll('.mantine-Notification-closeButton').forEach(x => x.click())")
    return session


def is_flexible(session):
    return isinstance(session, FlexibleSession)


def walk_arm(driver, session, out, stem):
    """The swing and the first modes of a flexible arm, at rest at a time."""
    session.play.value = False
    for k, what in enumerate(session.what.options[:4]):
        session.what.value, session.clock.value = what, 0.25
        settled(driver, out / f"{stem}-{k}.png")


def settled(driver, path):
    time.sleep(1.5)
    path.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(TRIES):                       # a busy machine takes more than ten seconds
        with contextlib.suppress(TimeoutException):
            driver.save_screenshot(str(path))
            break
    print(path)


def walk(driver, session, out, stem, tabs):
    """All tabs on the left, then all folders on the right."""
    narrow = driver.execute_script("return innerWidth") < 576
    settled(driver, out / f"{stem}-first.png")
    if narrow:
        driver.execute_script("""[...document.querySelectorAll("body *")].find(
            x => !x.childElementCount && x.textContent.startsWith("Posture ·"))?.click()""")
    for tab in tabs:
        if not click_text(driver, tab):
            print(f"no tab {tab} at {stem}")
        if tab == "Motion":
            session.controls.motion.toggle()
            wait(lambda: session.recording is not None, "a motion")
            time.sleep(2)
        settled(driver, out / f"{stem}-{tab.lower()}.png")
        if tab == "Motion":
            session.ask("record", None)
    for folder in FOLDERS:
        if click_text(driver, folder):
            settled(driver, out / f"{stem}-{folder.lower().replace(' ', '_')}.png")
            click_text(driver, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robot", nargs="?", default="panda")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "studio")
    parser.add_argument("--tabs", default=",".join(TABS))
    parser.add_argument("--widths", default=",".join(map(str, WIDTHS)))
    parser.add_argument("--themes", default="light,dark")
    parser.add_argument("--one", type=Path, help="one picture, of the first tab, of this name")
    parser.add_argument("--floating", action="store_true", help="the root is free")
    given = parser.parse_args()
    tabs = given.tabs.split(",")
    studio = Studio(given.robot, 0, **({"floating": True} if given.floating else {}))
    studio.ready.wait()
    name = Path(given.robot).stem
    for width in map(int, given.widths.split(",")):
        with tempfile.TemporaryDirectory() as profile:
            driver = chromium(profile, width, WIDTHS[width])
            session = opened(studio, driver)
            if given.one:
                click_text(driver, tabs[0])
                settled(driver, given.one)
                picture = Image.open(given.one).convert("RGB")
                picture.quantize(COLOURS, kmeans=2).save(given.one, optimize=True)
                driver.quit()
                break
            for theme in given.themes.split(","):
                put_theme(session.client.gui, theme == "dark")
                if is_flexible(session):
                    walk_arm(driver, session, given.out / name, f"{width}-{theme}")
                else:
                    walk(driver, session, given.out / name, f"{width}-{theme}", tabs)
            driver.quit()
    studio.stop()


if __name__ == "__main__":
    main()
