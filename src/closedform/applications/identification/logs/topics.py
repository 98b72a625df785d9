"""Several topics of a bag, or several writers of one, as one table: rows of the first of them.

The first topic has the rows. Numbers of another one are taken at their times, on straight lines
between its messages: by the stamps of both, or by when the bag got them if one has no stamps. Rows
outside of its messages, or in a hole of them, are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from closedform.applications.identification.logs.rosbag import (
    RECEIVED,
    STAMP,
    Bag,
    bag_topics,
    groups_of,
    open_bag,
)
from closedform.arrays import Floats
from closedform.errors import ArgumentError

HOLE = 5.0
"""Times the usual step of a topic: longer steps are holes."""
LEAST_HOLE = 0.05
"""Seconds that are no hole."""


def topics_in(columns: Mapping[str, Any], known: Sequence[str]) -> dict[str, str]:
    """The topics that columns name as `/topic/field`, with the kind that did first."""
    found: dict[str, str] = {}
    for kind, told in columns.items():
        for name in _names(told):
            fitting = [topic for topic in known if name.startswith(f"{topic}/")]
            if fitting:
                found.setdefault(max(fitting, key=len), kind)
    return found


def _names(told: Any) -> list[str]:
    if isinstance(told, str):
        return [told]
    if isinstance(told, Mapping):
        return [name for one in told.values() for name in _names(one)]
    if isinstance(told, Sequence):
        return [name for one in told for name in _names(one)]
    return []


@final
@dataclass(frozen=True, eq=False)
class Joined:
    """A topic's rows with columns of others; all of theirs are called `/topic/field`."""

    first: Bag
    others: tuple[Bag, ...]
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.first.names, *(f"{bag.topic.name}/{name}" for bag in self.others
                                     for name in bag.names))

    @property
    def groups(self) -> Mapping[str, range]:
        found, start = dict(self.first.groups), len(self.first.names)
        for bag in self.others:
            found |= {f"{bag.topic.name}/{name}": range(start + at.start, start + at.stop)
                      for name, at in bag.groups.items()}
            start += len(bag.names)
        return found

    @property
    def notes(self) -> tuple[str, ...]:
        more = [f"{bag.topic.name} of {bag.topic.type}: taken at the times of "
                f"{self.first.topic.name}, on straight lines between messages, by "
                f"{'their stamps' if self._by(bag) == STAMP else 'the times of receiving'}"
                for bag in self.others]
        return (*self.first.notes, *more)

    def _by(self, bag: Bag) -> str:
        return STAMP if STAMP in bag.names and STAMP in self.first.names else RECEIVED

    def blocks(self, columns: Sequence[int], rows: int) -> Iterator[Floats]:
        own = [c for c in columns if c < len(self.first.names)]
        parts, start = [], len(self.first.names)
        for bag in self.others:
            wanted = [c - start for c in columns if start <= c < start + len(bag.names)]
            at = [i for i, c in enumerate(columns) if start <= c < start + len(bag.names)]
            start += len(bag.names)
            if wanted:
                shift = (bag.start - self.first.start) * 1e-9
                parts.append((at, self.first.names.index(self._by(bag)),
                              Between(bag, self._by(bag), wanted, shift)))
        clocks = [clock for _, clock, _ in parts]
        mine = [i for i, c in enumerate(columns) if c in own]
        for block in self.first.blocks([*own, *clocks], rows):
            made = np.full((len(block), len(columns)), np.nan)
            made[:, mine] = block[:, :len(own)]
            inside = np.ones(len(block), dtype=bool)
            for k, (at, _, between) in enumerate(parts):
                made[:, at], there = between.at(block[:, len(own) + k])
                inside &= there
            if inside.any():
                yield made[inside]


class Between:
    """A topic's numbers between its messages, for times that go forwards."""

    def __init__(self, bag: Bag, clock: str, wanted: Sequence[int], shift: float) -> None:
        self.bag, self.shift = bag, shift
        self.stream = bag.blocks([bag.names.index(clock), *wanted], 4096)
        self.t: Floats = np.zeros(0)
        self.x: Floats = np.zeros((0, len(wanted)))
        self.ended = False

    def at(self, t: Floats) -> tuple[Floats, np.ndarray]:
        """The numbers at t, and whether there are messages around it."""
        while not self.ended and (len(self.t) < 2 or self.t[-1] < t.max()):
            self._more()
        if len(self.t) < 2:
            return np.full((len(t), self.x.shape[1]), np.nan), np.zeros(len(t), dtype=bool)
        k = np.clip(np.searchsorted(self.t, t, side="right"), 1, len(self.t) - 1)
        before, after = self.t[k - 1], self.t[k]
        hole = max(HOLE * float(np.median(np.diff(self.t))), LEAST_HOLE)
        there = (t >= before) & (t <= after) & (after - before <= hole)
        share = ((t - before) / np.where(after > before, after - before, 1.0))[:, None]
        made = self.x[k - 1] * (1 - share) + self.x[k] * share
        old = max(int(k.min()) - 2, 0)
        self.t, self.x = self.t[old:], self.x[old:]
        return made, there

    def _more(self) -> None:
        block = next(self.stream, None)
        if block is None:
            self.ended = True
            return
        t = block[:, 0] + self.shift
        if np.any(np.diff(t, prepend=self.t[-1] if len(self.t) else -np.inf) < 0):
            raise ArgumentError(f"{self.bag.files[0]}: time goes back in {self.bag.topic.name}")
        self.t, self.x = np.concatenate([self.t, t]), np.concatenate([self.x, block[:, 1:]])


@final
@dataclass(frozen=True, eq=False)
class TopicWriters:
    """A topic that several nodes write, each its own joints."""

    bag: Bag

    @property
    def names(self) -> tuple[str, ...]:
        return self.bag.names

    @property
    def groups(self) -> Mapping[str, range]:
        return self.bag.groups

    @property
    def units(self) -> Mapping[str, str]:
        return self.bag.units

    @property
    def notes(self) -> tuple[str, ...]:
        return self.bag.notes

    def blocks(self, columns: Sequence[int], rows: int) -> Iterator[Floats]:
        """Of one writer if it has all columns; else at the times of the one with the most."""
        wanted = [self.bag.names[i] for i in columns]
        order = sorted(self.bag.writers, key=lambda w: -len(w.intersection(wanted)))
        if order[0].issuperset(wanted):
            return self.bag.blocks(columns, rows)
        seen, others = set(order[0]), []
        for writer in order[1:]:
            if new := [name for name in wanted if name in writer and name not in seen]:
                others.append(self._of({*new, *writer.intersection((STAMP, RECEIVED))}))
                seen |= set(new)
        joined = Joined(self._of(order[0]), tuple(others))
        topic = self.bag.topic.name
        return joined.blocks([joined.names.index(name if name in order[0] else f"{topic}/{name}")
                              for name in wanted], rows)

    def _of(self, names: Collection[str]) -> Bag:
        kept = tuple(name for name in self.bag.names if name in names)
        return replace(self.bag, names=kept, groups=groups_of(kept))


def open_topics(path: Path, topic: str | Sequence[str] | None,
                columns: Mapping[str, Any]) -> Bag | Joined | TopicWriters:
    """The topics that are asked for; the first of them, or that of t or q, has the rows."""
    told = [topic] if isinstance(topic, str) else list(topic or ())
    named = topics_in(columns, list(bag_topics(path)))
    if not told:
        leading = [name for name, kind in named.items() if kind in ("t", "q", "motor_position")]
        told = leading[:1]
    first = open_bag(path, told[0] if told else None)
    others = dict.fromkeys(name for name in (*told[1:], *named) if name != first.topic.name)
    if not others:
        whole = any(writer.issuperset(first.names) for writer in first.writers)
        return first if whole else TopicWriters(first)
    return Joined(first, tuple(open_bag(path, name) for name in others))
