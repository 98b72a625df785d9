"""`closedform quantities`: the rows of the catalogue, which `closedform export` takes by name."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.markup import escape

from closedform import CATALOGUES, LOOP_CATALOGUE
from closedform.interfaces.cli.terminal import JsonOption, console, table

KINDS = {rows[0].of.noun.replace(" ", "-"): rows for rows in CATALOGUES.values()}
KINDS["robots-with-loops"] = LOOP_CATALOGUE
KindArgument = Annotated[str | None, typer.Argument(
    metavar="[KIND]", help=f"Of which models: {', '.join(KINDS)}; of all unless told.",
    autocompletion=lambda: list(KINDS))]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command(epilog="[bold]Examples:[/]  closedform quantities  |  closedform quantities "
                       "flexible-arms --json")(quantities)


def quantities(kind: KindArgument = None, as_json: JsonOption = False) -> None:
    """List the quantities that can be compiled and exported."""
    if kind is not None and kind not in KINDS:
        raise typer.BadParameter(f"there are {', '.join(KINDS)}, not {kind!r}")
    shown = KINDS if kind is None else {kind: KINDS[kind]}
    if as_json:
        told = [{"of": noun, "name": row.name, "inputs": row.inputs, "letter": row.letter,
                 "outputs": row.words, "about": row.summary,
                 "derivatives": [x._asdict() for x in row.derivatives]}
                for noun, rows in shown.items() for row in rows]
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    for noun, rows in shown.items():
        made = table(f"of {noun.replace('-', ' ')}", "from", "shape", "about")
        for row in rows:
            sizes = ["×".join(map(str, size)) or "1" for size in row.words.values()]
            made.add_row(row.name, " ".join([*row.inputs, *["frame"] * row.framed]),
                         ", ".join(dict.fromkeys(sizes)), escape(row.summary))
        console().print(made, "", sep="\n")
