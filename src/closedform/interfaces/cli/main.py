"""The command line `closedform`: each command is a file below this folder, a row of `COMMANDS`.

Results go to standard output, warnings and errors to standard error, one line each. Exit status:
0 for done, 1 for a check that fails (`lint`, `report`, `signals`, `identify`), 2 for a request
that cannot be met.
"""

from __future__ import annotations

import io
import signal
import sys
import warnings
from typing import Annotated, TextIO

import typer

from closedform.errors import ClosedformError
from closedform.interfaces.cli import (
    base,
    elastic,
    export,
    flexible,
    ik,
    lint,
    quantities,
    report,
    robots,
    show,
    torques,
)
from closedform.interfaces.cli.browser import studio
from closedform.interfaces.cli.identification import excite, identify, signals
from closedform.interfaces.cli.robot_argument import reads_robots
from closedform.interfaces.cli.studies import map, sweep
from closedform.interfaces.cli.terminal import complain
from closedform.version import __version__

COMMANDS = (
    show, lint, robots, quantities, report, torques, base, ik, map, sweep, flexible, elastic,
    signals, identify, excite, export, studio,
)
"""In the order of the help; each registers its commands."""

app = typer.Typer(
    no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich",
    help="Closed-form models of robots, flexible arms and elastic joints: show one, check its "
         "file, list, report, time and export its quantities; torques along motions, base "
         "parameters, inverse kinematics, maps of workspaces, sweeps of designs, vibration; robots "
         "identified from logs.",
    epilog="Start with [bold]closedform robots[/], [bold]closedform show panda[/] and "
           "[bold]closedform report panda[/].",
)


def main() -> None:
    """The program `closedform`: runs a command, turns a refusal into one line and status 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without τ shows ? and goes on
    warnings.showwarning = _warn
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):       # leave as at the end, so that no worker stays behind
            signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
    try:
        app(prog_name="closedform")
    except ClosedformError as error:
        complain("error", error)
    except OSError as error:
        known = error.filename is not None and error.strerror
        complain("error", f"{error.filename}: {error.strerror}" if known else error)
    else:
        return
    sys.exit(2)


def _warn(message: Warning | str, category: type[Warning], filename: str, lineno: int,
          file: TextIO | None = None, line: str | None = None) -> None:
    complain("warning", message)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"closedform {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option(
        "--version", callback=_print_version, is_eager=True,
        help="Print the version and exit.")] = False,
) -> None:
    """What comes before a command."""


for command in COMMANDS:
    command.register(app)
reads_robots(app)
