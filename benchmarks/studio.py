"""Figures of the studio: CPU of an update on the server, its size, memory under many events.

    python benchmarks/studio.py [ROBOT] [SECONDS]
    python benchmarks/studio.py [ROBOT] browser        in Chromium without a GPU, by the clock

One process serves and a client without pictures sends slider events; CPU time, not the clock. In
the browser: from the command to the robot on the screen, and from a slider's key to the number.
"""

from __future__ import annotations

import contextlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from closedform.applications.studio.panels.table import PANELS
from closedform.applications.studio.shown import shown
from closedform.applications.studio.state import Wish, obey, start
from closedform.interfaces.studio.gate import free_port, uuid_of
from closedform.interfaces.studio.house import Studio
from studio_browser import Browser
from studio_chromium import chromium, wait


def megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def pure(studio: Studio) -> None:
    """What an update costs without viser."""
    subject = studio.subject()
    state = start(subject)
    shown(subject, state)
    count, begun = 200, time.process_time()
    for k in range(count):
        state = obey(subject, state, Wish("dial", {0: 0.001 * k}))
        s = shown(subject, state)
    kernels = (time.process_time() - begun) / count
    begun = time.process_time()
    for k in range(count):
        size = sum(len(panel.framed(s, k)) for panel in PANELS if panel.follows)
    panels = (time.process_time() - begun) / count
    print(f"state and kernels {1e3 * kernels:.2f} ms, all panels {1e3 * panels:.2f} ms "
          f"({size / 1e3:.0f} kB) of CPU")


def served(studio: Studio, seconds: float) -> None:
    """What thirty updates a second cost the server, the client's own CPU taken off."""
    client = Browser(studio.gate.address)
    client.wait(lambda: "title=" in client.panel("M"), 600)
    session = next(iter(studio.sessions.values()))
    client.wait(lambda: session.idle, 600)
    time.sleep(2)
    thirty_a_second(client, session, seconds, "all panels")
    client.send("GuiUpdateMessage", uuid=uuid_of(session.pages.teller),
                updates={"value": "certificate limits reach"})
    client.wait(lambda: session.pages.seen is not None, 60)
    thirty_a_second(client, session, seconds, "the tab Posture")
    client.close()


def thirty_a_second(client: Browser, session: Any, seconds: float, seen: str) -> None:
    """Slider events for so many seconds."""
    uuid, _ = client.widget(session.subject.dials.all[0].name)
    before, serial, begun, cpu = megabytes(), session.serial, time.monotonic(), time.process_time()
    listening = client.cpu
    k = 0
    while time.monotonic() - begun < seconds:
        k += 1
        client.send("GuiUpdateMessage", uuid=uuid, updates={"value": round(k % 997 / 1e3, 3)})
        time.sleep(1 / 30)
    spent = time.process_time() - cpu - (client.cpu - listening)
    updates, took = session.serial - serial, time.monotonic() - begun
    print(f"{seen}: {updates / took:.1f} updates a second, {1e3 * spent / updates:.2f} ms of CPU "
          f"each, {100 * spent / took:.0f} % of a core; memory {megabytes() - before:+.1f} MB")


# ---------------------------------------------------------------------- in a browser
DRAWN = "return !!(window.__viserSceneTree && window.__viserSceneTree.getState()['/b0'])"
PRESSED = """
const done = arguments[arguments.length - 1], slider = document.querySelector("[role=slider]");
const text = () => document.querySelector("[data-panel=reach]").textContent;
const before = text(), begun = performance.now();
slider.focus();
slider.dispatchEvent(new KeyboardEvent("keydown", {key: arguments[0], code: arguments[0],
                                                   bubbles: true}));
const look = () => text() !== before ? done(performance.now() - begun)
  : performance.now() - begun > 5000 ? done(null) : setTimeout(look, 1);
look();"""


def answered(driver: Any, drawn: str) -> None:
    """From a slider's key to the number: key upon key, and with pauses between them."""
    keys = ("ArrowRight", "ArrowLeft")
    for word, pause in (("key upon key", 0.0), ("with pauses", 0.5)):
        took = []
        for k in range(21):
            took.append(driver.execute_async_script(PRESSED, keys[k % 2]))
            time.sleep(pause)
        found = [x for x in took if x]
        print(f"slider to number, {drawn}, {word}: median {statistics.median(found):.0f} ms, best "
              f"{min(found):.0f} ms, {took.count(None)} lost; load average "
              f"{os.getloadavg()[0]:.1f}")


def in_browser(source: str) -> None:
    """The command in a process of its own, and a page that is open before it listens."""
    with tempfile.TemporaryDirectory() as profile:
        driver, port = chromium(profile, 1280, 800), free_port("127.0.0.1", 8300)
        address, begun = f"http://localhost:{port}/", time.monotonic()
        command = subprocess.Popen([sys.executable, "-m", "closedform", "studio", source,
                                    "--no-browser", "--port", str(port)])
        try:
            while True:
                with contextlib.suppress(OSError), urllib.request.urlopen(address):
                    break
                time.sleep(0.05)
            driver.get(address)
            wait(lambda: driver.execute_script(DRAWN), "the robot")
            print(f"{source}: on the screen {time.monotonic() - begun:.1f} s after the command")
            wait(lambda: driver.find_elements("css selector", "[data-panel=reach] td[title]"),
                 "numbers")
            time.sleep(20)                             # what is compiled in the background
            answered(driver, "meshes")
            driver.find_element("tag name", "body").send_keys("m")
            time.sleep(3)
            answered(driver, "bones")
        finally:
            driver.quit()
            command.terminate()


def main(source: str = "panda", seconds: str = "20") -> None:
    if seconds == "browser":
        in_browser(source)
        return
    begun = time.process_time()
    studio = Studio(source, 0)
    studio.ready.wait()
    print(f"{source}: ready after {time.process_time() - begun:.2f} s of CPU")
    pure(studio)
    served(studio, float(seconds))
    studio.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
