"""Columns of numbers as files."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import numpy as np

from closedform.errors import MissingDependency


def write_columns(columns: Mapping[str, np.ndarray], path: str | Path) -> None:
    """A table as CSV, every number to the last bit, or as Parquet where the name ends so."""
    if Path(path).suffix == ".parquet":
        try:
            pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        except ImportError:
            raise MissingDependency("Parquet files need pyarrow: pip install pyarrow; or write a "
                                    ".csv file") from None
        parquet.write_table(pyarrow.table(dict(columns)), str(path))
        return
    with Path(path).open("w", encoding="utf8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
