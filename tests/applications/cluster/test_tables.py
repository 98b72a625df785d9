"""BlockRows in blocks: in memory, in Zarr, in Parquet; what is there is not computed again."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.cluster import client
from closedform.applications.cluster.blocks import BlockError, Work
from closedform.applications.cluster.tables import (
    TableColumn,
    TableLayout,
    filled,
    filled_at,
    table_at,
)

COLUMNS = (TableColumn("x"), TableColumn("kind", "u1"), TableColumn("q", "f8", ("a", "b")))
LAYOUT = TableLayout(COLUMNS, 23, 5, {"work": "squares"})
PLACES = (None, "rows.zarr", "rows.parquet")


def rows(block):
    k = np.arange(block.start, block.stop, dtype=float)
    return {"x": k**2, "kind": (k % 3).astype("u1"), "q": np.stack([k, -k], axis=-1)}


def place(tmp_path, name):
    if name is None:
        return None
    pytest.importorskip("zarr" if name.endswith("zarr") else "pyarrow",
                        reason="NOT TESTED: pip install 'closedform[cluster]'")
    return tmp_path / name


@pytest.mark.parametrize("name", PLACES)
def test_columns_come_back_as_they_went_in(tmp_path, name):
    table = table_at(place(tmp_path, name), LAYOUT)
    assert filled(table, rows, Work()) == ()
    k = np.arange(23.0)
    np.testing.assert_array_equal(table.column("x"), k**2)
    np.testing.assert_array_equal(table.column("q"), np.stack([k, -k], axis=-1))
    assert table.column("kind").dtype == np.uint8


@pytest.mark.parametrize("name", PLACES[1:])
def test_a_run_that_was_stopped_goes_on_and_nothing_is_done_twice(tmp_path, name):
    out, done = place(tmp_path, name), []

    def until_three(block):
        if block.number == 3 and len(done) < 4:
            raise KeyboardInterrupt
        done.append(block.number)
        return rows(block)
    table = table_at(out, LAYOUT)
    with pytest.raises(KeyboardInterrupt):
        filled(table, until_three, Work())
    first = {block.number for block in LAYOUT.blocks if table.has(block)}
    assert first == {0, 1, 2}
    again = table_at(out, LAYOUT)
    filled(again, lambda block: done.append(10 + block.number) or rows(block), Work())
    assert {n for n in done if n >= 10} == {13, 14}
    np.testing.assert_array_equal(again.column("x"), np.arange(23.0)**2)


@pytest.mark.parametrize("left", [0, 3])
@pytest.mark.parametrize(("name", "part"), [("rows.zarr", "done/c/1"),
                                            ("rows.parquet", "part-00000001.parquet")])
def test_a_block_that_is_damaged_on_disk_is_made_again(tmp_path, name, part, left):
    """As a full disk or a lost machine leaves it: a file with its name and not all of its bytes."""
    out, done = place(tmp_path, name), []
    filled(table_at(out, LAYOUT), rows, Work())
    file = out / part
    file.write_bytes(file.read_bytes()[:left])
    filled(table_at(out, LAYOUT), lambda block: done.append(block.number) or rows(block), Work())
    assert done == [1]
    np.testing.assert_array_equal(table_at(out, LAYOUT).column("x"), np.arange(23.0)**2)


def test_a_damaged_description_is_named(tmp_path):
    out = place(tmp_path, "rows.parquet")
    table_at(out, LAYOUT)
    (out / "_about.json").write_text("{")
    with pytest.raises(cf.ArgumentError, match=r"_about\.json is damaged"):
        table_at(out, LAYOUT)


@pytest.mark.parametrize("name", PLACES[1:])
def test_a_table_of_other_work_is_refused(tmp_path, name):
    out = place(tmp_path, name)
    table_at(out, LAYOUT)
    with pytest.raises(cf.ArgumentError, match="holds other work: its work, rows differ"):
        table_at(out, TableLayout(COLUMNS, 24, 5, {"work": "cubes"}))


@pytest.mark.parametrize("name", PLACES[1:])
def test_blocks_made_of_other_data_are_refused_by_name_and_open_ones_may_be_mended(tmp_path, name):
    out, data = place(tmp_path, name), np.arange(23.0)

    def squared(block, x):
        if np.isnan(x).any():
            raise cf.ArgumentError("no number")
        return {**rows(block), "x": x**2}

    def run(x):
        filled(table_at(out, LAYOUT), squared, Work(), lambda b: (x[b.start:b.stop],))
    with pytest.raises(BlockError, match="block 2"):
        run(np.where(data == 12, np.nan, data))
    run(data)
    run(data)
    np.testing.assert_array_equal(table_at(out, LAYOUT).column("x"), data**2)
    with pytest.raises(cf.ArgumentError, match=r"its block 4 \(rows 20 to 22\) was made of other"):
        run(np.where(data == 21, 0.0, data))


@pytest.mark.parametrize("name", PLACES[1:])
def test_nothing_is_written_before_the_scheduler_of_an_address_answers(
        tmp_path, name, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(client, "ANSWERS", 0.1)
    out = place(tmp_path, name)
    with pytest.raises(cf.ArgumentError, match="no scheduler answers"):
        filled_at(out, LAYOUT, rows, Work("tcp://127.0.0.1:1"))
    assert not list(tmp_path.iterdir())
    table, aside = filled_at(out, LAYOUT, rows, Work())
    assert aside == () and all(map(table.has, LAYOUT.blocks))


@pytest.mark.parametrize("name", PLACES[1:])
def test_a_place_that_cannot_be_written_is_named(tmp_path, name):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(cf.ArgumentError, match=rf"out: .*{name} cannot be written: .*[Nn]ot a"):
        filled_at(place(tmp_path / "file", name), LAYOUT, rows, Work())


def test_other_libraries_read_tables_whole(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    xr = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    for name in PLACES[1:]:
        filled(table_at(tmp_path / name, LAYOUT), rows, Work())
    k = np.arange(23.0)
    found = parquet.read_table(tmp_path / "rows.parquet")
    assert found.column_names == ["x", "kind", "q.a", "q.b"]
    np.testing.assert_array_equal(found["q.b"].to_numpy(), -k)
    with xr.open_zarr(tmp_path / "rows.zarr", consolidated=False) as opened:
        assert opened.x.dims == ("row",) and opened.q.dims == ("row", "q_entry")
        np.testing.assert_array_equal(opened.x, k**2)


def test_other_folders_and_names_are_refused(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "mine.parquet").mkdir()
    (tmp_path / "mine.parquet" / "thesis.txt").write_text("all of it")
    with pytest.raises(cf.ArgumentError, match="other files"):
        table_at(tmp_path / "mine.parquet", LAYOUT)
    with pytest.raises(cf.ArgumentError, match=r"out must end in \.zarr or \.parquet"):
        table_at(tmp_path / "rows.csv", LAYOUT)


@pytest.mark.parametrize("name", PLACES)
def test_blocks_set_aside_are_empty_and_are_tried_again(tmp_path, name):
    out = place(tmp_path, name)

    def bad(block):
        if block.number == 1:
            raise cf.ArgumentError("no")
        return rows(block)
    table = table_at(out, LAYOUT)
    aside, = filled(table, bad, Work(aside=True))
    assert aside.block.number == 1
    assert np.isnan(table.column("x")[5:10]).all() and np.isfinite(table.column("x")[10:]).all()
    assert np.all(table.column("kind")[5:10] == 255)
    if out is not None:
        assert filled(table_at(out, LAYOUT), rows, Work()) == ()
        np.testing.assert_array_equal(table.column("x"), np.arange(23.0)**2)


@pytest.fixture
def short_files():
    """What the system says where a disk is full, of files above 64 kB; until it is taken back."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(on):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]) if on else before)
    yield limit
    limit(False)


@pytest.mark.parametrize("name", PLACES[1:])
def test_a_disk_that_is_full_names_the_block_and_a_run_with_room_goes_on(
        tmp_path, name, short_files):
    """Block 2 is of numbers that do not pack; those before it are small."""
    out, n, done = place(tmp_path, name), 50_000, []
    layout = TableLayout(COLUMNS[:1], 4 * n, n, {"work": "noise"})

    def noise(block):
        done.append(block.number)
        x = np.random.default_rng(block.number).normal(size=n) * (block.number >= 2)
        return {"x": x}
    table = table_at(out, layout)
    short_files(True)
    try:
        with pytest.raises(BlockError, match=r"block 2 .* could not be written: .*large"):
            filled(table, noise, Work())
    finally:
        short_files(False)
    assert [b.number for b in layout.blocks if table.has(b)] == [0, 1]
    done.clear()
    again = table_at(out, layout)
    filled(again, noise, Work())
    assert sorted(done) == [2, 3]
    x = again.column("x")
    for block in layout.blocks:
        np.testing.assert_array_equal(x[block.start:block.stop], noise(block)["x"])
