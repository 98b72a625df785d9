"""Kernels on a GPU beside peers there: G states/s, and how many times longer a peer takes.

    python benchmarks/cuda_peers.py [--robot panda] [--append docs/benchmarks-gpu.md]

Needs JAX with CUDA. Peers are what can be imported: our own programs exported to JAX, MJX
(mujoco-mjx), frax; all `jit(vmap)`, one after the other in every round, states in rows on the GPU,
results compared. A contender that cannot run is named with the reason. Then, with PyTorch, from how
many states on a call on the GPU is ahead of the CPU. `--platform cpu` tries the script anywhere.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy as np
from lxml import etree

import closedform as cf
from closedform.applications.report.peers import MuJoCo, _urdf

jax.config.update("jax_enable_x64", True)

ROUNDS, LEAST = 7, 0.02
"""Rounds in which contenders take turns, and seconds of calls of each in a round."""
DRAWN = 1024
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives")
State = Callable[..., Any]
"""A function of one state, for `jit(vmap)`."""


class Contender(NamedTuple):
    """Another library: what it computes of one state, by quantity."""

    name: str
    functions: dict[str, State]


# ---------------------------------------------------------------------- peers
def exported(robot: cf.Robot) -> Contender:
    """Our programs as source for JAX."""
    functions = {}
    folder = Path(tempfile.mkdtemp())
    for name in QUANTITIES:
        (path, *_) = cf.export(robot, name, "jax", folder)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        functions[name] = getattr(module, path.stem.removesuffix("_jax"))
    return Contender("ours exported to JAX", functions)


def mjx(robot: cf.Robot) -> Contender:
    from mujoco import mjx as library
    from mujoco.mjx._src import smooth
    peer = MuJoCo(robot)
    model = library.put_model(peer.model)
    start = library.make_data(model)

    def moved(q: Any, v: Any) -> Any:
        data = start.replace(qpos=q, qvel=v)
        return smooth.com_vel(model, smooth.com_pos(model, smooth.kinematics(model, data)))

    def inverse(q: Any, v: Any, a: Any) -> Any:
        return smooth.rne(model, moved(q, v).replace(qacc=a), flg_acc=True).qfrc_bias

    return Contender(f"MJX {_version('mujoco-mjx')}", {
        "inverse_dynamics": inverse, "inverse_dynamics_derivatives": jax.jacfwd(inverse, (0, 1))})


def frax(robot: cf.Robot) -> Contender:
    from frax.core.robot import Robot
    root = etree.fromstring(_urdf(robot).encode())
    for link in root.iter("link"):              # frax wants an inertia of every link
        if link.find("inertial") is None:
            inertial = etree.SubElement(link, "inertial")
            etree.SubElement(inertial, "mass", value="0")
            etree.SubElement(inertial, "inertia", ixx="0", iyy="0", izz="0", ixy="0", ixz="0",
                             iyz="0")
    path = Path(tempfile.mkdtemp()) / "robot.urdf"
    path.write_bytes(etree.tostring(root))
    peer = Robot(str(path))
    up = -np.asarray(robot.gravity, float)

    def inverse(q: Any, v: Any, a: Any) -> Any:
        gravity = jnp.asarray([*up, 0.0, 0.0, 0.0], q.dtype)
        return peer.rnea(q, v, a, gravity, None)

    return Contender(f"frax {_version('frax')}", {
        "inverse_dynamics": inverse, "mass_matrix": peer.mass_matrix,
        "forward_dynamics": lambda q, v, tau: peer.forward_dynamics(q, v, tau, None),
        "inverse_dynamics_derivatives": jax.jacfwd(inverse, (0, 1))})


def _version(package: str) -> str:
    from importlib.metadata import version
    return version(package)


PEERS = (exported, mjx, frax)


# ---------------------------------------------------------------------- times
def ours(kernel: Any, given: list[Any], platform: str) -> Callable[[int], None]:
    """So many calls of our kernel, then a wait: launches on the arrays' memory on a GPU."""
    if platform == "cpu":
        host = [np.asarray(x) for x in given]
        out = kernel(*host)
        return lambda calls: [kernel(*host, out=out) for _ in range(calls)] and None
    from closedform.lowerings.cuda.driver import device
    count = len(given[0])
    launch = kernel.cuda(given[0].dtype)
    held = [jnp.zeros((count, *x.shape), given[0].dtype) for x in kernel.interface.outputs]
    held.append(jnp.zeros((launch.kernels.slots, count), given[0].dtype))
    jax.block_until_ready((given, held))
    *pointers, waiting = (x.unsafe_buffer_pointer() for x in (*given, *held))

    def run(calls: int) -> None:
        for _ in range(calls):
            launch(count, *pointers, waiting=waiting if launch.kernels.slots else 0)
        device(0).wait(0)

    return run


def theirs(function: State, given: list[Any]) -> Callable[[int], None]:
    compiled = jax.jit(jax.vmap(function)).lower(*given).compile()

    def run(calls: int) -> None:
        for _ in range(calls):
            result = compiled(*given)
        jax.block_until_ready(result)

    return run


def rates(runs: dict[str, Callable[[int], None]], states: int) -> dict[str, list[float]]:
    """States a second of each in every round."""
    calls = {}
    for name, run in runs.items():
        run(1)
        start = time.perf_counter()
        run(3)
        calls[name] = max(1, round(LEAST * 3 / (time.perf_counter() - start)))
    found: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            start = time.perf_counter()
            run(calls[name])
            found[name].append(states * calls[name] / (time.perf_counter() - start))
    return found


def error(kernel: Any, function: State, given: list[Any]) -> float:
    """The largest difference from our first result, relative to its largest entry."""
    few = [x[:64] for x in given]
    mine = kernel(*(np.asarray(x, np.float64) for x in few))
    mine = mine[0] if isinstance(mine, tuple) else mine
    their = jax.tree_util.tree_leaves(jax.vmap(function)(*few))[0]
    return float(np.abs(np.asarray(their, np.float64) - mine).max() / np.abs(mine).max())


def table(robot: cf.Robot, states: int, platform: str, names: list[str]) -> Iterator[str]:
    contenders, reasons = [], []
    for make in PEERS:
        try:
            contenders.append(make(robot))
        except Exception as failed:
            reasons.append(f"{make.__name__}: {type(failed).__name__}: {failed}".splitlines()[0])
    arm, rng = cf.compile(robot), np.random.default_rng(0)
    drawn = rng.normal(size=(3, DRAWN, robot.nv))
    yield f"| {robot.name}, rows | ours | {' | '.join(c.name for c in contenders)} |"
    yield "|---" * (len(contenders) + 2) + "|"
    for name in names:
        kernel = getattr(arm, name)
        for dtype in (jnp.float64, jnp.float32):
            given = [jnp.asarray(np.tile(x, (states // DRAWN, 1)), dtype)
                     for x in drawn[:len(kernel.interface.inputs)]]
            runs, errors = {"ours": ours(kernel, given, platform)}, {}
            for c in contenders:
                if name in c.functions:
                    try:
                        runs[c.name] = theirs(c.functions[name], given)
                        errors[c.name] = error(kernel, c.functions[name], given)
                    except Exception as failed:
                        runs.pop(c.name, None)
                        reasons.append(f"{c.name}, {name}: {type(failed).__name__}: "
                                       f"{failed}".splitlines()[0])
            found = rates(runs, states)
            cells = [f"{statistics.median(found['ours']) / 1e9:.3g}"]
            for c in contenders:
                if c.name not in found:
                    cells.append("–")
                    continue
                ratio = statistics.median(
                    x / y for x, y in zip(found["ours"], found[c.name], strict=True))
                wrong = f", differs by {errors[c.name]:.0e}" if errors[c.name] > 1e-3 else ""
                cells.append(f"{statistics.median(found[c.name]) / 1e9:.3g} ({ratio:.0f}×{wrong})")
            label = f"{name.replace('_', ' ')} {'f64' if dtype == jnp.float64 else 'f32'}"
            row = f"| {label} | {' | '.join(cells)} |"
            print(row, file=sys.stderr, flush=True)
            yield row
    for reason in reasons:
        yield f"\nLeft out: {reason}."


# ---------------------------------------------------------------------- beside the CPU
def crossover(robot: cf.Robot) -> Iterator[str]:
    """Fewest states from which on a call on GPU arrays, waited for, is ahead of the CPU's."""
    import torch
    arm = cf.compile(robot)
    yield f"| {robot.name}, float64 | GPU ahead of one thread from | of all cores from |"
    yield "|---|---|---|"
    for name in QUANTITIES:
        kernel, ahead = getattr(arm, name), {1: 0, None: 0}
        for states in (2 ** k for k in range(19, -1, -1)):
            x = torch.randn(states, robot.nv, dtype=torch.float64, device="cuda")
            given = [x] * len(kernel.interface.inputs)
            out, here = kernel(*given), [x.cpu().numpy()] * len(given)
            result = kernel(*here)

            def there(kernel: Any = kernel, given: Any = given, out: Any = out) -> None:
                kernel(*given, out=out)
                torch.cuda.synchronize()

            gpu = _seconds(there)
            for threads in ahead:
                cpu = _seconds(partial(kernel, *here, out=result, threads=threads))
                if ahead[threads] in (0, 2 * states) and gpu < cpu:
                    ahead[threads] = states
        yield f"| {name.replace('_', ' ')} | {ahead[1] or '–'} | {ahead[None] or '–'} |"


def _seconds(run: Callable[[], Any]) -> float:
    run()
    times = []
    for _ in range(11):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


HEAD = "## Peers on the same GPU"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--robot", default="panda")
    parser.add_argument("--states", type=int, default=1 << 19)
    parser.add_argument("--platform", choices=("gpu", "cpu"), default="gpu")
    parser.add_argument("--quantities", default=",".join(QUANTITIES))
    parser.add_argument("--append", type=Path)
    options = parser.parse_args()
    robot = cf.load(options.robot)
    found = jax.devices()[0]
    if found.platform != options.platform:
        sys.exit(f"JAX computes on {found.platform}, not on a {options.platform}: "
                 "pip install 'jax[cuda12]'")
    lines = [HEAD, "", f"`python benchmarks/cuda_peers.py --robot {options.robot}` on "
             f"{found.device_kind}, JAX {jax.__version__}, {options.states} states: 10⁹ states a "
             "second, in brackets how many times longer a peer takes, the median of "
             f"{ROUNDS} rounds in which all take turns.", "",
             *table(robot, options.states // DRAWN * DRAWN, options.platform,
                    options.quantities.split(",")), ""]
    if options.platform == "gpu" and importlib.util.find_spec("torch"):
        lines += ["Calls from Python on arrays of PyTorch, waited for:", "", *crossover(robot), ""]
    text = "\n".join(lines)
    print(text)
    if options.append:
        kept = options.append.read_text(encoding="utf8").split(HEAD)[0].rstrip()
        options.append.write_text(f"{kept}\n\n{text}", encoding="utf8")


if __name__ == "__main__":
    main()
