"""The command `closedform studio`: a robot, its equations and its data in the browser."""

from __future__ import annotations

import threading
import webbrowser
from typing import Annotated

import typer

from closedform.interfaces.cli.robot_argument import SOURCES, complete_robot, loading
from closedform.interfaces.cli.terminal import FloatingOption, complain

EXAMPLES = ("[bold]Examples:[/]  closedform studio panda  |  closedform studio my.urdf --port 8300 "
            "--no-browser  |  closedform studio deluca_siciliano")
RobotOrNothing = Annotated[str, typer.Argument(
    metavar="[ROBOT]", help=f"{SOURCES} A flexible arm's as well.", autocompletion=complete_robot)]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""

    @app.command("studio", epilog=EXAMPLES)
    def command(
        robot: RobotOrNothing = "panda",
        port: Annotated[int, typer.Option(
            min=0, max=65535, help="The port to listen on, or the next free one.")] = 8200,
        host: Annotated[str, typer.Option(
            help="The address to listen on; any but this machine's own is open to others.",
        )] = "127.0.0.1",
        browser: Annotated[bool, typer.Option(
            "--browser/--no-browser", help="Open the page in a browser.")] = True,
        floating: FloatingOption = False,
    ) -> None:
        """Move a robot by hand in the browser; its equations, formulas and data follow."""
        from closedform.interfaces.studio.house import Studio  # slow: viser
        studio = Studio(robot, port, host, floating=floating, **loading())
        typer.echo(f"{robot}: {studio.gate.address}")
        if studio.gate.token:
            complain("warning", "others who know this address, token and all, can move the robot, "
                                "open files of theirs and take the model away")
        if browser:
            webbrowser.open(studio.gate.address)
        studio.ready.wait()
        if studio.error:
            complain("error", studio.error)
            studio.stop()
            raise typer.Exit(2)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            studio.stop()
