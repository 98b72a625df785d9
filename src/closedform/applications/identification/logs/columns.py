"""Which columns of a table are which numbers of a robot: by a given mapping, or by their names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from closedform.applications.identification.logs.names import meaning, other_prefix
from closedform.applications.identification.logs.table import LogTable
from closedform.applications.identification.logs.units import stated
from closedform.errors import ArgumentError, suggestion
from closedform.model.coordinates import coordinate_names
from closedform.model.robot import Robot

KINDS = ("t", "q", "v", "a", "tau", "current", "motor_position", "motor_torque")
MOTORS = ("tau", "current", "motor_position", "motor_torque")
EFFORTS = ("tau", "current", "motor_torque")
JOINTS = "joints"
"""Beside the kinds, a mapping may say how the log calls the robot's joints."""
NOTHING_ELSE = "say which with columns={'t': …, 'q': …, 'tau': …}"


class Match(NamedTuple):
    """The columns of a kind in the robot's order, the unit they state, and how they were found."""

    columns: tuple[int, ...]
    unit: str | None
    how: str


def width(robot: Robot, kind: str) -> int:
    """How many columns a kind has."""
    return 1 if kind == "t" else robot.nq if kind == "q" else robot.nv


def driven(robot: Robot) -> tuple[int, ...]:
    """The velocities that have a motor: all but those of a floating base."""
    free = {i for body in robot.bodies if body.parent is None and body.joint.nv == 6
            for i in range(*robot.v_slices[body.joint_name].indices(robot.nv))}
    return tuple(i for i in range(robot.nv) if i not in free)


def wanted_names(robot: Robot, kind: str) -> list[str]:
    """One name for each column of a kind, in the robot's order."""
    return coordinate_names(robot.q_slices if kind == "q" else robot.v_slices)


@final
@dataclass(frozen=True, eq=False)
class Matching:
    """A table, a robot and what the user said; `where` begins every complaint."""

    table: LogTable
    robot: Robot
    given: Mapping[str, Any]
    where: str

    def matches(self) -> tuple[dict[str, Match], tuple[str, ...]]:
        """What was found, by kind, and what is worth saying about it."""
        self._check_kinds()
        told = {k: self._explicit(k, self.given[k]) for k in KINDS if k in self.given}
        self._check_twice(told)
        found: dict[str, Match] = {}
        notes: list[str] = []
        by_name = self._by_meaning()
        for kind in KINDS:
            if kind in told:
                found[kind] = told[kind]
            elif kind in by_name and not self._given_alone(kind):
                match = self._named(kind, by_name[kind])
                if match is not None:
                    found[kind] = match
                    notes.append(f"{kind}: {match.how}")
        self._require(found)
        return found, (*notes, *self._extras(by_name.get("q", {})))

    def _given_alone(self, kind: str) -> bool:
        """With a mapping of the positions, only time may still be found by its name.

        And where efforts are told to be of one kind, none of another kind are looked for.
        """
        if kind in EFFORTS and any(k in self.given for k in EFFORTS):
            return True
        return kind != "t" and any(k in self.given for k in ("q", "motor_position"))

    def _check_twice(self, told: Mapping[str, Match]) -> None:
        seen: dict[int, str] = {}
        for kind, match in told.items():
            for i in match.columns:
                if seen.setdefault(i, kind) != kind:
                    raise ArgumentError(f"columns: {self.table.names[i]!r} is told to be {seen[i]} "
                                        f"and {kind}")

    def _check_kinds(self) -> None:
        for kind in self.given:
            if kind not in (*KINDS, JOINTS):
                raise ArgumentError(f"columns: no kind {kind!r}; {suggestion(kind, KINDS)}; and "
                                    f"{JOINTS!r} says how the log calls the robot's joints")

    def _require(self, found: Mapping[str, Match]) -> None:
        for kind, others in (("t", ()), ("q", ("motor_position",))):
            if kind not in found and not any(k in found for k in others):
                raise ArgumentError(
                    f"{self.where}: no column is told to be {kind} by its name; {NOTHING_ELSE}; "
                    f"columns: {_listed(self.table.names) or 'none'}{self._aside()}")

    def _aside(self) -> str:
        """What the file has and the table has not."""
        return "".join(f"; {note}" for note in self.table.notes if "left aside" in note)

    # ------------------------------------------------------------------ told
    def _explicit(self, kind: str, told: Any) -> Match:
        columns = self._resolved(kind, told)
        expected = {width(self.robot, kind), len(self._order(kind, ()))}
        if len(columns) not in expected:
            raise ArgumentError(f"columns: {kind} of {self.robot.name} needs "
                                f"{' or '.join(map(str, sorted(expected)))}, not "
                                f"{len(columns)} columns: {told!r}")
        return Match(columns, self._unit(columns), "as told")

    def _resolved(self, kind: str, told: Any) -> tuple[int, ...]:
        """Numbers of the columns that a name, a number, a slice, or several of these stand for."""
        names = self.table.names
        if isinstance(told, slice):
            return tuple(range(len(names))[told])
        if isinstance(told, str):
            return self._column(kind, told)
        if isinstance(told, Mapping):
            order = self._order(kind, told)
            unknown = [joint for joint in told if joint not in order]
            missing = [joint for joint in order if joint not in told]
            if unknown or missing:
                raise ArgumentError(f"columns: {kind}: no joint {unknown[0]!r}; "
                                    f"{suggestion(unknown[0], order)}" if unknown else
                                    f"columns: {kind}: no column is told for {missing[0]!r}")
            return tuple(i for joint in order for i in self._resolved(kind, told[joint]))
        if isinstance(told, Sequence) or hasattr(told, "__iter__"):
            return tuple(i for one in told for i in self._resolved(kind, one))
        try:
            number = int(told)
        except (TypeError, ValueError):
            raise ArgumentError(f"columns: {kind} must be names, numbers or slices of columns, "
                                f"not {told!r}") from None
        if not -len(names) <= number < len(names):
            raise ArgumentError(f"columns: {kind}: no column {number}; {self.where} has "
                                f"{len(names)}")
        return (number % len(names),)

    def _column(self, kind: str, name: str) -> tuple[int, ...]:
        """A column by name, an array that is several wide, or a joint's column of the kind."""
        names = self.table.names
        if name.startswith("/") and name not in names and name not in self.table.groups:
            name = self._of_first_topic(name)
        if name in self.table.groups:
            return tuple(self.table.groups[name])
        if name in names:
            return (names.index(name),)
        of_joint = [i for i, column in enumerate(names)
                    if (found := meaning(stated(column)[0], (name,))) is not None
                    and found == (kind, name)]
        if len(of_joint) == 1:
            return (of_joint[0],)
        known = (*self.table.groups, *names)
        raise ArgumentError(f"columns: {kind}: {self.where} has no column {name!r}; "
                            f"{suggestion(name, known)}")

    def _of_first_topic(self, name: str) -> str:
        """`/topic/field` of the topic that has the rows, where fields have no other name."""
        known = (*self.table.groups, *self.table.names)
        return next((x for x in known if name.endswith(f"/{x}")), name)

    def _unit(self, columns: Sequence[int]) -> str | None:
        """The unit that the names or the file state, if they agree."""
        names = [self.table.names[i] for i in columns]
        units = {self.table.units.get(name) or stated(name)[1] for name in names}
        if len(units) > 1:
            raise ArgumentError(f"{self.where}: columns {_listed(names)} state different units: "
                                f"{', '.join(map(str, units))}; say which with units=…")
        return units.pop() if units else None

    # ------------------------------------------------------------------ by name
    def _by_meaning(self) -> dict[str, dict[str | int | None, list[int]]]:
        """Columns (or all columns of an array) by kind and joint."""
        joints = {*self.robot.joint_names, *wanted_names(self.robot, "q"),
                  *wanted_names(self.robot, "v"), *self._renames().values()}
        found: dict[str, dict[str | int | None, list[int]]] = {}
        inside = {i for at in self.table.groups.values() for i in at}
        for i, name in enumerate(self.table.names):
            told = None if i in inside else meaning(stated(name)[0], joints)
            if told is not None:
                found.setdefault(told.kind, {}).setdefault(told.joint, []).append(i)
        for name, at in self.table.groups.items():
            told = meaning(stated(name)[0], joints)
            if told is not None and told.joint is None:
                found.setdefault(told.kind, {}).setdefault(None, []).extend(at)
        if "t" not in found and "received" in self.table.names:
            found["t"] = {None: [self.table.names.index("received")]}
        return found

    def _renames(self) -> dict[str, str]:
        """The log's names of the robot's joints, where the user says them."""
        told = self.given.get(JOINTS, {})
        names = self.robot.joint_names
        if not isinstance(told, Mapping):
            if isinstance(told, str) or len(told) != len(names):
                raise ArgumentError(f"columns: {JOINTS} must be {len(names)} names, one for each "
                                    f"of {_listed(names)}, not {told!r}")
            told = dict(zip(names, told, strict=True))
        for name in told:
            if name not in names:
                raise ArgumentError(f"columns: {JOINTS}: {self.robot.name} has no joint {name!r}; "
                                    f"{suggestion(name, names)}")
        return {str(joint): str(other) for joint, other in told.items()}

    def _named(self, kind: str, found: Mapping[str | int | None, list[int]]) -> Match | None:
        """The kind's columns in the robot's order, or None if there are none of it."""
        if kind == "t":
            columns = [i for some in found.values() for i in some]
            if len(columns) > 1:
                columns = [i for i in columns if self.table.names[i] == "t"] or columns
            if len(columns) > 1:
                raise ArgumentError(f"{self.where}: several columns could be time: "
                                    f"{_listed([self.table.names[i] for i in columns])}; say "
                                    "which with columns={'t': …}")
            return Match(tuple(columns), self._unit(columns),
                         f"column {self.table.names[columns[0]]!r}")
        for joint, columns in found.items():
            if joint is not None and len(columns) > 1:
                raise ArgumentError(f"{self.where}: several columns could be {kind} of {joint!r}: "
                                    f"{_listed([self.table.names[i] for i in columns])}; "
                                    f"{NOTHING_ELSE}"
                                    + ("" if joint in self.robot.joint_names else
                                       f"; if {joint!r} is a unit, it is none that is known"))
        chosen, how = self._in_order(kind, found)
        return Match(chosen, self._unit(chosen), how) if chosen else None

    def _in_order(self, kind: str, found: Mapping[str | int | None, list[int]],
                  ) -> tuple[tuple[int, ...], str]:
        whole, every = found.get(None, []), wanted_names(self.robot, kind)
        count = max(len(whole), sum(isinstance(joint, int) for joint in found))
        order = every if count == len(every) else self._order(kind, found)
        renames = self._renames()
        called = [renames.get(name, name) for name in order]
        names = [joint for joint in found if isinstance(joint, str)]
        if any(name in found for name in called):
            self._refuse_missing(kind, called, names)
            return self._take(found, called), "by the names of the joints"
        way = other_prefix(called, names)
        if way is not None:
            return (self._take(found, [way[name] for name in called]),
                    f"by the names of the joints with another prefix, "
                    f"{called[0]} is {way[called[0]]}")
        numbers = sorted(joint for joint in found if isinstance(joint, int))
        for start in (1, 0):
            if numbers == list(range(start, start + len(order))):
                return (self._take(found, numbers),
                        f"by number, {self.table.names[found[start][0]]!r} is {order[0]}")
        if len(whole) == len(order):
            return tuple(whole), "the whole array, in the order of the joints"
        self._refuse(kind, found, order)
        return (), ""

    def _order(self, kind: str, named: Collection[Any]) -> list[str]:
        """The kind's names; of efforts those of the joints alone, if no base is among the named."""
        names = wanted_names(self.robot, kind)
        joints = [names[i] for i in driven(self.robot)] if kind in MOTORS else names
        return names if any(n in named for n in names if n not in joints) else joints

    def _take(self, found: Mapping[str | int | None, list[int]],
              keys: Sequence[str | int]) -> tuple[int, ...]:
        return tuple(found[key][0] for key in keys)

    def _refuse_missing(self, kind: str, called: Sequence[str], names: Sequence[str]) -> None:
        missing = [name for name in called if name not in names]
        if missing:
            others = [name for name in names if name not in called]
            raise ArgumentError(
                f"{self.where}: no {kind} of {_listed(missing)}; the log also has "
                f"{_listed(others) or 'no other joints'}. Say what they are called with "
                f"columns={{'joints': {{{missing[0]!r}: …}}}}, or lock joints that stand still: "
                f"robot.reduced({{{missing[0]!r}: 0.0}}){self._aside()}")

    def _refuse(self, kind: str, found: Mapping[str | int | None, list[int]],
                order: Sequence[str]) -> None:
        """Columns of the kind there are, but not those of this robot."""
        names = [joint for joint in found if isinstance(joint, str)]
        if names:
            raise ArgumentError(
                f"{self.where}: the joints of the log are {_listed(names)}, those of "
                f"{self.robot.name} {_listed(order)}; say which is which with "
                f"columns={{'joints': {{{order[0]!r}: {names[0]!r}, …}}}}")
        columns = [self.table.names[i] for some in found.values() for i in some]
        raise ArgumentError(f"{self.where}: {kind} of {self.robot.name} needs {len(order)} "
                            f"columns, the names {_listed(columns)} are {len(columns)}; "
                            f"{NOTHING_ELSE}")

    def _extras(self, found: Mapping[str | int | None, list[int]]) -> list[str]:
        """Joints in the log that the robot has not, or that follow others."""
        names = [joint for joint in found if isinstance(joint, str)]
        known = {*wanted_names(self.robot, "q"), *self._renames().values()}
        if not known & set(names):
            return []
        follow = {b.joint_name for b in self.robot.bodies if b.joint.driver is not None}
        extra = [name for name in names if name not in known]
        said = {"joints that follow others": [x for x in extra if x in follow],
                f"joints that {self.robot.name} has not": [x for x in extra if x not in follow]}
        return [f"{what} are left out: {_listed(some)}" for what, some in said.items() if some]


def _listed(names: Sequence[object], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more
