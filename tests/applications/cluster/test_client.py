"""With a client and without: the same, bit by bit, for any number of workers; and after faults."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest

import closedform as cf
from block_work import deadly, hungry, refused, slowly, squared
from closedform.applications import identification as idn
from closedform.applications.cluster import blocks
from closedform.applications.cluster import client as client_module
from closedform.applications.cluster.blocks import BlockError, Work, computed, ranges
from closedform.applications.cluster.tables import TableColumn, TableLayout, filled, table_at
from closedform.applications.flexible import batch
from closedform.applications.redundancy import (
    Grid,
    PlanarPosition,
    Posture,
    branches,
    map,
    solve,
    solving,
)
from closedform.applications.studies import Length, Normal, monte_carlo, sweep
from measured_runs import run

dask = pytest.importorskip("dask", reason="NOT TESTED: pip install 'closedform[cluster]'")
distributed = pytest.importorskip(
    "distributed", reason="NOT TESTED: pip install 'closedform[cluster]'")

ROBOT = cf.load("planar3r")
TIP = ROBOT.bodies[-1].name
TASK, REST = PlanarPosition(TIP), Posture(np.array([0.3, -0.5, 0.7]))
GRID = Grid((-0.8, -0.8), (0.8, 0.8), 0.2)
rng = np.random.default_rng(0)
Q, V, A = rng.normal(size=(3, 40, 3))


def mapped(client=None):
    found = map(ROBOT, TASK, GRID, REST, client, block=16)
    return found.q, found.value, found.codes, found.sigma_min


def solved(client=None):
    with patch.object(solving, "BLOCK", 8):
        found = solve(ROBOT, TASK, GRID[20:45], REST, [0.3, -0.5, 0.7], client=client)
    return found.q, found.value, found.verdict.astype(str)


def branched(client=None):
    return [b.q for b in branches(ROBOT, TASK, GRID[30], REST, starts=60, client=client)]


def sampled(client=None):
    normal = Normal(ROBOT.parameters, 0.1 * np.abs(ROBOT.parameters) + 1e-3)
    return (monte_carlo(ROBOT, "inverse_dynamics", normal, (Q, V, A), 5000,
                        client=client).samples,)


def swept(client=None):
    over = [Length(ROBOT.bodies[1].name, np.linspace(0.5, 2.0, 4000))]
    return (sweep(ROBOT, "mass_matrix", over, (Q,), client=client).value,)


def moved(client=None):
    arms = [cf.FlexibleArm(links=[cf.FlexibleLink(0.5, 1.0, 2.0, 1.0, 0.1, modes=1)],
                           payload=cf.Payload(0.1 + 0.01 * k, 0.005)) for k in range(10)]
    with patch.object(batch, "ARMS", 4), patch.object(batch, "SHAPED", 3):
        found = cf.flexible.simulate_batch(arms, [0.0, 0.05], times=[0.0, 0.01], client=client)
    return found.q, found.v


def measured(client=None):
    robot = cf.load("planar2r")
    logs = [idn.read(run(robot, seed), robot) for seed in (0, 1)]
    found = idn.information(idn.Model(robot), logs, idn.Signals(cutoff=5.0, delay=0.0),
                            client=client)
    return [found.factor(j) for j in range(2)]


def excited(client=None):
    limits = idn.Limits((-2.0, 2.0), velocity=2.0, acceleration=10.0, torque=500.0)
    plan = idn.excite(idn.Model(cf.load("planar2r")), 4.0, 2, np.zeros(2), limits=limits, starts=2,
                      client=client)
    return plan.at(np.linspace(0, 4, 9))


EVERYTHING = {f.__name__: f for f in (mapped, solved, branched, sampled, swept, moved, measured,
                                      excited)}


@pytest.mark.parametrize("name", EVERYTHING)
def test_workers_find_what_threads_find_bit_by_bit(cluster, name):
    """One process with one thread, two processes, two threads of this one."""
    work = EVERYTHING[name]
    alone = work()
    assert len(alone)
    for one, two in zip(alone, work(cluster), strict=True):
        np.testing.assert_array_equal(one, two)


def test_the_modes_of_many_arms_are_found_by_workers_and_not_here(cluster):
    with patch.object(batch, "arm_tensors", side_effect=AssertionError):
        q, _ = moved(cluster)
    assert q.shape == (2, 10, 2)


@pytest.mark.parametrize("count", [1, 3])
def test_the_number_of_threads_changes_nothing(monkeypatch, count):
    expected = mapped()
    monkeypatch.setattr(blocks, "cores", lambda: count)
    for one, two in zip(mapped(), expected, strict=True):
        np.testing.assert_array_equal(one, two)


# ---------------------------------------------------------------------- faults
LAYOUT = TableLayout((TableColumn("x"),), 400, 10, {"work": "squares"})
SQUARES = np.arange(400) ** 2.0
PATIENCE = 600
"""Seconds that a worker may take to begin: on a busy machine that is no matter of seconds."""


def filled_in(out, client, work=slowly):
    table = table_at(out, LAYOUT)
    filled(table, work, Work(client))
    return table.column("x")


def others_do(what, delay=0.5):
    thread = threading.Timer(delay, what)
    thread.start()
    return thread


def pids(client):
    return list(client.run(os.getpid).values())


def test_workers_killed_in_mid_run_cost_time_and_nothing_else(cluster):
    thread = others_do(lambda: os.kill(pids(cluster)[0], signal.SIGKILL))
    found = filled_in(None, cluster)
    thread.join()
    np.testing.assert_array_equal(found, SQUARES)


@pytest.mark.slow
def test_a_worker_that_is_paused_holds_nothing_up_for_good(cluster):
    cluster.wait_for_workers(2, timeout=PATIENCE)
    pid = pids(cluster)[0]
    stop = others_do(lambda: os.kill(pid, signal.SIGSTOP), 0.3)
    go = others_do(lambda: os.kill(pid, signal.SIGCONT), 2.0)
    found = filled_in(None, cluster)
    stop.join()
    go.join()
    np.testing.assert_array_equal(found, SQUARES)


class DyingClient:
    """Blocks 2, 3 and 4 wait at one worker, which 3 kills: Dask gives all of them up."""

    def __init__(self):
        self.begun, self.under_way = [], 0

    def nthreads(self):
        return {"one": 2}

    def submit(self, function, packed, block, **options):
        again = block.number in self.begun
        self.begun.append(block.number)
        self.under_way += 1
        return Dying(self, block, block.number == 3 or (block.number in (2, 4) and not again),
                     again)


class Dying:
    def __init__(self, client, block, dies, again):
        self.client, self.block, self.dies, self.open = client, block, dies, True
        assert not again or client.under_way == 1

    def result(self):
        self.client.under_way -= self.open
        self.open = False
        if self.dies:
            raise distributed.KilledWorker("followed", None, 3)
        return self.block.number

    def cancel(self):
        pass


def test_of_blocks_that_wait_at_a_dying_worker_the_one_that_kills_is_named():
    client = DyingClient()
    found = dict(computed(len, ranges(80, 10), Work(client, aside=True)))
    bad = [str(x) for x in found.values() if isinstance(x, blocks.Aside)]
    assert len(bad) == 1 and bad[0].startswith("block 3 (rows 30 to 39): every worker that took")
    assert [x for x in found.values() if not isinstance(x, blocks.Aside)] == [0, 1, 2, 4, 5, 6, 7]
    assert sorted(client.begun) == [0, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7]


@pytest.mark.slow
def test_a_block_that_kills_its_workers_is_named(tmp_path):
    with (dask.config.set({"distributed.scheduler.allowed-failures": 0,
                           "distributed.deploy.lost-worker-timeout": "1 hour"}),
          distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
          as made, distributed.Client(made) as client):
        with pytest.raises(BlockError, match=r"block 3 \(rows 30 to 39\): every worker .* died"):
            filled_in(None, client, deadly)
        table = table_at(None, LAYOUT)
        client.wait_for_workers(1, timeout=PATIENCE)
        aside, = filled(table, deadly, Work(client, aside=True))
        assert aside.block.number == 3
        x = table.column("x")
        assert np.isnan(x[30:40]).all()
        np.testing.assert_array_equal(np.delete(x, range(30, 40)),
                                      np.delete(SQUARES, range(30, 40)))


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
def test_a_worker_keeps_the_memory_of_arrays_that_come_and_go():
    """Under Dask's setting every array of a megabyte is 256 page faults, each time."""
    text = """
import resource, sys, numpy as np
from closedform.applications.cluster.client import keep_memory
if sys.argv[1] == "kept":
    keep_memory()
def arrays(count):
    for _ in range(count):
        np.ones(1 << 17)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
print(-arrays(3) + arrays(100))
"""
    faults = [int(subprocess.run(
        [sys.executable, "-c", text, how], env={**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"},
        check=True, capture_output=True, text=True).stdout) for how in ("given back", "kept")]
    assert faults[0] > 10_000 and faults[1] < 1000


@pytest.mark.parametrize("times", [1, 3])
def test_a_block_without_memory_is_tried_again_twice_and_then_named(cluster, tmp_path, times):
    cluster.wait_for_workers(1, timeout=PATIENCE)
    work = partial(hungry, folder=str(tmp_path), times=times)
    if times <= client_module.RETRIES:
        np.testing.assert_array_equal(filled_in(None, cluster, work), SQUARES)
    else:
        with pytest.raises(BlockError, match=r"block 2 .*MemoryError: Unable to allocate"):
            filled_in(None, cluster, work)
    assert len(list(tmp_path.iterdir())) == times


def test_a_lost_scheduler_loses_no_part_and_a_new_one_goes_on(tmp_path):
    pytest.importorskip("pyarrow")
    out = tmp_path / "squares.parquet"
    seen = []

    def client():
        return distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False,
                                        dashboard_address=None)
    first = client()
    one = distributed.Client(first, set_as_default=False)
    table = table_at(out, LAYOUT)
    work = computed(slowly, LAYOUT.blocks, Work(one))
    with pytest.raises(BlockError, match=r"block \d+ .*(scheduler is gone|Error)"):
        for block, rows in work:
            table.put(block, rows)
            seen.append(block.number)
            if block.number == 4:
                first.close()
    one.close()
    assert len(seen) >= 5
    done = {b.number for b in LAYOUT.blocks if table_at(out, LAYOUT).has(b)}
    assert done == set(seen)
    with client() as second, distributed.Client(second, set_as_default=False) as two:
        table = table_at(out, LAYOUT)
        filled(table, slowly, Work(two))
    np.testing.assert_array_equal(table.column("x"), SQUARES)


def test_what_is_in_flight_is_bounded(cluster):
    """Back pressure: no more blocks wait in the cluster than twice its threads."""
    cluster.wait_for_workers(2, timeout=PATIENCE)
    asked = []
    for taken, _ in enumerate(computed(slowly, ranges(100, 5), Work(cluster),
                                       lambda block: asked.append(block) or ())):
        assert len(asked) <= taken + 2 * client_module.AHEAD + 1


def test_an_address_is_a_client_and_a_wrong_one_is_refused(cluster, monkeypatch):
    found = mapped(cluster.scheduler.address)
    for one, two in zip(found, mapped(), strict=True):
        np.testing.assert_array_equal(one, two)
    monkeypatch.setattr(client_module, "ANSWERS", 0.5)
    with pytest.raises(cf.ArgumentError, match=r"no scheduler answers at 'tcp://127\.0\.0\.1:1'"):
        mapped("tcp://127.0.0.1:1")
    with pytest.raises(cf.ArgumentError, match=r"at 'nonsense': missing port"):
        mapped("nonsense")


def test_a_client_that_is_closed_or_asynchronous_is_refused(cluster):
    closed = distributed.Client(cluster.scheduler.address, set_as_default=False)
    closed.close()
    with pytest.raises(cf.ArgumentError, match="client is closed"):
        mapped(closed)

    async def asynchronous():
        async with distributed.Client(cluster.scheduler.address, asynchronous=True,
                                      set_as_default=False) as client:
            with pytest.raises(cf.ArgumentError, match="client is asynchronous"):
                mapped(client)
    asyncio.run(asynchronous())


def test_an_address_leaves_the_scheduler_of_other_work_as_it_was(cluster, monkeypatch):
    with dask.config.set(scheduler="threads"):
        with client_module.joined(cluster.scheduler.address):
            assert dask.config.get("scheduler") == "threads"
        monkeypatch.setattr(client_module, "ANSWERS", 0.5)
        with pytest.raises(cf.ArgumentError), client_module.joined("tcp://127.0.0.1:1"):
            pass
        assert dask.config.get("scheduler") == "threads"


@pytest.mark.parametrize("ending", ["done", "refused", "left"])
def test_a_client_of_an_address_is_closed_with_its_work_and_one_given_is_not(
        cluster, monkeypatch, ending):
    made = []

    class Watched(distributed.Client):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            made.append(self)
    monkeypatch.setattr(distributed, "Client", Watched)
    cluster.wait_for_workers(1, timeout=PATIENCE)
    work = computed(refused if ending == "refused" else squared, ranges(8, 2),
                    Work(cluster.scheduler.address))
    if ending == "refused":
        with pytest.raises(BlockError, match=r"block 0 .*no such"):
            list(work)
    elif ending == "left":
        next(work)
        work.close()
    else:
        assert len(list(work)) == 4
    own, = made
    assert own.status == "closed"
    assert len(list(computed(squared, ranges(8, 2), Work(cluster)))) == 4
    assert cluster.status == "running"
