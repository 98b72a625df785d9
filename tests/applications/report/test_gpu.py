"""Times on a GPU: what is counted and compared, on a driver that is imagined."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import closedform as cf
from closedform.applications.report import gpu as gpu_module
from closedform.applications.report.gpu import gpu_times
from closedform.applications.report.page import speed
from closedform.applications.report.report import report
from closedform.errors import ArgumentError, MissingDependency
from closedform.interfaces.cli.main import app
from closedform.lowerings.native.cpu import host
from closedform.lowerings.store.cache import Cache
from fake_cuda import FakeCuda, pretended

pytestmark = pytest.mark.skipif(not host().fma, reason="this processor has no fused multiply-add, "
                                "so that its own kernels round in another way")
ROBOT = cf.load("planar2r")
RUNNER = CliRunner()


@pytest.fixture
def cuda(monkeypatch):
    monkeypatch.setattr(gpu_module, "DRAWN", 8)
    with pretended(FakeCuda()) as found:
        found.free = 1 << 13
        yield found


def test_rates_are_states_by_time_and_parts_are_bytes_by_the_copy_bandwidth(cuda):
    arm = cf.compile(ROBOT, cache=Cache(None))
    found = gpu_times(ROBOT, {"mass_matrix": arm.mass_matrix})
    per_launch = 1.5e-3 / 3                     # the imagined events are 1.5 ms apart, 3 calls
    assert found.device == "imagined"
    assert found.copying == pytest.approx(2 * ((1 << 13) // 3 // 2 // 8 * 8) / per_launch)
    double, single = found.rows
    assert (double.dtype, single.dtype) == ("float64", "float32")
    used = 1                                    # M of a planar arm depends on one angle alone
    count = (1 << 13) // 3 // (8 * (2 + 4))
    assert double.rate == pytest.approx(count / per_launch)
    assert double.part == pytest.approx(8 * count * (used + 4) / per_launch / found.copying)
    assert [row.differ for row in found.rows] == [0, 0]


def test_numbers_that_are_not_the_cpus_are_counted(cuda, monkeypatch):
    arm = cf.compile(ROBOT, cache=Cache(None))
    monkeypatch.setattr(gpu_module.GpuClock, "first",
                        lambda self, x, count: np.ones((count, *x.shape[1:]), x.dtype))
    (row, _) = gpu_times(ROBOT, {"mass_matrix": arm.mass_matrix}).rows
    assert row.differ == 8 * 4


def test_without_a_gpu_the_command_says_so_before_it_works():
    with pretended(FakeCuda(devices=0)):
        ran = RUNNER.invoke(app, ["bench", "planar2r", "--device", "cuda"])
        assert isinstance(ran.exception, MissingDependency)
        assert "finds no device" in str(ran.exception)
    ran = RUNNER.invoke(app, ["bench", "planar2r", "--device", "tpu"])
    assert isinstance(ran.exception, ArgumentError)
    assert "--device is 'tpu'; expected cpu or cuda" in str(ran.exception)


def test_the_report_tells_of_the_gpu_or_why_there_is_none(cuda, monkeypatch):
    cuda.free = 1 << 11
    found = report("planar2r")
    assert {row.name for row in found.gpu.rows} >= {"mass_matrix", "inverse_dynamics"}
    assert "On imagined, whose memory copies" in speed(found)
    assert json.dumps(found.data()["gpu"]["times"])
    monkeypatch.setattr(cuda, "devices", 0)
    from closedform.lowerings.cuda import driver
    driver.library.cache_clear()
    driver.device.cache_clear()
    from closedform.applications.report.report import _on_gpu
    assert "finds no device" in _on_gpu(ROBOT, {})


@pytest.mark.slow
def test_the_command_prints_the_gpus_rates_beside_the_cpus(cuda):
    cuda.free = 1 << 11
    ran = RUNNER.invoke(app, ["bench", "planar2r", "--device", "cuda"])
    assert ran.exit_code == 0, ran.output
    assert "planar2r on imagined, which copies" in ran.output
    assert "float64 [10⁹ states/s]" in ran.output
