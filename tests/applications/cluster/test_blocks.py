"""Blocks over threads or a client: in order, bounded, errors with the block's name."""

import threading
import time

import numpy as np
import pytest

import closedform as cf
from closedform.applications.cluster import blocks as module
from closedform.applications.cluster.blocks import (
    AHEAD,
    Aside,
    BlockError,
    Work,
    computed,
    ranges,
)


def test_ranges_cover_all_rows_once():
    found = ranges(10, 4)
    assert [(b.start, b.stop) for b in found] == [(0, 4), (4, 8), (8, 10)]
    assert str(found[1]) == "block 1 (rows 4 to 7)"


@pytest.mark.parametrize("count", [1, 2, 5])
def test_results_come_in_order_whoever_is_first(monkeypatch, count):
    monkeypatch.setattr(module, "cores", lambda: count)

    def slow_at_first(k):
        time.sleep(0.02 if k == 0 else 0.0)
        return k * k
    assert list(computed(slow_at_first, range(20), Work())) == [(k, k * k) for k in range(20)]


def test_no_more_blocks_are_begun_than_are_taken(monkeypatch):
    """Back pressure: whoever takes slowly is not run over."""
    monkeypatch.setattr(module, "cores", lambda: 2)
    asked = []
    for taken, _ in enumerate(computed(lambda k, x: x, range(40), Work(),
                                       lambda k: (asked.append(k) or k,))):
        assert len(asked) <= taken + 2 * AHEAD + 1


def test_threads_compute_at_once(monkeypatch):
    monkeypatch.setattr(module, "cores", lambda: 2)
    both = threading.Barrier(2, timeout=120)
    assert len(list(computed(lambda k: both.wait(), range(2), Work()))) == 2


def refuses_three(block):
    if block.number == 3:
        raise cf.ArgumentError("there is no such thing")
    if block.number == 5:
        raise ZeroDivisionError("of a worker")
    return block.number


def test_an_error_names_its_block():
    with pytest.raises(BlockError, match=r"block 3 \(rows 30 to 39\): there is no such thing"):
        list(computed(refuses_three, ranges(100, 10), Work()))


def test_bad_blocks_are_set_aside_if_asked():
    found = dict(computed(refuses_three, ranges(100, 10), Work(aside=True)))
    bad = [x for x in found.values() if isinstance(x, Aside)]
    assert [str(x) for x in bad] == ["block 3 (rows 30 to 39): there is no such thing",
                                     "block 5 (rows 50 to 59): ZeroDivisionError: of a worker"]
    assert len(found) == 10


def test_what_a_block_needs_may_be_bad_as_well():
    def given(block):
        if block.number == 1:
            raise OSError("disk gone")
        return (1,)
    with pytest.raises(BlockError, match=r"block 1 .*disk gone"):
        list(computed(lambda block, x: x, ranges(4, 2), Work(), given))


@pytest.mark.parametrize("client", [3, object()])
def test_what_is_no_client_is_refused(client):
    with pytest.raises(cf.ArgumentError, match="client must be"):
        Work(client)


def test_the_bar_shows_on_a_terminal(monkeypatch, capsys):
    import sys
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    list(computed(np.sqrt, range(3), Work(what="taking roots")))
    assert "taking roots" in capsys.readouterr().err
