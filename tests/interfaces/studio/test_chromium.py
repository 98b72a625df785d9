"""The studio in a real browser: pixels move with a slider, numbers are there, nothing leaves."""

import io

import numpy as np
import pytest

pytest.importorskip("viser", reason="the studio needs viser: pip install 'closedform[studio]'")
pytest.importorskip("selenium.webdriver", reason="selenium is not installed: "
                    "THE STUDIO WAS NOT TESTED IN A BROWSER")
Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")

from studio_chromium import CHROMIUM, DRIVER, chromium, click_text, pixels, wait  # noqa: E402

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no Chromium (apt install chromium chromium-driver): "
    "THE STUDIO WAS NOT TESTED IN A BROWSER")

import closedform as cf  # noqa: E402
from closedform.applications.studio import recording  # noqa: E402
from closedform.interfaces.studio import take_away  # noqa: E402
from closedform.interfaces.studio.house import Studio  # noqa: E402


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    """A studio and a browser that looks at it."""
    studio = Studio("planar2r", 0)
    driver = chromium(tmp_path_factory.mktemp("profile"))
    driver.get(studio.gate.address)
    yield studio, driver
    driver.quit()
    studio.stop()


@pytest.fixture
def opened(window):
    """The studio, its living session and the browser: its own robot, at rest, the first tab open.

    Whatever a test left, another session and another robot among it, the next one begins here.
    """
    studio, driver = window
    session = wait(lambda: next(iter(studio.sessions.values()), None), "a session")
    if session.subject is not studio.subject():
        session = reloaded(studio, driver)
    session.ask("record", None)
    wait(lambda: click_text(driver, "Posture"), "the first tab")
    wait(lambda: session.pages.seen is not None and "reach" in session.pages.seen, "what is seen")
    wait(lambda: cell(driver, "reach"), "the panel of the reach")
    wait(lambda: session.idle and session.recording is None, "the jobs")
    wait(lambda: changed(pixels(driver), pixels(driver)) < 0.001, "a picture that rests")
    return studio, session, driver


def reloaded(studio, driver):
    """The session after a reload, when the one of before has ended."""
    before = set(studio.sessions.values())
    driver.refresh()
    return wait(lambda: next(iter(set(studio.sessions.values()) - before), None)
                if not before & set(studio.sessions.values()) else None, "another session")


def cell(driver, panel):
    return driver.execute_script(
        "const x = document.querySelector(`[data-panel=${arguments[0]}] td[title]`);"
        "return x && x.title", panel)


def changed(a, b):
    """The part of the pixels that differ."""
    return float(np.mean(np.abs(a - b).max(axis=-1) > 8))


def test_something_is_drawn_and_moves_with_a_slider(opened):
    _, session, driver = opened
    session.ask("dial", {0: 0.0})
    wait(lambda: session.state.q[0] == 0.0, "the state")
    wait(lambda: changed(pixels(driver), pixels(driver)) < 0.001, "a picture that rests")
    still = pixels(driver)
    assert driver.execute_script(          # what we take hold of in viser's page is there
        "return window.__viserMutable.requestRender === window.closedformStudio.draw")
    assert np.std(still) > 5
    session.ask("dial", {0: 1.5})
    wait(lambda: changed(still, pixels(driver)) > 0.005, "pixels that change")


def test_a_key_pressed_on_a_slider_moves_the_joint_and_the_number(opened):
    _, session, driver = opened
    before = session.state.q.copy()
    slider = wait(lambda: driver.find_elements("css selector", "[role=slider]"), "sliders")[0]
    driver.execute_script("arguments[0].focus()", slider)
    slider.send_keys("\ue014")                      # the right arrow
    wait(lambda: not np.array_equal(session.state.q, before), "the joint")


def test_the_numbers_in_the_page_are_the_librarys(opened):
    _, session, driver = opened
    robot = cf.load("planar2r")
    for q in ([0.25, 0.5], [-1.0, 1.25]):
        session.ask("coordinates", q)
        wait(lambda q=q: np.array_equal(session.state.q, q), "the state")
        J = np.asarray(cf.frame_jacobian(robot, session.state.q, session.state.tip))
        sigma = np.linalg.svd(J, compute_uv=False)
        wait(lambda sigma=sigma: np.allclose(sigmas(driver)[:2], sigma[:2], atol=1e-9),
             "the singular values")


def sigmas(driver):
    """What stands in the rows σ1, σ2, … of the panel, to the last digit."""
    return [float(x) for x in driver.execute_script(
        "return [...document.querySelectorAll('[data-panel=reach] tr')].filter("
        "r => /^σ\\d$/.test(r.firstChild.textContent)).map(r => r.lastChild.title)")]


def test_a_picture_and_a_gif_are_what_the_browser_draws(opened, monkeypatch):
    _, session, _ = opened
    sent, away = {}, session.controls.take_away
    monkeypatch.setattr(take_away, "FRAMES", 3)
    monkeypatch.setattr(away, "_send", lambda end, content: sent.__setitem__(end, content))
    away.picture()
    picture = Image.open(io.BytesIO(sent[".png"]))
    assert picture.mode == "RGBA" and np.std(np.asarray(picture)) > 1
    session.recording = recording.swing(session.subject, session.state)
    away.gif()
    film = Image.open(io.BytesIO(sent[".gif"]))
    assert film.n_frames == 3
    frames = []
    for k in range(3):
        film.seek(k)
        frames.append(np.asarray(film.convert("RGB"), dtype=int))
    assert min(changed(frames[0], frames[1]), changed(frames[1], frames[2])) > 1e-3


def test_only_the_open_tab_is_made_and_another_one_is_up_to_date_when_opened(opened):
    _, session, driver = opened
    assert "M" not in session.pages.seen
    session.ask("coordinates", [0.5, 0.75])
    wait(lambda: np.array_equal(session.state.q, [0.5, 0.75]), "the state")
    driver.execute_script("document.activeElement.blur()")
    driver.find_element("tag name", "body").send_keys("3")      # the tab Matrices
    M = cf.mass_matrix(cf.load("planar2r"), session.state.q)
    wait(lambda: np.allclose(shown(driver, "M"), np.ravel(M), atol=1e-12), "M of the state")


def shown(driver, panel):
    """The numbers of a matrix in the page."""
    titles = driver.execute_script(
        "return [...document.querySelectorAll(`[data-panel=${arguments[0]}] .m td[title]`)]"
        ".map(x => x.title)", panel)
    return [float(x.rpartition(": ")[2]) for x in titles] or [np.nan]


def test_formulas_are_copied_as_latex(opened):
    _, _, driver = opened
    driver.execute_script("navigator.clipboard.writeText = x => { window.copied = x; "
                          "return Promise.resolve(); }")
    assert click_text(driver, "Formulas")
    wait(lambda: click_text(driver, "Copy as LaTeX"), "the button")
    text = wait(lambda: driver.execute_script("return window.copied"), "the text")
    assert text.startswith("\\[ \\tau = M a") and "M_{12} &= " in text
    assert text.count("\\begin{align*}") == text.count("\\end{align*}") == 3


def test_no_request_leaves_the_machine(opened):
    _, _, driver = opened
    names = driver.execute_script("return performance.getEntries().map(x => x.name)")
    away = [x for x in names if x.startswith("http") and "localhost" not in x
            and "127.0.0.1" not in x]
    assert away == []


def drop(driver, name, text):
    """A file let go over the page."""
    driver.execute_script("""
        const given = new DataTransfer();
        given.items.add(new File([arguments[1]], arguments[0]));
        document.body.dispatchEvent(new DragEvent("drop", {
          dataTransfer: given, bubbles: true, cancelable: true}));""", name, text)


def test_a_log_that_is_dropped_on_the_page_is_played_and_the_robot_identified_from_it(opened):
    _, session, driver = opened
    robot = cf.load("planar2r")
    t = np.arange(0, 12, 0.02)[:, None]
    q = np.sin(t * [1.3, 2.1]) + 0.4 * np.cos(t * [2.9, 3.7] + 1)
    v = np.cos(t * [1.3, 2.1]) * [1.3, 2.1] - 0.4 * np.sin(t * [2.9, 3.7] + 1) * [2.9, 3.7]
    a = -np.sin(t * [1.3, 2.1]) * np.square([1.3, 2.1]) \
        - 0.4 * np.cos(t * [2.9, 3.7] + 1) * np.square([2.9, 3.7])
    tau = np.asarray(cf.compile(robot).inverse_dynamics(q, v, a))
    tau = tau + 1e-3 * np.random.default_rng(0).normal(size=tau.shape)
    head = ",".join(["t", *(f"{x}_{name}" for x in ("q", "tau") for name in robot.joint_names)])
    rows = "\n".join(",".join(map(repr, row)) for row in np.hstack([t, q, tau]).tolist())
    drop(driver, "run.csv", f"{head}\n{rows}\n")
    wait(lambda: session.recording is not None and session.recording.title == "run.csv", "the log")
    click_text(driver, "Data")
    wait(lambda: click_text(driver, "Identify the robot from the log"), "the button")
    told = wait(lambda: driver.execute_script(
        "const x = document.querySelector('[data-panel=data-identification]');"
        "return x && x.textContent"), "the verdict")
    assert "the identified robot holds" in told
    assert all(name in told for name in robot.joint_names) and "held out %" in told


HOSTILE = ("&lt;img src=x onerror=document.title=1&gt;",
           "&lt;script&gt;document.title=1&lt;/script&gt;",
           "[a](javascript:document.title=1) ../../../etc/passwd")


def test_a_robot_that_is_dropped_on_the_page_is_opened_and_its_hostile_names_are_texts(opened):
    _, session, driver = opened
    robot = cf.load("planar3r")
    text, title = robot.to_urdf(), driver.title
    for names in (robot.joint_names, robot.body_names):
        for name, bad in zip(names, HOSTILE, strict=True):
            text = text.replace(f'"{name}"', f'"{bad}"')
    drop(driver, "arm.urdf", text)
    wait(lambda: session.subject.robot.nv == 3, "the dropped robot")
    wait(lambda: len(driver.find_elements("css selector", "[role=slider]")) > 3, "its sliders")
    wait(lambda: click_text(driver, "Model"), "the tab")
    shown = wait(lambda: driver.execute_script(
        "const x = document.querySelector('[data-panel=bodies]');"
        "return x && x.textContent.includes('<script>') && x.textContent"), "the bodies")
    assert "<img src=x onerror=document.title=1>" in shown and "../../../etc/passwd" in shown
    assert driver.find_elements("css selector", "img[src=x], a[href^=javascript]") == []
    assert driver.title == title


def test_a_reload_finds_the_page_again_and_the_old_session_ends(opened):
    studio, session, driver = opened
    assert reloaded(studio, driver) is not session
    wait(lambda: cell(driver, "reach"), "the panel")
    assert len(studio.sessions) == 1


def test_a_link_opens_its_state_in_another_tab_and_a_restart_gives_it_back(opened):
    _, _, driver = opened
    here, studio = driver.current_window_handle, Studio("planar2r", 0)
    driver.switch_to.new_window("tab")
    try:
        driver.get(f"{studio.gate.address}planar2r/q=0.25,-0.5;load=2;tab=Dynamics")
        first = wait(lambda: next(iter(studio.sessions.values()), None), "a session")
        assert np.array_equal(first.state.q, [0.25, -0.5]) and first.state.load == 2
        wait(lambda: "energy" in (first.pages.seen or ()), "the link's tab")
        assert first.pages.tab == "Dynamics" and "reach" not in first.pages.seen
        first.ask("dial", {1: 0.625})
        wait(lambda: driver.execute_script(
            "return (localStorage['viser-user:closedform.studio'] || '').includes('0.625')"),
            "the state kept")
        port = studio.gate.port
        studio.stop()
        studio = Studio("planar2r", port)
        assert studio.gate.port == port
        again = wait(lambda: next(iter(studio.sessions.values()), None), "the tab that came back")
        assert np.array_equal(again.state.q, [0.25, 0.625]) and again.state.load == 2
        wait(lambda: cell(driver, "energy"), "its numbers")
    finally:
        driver.close()
        driver.switch_to.window(here)
        studio.stop()
