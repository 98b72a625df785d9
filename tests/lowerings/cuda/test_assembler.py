"""NVIDIA's assembler takes the text, for old and new GPUs, and needs few registers for arms."""

import platform
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import closedform as cf
from closedform.lowerings.cuda.code import CudaCode
from closedform.lowerings.cuda.fitting import GpuLimits
from closedform.lowerings.cuda.pieces import stages
from cuda_runs import plan_of
from random_programs import random_program

HAS_WHEEL = sys.platform == "linux" and platform.machine() == "x86_64"
"""Whether the tests' own packages bring the assembler."""


@cache
def ptxas():
    """The assembler of the package nvidia-cuda-nvcc-cu12, else the one on the path."""
    try:
        import nvidia
    except ImportError:
        places = []
    else:
        places = [Path(root) for root in nvidia.__path__]
    found = (str(p) for root in places for p in root.rglob("bin/ptxas"))
    return next(found, None) or shutil.which("ptxas")


pytestmark = pytest.mark.skipif(ptxas() is None and not HAS_WHEEL,
                                reason="there is no ptxas, and no package of it for this system")


def test_the_assembler_is_there():
    assert ptxas() is not None, "pip install 'closedform[test]' brings nvidia-cuda-nvcc-cu12"


def assembled(text, chip, folder):
    """Registers, and bytes spilled."""
    source = folder / "kernel.ptx"
    source.write_text(text)
    done = subprocess.run([ptxas(), f"-arch={chip}", "-v", str(source), "-o",
                           str(folder / "kernel.cubin")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = done.stdout + done.stderr
    return (int(re.search(r"Used (\d+) registers", told).group(1)),
            int(re.search(r"(\d+) bytes spill stores", told).group(1)))


@pytest.mark.parametrize("chip", ["sm_75", "sm_90", "sm_120"])
@pytest.mark.parametrize("kind", ["double", "float"])
@pytest.mark.parametrize("inputs, outputs, more", [
    ("states", "states", {"largest": 100, "filled": True}), ("states", "states", {"width": 2}),
    ("rows", "tile", {}), ("tile", "tile", {"staying": True}), ("strided", "rows", {})])
def test_every_kind_of_text_assembles(inputs, outputs, more, kind, chip, tmp_path):
    if more.get("staying") and chip == "sm_75":
        pytest.skip("copies that are not waited for need sm_80")
    program = random_program(7)
    for stage in stages(program, plan_of(program, kind, inputs, outputs, **more)):
        assembled(stage.code().ptx(), chip, tmp_path)


@pytest.mark.parametrize("chip, limits", [("sm_75", GpuLimits(64 << 10, copies=False)),
                                          ("sm_120", GpuLimits(99 << 10))])
def test_plans_that_fit_other_devices_assemble(chip, limits, tmp_path):
    kernel = cf.compile(cf.load("panda")).inverse_dynamics_derivatives
    plan = kernel._path.gpu.plan("double", ("rows",) * 3, ("rows",) * 3, limits)
    for stage in stages(kernel.program, plan):
        assembled(stage.code().ptx(), chip, tmp_path)


@pytest.mark.parametrize("name, kind, most", [
    ("inverse_dynamics", "double", 136), ("inverse_dynamics", "float", 80),
    ("mass_matrix", "double", 80), ("mass_matrix", "float", 48),
    ("forward_dynamics", "double", 136), ("forward_dynamics", "float", 80)])
def test_quantities_of_an_arm_stay_within_their_registers(name, kind, most, tmp_path):
    """So many that 14 warps of doubles, or 25 of floats, run on a multiprocessor at a time."""
    program = getattr(cf.compile(cf.load("iiwa14")), name).program
    text = CudaCode(program, plan_of(program, kind, "states", "states")).ptx()
    registers, spilled = assembled(text, "sm_90", tmp_path)
    assert registers <= most
    assert spilled == 0
