"""What one sees while a large program is compiled."""

import io
import time

from closedform.applications import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_long_compilation_is_announced_on_a_terminal(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress.compiling("arm"):
        end = time.monotonic() + 30
        while not terminal.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    assert "compiling arm" in terminal.getvalue()


def test_a_short_one_is_not_and_neither_is_any_where_nobody_watches(monkeypatch):
    terminal, file = Terminal(), io.StringIO()
    monkeypatch.setattr("sys.stderr", terminal)
    with progress.compiling("arm"):
        pass
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr("sys.stderr", file)
    with progress.compiling("arm"):
        time.sleep(0.05)
    assert terminal.getvalue() == "" and file.getvalue() == ""
