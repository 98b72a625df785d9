"""Kernels on a GPU: states a second, and the part of the GPU's copy bandwidth that they use.

    python benchmarks/cuda.py [--robots iiwa14,panda,humanoid25] [--floating talos_reduced.urdf]
                              [--seconds 600] [--write docs/benchmarks-gpu.md]

Needs an NVIDIA driver and PyTorch, whose arrays and events it uses. Every output of every state is
compared with the CPU's kernel, bit for bit. Bytes are those of the entries that a program uses and
writes, once; times are medians of 11 rounds of several calls, one behind the other, over 2 GB each.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch

import closedform as cf
from closedform.lowerings.cuda.driver import device

BYTES = 1 << 31
REFERENCE = 2048
"""States that are repeated, and computed on the CPU too."""
REPEATS, CALLS = 11, 5
KINDS = {torch.float64: "f64", torch.float32: "f32"}


def seconds(run: Callable[[], Any]) -> float:
    """The median time of a call among others, by events."""
    for _ in range(3):
        run()
    times = []
    for _ in range(REPEATS):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(CALLS):
            run()
        stop.record()
        torch.cuda.synchronize()
        times.append(1e-3 * start.elapsed_time(stop) / CALLS)
    return statistics.median(times)


def bandwidth() -> float:
    """Bytes a second of copying 1 GiB, read and written."""
    x = torch.empty(1 << 28, dtype=torch.float32, device="cuda")
    y = torch.empty_like(x)
    return 2 * x.nbytes / seconds(lambda: y.copy_(x))


def quantities(robot: cf.Robot) -> Iterator[tuple[str, Any]]:
    """Names and kernels of the table."""
    arm = cf.compile(robot)
    tip = robot.frames[-1].name if robot.frames else robot.bodies[-1].name
    yield "inverse dynamics τ", arm.inverse_dynamics
    yield "forward dynamics", arm.forward_dynamics
    yield "mass matrix", arm.mass_matrix
    yield "frame Jacobian", arm.frame_jacobian.at(tip)
    yield "M, Christoffel C, g", arm.christoffel_dynamics_matrices
    yield "M, (6b) C, g", arm.passive_dynamics_matrices
    yield "∂τ/∂q, ∂τ/∂v", cf.fuse(robot, "inverse_dynamics_derivatives",
                                  only=["dtau_dq", "dtau_dv"])
    if robot.nv < 10:
        yield "∂a/∂q, ∂a/∂v, ∂a/∂τ", arm.forward_dynamics_derivatives
        yield "τ, τ̇, τ̈", arm.inverse_dynamics_jet
        yield "τ̄ᵀ ∂τ/∂(q, v, a)", arm.inverse_dynamics.cotangent()
        yield "āᵀ ∂a/∂(q, v, τ)", arm.forward_dynamics.cotangent()


def measured(robot: cf.Robot, kernel: Any, dtype: Any, last: bool) -> tuple[float, float, int]:
    """States a second, bytes a second, and how many numbers differ from the CPU's."""
    program, rng = kernel.program, np.random.default_rng(0)
    size = torch.empty(0, dtype=dtype).element_size()
    used = len({x.args for x in program.code if x.op == "input"})
    entries = sum(len(output.entries) for output in program.outputs)
    count = max(BYTES // (size * (used + entries)) // REFERENCE, 16) * REFERENCE
    one = np.float64 if dtype == torch.float64 else np.float32
    states = [rng.normal(size=(REFERENCE, *slot.shape)).astype(one) for slot in program.inputs]
    if robot.nq != robot.nv:
        states[0] = np.stack([robot.random(rng) for _ in range(REFERENCE)]).astype(one)
    expected = kernel(*states)
    expected = expected if isinstance(expected, tuple) else (expected,)

    def on_gpu(x: np.ndarray) -> Any:
        flat = torch.tensor(x.reshape(REFERENCE, -1), device="cuda").repeat(count // REFERENCE, 1)
        whole = flat.T.contiguous().T if last else flat
        return whole if x.ndim == 2 else whole.as_strided(
            (count, *x.shape[1:]), (whole.stride(0), *(
                s // x.itemsize * whole.stride(1) for s in x[0].strides)))

    inputs = [on_gpu(x) for x in states]
    found = kernel(*inputs)
    outs = found if isinstance(found, tuple) else (found,)
    torch.cuda.synchronize()
    wrong = 0
    for x, y in zip(outs, expected, strict=True):
        y = torch.tensor(y, device="cuda")
        for part in x.reshape(count // REFERENCE, *y.shape).split(64):
            wrong += int((~((part == y) | (part.isnan() & y.isnan()))).sum())
    given = outs if len(outs) > 1 else outs[0]
    rate = count / seconds(lambda: kernel(*inputs, out=given))
    return rate, rate * size * (used + entries), wrong


def compiled(task: tuple[str, bool, int, str, bool]) -> None:
    """One kernel called once, in a process of its own: its code is in the cache then.

    So is the CPU's, with which it is compared.
    """
    source, floating, number, kind, last = task
    robot = cf.load(source, floating=floating)
    dtype = next(dtype for dtype, name in KINDS.items() if name == kind)
    _, kernel = list(quantities(robot))[number]
    states = [torch.zeros(*slot.shape, 64, dtype=dtype, device="cuda") if last else
              torch.zeros(64, *slot.shape, dtype=dtype, device="cuda")
              for slot in kernel.program.inputs]
    kernel(*(x.movedim(-1, 0) for x in states) if last else states)
    torch.cuda.synchronize()
    if last:
        kernel(*(np.zeros((REFERENCE, *slot.shape), x.cpu().numpy().dtype)
                 for slot, x in zip(kernel.program.inputs, states, strict=True)))


def table(robots: list[cf.Robot], last: bool, copying: float, end: float) -> Iterator[str]:
    """A cell for each robot, quantity and precision; those behind the end of the time are empty."""
    heads = [f"{robot.name} {kind}" for robot in robots for kind in KINDS.values()]
    yield f"| {'states last' if last else 'rows'} | {' | '.join(heads)} |"
    yield "|---" * (len(heads) + 1) + "|"
    cells: dict[str, list[str]] = {}
    for k, robot in enumerate(robots):
        for name, kernel in quantities(robot):
            row = cells.setdefault(name, ["–"] * len(heads))
            for j, dtype in enumerate(KINDS):
                if time.monotonic() > end:
                    continue
                rate, moved, wrong = measured(robot, kernel, dtype, last)
                mark = f" **{wrong} differ**" if wrong else ""
                row[len(KINDS) * k + j] = f"{rate / 1e9:.3g} ({100 * moved / copying:.0f}){mark}"
                print(robot.name, name, "states last" if last else "rows",
                      row[len(KINDS) * k + j], flush=True)
                torch.cuda.empty_cache()
    for name, row in cells.items():
        yield f"| {name} | {' | '.join(row)} |"


def small_batches() -> Iterator[str]:
    """µs of one call and of the same on the CPU, by the number of states."""
    kernel = cf.compile(cf.load("iiwa14")).inverse_dynamics
    yield "| states | GPU, call and wait | GPU, one after the other | CPU, one thread |"
    yield "|---|---|---|---|"
    for count in (1, 32, 1024, 16_384, 1 << 20):
        x = torch.randn(count, 7, dtype=torch.float64, device="cuda")
        here, out = x.cpu().numpy(), torch.empty_like(x)
        result = np.empty_like(here)

        def alone(x: Any = x, out: Any = out) -> None:
            kernel(x, x, x, out=out)
            torch.cuda.synchronize()

        def following(x: Any = x, out: Any = out) -> None:
            kernel(x, x, x, out=out)

        def on_cpu(x: Any = here, out: Any = result) -> None:
            kernel(x, x, x, out=out, threads=1)

        times = [1e6 * _wall(run) for run in (alone, following, on_cpu)]
        yield f"| {count} | {' | '.join(f'{t:.3g}' for t in times)} |"


def _wall(run: Callable[[], None]) -> float:
    run()
    best = []
    for _ in range(7):
        torch.cuda.synchronize()
        start, count = time.perf_counter(), 0
        while count < 200 and time.perf_counter() - start < 0.1:
            run()
            count += 1
        torch.cuda.synchronize()
        best.append((time.perf_counter() - start) / count)
    return statistics.median(best)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--robots", default="iiwa14,panda,humanoid25")
    parser.add_argument("--floating", type=Path, nargs="*", default=[],
                        help="files of robots with a free base")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    sources = [*((name, False) for name in options.robots.split(",")),
               *((str(path), True) for path in options.floating)]
    robots = [cf.load(name, floating=floating) for name, floating in sources]
    tasks = [(*source, number, kind, last) for source, robot in zip(sources, robots, strict=True)
             for number, _ in enumerate(quantities(robot)) for kind in KINDS.values()
             for last in (True, False)]
    with ProcessPoolExecutor(max_workers=os.cpu_count(),
                             mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(compiled, reversed(tasks)))
    copying = bandwidth()
    more = "".join(f" --floating {path.name}" for path in options.floating)
    lines = [
        "# Benchmarks on a GPU", "",
        f"`python benchmarks/cuda.py --robots {options.robots}{more}` on {device(0).name}, copy "
        f"bandwidth {copying / 1e12:.2f} TB/s in the same run. G states/s, in brackets the part of "
        "the copy bandwidth in %; – was not measured. Every number was compared with the CPU's, "
        "bit for bit.", "",
        "Calls from Python, µs (iiwa14, inverse dynamics, float64):", "", *small_batches(), ""]
    for last in (True, False):
        lines += [*table(robots, last, copying, end), ""]
    print("\n".join(lines))
    if options.write:
        options.write.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
