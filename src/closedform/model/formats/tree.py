"""Links and joints that have to be a tree: what must hold, and the order to walk them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from closedform.model.findings import Finding, Level


class LinkRecord(Protocol):
    """A link as a tree sees it."""

    @property
    def name(self) -> str: ...
    @property
    def line(self) -> int | None: ...


class Joining(LinkRecord, Protocol):
    """A joint as a tree sees it."""

    @property
    def parent(self) -> str: ...
    @property
    def child(self) -> str: ...


J = TypeVar("J", bound=Joining)
J_co = TypeVar("J_co", bound=Joining, covariant=True)


class Links(LinkRecord, Protocol[J_co]):
    """All links and joints of a file."""

    @property
    def file(self) -> str: ...
    @property
    def links(self) -> Sequence[LinkRecord]: ...
    @property
    def joints(self) -> Sequence[J_co]: ...


def graph_faults(graph: Links[Any]) -> list[Finding]:
    """Why the links and joints are no tree; empty for a good file."""
    return [*_repeated_names(graph), *_unknown_links(graph), *_second_parents(graph),
            *_roots(graph)]


def root_links(graph: Links[Any]) -> list[LinkRecord]:
    """Links that are no joint's child."""
    held = {joint.child for joint in graph.joints}
    return [link for link in graph.links if link.name not in held]


def depth_first(graph: Links[J], *roots: str) -> Iterator[J]:
    """The joints from the roots on, depth first, siblings in the file's order."""
    below: dict[str, list[J]] = defaultdict(list)
    for joint in graph.joints:
        below[joint.parent].append(joint)
    seen = set(roots)
    waiting = [joint for root in reversed(roots) for joint in reversed(below[root])]
    while waiting:
        joint = waiting.pop()
        if joint.child not in seen:
            seen.add(joint.child)
            yield joint
            waiting += reversed(below[joint.child])


def fault(graph: Links[Any], rule: str, subject: str, message: str, repair: str,
           line: int | None) -> Finding:
    return Finding(Level.ERROR, rule, subject, f"{subject}: {message}", repair, graph.file, line)


def _repeated_names(graph: Links[Any]) -> Iterator[Finding]:
    records: tuple[tuple[str, Sequence[LinkRecord]], ...] = (
        ("link", graph.links), ("joint", graph.joints))
    for what, given in records:
        first: dict[str, LinkRecord] = {}
        for record in given:
            if record.name and first.setdefault(record.name, record) is not record:
                yield fault(graph, "repeated-name", f"{what} {record.name!r}",
                             f"the name is taken in line {first[record.name].line}", "rename one",
                             record.line)


def _unknown_links(graph: Links[Any]) -> Iterator[Finding]:
    known = {link.name for link in graph.links}
    for joint in graph.joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name and name not in known:
                yield fault(graph, "unknown-link", f"joint {joint.name!r}",
                             f"its {role} {name!r} is no link of the file",
                             "add or rename the link", joint.line)


def _second_parents(graph: Links[Any]) -> Iterator[Finding]:
    first: dict[str, Joining] = {}
    for joint in graph.joints:
        other = first.setdefault(joint.child, joint)
        if joint.child and other is not joint:
            yield fault(graph, "closed-loop", f"link {joint.child!r}",
                         f"it is the child of two joints, {other.name!r} and {joint.name!r}: a "
                         "closed loop", "cut the loop: keep one of the two joints", joint.line)


def _roots(graph: Links[Any]) -> Iterator[Finding]:
    """One root, and no link out of its reach: what is not reached hangs on a cycle."""
    roots = root_links(graph)
    if len(roots) > 1:
        listed = ", ".join(repr(link.name) for link in roots[:20])
        yield fault(graph, "disconnected", f"robot {graph.name!r}",
                     f"{len(roots)} links have no parent: {listed}",
                     "connect them by joints to one root", roots[1].line)
    known = {link.name for link in graph.links}
    unknown = {joint.parent for joint in graph.joints} - known  # reported; their own are not
    names = [*(link.name for link in roots), *unknown]
    reached = {*names, *(joint.child for joint in depth_first(graph, *names))}
    parent = {joint.child: joint.parent for joint in reversed(graph.joints)}
    for link in graph.links:
        if link.name not in reached:
            cycle = _cycle_above(link.name, parent)
            reached |= {*cycle, *(joint.child for joint in depth_first(graph, *cycle))}
            shown = [*cycle, cycle[0]] if len(cycle) < 20 else [*cycle[:18], "…", cycle[0]]
            yield fault(graph, "cycle", f"link {cycle[0]!r}",
                         f"links are each other's parents: {' → '.join(shown)}",
                         "cut the loop: remove one of its joints", link.line)


def _cycle_above(link: str, parent: Mapping[str, str]) -> list[str]:
    """The links that repeat when one walks from a link to its parents, parents first."""
    path: dict[str, None] = {}
    while link not in path:
        path[link] = None
        link = parent[link]
    names = list(path)
    return names[names.index(link):][::-1]
