"""Columns of numbers as files."""

import sys

import numpy as np
import pytest

from closedform.applications.motion.tables import write_columns
from closedform.errors import MissingDependency

COLUMNS = {"t": np.array([0.0, 1 / 3]), "x[0]": np.array([-1e-300, 2**60])}


def test_csv_holds_every_bit(tmp_path):
    write_columns(COLUMNS, tmp_path / "table.csv")
    text = (tmp_path / "table.csv").read_text().splitlines()
    assert text[0] == "t,x[0]"
    back = np.array([[float(x) for x in line.split(",")] for line in text[1:]])
    np.testing.assert_array_equal(back, np.stack(list(COLUMNS.values()), axis=1))


def test_parquet_holds_every_bit(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="NOT TESTED: pyarrow is missing")
    write_columns(COLUMNS, tmp_path / "table.parquet")
    back = parquet.read_table(tmp_path / "table.parquet")
    assert back.column_names == list(COLUMNS)
    np.testing.assert_array_equal(back["x[0]"].to_numpy(), COLUMNS["x[0]"])


def test_parquet_without_its_library_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match="pip install pyarrow"):
        write_columns(COLUMNS, tmp_path / "table.parquet")
