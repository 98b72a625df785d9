"""Information in a file, so that a log is read once."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from closedform.applications.identification.information import Block, Information
from closedform.applications.identification.model import Model
from closedform.errors import FormatError

VERSION = 1


def save_information(info: Information, path: str | Path) -> Path:
    """Write the factors, and the names of what they are factors of, into an .npz file."""
    target = Path(path)
    about = {"version": VERSION, "robot": info.model.robot.name, "columns": info.columns,
             "notes": info.notes, "faults": info.faults, "rate": info.rate, "gains": info.gains,
             "blocks": [(b.log, b.number, b.rows) for b in info.blocks]}
    arrays = {f"R{i}_{j}": R for i, b in enumerate(info.blocks) for j, R in enumerate(b.factors)}
    part = target.with_name(target.name + ".part")
    with part.open("wb") as file:
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)
    part.replace(target)
    return target


def load_information(path: str | Path, model: Model) -> Information:
    """Read what `save_information` wrote; an error if it is of another model."""
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            blocks = tuple(
                Block(log, number, tuple(rows),
                      tuple(file[f"R{i}_{j}"] for j in range(model.robot.nv)))
                for i, (log, number, rows) in enumerate(about["blocks"]))
    except FileNotFoundError:
        raise FormatError(f"{path}: there is no such file") from None
    except (OSError, ValueError, KeyError) as error:
        raise FormatError(f"{path}: no information that closedform has saved ({error})") from error
    info = Information(model, blocks, tuple(about["notes"]), float(about["rate"]),
                       bool(about["gains"]), faults=tuple(about["faults"]))
    if list(info.columns) != list(about["columns"]):
        raise FormatError(f"{path}: information on {about['robot']} with {len(about['columns'])} "
                          f"unknowns, not on this model of {model.robot.name} with "
                          f"{len(info.columns)}")
    return info
