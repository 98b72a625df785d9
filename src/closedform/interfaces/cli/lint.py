"""`closedform lint FILE`: what is wrong with a model file, and how to repair it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from closedform.interfaces.cli.robot_argument import SOURCES, complete_robot, loading
from closedform.interfaces.cli.terminal import JsonOption
from closedform.model.findings import Finding, Level
from closedform.model.lint.lint import lint

FileArgument = Annotated[str, typer.Argument(
    metavar="FILE", help=SOURCES, autocompletion=complete_robot)]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("lint", epilog="[bold]Examples:[/]  closedform lint robot.urdf  |  "
                               "closedform lint robot.xml --json")(lint_file)


def lint_file(file: FileArgument, as_json: JsonOption = False) -> None:
    """Check a model file; exit with 1 if it has errors."""
    findings = lint(file, **loading())
    if as_json:
        plain = [{**asdict(finding), "level": finding.level.value} for finding in findings]
        typer.echo(json.dumps(plain, indent=2, ensure_ascii=False))
    else:
        for finding in findings:
            typer.echo(_finding_text(finding))
        typer.echo(_verdict(findings))
    if any(finding.level is Level.ERROR for finding in findings):
        raise typer.Exit(1)


def _finding_text(finding: Finding) -> str:
    """`robot.urdf:12: error: message [rule]`, and the repair on a line of its own."""
    place = f"{finding.place}: " if finding.file else ""
    text = f"{place}{finding.level.value}: {finding.message} [{finding.rule}]"
    return text + (f"\n    repair: {finding.repair}" if finding.repair else "")


def _verdict(findings: list[Finding]) -> str:
    """`2 errors, 1 warning`, or `nothing to complain about`."""
    found = [finding.level for finding in findings]
    words = {Level.ERROR: ("error", "errors"), Level.WARNING: ("warning", "warnings"),
             Level.INFO: ("remark", "remarks")}
    counts = [f"{found.count(level)} {one if found.count(level) == 1 else many}"
              for level, (one, many) in words.items() if level in found]
    return ", ".join(counts) or "nothing to complain about"
