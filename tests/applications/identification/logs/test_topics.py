"""Several topics of a bag as one log."""

import numpy as np
import pytest

import closedform as cf
from closedform import identification as idn
from closedform.applications.identification.logs.topics import Between
from closedform.errors import ArgumentError

rosbags = pytest.importorskip("rosbags.rosbag2", reason="bags are written with the extra identify")
typesys = pytest.importorskip("rosbags.typesys")

ROBOT = cf.load("planar2r")
STORE = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
TYPES = STORE.types
START = 1_700_000_000_000_000_000
T = 0.01 * np.arange(300)
Q = np.column_stack([np.sin(T), np.cos(2 * T)])
TAU = np.column_stack([3 * T, 1 - T])                 # linear: exact between messages


def states(k):
    stamp = START + round(1e9 * T[k])
    header = TYPES["std_msgs/msg/Header"](
        TYPES["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9), "")
    return TYPES["sensor_msgs/msg/JointState"](header, list(ROBOT.joint_names), Q[k], 0 * Q[k],
                                               np.zeros(0))


def efforts(t):
    layout = TYPES["std_msgs/msg/MultiArrayLayout"]([], 0)
    return TYPES["std_msgs/msg/Float64MultiArray"](layout, np.array([3 * t, 1 - t]))


@pytest.fixture(params=["MCAP", "SQLITE3"])
def bag(request, tmp_path):
    """Efforts every 4 ms from 0.1 s to 2.5 s, but none between 1.5 and 2 s."""
    plugin = rosbags.StoragePlugin[request.param]
    with rosbags.Writer(tmp_path / "bag", version=9, storage_plugin=plugin) as writer:
        js = writer.add_connection("/joint_states", "sensor_msgs/msg/JointState", typestore=STORE)
        fl = writer.add_connection("/motors/effort", "std_msgs/msg/Float64MultiArray",
                                   typestore=STORE)
        times = [t for t in 0.1 + 0.004 * np.arange(600) if not 1.5 < t < 2]
        every = [(t, js, states(k)) for k, t in enumerate(T)]
        every += [(t, fl, efforts(t)) for t in times]
        for t, channel, message in sorted(every, key=lambda x: x[0]):
            writer.write(channel, START + round(1e9 * t),
                         STORE.serialize_cdr(message, message.__msgtype__))
    return tmp_path / "bag"


def test_numbers_of_another_topic_are_taken_at_the_times_of_the_first(bag):
    """On lines between messages; rows without messages around them are left out."""
    log = idn.read(bag, ROBOT, columns={"tau": "/motors/effort/data"})
    found = log.samples()
    np.testing.assert_allclose(found.tau, np.column_stack([3 * found.t, 1 - found.t]), atol=1e-6)
    assert found.t.min() >= 0.1 - 1e-6 and found.t.max() <= 2.5
    assert not np.any((found.t > 1.51) & (found.t < 1.99))
    assert 180 < len(found.t) < 195
    assert any("times of receiving" in note for note in log.notes)
    pieces = [x.t for x in log.pieces(17)]
    np.testing.assert_array_equal(np.concatenate(pieces), found.t)


def test_the_topic_with_the_rows_can_be_chosen(bag):
    log = idn.read(bag, ROBOT, topic=["/motors/effort", "/joint_states"], columns={
        "t": "received", "tau": "data",
        "q": [f"/joint_states/{j}.position" for j in ROBOT.joint_names]})
    found = log.samples()
    assert len(found.t) > 400
    np.testing.assert_allclose(found.tau[:, 0] + 3 * found.tau[:, 1], 3.0, atol=1e-9)


def test_what_a_topic_has_not_is_refused(bag):
    with pytest.raises(ArgumentError, match="no column '/motors/effort/forces'"):
        idn.read(bag, ROBOT, columns={"tau": "/motors/effort/forces"})


def test_time_that_goes_back_in_another_topic_is_refused():
    class Backwards:
        names, files, topic = ("t", "x"), ("bag",), type("Named", (), {"name": "/other"})

        def blocks(self, columns, rows):
            yield np.array([[0.0, 1.0], [1.0, 2.0], [0.5, 3.0]])

    with pytest.raises(ArgumentError, match="time goes back in /other"):
        Between(Backwards(), "t", [1], 0.0).at(np.array([0.2]))
