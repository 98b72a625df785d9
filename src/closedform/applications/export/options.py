"""Options of exports: fields of sources and of targets, and all of them in one record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from closedform.applications.compile.requests import RuntimeInput
from closedform.errors import ArgumentError
from closedform.maths.flexible.dynamics import PAPER, Model


class Option(NamedTuple):
    """An option as its record declares it: `single: Annotated[bool, "what it means"] = False`."""

    kind: Any
    meaning: str
    usual: Any

    @property
    def words(self) -> Any:
        """What a command line reads it as; None if it cannot."""
        kind = type(self.usual) if self.kind is Any else self.kind
        return kind if kind in (bool, int, float, str, str | None, float | None) else None


def options_of(record: Any) -> dict[str, Option]:
    """The options of a source or a target, by name."""
    cls = record if isinstance(record, type) else type(record)
    hints, found = get_type_hints(cls, include_extras=True), {}
    for x in fields(cls):
        kind, *meaning = get_args(hints[x.name]) if get_origin(
            hints[x.name]) is Annotated else (hints[x.name], "")
        found[x.name] = Option(kind, meaning[0], x.default)
    return found


@dataclass(frozen=True)
class ExportOptions:
    """All options in one record; sources and targets say what each one means.

    What the model or the target has no use for is to stay as it is here.
    """

    inputs: RuntimeInput | Sequence[RuntimeInput] = ()
    wrenches: bool = False
    fused: bool = False
    name: str | None = None
    single: bool = False
    batch: bool = True
    order: int = 2
    symbols: bool = False
    snap: float | None = None
    damping: Any = 0.0
    model: Model = PAPER


def unusual(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options among these that are not as usual."""
    usual = {name: x.usual for name, x in options_of(ExportOptions).items()}
    return {name: x for name, x in given.items()
            if name not in usual or not _same(x, usual[name])}


def _same(x: Any, y: Any) -> bool:
    return x is y or (type(x) is type(y) and bool(x == y))


def refuse(name: str,
           tables: Mapping[str, tuple[str, Sequence[tuple[str, type]]]]) -> None:
    """An option that neither the source nor the target has.

    Under "of" and "to": the noun of the source or the target, and all of them with theirs.
    """
    known = dict.fromkeys(x for _, rows in tables.values() for _, row in rows
                          for x in options_of(row))
    for word, (here, rows) in tables.items():
        owners = [noun for noun, row in rows if name in options_of(row)]
        if owners:
            raise ArgumentError(f"{name} is an option of exports {word} {' and '.join(owners)}, "
                                f"not {word} {here}")
    raise ArgumentError(f"export has no option {name!r}; there are {', '.join(known)}")
