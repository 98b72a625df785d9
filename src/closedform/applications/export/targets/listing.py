"""A program as text for readers, with a module that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

from closedform.applications.export.pieces import Piece
from closedform.applications.export.targets.python_folder import PythonFolder
from closedform.lowerings.source.comments import line_comments
from closedform.program.ops import FUNCTIONS
from closedform.program.program import size
from closedform.program.show import input_name, listing


@final
@dataclass(frozen=True)
class Listing(PythonFolder):
    """One line for each value that is used more than once; what is checked is the text itself."""

    name: ClassVar[str] = "listing"
    suffix: ClassVar[str] = "_listing"
    files: ClassVar[tuple[str, ...]] = ("NAME.txt", "NAME_listing.py")
    needs: ClassVar[str] = "NumPy"

    def sources(self, piece: Piece, module: str) -> Mapping[str, str]:
        program = piece.program
        text = "\n".join([*line_comments("#", piece.about), "", listing(program)])
        facts = {"INPUTS": [[input_name(s, k) for k in range(size(s.shape))]
                            for s in program.inputs],
                 "OUTPUTS": [(o.name, o.shape) for o in program.outputs],
                 "FUNCTIONS": {op.symbol: op.ufunc for op in FUNCTIONS}}
        reader = READER.replace("@NAME@", piece.name).replace(
            "@FACTS@", "\n".join(f"{key} = {value!r}" for key, value in facts.items()))
        return {f"{piece.name}.txt": text, f"{module}.py": reader}


READER = '''"""Reads the lines of @NAME@.txt and puts numbers in, for the test vectors."""

import pathlib

import numpy as np

@FACTS@


def @NAME@(*arrays):
    names = {symbol: getattr(np, name) for symbol, name in FUNCTIONS.items()}
    names.update((name, np.zeros(shape)) for name, shape in OUTPUTS)
    for entries, array in zip(INPUTS, arrays):
        names.update(zip(entries, np.ravel(array)))
    text = pathlib.Path(__file__).with_name("@NAME@.txt").read_text(encoding="utf8")
    exec(text, {"__builtins__": {}}, names)
    found = [names[name] for name, _ in OUTPUTS]
    return found[0] if len(found) == 1 else tuple(found)
'''
