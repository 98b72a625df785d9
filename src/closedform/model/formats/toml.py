"""TOML read safely: faults and names that are refused give a `FormatError` with file and line."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

from closedform.errors import FormatError
from closedform.model.names import name_fault

NAMES = ("name", "joint_name", "parent", "body", "of", "antecedent")
PROSE = ("source", "about")
"""Texts that may have several lines, but no other control characters."""


def parse_toml(content: bytes | str, file: str, what: str) -> dict[str, Any]:
    """The tables in a text; `what` is said to be expected where there are none."""
    try:
        text = content if isinstance(content, str) else content.decode("utf-8")
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{file}: no {what}: {error}") from error
    for key, value in _texts(data):
        fault = name_fault(" ".join(value.split()) if key in PROSE else value)
        if fault is not None:
            raise FormatError(f"{file}{_line(text, key, value)}: {key} {fault}")
    return data


def _texts(data: Any) -> Iterator[tuple[str, str]]:
    """Names and prose of all tables, with their keys."""
    waiting = [data]
    while waiting:
        table = waiting.pop()
        if isinstance(table, list):
            waiting += reversed(table)
        elif isinstance(table, dict):
            yield from ((key, x) for key, x in table.items()
                        if isinstance(x, str) and key in (*NAMES, *PROSE))
            waiting += reversed(table.values())


def _line(text: str, key: str, value: str) -> str:
    """`:12` where a line by itself gives the key this value; else nothing."""
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            if (key, value) in _texts(tomllib.loads(line.removesuffix("\r"))):
                return f":{number}"
        except (ValueError, RecursionError):
            continue
    return ""
