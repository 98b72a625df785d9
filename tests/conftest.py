"""How random robots are drawn, and what a run could not test."""

from collections import Counter

import pytest
from hypothesis import settings

FRESH = "--trees"


def pytest_addoption(parser):
    parser.addoption(FRESH, type=int, default=0, metavar="N",
                     help="N new random robots for each law, instead of the fixed set")


def pytest_configure(config):
    """A fixed set of random robots; with --trees new ones, of the seed in --hypothesis-seed."""
    trees = config.getoption(FRESH)
    settings.register_profile("fixed", deadline=None, derandomize=True, max_examples=40)
    settings.register_profile("fresh", deadline=None, derandomize=False, max_examples=trees or 40,
                              database=None, print_blob=True)
    settings.load_profile("fresh" if trees else "fixed")


def pytest_terminal_summary(terminalreporter):
    """What was not tested for want of a tool, with a count: green is not all."""
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ")
                      for report in terminalreporter.stats.get("skipped", ())
                      if isinstance(report.longrepr, tuple))
    missing = {reason: count for reason, count in reasons.items() if "NOT TESTED" in reason}
    for reason, count in missing.items():
        terminalreporter.write_line(f"{count} x {reason}")


@pytest.fixture(scope="module")
def cluster():
    """A client of two worker processes with one thread each; none stays when a file is done.

    One that was killed is waited for, however busy the machine is; Dask gives it up after 15 s.
    """
    distributed = pytest.importorskip(
        "distributed", reason="NOT TESTED: pip install 'closedform[cluster]'")
    import dask
    with (dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
          distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
          as made, distributed.Client(made) as client):
        yield client
