"""JavaScript and WebAssembly: modules for browsers and Node, and one runner for both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, final

from closedform.applications.export.pieces import Piece
from closedform.applications.export.targets.target import Target
from closedform.applications.export.vectors import vectors_text
from closedform.lowerings.source.javascript import javascript_loader, javascript_source
from closedform.lowerings.wasm.module import wasm_module


@final
@dataclass(frozen=True)
class JavaScript(Target):
    """A function of flat arrays, without any library."""

    name: ClassVar[str] = "javascript"
    files: ClassVar[tuple[str, ...]] = ("NAME.mjs", "NAME_vectors.mjs")
    check: ClassVar[str] = "node test_vectors.mjs"
    needs: ClassVar[str] = "Node 16 or a browser"

    def texts(self, piece: Piece) -> Mapping[str, str | bytes]:
        return {f"{piece.name}.mjs": javascript_source(piece.program, piece.name, piece.about),
                f"{piece.name}_vectors.mjs": _vectors(piece, piece.name)}

    def runner(self, folder: Path) -> Mapping[str, str | bytes]:
        return {"test_vectors.mjs": MAIN}


@final
@dataclass(frozen=True)
class Wasm(Target):
    """A module of WebAssembly that imports nothing, and one of JavaScript around it."""

    name: ClassVar[str] = "wasm"
    suffix: ClassVar[str] = "_wasm"
    files: ClassVar[tuple[str, ...]] = ("NAME.wasm", "NAME_wasm.mjs", "NAME_wasm_vectors.mjs")
    check: ClassVar[str] = "node test_vectors.mjs"
    needs: ClassVar[str] = "Node 16, a browser, or any WebAssembly"

    def texts(self, piece: Piece) -> Mapping[str, str | bytes]:
        name, module = piece.name, f"{piece.name}{self.suffix}"
        return {f"{name}.wasm": wasm_module(piece.program, piece.about, piece.folded()),
                f"{module}.mjs": javascript_loader(piece.program, name, piece.about),
                f"{module}_vectors.mjs": _vectors(piece, module)}

    def runner(self, folder: Path) -> Mapping[str, str | bytes]:
        return {"test_vectors.mjs": MAIN}


def _vectors(piece: Piece, module: str) -> str:
    text = vectors_text(piece.vectors, {"module": module, "name": piece.name})
    return f"export default {text.rstrip()};\n"


MAIN = """\
// Checks every exported function of this folder against its test vectors; exit status 1 if one
// fails:  node test_vectors.mjs
import { readdirSync } from "node:fs";

const here = new URL("./", import.meta.url);
let failed = 0;
for (const file of readdirSync(here).filter(x => x.endsWith("_vectors.mjs")).sort()) {
  if (file === "test_vectors.mjs") continue;
  const { default: vectors } = await import(new URL(file, here));
  const { [vectors.name]: f } = await import(new URL(`${vectors.module}.mjs`, here));
  const size = shape => shape.reduce((x, y) => x * y, 1);
  const part = (x, shape, s) => x.slice(size(shape) * s, size(shape) * (s + 1));
  let worst = 0;
  for (let s = 0; s < vectors.count; ++s) {
    const made = f(...vectors.inputs.map((x, k) => part(x, vectors.input_shapes[k], s)));
    const found = ArrayBuffer.isView(made) ? [made] : Object.values(made);
    if (found.length !== vectors.outputs.length) worst = Infinity;
    found.forEach((x, k) => {
      const expected = part(vectors.outputs[k], vectors.output_shapes[k], s);
      const scale = expected.reduce((most, y) => Math.max(most, Math.abs(y)), 1);
      if (x.length !== expected.length) worst = Infinity;
      expected.forEach((y, i) => {
        const error = Math.abs(x[i] - y) / scale;
        worst = Math.max(worst, Number.isFinite(error) ? error : Infinity);
      });
    });
  }
  const passed = worst <= vectors.tolerance;
  failed += !passed;
  console.log(`${passed ? "passed" : "FAILED"} ${vectors.module}: largest error ` +
              `${worst.toExponential(1)}, allowed ${vectors.tolerance.toExponential(1)}`);
}
console.log(failed ? `${failed} FAILED` : "all passed");
process.exitCode = failed ? 1 : 0;
"""
