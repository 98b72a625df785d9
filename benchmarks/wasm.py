"""Exported WebAssembly and JavaScript in V8 against native code, nanoseconds a state.

    python benchmarks/wasm.py [--quick]         needs node (apt install nodejs)

Native code is called from a loop in C over 64 states, WebAssembly from its own `batch`, JavaScript
from a loop in JavaScript, in turns; times are CPU times. Results are compared first. Last: how
long a module takes to make, and its size.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from clock import FULL, QUICK, Effort, pin_to_one_core, repeats_for
from contenders_ours import Ours
from rich.console import Console
from subjects import STATES, Subject, Task
from tables import Table, number

import closedform as cf

ROBOTS = ("ur5", "iiwa14", "panda", "humanoid25")
TASKS = ("inverse_dynamics", "mass_matrix", "forward_dynamics", "inverse_dynamics_derivatives")
MOST = 3.0
"""Times native that inverse dynamics in WebAssembly may take: it has no fused multiply-add, V8 half
the registers, and two numbers are the most in one."""

NODE = """
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { NAME as js } from "./NAME.mjs";
import { wasm } from "./NAME_wasm.mjs";
const { states, inputs, outputs } = JSON.parse(readFileSync("states.json"));
const sizes = [...inputs.map(x => x.length / states), ...outputs];
wasm.memory.grow(Math.ceil(8 * states * sizes.reduce((x, y) => x + y, 0) / 65536) + 1);
let at = wasm.free.value;
const arrays = sizes.map(n => { const x = new Float64Array(wasm.memory.buffer, at, n * states);
                                at += 8 * n * states; return x; });
inputs.forEach((x, k) => arrays[k].set(x));
const rows = Array.from({ length: states }, (_, s) =>
  arrays.map((x, k) => x.subarray(s * sizes[k], (s + 1) * sizes[k])));
const places = arrays.map(x => x.byteOffset);
const run = {
  wasm: () => wasm.batch(states, ...places),
  javascript: () => { for (const row of rows) js(...row); } };
for await (const line of createInterface({ input: process.stdin })) {
  const [what, repeats] = line.split(" ");
  if (what === "results") {
    run[repeats](); console.log(JSON.stringify(arrays.slice(inputs.length).map(x => [...x])));
    continue; }
  const start = process.cpuUsage();
  for (let k = 0; k < +repeats; ++k) run[what]();
  const { user, system } = process.cpuUsage(start);
  console.log(1000 * (user + system) / (repeats * states));
}
"""


class Node:
    """A process of Node that runs both exports of a quantity over the states."""

    def __init__(self, ours: Ours, quantity: str, folder: Path) -> None:
        robot = ours.subject.robot
        for target in ("javascript", "wasm"):
            cf.export(robot, quantity, target, folder, name="timed", fused=True)
        slots = ours.kernel.interface
        given = {"states": STATES,
                 "inputs": [ours.states[s.name].ravel().tolist() for s in slots.inputs],
                 "outputs": [int(np.prod(s.shape)) for s in slots.outputs]}
        (folder / "states.json").write_text(json.dumps(given))
        (folder / "loop.mjs").write_text(NODE.replace("NAME", "timed"))
        self.process = subprocess.Popen([shutil.which("node") or "node", "loop.mjs"], cwd=folder,
                                        text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, line: str) -> Any:
        assert self.process.stdin and self.process.stdout
        print(line, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def times(name: str, quantity: str, effort: Effort) -> dict[str, list[float]]:
    """Nanoseconds a state in every round, after a comparison."""
    ours = Ours(Subject(name, "arm", cf.load(name)), Task(quantity, (quantity,)))
    expected, native = ours.results(), ours.native()
    with tempfile.TemporaryDirectory() as folder:
        node = Node(ours, quantity, Path(folder))
        for way in ("wasm", "javascript"):
            for x, y in zip(node.ask(f"results {way}"), expected.values(), strict=True):
                np.testing.assert_allclose(x, y.ravel(), atol=1e-12 * np.abs(y).max())
            node.ask(f"{way} 3000")                     # V8 compiles again what is called often
        repeats = repeats_for(native, effort.slice)
        found: dict[str, list[float]] = {"native": [], "wasm": [], "javascript": []}
        for _ in range(effort.rounds):
            start = native.clock()
            native.run(repeats)
            found["native"].append((native.clock() - start) / (repeats * STATES) * 1e9)
            for way in ("wasm", "javascript"):
                found[way].append(node.ask(f"{way} {repeats}"))
        node.close()
    return found


def row(name: str, quantity: str, effort: Effort) -> tuple[str, ...]:
    found = times(name, quantity, effort)
    ratio = statistics.median(w / n for w, n in zip(found["wasm"], found["native"], strict=True))
    goal = quantity == "inverse_dynamics"
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        cf.export(cf.load(name), quantity, "wasm", folder)
        spent = time.process_time() - start
        size = next(Path(folder).glob("*.wasm")).stat().st_size
    return (name, quantity, *(number(statistics.median(x)) for x in found.values()),
            f"{ratio:.2f}", f"{MOST:.2f}" if goal else "",
            ("met" if ratio <= MOST else "missed") if goal else "",
            f"{size / 1e3:.1f}", f"{spent:.2f}")


def main() -> None:
    quick = "--quick" in sys.argv
    where = pin_to_one_core()
    tasks = TASKS[:1] if quick else TASKS
    rows = [row(name, x, QUICK if quick else FULL) for name in ROBOTS for x in tasks]
    Table("WebAssembly and JavaScript in V8, ns a state",
          ("robot", "quantity", "native", "wasm", "JavaScript", "wasm / native", "at most", "",
           "wasm kB", "export s"), rows, where).print(
        Console(width=None if sys.stdout.isatty() else 140))


if __name__ == "__main__":
    main()
