"""C99: a header, a source, and a header with test vectors for each function; one runner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, final

from closedform.applications.export.pieces import Piece
from closedform.applications.export.targets.target import Target
from closedform.applications.export.vectors import SINGLE, Vectors
from closedform.lowerings.source.assignments import output_names
from closedform.lowerings.source.c_source import c_source
from closedform.lowerings.source.c_text import CFunction, Real, c_array
from closedform.lowerings.source.matlab import is_name
from closedform.program.program import Program, size


@final
@dataclass(frozen=True)
class C(Target):
    """C99 without allocations, for one state and for many one behind the other."""

    single: Annotated[bool, "float instead of double"] = False
    batch: Annotated[bool, "a loop over states too"] = True

    name: ClassVar[str] = "c"
    files: ClassVar[tuple[str, ...]] = ("NAME.h", "NAME.c", "NAME_vectors.h")
    check: ClassVar[str] = "cc *.c -lm && ./a.out"
    needs: ClassVar[str] = "a C99 compiler, libm"

    def texts(self, piece: Piece) -> Mapping[str, str]:
        real: Real = "float" if self.single else "double"
        made = c_source(CFunction(piece.program, piece.name, piece.about, real, self.batch))
        vectors = c_vectors(piece.program, piece.name, piece.vectors, real, self.batch)
        return {f"{piece.name}.h": made.header, f"{piece.name}.c": made.source,
                f"{piece.name}_vectors.h": vectors}

    def runner(self, folder: Path) -> Mapping[str, str]:
        """Written again for all functions whenever the folder grows."""
        names = sorted(p.name.removesuffix("_vectors.h") for p in folder.glob("*_vectors.h"))
        return {"test_vectors.c": c_main([x for x in names if is_name(x)])}


C_MAIN = """\
/* Checks every exported function against its test vectors: cc *.c -lm && ./a.out */

#include <stdio.h>
{includes}
int main(void)
{{
    int failed = 0;
{calls}
    printf(failed ? "%d FAILED\\n" : "all passed\\n", failed);
    return failed != 0;
}}
"""


def c_main(names: Sequence[str]) -> str:
    """The text of test_vectors.c for the functions of a folder."""
    return C_MAIN.format(includes="".join(f'#include "{x}_vectors.h"\n' for x in names),
                         calls="\n".join(f"    failed += {x}_check();" for x in names))


def c_vectors(program: Program, name: str, vectors: Vectors, real: Real, batch: bool) -> str:
    """The text of NAME_vectors.h: numbers, and a function that compares."""
    outputs, count = output_names(program), vectors.count
    tolerance = vectors.tolerance * (1 if real == "double" else SINGLE)
    lines = [f"/* Test vectors of {name}, from the closed form on floats. */", "",
             "#include <math.h>", "#include <stdio.h>", f'#include "{name}.h"', ""]
    for key, array in vectors.inputs.items():
        lines += c_array(real, f"{name}_{key}", array.ravel().tolist(), count)
    for key, array in zip(outputs, vectors.outputs.values(), strict=True):
        lines += c_array("double", f"{name}_{key}", array.ravel().tolist(), count)
    given = [f"{name}_{s.name}" for s in program.inputs]
    sizes = [max(size(o.shape), 1) for o in program.outputs]
    lines += ["", f"static int {name}_check(void)", "{", "    double worst = 0, scale;",
              *(f"    static {real} {x}[{count}][{n}];" for x, n in zip(outputs, sizes, strict=True)
                ), f"    for (int round = 0; round < {1 + batch}; ++round) {{"]
    calls = ", ".join([*(f"{x}[s]" for x in given), *(f"{x}[s]" for x in outputs)])
    whole = ", ".join([*(f"{x}[0]" for x in given), *(f"{x}[0]" for x in outputs)])
    lines += ["        if (round == 0)", f"            for (int s = 0; s < {count}; ++s) "
              f"{name}({calls});"]
    if batch:
        lines += ["        else", f"            {name}_batch({count}, {whole});"]
    for x, n in zip(outputs, sizes, strict=True):
        lines += [f"        for (int s = 0; s < {count}; ++s) {{", "            scale = 1;",
                  f"            for (int k = 0; k < {n}; ++k)",
                  f"                scale = fmax(scale, fabs({name}_{x}[s][k]));",
                  f"            for (int k = 0; k < {n}; ++k) {{",
                  f"                const double error = fabs((double){x}[s][k] - "
                  f"{name}_{x}[s][k])/scale;",
                  "                if (!(error < 1e300)) worst = 1e300;",
                  "                else if (error > worst) worst = error;",
                  f"                {x}[s][k] = 0;", "            }", "        }"]
    lines += ["    }", f'    printf("%s {name}: largest error %.1e, allowed {tolerance:.1e}\\n",',
              f'           worst <= {tolerance!r} ? "passed" : "FAILED", worst);',
              f"    return !(worst <= {tolerance!r});", "}"]
    return "\n".join(lines) + "\n"
