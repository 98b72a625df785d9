"""Columns of numbers as files."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from closedform.applications.whole_files import whole_file
from closedform.errors import MissingDependency


def write_columns(columns: Mapping[str, np.ndarray], path: str | Path) -> None:
    """A table as CSV, every number to the last bit, or as Parquet where the name ends so."""
    if Path(path).suffix == ".parquet":
        try:
            pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        except ImportError:
            raise MissingDependency("Parquet files need pyarrow: pip install pyarrow; or write a "
                                    ".csv file") from None
        with whole_file(path) as place:
            parquet.write_table(pyarrow.table(dict(columns)), str(place))
        return
    write_rows(list(columns), zip(*(x.tolist() for x in columns.values()), strict=True), path)


def write_rows(heading: Sequence[str], rows: Iterable[Sequence[Any]], path: str | Path) -> None:
    """Rows as CSV under a heading."""
    with whole_file(path) as place, place.open("w", encoding="utf8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(heading)
        writer.writerows(rows)
