"""rosbag2 files, written by rosbags: joint states, other messages, faults."""

import sqlite3
from contextlib import suppress

import numpy as np
import pytest

import closedform as cf
from closedform import identification as idn
from closedform.applications.identification.logs import cdr
from simulated_logs import Faults, simulated

rosbags = pytest.importorskip("rosbags.rosbag2", reason="bags are written with the extra identify")
typesys = pytest.importorskip("rosbags.typesys")

PANDA = cf.load("panda")
STORE = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
TYPES = STORE.types
SUFFIX = {rosbags.StoragePlugin.MCAP: ".mcap", rosbags.StoragePlugin.SQLITE3: ".db3"}
START = 1_700_000_000_123_456_789


@pytest.fixture(scope="module")
def logged():
    return simulated(PANDA, 1.0, Faults(period=4e-3))[0]


def joint_state(names, q, v, tau, stamp):
    header = TYPES["std_msgs/msg/Header"](
        TYPES["builtin_interfaces/msg/Time"](stamp // 10**9, stamp % 10**9), "base")
    return TYPES["sensor_msgs/msg/JointState"](header, list(names), q, v, tau)


def write_bag(path, messages, plugin, mode=None):
    """`messages` are (topic, message, time it was received at)."""
    writer = rosbags.Writer(path, version=9, storage_plugin=plugin)
    if mode is not None:
        writer.set_compression(mode, rosbags.CompressionFormat.ZSTD)
    with writer as bag:
        topics = {}
        for topic, message, time in messages:
            kind = message.__msgtype__
            if topic not in topics:
                topics[topic] = bag.add_connection(topic, kind, typestore=STORE)
            bag.write(topics[topic], time, STORE.serialize_cdr(message, kind))
    return next(file for file in path.iterdir() if file.suffix in SUFFIX.values())


def states(logged, names=PANDA.joint_names, topic="/joint_states", order=slice(None)):
    for i, t in enumerate(logged["t"]):
        stamp = START + round(t * 1e9)
        q, v, tau = (logged[kind][i, order] for kind in ("q", "v", "tau"))
        yield topic, joint_state(names, q, v, tau, stamp), stamp + 500_000


def same(log, logged):
    found = log.samples()
    np.testing.assert_allclose(found.t, logged["t"], atol=1e-9)
    for kind in ("q", "v", "tau"):
        np.testing.assert_array_equal(getattr(found, kind), logged[kind])


@pytest.mark.parametrize("plugin", SUFFIX)
def test_joint_states_are_read_with_and_without_metadata(tmp_path, logged, plugin):
    file = write_bag(tmp_path / "bag", states(logged), plugin)
    same(idn.read(file, PANDA), logged)
    same(idn.read(tmp_path / "bag", PANDA), logged)
    (tmp_path / "bag" / "metadata.yaml").unlink()
    same(idn.read(file, PANDA), logged)


@pytest.mark.parametrize("plugin", SUFFIX)
def test_joints_are_put_into_the_robots_order(tmp_path, logged, plugin):
    order = [3, 0, 6, 1, 5, 2, 4]
    names = [f"fer_joint{i + 1}" for i in order]
    file = write_bag(tmp_path / "bag", states(logged, names, order=order), plugin)
    log = idn.read(file, PANDA)
    same(log, logged)
    assert any("another prefix" in note for note in log.notes)


@pytest.mark.parametrize("plugin, mode", [
    (rosbags.StoragePlugin.MCAP, rosbags.CompressionMode.STORAGE),
    (rosbags.StoragePlugin.SQLITE3, rosbags.CompressionMode.MESSAGE)])
def test_compressed_chunks_and_messages_are_read(tmp_path, logged, plugin, mode):
    same(idn.read(write_bag(tmp_path / "bag", states(logged), plugin, mode), PANDA), logged)


def test_chunks_compressed_by_lz4_are_read(tmp_path, logged):
    frame = pytest.importorskip("lz4.frame", reason="comes with rosbags")
    data = write_bag(tmp_path / "bag", states(logged), rosbags.StoragePlugin.MCAP).read_bytes()
    at, packed = 8, data[:8]
    while data[at] != 15:                       # the end of the data
        size = int.from_bytes(data[at + 1:at + 9], "little")
        content = data[at + 9:at + 9 + size]
        if data[at] == 6:                       # a chunk: no compression, so 32 bytes of head
            records = frame.compress(content[40:])
            content = content[:28] + b"\3\0\0\0lz4" + len(records).to_bytes(8, "little") + records
        packed += data[at:at + 1] + len(content).to_bytes(8, "little") + content
        at += 9 + size
    footer = b"\2" + (20).to_bytes(8, "little") + bytes(20)
    (tmp_path / "run.mcap").write_bytes(packed + b"\x0f" + (4).to_bytes(8, "little") + bytes(4)
                                        + footer + data[:8])
    same(idn.read(tmp_path / "run.mcap", PANDA), logged)


def test_messages_of_other_joints_on_the_topic_are_left_out(tmp_path, logged):
    def both():
        for topic, message, time in states(logged):
            finger = joint_state(["finger"], np.ones(1), np.ones(1), np.ones(1), time - 500_000)
            yield topic, finger, time - 100
            yield topic, message, time
    log = idn.read(write_bag(tmp_path / "bag", both(), rosbags.StoragePlugin.MCAP), PANDA)
    same(log, logged)
    assert any("left out" in note for note in log.notes)


def test_joints_that_two_nodes_write_on_one_topic_are_put_together(tmp_path, logged):
    """The arm's joints by one node, the wrist's by another, 1 ms later and so interpolated."""
    first, second = PANDA.joint_names[:4], PANDA.joint_names[4:]

    def both():
        for topic, message, time in states(logged):
            for names, at, late in ((first, slice(4), 0), (second, slice(4, 7), 1_000_000)):
                yield topic, joint_state(names, *(np.array(x[at]) for x in (
                    message.position, message.velocity, message.effort)),
                    time - 500_000 + late), time + late
    log = idn.read(write_bag(tmp_path / "bag", both(), rosbags.StoragePlugin.MCAP), PANDA)
    found = log.samples()
    np.testing.assert_allclose(found.t, logged["t"][1:], atol=1e-9)
    np.testing.assert_array_equal(found.q[:, :4], logged["q"][1:, :4])
    late = np.stack([np.interp(found.t, logged["t"] + 1e-3, x) for x in logged["q"][:, 4:].T],
                    axis=1)
    np.testing.assert_allclose(found.q[:, 4:], late, atol=1e-9)


def test_the_order_of_names_may_change_within_a_bag(tmp_path, logged):
    def turned():
        for i, (topic, message, time) in enumerate(states(logged)):
            if i % 3 == 1:
                message = joint_state(message.name[::-1], *(
                    x[::-1].copy() for x in (message.position, message.velocity, message.effort)),
                    time - 500_000)
            yield topic, message, time
    same(idn.read(write_bag(tmp_path / "bag", turned(), rosbags.StoragePlugin.MCAP), PANDA), logged)


def test_empty_efforts_are_no_torques_and_zero_stamps_no_times(tmp_path, logged):
    def bare():
        for topic, message, time in states(logged):
            yield topic, joint_state(message.name, message.position, np.zeros(0), np.zeros(0),
                                     0), time
    log = idn.read(write_bag(tmp_path / "bag", bare(), rosbags.StoragePlugin.SQLITE3), PANDA)
    assert log.kinds == {"t", "q"}
    assert any("stamps of messages are zero" in note for note in log.notes)
    np.testing.assert_allclose(log.samples().t, logged["t"], atol=1e-9)


@pytest.mark.parametrize("plugin", SUFFIX)
def test_a_topic_that_is_not_there_is_refused_with_those_that_are(tmp_path, logged, plugin):
    file = write_bag(tmp_path / "bag", states(logged), plugin)
    with pytest.raises(cf.ArgumentError, match="did you mean '/joint_states'"):
        idn.read(file, PANDA, topic="/joint_state")


def test_of_several_topics_one_must_be_chosen(tmp_path, logged):
    both = [*states(logged, topic="/left"), *states(logged, topic="/right")]
    file = write_bag(tmp_path / "bag", both, rosbags.StoragePlugin.MCAP)
    with pytest.raises(cf.ArgumentError, match=r"/left \(sensor_msgs.*/right"):
        idn.read(file, PANDA)
    same(idn.read(file, PANDA, topic="/right"), logged)


def arrays(logged):
    """Messages without names: three lists of numbers, one behind the other."""
    kind, layout = TYPES["std_msgs/msg/Float64MultiArray"], TYPES["std_msgs/msg/MultiArrayLayout"]
    for i, t in enumerate(logged["t"]):
        data = np.concatenate([logged[k][i] for k in ("q", "v", "tau")])
        yield "/state", kind(layout([], 0), data), START + round(t * 1e9)


@pytest.mark.parametrize("plugin", SUFFIX)
def test_fields_of_other_messages_are_columns(tmp_path, logged, plugin):
    file = write_bag(tmp_path / "bag", arrays(logged), plugin)
    told = {"t": "received", **{kind: [f"data[{7 * k + j}]" for j in range(7)]
                                for k, kind in enumerate(("q", "v", "tau"))}}
    same(idn.read(file, PANDA, told, topic="/state"), logged)
    with pytest.raises(cf.ArgumentError, match=r"data\[0\]"):
        idn.read(file, PANDA, topic="/state")


def test_a_bag_that_is_cut_off_is_refused(tmp_path, logged):
    for plugin, suffix in SUFFIX.items():
        file = write_bag(tmp_path / suffix, states(logged), plugin)
        cut = tmp_path / f"cut{suffix}"
        for size in (0, 5, 400, file.stat().st_size // 2, file.stat().st_size - 10):
            cut.write_bytes(file.read_bytes()[:size])
            try:
                found = idn.read(cut, PANDA).samples()
            except cf.FormatError:
                continue
            # SQLite may find every row in the part that is left
            assert suffix == ".db3" and len(found.t) == len(logged["t"])


def test_damaged_bytes_are_refused_or_read_but_never_crash(tmp_path, logged):
    file = write_bag(tmp_path / "bag", states(logged), rosbags.StoragePlugin.MCAP)
    whole, rng = bytearray(file.read_bytes()), np.random.default_rng(0)
    bad = tmp_path / "bad.mcap"
    for _ in range(60):
        other = bytearray(whole)
        for at in rng.integers(8, len(whole), 5):
            other[at] = int(rng.integers(256))
        bad.write_bytes(other)
        with suppress(cf.ClosedformError):
            idn.read(bad, PANDA).samples()


def test_a_database_that_is_no_bag_is_refused(tmp_path):
    with sqlite3.connect(tmp_path / "other.db3") as db:
        db.execute("CREATE TABLE x (y INTEGER)")
    with pytest.raises(cf.FormatError, match="no whole rosbag2 file"):
        idn.read(tmp_path / "other.db3", PANDA)
    (tmp_path / "empty").mkdir()
    with pytest.raises(cf.FormatError, match="a folder without"):
        idn.read(tmp_path / "empty", PANDA)


# ---------------------------------------------------------------------- layouts
def numbers_of(message, path=""):
    """Every number of a decoded message, by path: the full decoder's answer."""
    for name in message.__dataclass_fields__:
        if name.startswith("__") or name.isupper():     # constants
            continue
        value, here = getattr(message, name), f"{path}{name}"
        if hasattr(value, "__dataclass_fields__"):
            yield from numbers_of(value, f"{here}.")
        elif isinstance(value, list) and value and hasattr(value[0], "__dataclass_fields__"):
            for i, one in enumerate(value):
                yield from numbers_of(one, f"{here}[{i}].")
        elif isinstance(value, int | float | np.ndarray) and not isinstance(value, str):
            yield here, value


def example_messages():
    header = TYPES["std_msgs/msg/Header"](TYPES["builtin_interfaces/msg/Time"](3, 5), "a frame")
    point, quaternion = TYPES["geometry_msgs/msg/Point"], TYPES["geometry_msgs/msg/Quaternion"]
    pose = TYPES["geometry_msgs/msg/Pose"](point(1.0, 2.0, 3.0), quaternion(0.0, 0.1, 0.2, 0.9))
    yield joint_state(["a", "bcd"], np.array([1.0, 2.0]), np.zeros(0), np.array([3.0, 4.0]), 7)
    yield TYPES["geometry_msgs/msg/PoseArray"](header, [pose, pose, pose])
    yield TYPES["sensor_msgs/msg/Imu"](
        header, quaternion(0.0, 0.1, 0.2, 0.9), np.arange(9.0),
        TYPES["geometry_msgs/msg/Vector3"](1.0, 2.0, 3.0), np.arange(9.0) + 1,
        TYPES["geometry_msgs/msg/Vector3"](4.0, 5.0, 6.0), np.arange(9.0) + 2)
    yield TYPES["sensor_msgs/msg/BatteryState"](
        header, *map(float, range(7)), 1, 2, 3, True, np.array([1.5, 2.5], "f4"),
        np.array([3.5], "f4"), "here", "serial")
    yield TYPES["trajectory_msgs/msg/JointTrajectoryPoint"](
        np.arange(3.0), np.arange(3.0) + 5, np.zeros(0), np.ones(1),
        TYPES["builtin_interfaces/msg/Duration"](1, 2))


@pytest.mark.parametrize("message", list(example_messages()), ids=lambda m: m.__msgtype__)
@pytest.mark.parametrize("little", [True, False])
def test_the_places_of_numbers_are_those_of_the_full_decoder(message, little):
    kind = message.__msgtype__
    data = bytes(STORE.serialize_cdr(message, kind, little_endian=little))
    found = cdr.layout(data, cdr.parsed(STORE.generate_msgdef(kind, ros_version=2)[0]))
    rows = cdr.matrix([data])
    expected = dict(numbers_of(STORE.deserialize_cdr(data, kind)))
    assert set(found.places) == set(expected)
    for path, value in expected.items():
        np.testing.assert_array_equal(found.numbers(rows, path)[0], value)


def test_messages_of_one_length_and_another_layout_are_told_apart():
    one = joint_state(["ab", "c"], np.ones(2), np.ones(2), np.ones(2), 7)
    other = joint_state(["a", "bc"], np.ones(2), np.ones(2), np.ones(2), 7)
    data = [bytes(STORE.serialize_cdr(m, m.__msgtype__)) for m in (one, other)]
    assert len(data[0]) == len(data[1])
    found = cdr.layout(data[0], cdr.parsed(cdr.JOINT_STATE))
    np.testing.assert_array_equal(found.fits(cdr.matrix(data)), [True, False])


@pytest.mark.parametrize("data", [b"", b"\0\1\0\0", b"\0\1\0\0\1\0\0\0\2\0\0\0\xff\xff\xff\x7f"])
def test_messages_that_end_early_are_refused(data):
    with pytest.raises(cf.FormatError, match="message"):
        cdr.layout(data, cdr.parsed(cdr.JOINT_STATE))
