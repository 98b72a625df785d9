"""`closedform robots`: the built-in robots."""

from __future__ import annotations

import json

import typer
from rich.markup import escape

from closedform.interfaces.cli.show import mass_text
from closedform.interfaces.cli.terminal import JsonOption, console, table
from closedform.model.describe import summary
from closedform.model.zoo.zoo import BUILTIN, builtin

FACTS = ("nq", "nv", "mass", "floating")


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command(epilog="[bold]Example:[/]  closedform robots --json")(robots)


def robots(as_json: JsonOption = False) -> None:
    """List the built-in robots, which every command takes by name."""
    known = [(name, about, summary(builtin(name))) for name, about in BUILTIN.items()]
    if as_json:
        told = [{"name": name, "about": about, **{key: facts[key] for key in FACTS}}
                for name, about, facts in known]
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    made = table("name", "nv", "mass", "base", "about")
    for name, about, facts in known:
        base = "floating" if facts["floating"] else "fixed"
        made.add_row(name, str(facts["nv"]), mass_text(facts["mass"]), base, escape(about))
    console().print(made)
