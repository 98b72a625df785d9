"""The studio as clients meet it: the gate, sessions, uploads, restarts, ten thousand events."""

import gc
import http.client
import itertools
import json
import re
import resource
import socket
import threading
import time
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("viser", reason="the studio needs viser: pip install 'closedform[studio]'")

from websockets.exceptions import InvalidStatus

import closedform as cf
from closedform.applications.studio import cells
from closedform.applications.studio.dials import turned
from closedform.applications.studio.shown import shown
from closedform.applications.studio.state import Wish, obey
from closedform.errors import MissingDependency
from closedform.interfaces.cli.main import app
from closedform.interfaces.studio import gate as gates
from closedform.interfaces.studio import pages
from closedform.interfaces.studio.house import Studio
from closedform.interfaces.studio.looks import Look
from closedform.interfaces.studio.shapes import DEEP, nested
from studio_browser import Browser

ROBOT = "planar2r"


@pytest.fixture(scope="module")
def studio():
    made = Studio(ROBOT, 0)
    made.ready.wait()
    made.subject().equations(made.subject().tip)
    yield made
    made.stop()


@pytest.fixture
def browser(studio):
    count = len(studio.sessions)
    made = Browser(studio.gate.address)
    made.wait(lambda: "title=" in made.panel("M"), what="the mass matrix")
    yield made
    made.close()
    made.wait(lambda: len(studio.sessions) <= count, what="the end of the session")


def session_of(studio, number=-1):
    return studio.sessions[sorted(studio.sessions)[number]]


def ended(session, browser):
    """The session's worker has come to its end."""
    session._closed.set()
    session._wake.set()
    browser.wait(lambda: not any(getattr(thread, "_target", None) == session._work
                                 for thread in threading.enumerate()), what="the worker's end")


def shown_matrix(browser, key="M"):
    table = re.findall(r'<td[^>]*title="[^"]*: ([^"]+)"', browser.panel(key))
    return np.array([float(x) for x in table])


# ---------------------------------------------------------------------- who may connect
def status(studio, path="/", **headers):
    link = http.client.HTTPConnection("127.0.0.1", studio.gate.port, timeout=60)
    link.putrequest("GET", path, skip_host=True)
    for name, value in {"Host": f"localhost:{studio.gate.port}", **headers}.items():
        link.putheader(name, value)
    link.endheaders()
    answer = link.getresponse()
    return answer.status, answer.headers


def test_only_this_machine_listens(studio):
    inner = studio.gate.server._websock_server
    assert inner._host == "127.0.0.1" and studio.gate.token == ""
    assert gates.is_local("127.0.0.1") and gates.is_local("::1") and not gates.is_local("0.0.0.0")


def test_a_connection_that_says_nothing_leaves_the_terminal_alone(studio, capfd):
    for said in (b"", b"nonsense\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", studio.gate.port), 60) as opened:
            opened.sendall(said)
            opened.shutdown(socket.SHUT_WR)
            while opened.recv(4096):
                pass
    assert status(studio)[0] == 200                    # by then the others have been seen to
    told = capfd.readouterr().err
    assert "handshake" not in told and "Traceback" not in told


def test_the_page_is_served_with_headers_for_every_path(studio):
    for path in ("/", "/panda/q=1,2", "/../../etc/passwd"):
        code, headers = status(studio, path)
        assert code == 200 and headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Content-Type"].startswith("text/html")


def test_other_hosts_and_origins_are_refused(studio):
    port = studio.gate.port
    assert status(studio, Host=f"evil.example:{port}")[0] == 421
    assert status(studio, Host="localhost")[0] == 421
    assert status(studio, Origin="http://evil.example")[0] == 403
    assert status(studio, "/" + "q" * 8050)[0] == 414
    for origin in ("http://evil.example", f"http://localhost:{port + 1}", "null",
                   f"https://localhost:{port}"):
        with pytest.raises(InvalidStatus) as refused:
            Browser(studio.gate.address, origin=origin)
        assert refused.value.response.status_code == 403
    Browser(studio.gate.address, origin=f"http://localhost:{port}").close()


def test_another_address_needs_a_token(studio):
    class Asked:
        def __init__(self, path):
            self.path, self.headers = path, self
        get_all = staticmethod(lambda name: ["robot.local:9000"] if name == "Host" else [])
    gate = gates.Gate(None, "0.0.0.0", 9000, "secret")
    assert gates._refusal(gate, Asked("/"))[0] == 403
    assert gates._refusal(gate, Asked("/guess/q=1"))[0] == 403
    assert gates._refusal(gate, Asked("/secret/q=1")) is None
    assert "secret" in gate.address
    gate.paths[3] = "/secret/panda/q=1"
    assert gate.path_of(3) == "/panda/q=1"


def test_no_tunnel_is_opened_and_no_seventeenth_client_let_in(studio, browser, monkeypatch):
    asked = []
    monkeypatch.setattr(type(studio.gate.server), "request_share_url",
                        lambda self, **k: asked.append(1))
    browser.send("ShareUrlRequest")
    browser.set("joint1", 0.25)
    browser.wait(lambda: session_of(studio).state.q[0] == 0.25)
    assert not asked
    monkeypatch.setattr(gates, "CLIENTS", len(studio.sessions))
    with pytest.raises(InvalidStatus) as refused:
        Browser(studio.gate.address)
    assert refused.value.response.status_code == 503


def test_the_gate_refuses_another_viser(monkeypatch):
    import viser
    monkeypatch.setattr(viser, "__version__", "1.2.0")
    with pytest.raises(MissingDependency, match=r"made for viser 1\.1"):
        gates.serve(0)


# ---------------------------------------------------------------------- what is shown
def test_a_slider_moves_the_robot_and_the_numbers_are_the_librarys(studio, browser):
    robot = cf.load(ROBOT)
    for x in (0.5, -0.7, 0.123):
        browser.set("joint2", x)
        browser.wait(lambda x=x: session_of(studio).state.q[1] == x)
        M = cf.mass_matrix(robot, session_of(studio).state.q)
        browser.wait(lambda M=M: np.allclose(shown_matrix(browser), np.ravel(M), atol=1e-12),
                     what="M of the state")


@pytest.mark.parametrize("x", [float("nan"), float("inf"), 1e9, -1e9, "text", [1.0], None, {}])
def test_what_a_hostile_client_sends_for_a_slider_leaves_a_state_within_the_limits(
        studio, browser, x):
    browser.set("joint1", x)
    browser.set("joint2", 0.375)
    browser.wait(lambda: session_of(studio).state.q[1] == 0.375)
    state = session_of(studio).state
    assert np.all(np.isfinite(state.q)) and np.all(np.abs(state.q) <= np.pi)
    browser.set("joint1", 0.0)


def test_keys_and_buttons_reach_the_state(studio, browser):
    browser.set("joint1", 0.5)
    browser.wait(lambda: session_of(studio).state.q[0] == 0.5)
    named = lambda: browser.widget("configuration")[1]["value"]
    browser.wait(lambda: named() == "—", what="a configuration without a name")
    browser.press("Home")
    browser.wait(lambda: session_of(studio).state.q[0] == 0.0)
    browser.wait(lambda: named() in ("ready", "home"), what="its name")
    browser.press("Undo")
    browser.wait(lambda: session_of(studio).state.q[0] == 0.5)


def test_degrees_and_back_at_once_leave_one_slider_a_joint(studio, browser):
    session = session_of(studio)
    sliders = lambda: [x["value"] for x in list(browser.gui.values()) if x.get("label") == "joint1"]
    for k in range(20):
        browser.set("degrees", k % 2 == 0)
    browser.set("degrees", True)

    def turned_by_90():                         # a slider that is being replaced takes nothing
        browser.set("joint1", 90.0)
        time.sleep(0.02)
        return abs(session.state.q[0] - np.pi / 2) < 1e-12

    browser.wait(turned_by_90, what="90 degrees")
    browser.wait(lambda: len(sliders()) == 1, what="one slider")      # whose value is the hand's
    assert session.controls.sliders[0].value == 90.0
    browser.set("degrees", False)
    browser.wait(lambda: sliders() == [1.571], what="its value in radians")
    assert len(session.controls.sliders) == 2
    browser.set("joint1", 0.0)


def test_bones_give_way_to_meshes_and_a_key_swaps_them(studio, browser, monkeypatch):
    trimesh, session = pytest.importorskip("trimesh"), session_of(studio)
    scene = session.scene
    session.controls._swap()                                # no meshes: the bones stay
    assert scene.layers["bones"] and all(node.visible for node in scene.nodes["bones"][:2])
    look = Look(0, np.eye(4), trimesh.creation.box((0.1, 0.1, 0.1)))
    monkeypatch.setattr(studio, "looks", lambda subject: [look])
    session.later("meshes", session._add_meshes)
    browser.wait(lambda: browser.widget("bones")[1]["value"] is False, what="the box")
    for bones in (True, False):
        browser.press("Meshes or bones")
        browser.wait(lambda bones=bones: scene.layers["bones"] is bones, what="the bones")
        browser.wait(lambda bones=bones: scene.layers["meshes"] is not bones, what="the meshes")
        browser.wait(lambda bones=bones: browser.widget("bones")[1]["value"] is bones)


def test_what_a_hand_asks_for_is_done_before_what_is_made_unasked(studio, browser):
    session, order, go = session_of(studio), [], threading.Event()
    browser.wait(lambda: session.idle, what="the jobs")
    session.later("a job that runs", lambda: go.wait(60))
    browser.wait(lambda: session.busy == "a job that runs")
    for what, last in (("unasked", True), ("asked", False), ("asked again", False)):
        session.later(what, lambda what=what: order.append(what), last)
    go.set()
    browser.wait(lambda: len(order) == 3, what="the jobs")
    assert order == ["asked", "asked again", "unasked"]


def test_two_clients_do_not_disturb_each_other(studio, browser):
    other = Browser(studio.gate.address)
    other.wait(lambda: "title=" in other.panel("M"), what="M")
    first, second = session_of(studio, -2), session_of(studio, -1)
    browser.set("joint1", 0.5)
    browser.wait(lambda: first.state.q[0] == 0.5)
    other.set("joint1", -0.25)
    other.wait(lambda: session_of(studio).state.q[0] == -0.25)
    assert first.state.q[0] == 0.5
    names = lambda: [t.name for t in threading.enumerate() if t.name.startswith("studio w")]
    other.wait(lambda: session_of(studio).idle, 240, "the jobs")
    count, gone = len(names()), weakref.ref(second)
    del second
    other.close()
    browser.wait(lambda: len(names()) < count, what="the end of a worker")
    browser.wait(lambda: (gc.collect(), gone())[1] is None, what="the session's memory")


def test_a_link_opens_its_state_and_a_damaged_one_says_so(studio):
    there = Browser(studio.gate.address, "/planar2r/q=0.25,-0.5")
    there.wait(lambda: "title=" in there.panel("M"), what="M")
    np.testing.assert_array_equal(session_of(studio).state.q, [0.25, -0.5])
    there.close()
    broken = Browser(studio.gate.address, "/planar2r/q=nan,1")
    broken.wait(lambda: any("cannot be used" in body for _, body in broken.notifications))
    broken.close()


def test_only_panels_on_the_screen_are_made_once_the_page_has_told(studio, browser):
    session = session_of(studio)
    teller = session.pages.teller._impl.uuid
    browser.send("GuiUpdateMessage", uuid=teller, updates={"value": "reach"})
    browser.wait(lambda: session.pages.seen == {"reach"})
    matrix = browser.panel("M")
    browser.set("joint2", 0.875)
    browser.wait(lambda: session.state.q[1] == 0.875)
    sigma = np.linalg.svd(cf.frame_jacobian(cf.load(ROBOT), session.state.q, session.state.tip),
                          compute_uv=False)
    browser.wait(lambda: any(abs(float(x) - sigma[0]) < 1e-9 for x in re.findall(
        r'title="([\d.e-]+)"', browser.panel("reach"))), 60, what="the reach")
    assert browser.panel("M") == matrix
    browser.send("GuiUpdateMessage", uuid=teller, updates={"value": "M"})
    M = cf.mass_matrix(cf.load(ROBOT), session.state.q)
    browser.wait(lambda: np.allclose(shown_matrix(browser), np.ravel(M), atol=1e-12), what="M")


def test_a_panel_that_was_put_off_is_owed_until_the_moment_it_is_due(studio, browser, monkeypatch):
    session = session_of(studio)
    browser.wait(lambda: session.idle, what="the jobs")
    ended(session, browser)                                 # this thread works
    made, now = session.pages, 1000.0
    monkeypatch.setattr(pages, "time", SimpleNamespace(monotonic=lambda: now))
    made.seen = frozenset({"reach"})
    made._sent.clear()

    def shown_at(seconds, angle):
        nonlocal now
        now = 1000.0 + seconds
        session.state = obey(session.subject, session.state, Wish("dial", {0: angle}))
        made.show(shown(session.subject, session.state, wait=False), 1, by_hand=True)
        return round(made._sent["reach"][1] - 1000.0, 6)

    shown_at(-1.0, 0.0)                                     # every panel is made once
    assert shown_at(0.0, 0.1) == 0.0 and made.owed == np.inf
    assert shown_at(0.01, 0.2) == 0.0 and made.owed == pytest.approx(pages.BY_HAND - 0.01)
    assert shown_at(0.05, 0.3) == 0.05 and made.owed == np.inf


def test_a_slider_moves_one_node_and_the_nodes_make_up_the_poses(studio, browser):
    session, robot = session_of(studio), cf.load(ROBOT)
    browser.set("joint1", 0.25)
    browser.wait(lambda: session.state.q[0] == 0.25)
    browser.set("joint2", 0.5)
    browser.wait(lambda: is_turned(browser, "/b0/b1", robot, [0.25, 0.5]), what="the second body")
    browser.nodes.clear()
    browser.set("joint1", 0.75)
    T = cf.poses(robot, np.array([0.75, 0.5]))
    browser.wait(lambda: is_turned(browser, "/b0", robot, [0.75, 0.5]), what="the first body")
    time.sleep(0.3)
    assert set(browser.nodes) <= {"/b0", "/com", "/target"}
    R = np.eye(3)
    for node in session.scene.bodies:
        R = R @ turned(np.array(node.wxyz))
    np.testing.assert_allclose(R, T[-1][:3, :3], atol=1e-6)


def is_turned(browser, path, robot, q):
    """Whether the node of a body of a chain has been turned in its parent to where q puts it."""
    T, k = cf.poses(robot, np.array(q)), path.count("/") - 1
    R = T[k, :3, :3] if k == 0 else T[k - 1, :3, :3].T @ T[k, :3, :3]
    sent = browser.nodes.get(path, {}).get("SetOrientationMessage")
    return sent is not None and np.allclose(turned(np.array(sent)), R, atol=1e-6)


@pytest.mark.parametrize("count", [3, 200])
def test_nodes_of_a_long_chain_stand_in_each_other_up_to_a_depth(count):
    above, paths = nested(range(count))
    assert len(set(paths)) == count and max(path.count("/") for path in paths) <= DEEP
    assert all(a in (-1, k - 1) for k, a in enumerate(above)) and above.count(-1) < 1 + count / 40


# ---------------------------------------------------------------------- motions
def test_a_swing_is_played_and_can_be_stepped(studio, browser):
    browser.press("Play or pause")
    browser.wait(lambda: "numeric" in browser.panel("motion"), what="strips")
    session = session_of(studio)
    browser.wait(lambda: session.time > 0, what="the clock")
    browser.click("player", "pause")
    browser.wait(lambda: not session.playing)
    browser.set("t [s]", 1.0)                               # the worker has seen the pause
    browser.wait(lambda: session.time == 1.0)
    at = session.recording.index(session.time)
    browser.click("player", "+1")
    browser.wait(lambda: session.recording.index(session.time) == at + 1)
    q, v, _ = session.recording.moment(session.time)
    part = 100 * session.time / session.recording.seconds
    browser.wait(lambda: f"--now:{part:.2f}%" in browser.panel("cursor"), what="the line")
    browser.wait(lambda: np.array_equal(session.state.q, q))
    np.testing.assert_array_equal(session.state.v, np.clip(v, -1e3, 1e3))


def test_a_motion_is_played_as_fast_as_the_clock_goes(studio, browser):
    session = session_of(studio)
    browser.press("Play or pause")
    browser.wait(lambda: session.recording is not None and session.time > 0, what="the clock")
    ended(session, browser)                                 # this thread works
    session.time = session._ticked = 0.0
    for now in (0.125, 0.375, 0.5):
        session.clock = lambda now=now: now
        session._advance({})
        assert session.time == now and session.playing


# ---------------------------------------------------------------------- the gizmo
def test_the_gizmo_pulls_the_tip_and_a_target_out_of_reach_moves_nothing(studio, browser):
    session, robot = session_of(studio), cf.load(ROBOT)
    browser.wait(lambda: session.gizmo.visible, what="the gizmo")
    q = np.array([0.3, 1.1])
    goal = np.asarray(cf.frame_pose(robot, q, session.state.tip))[:3, 3]
    browser.drag(tuple(map(float, goal)))
    browser.wait(lambda: session.state.solution is not None, what="a certificate")
    there = np.asarray(cf.frame_pose(robot, session.state.q, session.state.tip))[:3, 3]
    np.testing.assert_allclose(there, goal, atol=1e-9)
    verdict = session.state.solution.verdict.value
    browser.wait(lambda: verdict in browser.panel("certificate"), what="the verdict")
    before = session.state.q
    browser.drag((99.0, 0.0, 0.0))
    browser.wait(lambda: "unreachable" in browser.panel("certificate"), what="the refusal")
    np.testing.assert_allclose(session.state.q, before, atol=1e-9)     # the hand let go once more
    browser.drag((float("nan"), 0.0, 0.0))
    browser.set("joint1", 0.125)
    browser.wait(lambda: session.state.q[0] == 0.125)


# ---------------------------------------------------------------------- taken away
def test_what_is_taken_away_arrives(studio, browser):
    browser.click("URDF")
    assert cf.load(browser.download(".urdf").decode()).nv == 2
    browser.click("Numbers shown (CSV)")
    assert browser.download("_state.csv").startswith(b"quantity,row,column,value")
    browser.click("Python of this state")
    assert b"cf.inverse_dynamics" in browser.download(".py")
    browser.click("Link to this state")
    browser.wait(lambda: "/planar2r/q=" in browser.panel("link"), what="the link")
    browser.click("Page of the scene (HTML)")
    page = browser.download(".html")
    assert b"__VISER_EMBED_DATA__" in page and b"http://localhost" not in page[:2000]
    browser.click("Live page (HTML)")
    live = browser.download("_live.html").decode()
    q = session_of(studio).state.q.tolist()
    assert "WebAssembly" in live and f"q = {q}" in live


# ---------------------------------------------------------------------- uploads
BUTTON = "Open a robot or a log …"
HOSTILE = """<robot name="&lt;script&gt;alert(1)&lt;/script&gt;"><link name="base"/>
<link name="&lt;img src=x onerror=alert(1)&gt;"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="[x](javascript:alert(1))" type="continuous"><parent link="base"/>
<child link="&lt;img src=x onerror=alert(1)&gt;"/><axis xyz="0 1 0"/></joint></robot>"""


def test_an_uploaded_robot_is_opened_and_its_hostile_names_are_texts(studio, browser):
    browser.upload(BUTTON, "../../arm.urdf", HOSTILE.encode())
    browser.wait(lambda: "<h4>Bodies" in browser.panel("bodies")
                 and cells.escape("<img src=x onerror=alert(1)>") in browser.panel("bodies"),
                 seconds=240, what="the new robot")
    for x in list(browser.gui.values()):
        assert not re.search(r"<(img|script|a)\b", str(x.get("content", "")), re.I)
    names = [name for name in browser.nodes if "img" in name or "script" in name]
    assert names == []
    assert session_of(studio).subject.robot.name == "<script>alert(1)</script>"


def test_a_broken_robot_is_opened_repaired(studio, browser):
    browser.upload(BUTTON, "arm.urdf", HOSTILE.replace('iyy="1"', 'iyy="9"').encode())
    label = "Open the repaired robot"
    browser.wait(lambda: (w := browser.widget(label)) and w[1].get("visible"), what=label)
    browser.wait(lambda: "triangle inequality" in browser.panel("data-lint"), what="the finding")
    browser.click(label)
    browser.wait(lambda: "repaired" in browser.panel("data-lint"), 240, what="the repaired robot")
    assert session_of(studio).subject.robot.bodies[0].inertia.impossibility() is None
    assert not browser.widget(label)[1].get("visible")


def test_uploads_over_the_limit_are_refused_before_a_byte_is_kept(studio, browser):
    browser.upload(BUTTON, "large.urdf", b"x" * 100, announced=9 << 20)
    browser.wait(lambda: any("8 MiB" in body for _, body in browser.notifications))
    browser.upload(BUTTON, "program.exe", b"x" * 100)
    browser.wait(lambda: any("program.exe" in body for _, body in browser.notifications))
    browser.upload(BUTTON, "lies.urdf", b"x" * 5000, announced=100)
    gui = session_of(studio).client.gui
    time.sleep(0.5)
    kept = sum(len(part) for state in gui._current_file_upload_states.values()
               for part in state["parts"].values())
    assert kept == 0


# ---------------------------------------------------------------------- restart, many events
def test_a_restart_on_the_same_port_shows_the_same_posture():
    first = Studio(ROBOT, 0)
    tab = Browser(first.gate.address)
    tab.wait(lambda: tab.panel("reach"))
    tab.set("joint1", 0.625)
    tab.wait(lambda: "0.625" in tab.storage.get("closedform.studio", ""), what="the state kept")
    port, kept = first.gate.port, tab.storage
    first.stop()
    tab.close()
    again = Studio(ROBOT, port)
    try:
        assert again.gate.port == port
        back = Browser(again.gate.address, storage=kept)
        back.wait(lambda: again.sessions and session_of(again).state.q[0] == 0.625)
        new = Browser(again.gate.address, storage=kept)        # another tab starts at home
        new.wait(lambda: len(again.sessions) == 2)
        assert session_of(again).state.q[0] != 0.625
        linked = Browser(again.gate.address, f"/{ROBOT}/q=0.25,0.5", {
            "closedform.studio": kept["closedform.studio"].replace(first.boot, "before")})
        linked.wait(lambda: len(again.sessions) == 3)
        assert np.array_equal(session_of(again).state.q, [0.25, 0.5])  # the link, not what was kept
        tampered = json.dumps({"x 1": {"robot": ROBOT, "at": "x"}})
        odd = Browser(again.gate.address, storage={"closedform.studio": tampered})
        odd.wait(lambda: len(again.sessions) == 4)
        for tab in (back, new, linked, odd):
            tab.close()
    finally:
        again.stop()


def test_ten_thousand_slider_events_show_the_last_value_and_leave_memory_flat(studio, browser):
    session = session_of(studio)
    browser.wait(lambda: session.idle, what="the jobs")
    uuid, _ = browser.widget("joint1")

    def events(count):
        for k in range(count):
            browser.send("GuiUpdateMessage", uuid=uuid, updates={"value": round(k % 997 / 1e3, 3)})

    events(1000)
    browser.wait(lambda: session.state.q[0] == 0.002)
    gc.collect()
    before, serial, begun = _memory(), session.serial, time.monotonic()
    events(10_000)
    last = round(9_999 % 997 / 1e3, 3)
    browser.wait(lambda: session.state.q[0] == last, what="the last value")
    assert session.serial - serial <= 31 * (time.monotonic() - begun) + 5
    gc.collect()
    assert _memory() - before < 10 << 20


@pytest.mark.slow
def test_an_hour_of_play_leaves_memory_flat(studio, browser):
    """As many updates as an hour has, without the pauses between them."""
    session = session_of(studio)
    browser.press("Play or pause")
    browser.wait(lambda: session.recording is not None and session.time > 0)
    ended(session, browser)                                 # this thread works
    ticks = itertools.count()
    session.clock = lambda: next(ticks) / 30
    for k in range(3600 * 30):
        if k == 3000:
            gc.collect()
            before = _memory()
        session._advance({})
        session._show()
    gc.collect()
    assert _memory() - before < 10 << 20


def _memory():
    """Bytes in use now, where the system tells; the most so far elsewhere."""
    try:
        with open("/proc/self/statm") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def test_a_flexible_arm_is_animated_with_its_modes():
    studio = Studio("deluca_siciliano", 0)
    try:
        tab = Browser(studio.gate.address)
        tab.wait(lambda: "Hz" in tab.panel("flexible"), what="the modes")
        session = session_of(studio)
        tab.wait(lambda: session.clock.value > 0, what="the clock")
        for x in (float("nan"), float("inf"), -1e300):
            for label in ("speed", "deflections ×", "t [s]"):
                tab.set(label, x)
        tab.set("show", "no such mode")
        tab.wait(lambda: tab.notifications, what="a word")
        tab.set("show", "swing")
        at = session.clock.value
        tab.wait(lambda: session.clock.value not in (at, 0.0), what="the clock that goes on")
        assert np.all(np.isfinite(session.line.points))
        tab.set("play", False)
        tab.set("show", next(x for x in session.what.options if x.startswith("mode 1")))
        tab.wait(lambda: not session.trace.visible, what="the mode")
        tab.close()
    finally:
        studio.stop()


# ---------------------------------------------------------------------- the command
def test_the_command_refuses_a_robot_that_is_not_there():
    done = CliRunner().invoke(app, ["studio", "no_such_robot", "--port", "0", "--no-browser"])
    assert done.exit_code == 2


def test_without_viser_the_command_says_what_to_install(monkeypatch):
    def missing(name):
        raise ImportError(f"No module named {name!r}")
    monkeypatch.setattr(gates.importlib, "import_module", missing)
    with pytest.raises(MissingDependency, match=r"pip install 'closedform\[studio\]'"):
        gates.serve(0)


def test_importing_closedform_imports_no_viser():
    import subprocess
    import sys
    code = ("import sys, closedform, closedform.interfaces.cli.main; "
            "assert not {'viser', 'trimesh', 'websockets'} & set(sys.modules)")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
