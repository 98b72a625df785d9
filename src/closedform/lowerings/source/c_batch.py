"""The loop over states in C: blocks that the compiler vectorises.

A block of states is gathered and its sines and cosines are computed first, so that the arithmetic,
a loop of its own over arrays of the block, has no calls and no aliases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from closedform.lowerings.source.assignments import Let, Store, array_sizes
from closedform.lowerings.source.c_text import Writer, arguments, prototype

BLOCK = 16
"""States in one block."""


class Batch:
    """Writes NAME_batch."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.function, self.program = writer.function, writer.program
        self.statements, self.names = writer.statements, writer.names

    @property
    def in_one_loop(self) -> bool:
        """Whether the program is short enough; a long one is called for every state."""
        return len(self.statements.pieces) == 1

    def numbers(self) -> int:
        """How many numbers a block holds."""
        return BLOCK * (len(self._early_sines()) + sum(array_sizes(self.program)))

    def _early_sines(self) -> list[int]:
        """Sines and cosines whose angles are expressions of inputs alone."""
        early, of = [], self.statements
        known = set[int]()
        for statement in of.order:
            if isinstance(statement, Let) and of.reads(statement) <= known:
                if self.program.code[statement.place].op in ("sin", "cos"):
                    early.append(statement.place)
                else:
                    known.add(statement.place)
        return early

    def lines(self) -> Iterator[str]:
        """The function."""
        yield from (prototype(self.function, batch=True), "{")
        if self.in_one_loop:
            yield from self._vector_loop()
        else:
            yield from self._calling_loop()
        yield "}"

    def _vector_loop(self) -> Iterator[str]:
        """Blocks of states: gathered, sines and cosines, arithmetic in one loop, scattered."""
        of, real, early = self.statements, self.function.real, self._early_sines()
        used = self.writer.used(of.order)
        sizes = dict(zip((name for _, name in arguments(self.function)),
                         array_sizes(self.program), strict=True))
        given = [s.name for s in self.program.inputs if s.name in used]
        at, again = "{name}_[{k}][i]", self._needed_by_the_rest(early)
        syntax, needed = self.writer.syntax_at(at), self._needed_by(early)
        yield from self.writer.unused(used)
        yield from (f"    {real} {x}_[{n}][{BLOCK}];" for x, n in sizes.items() if x in used)
        yield from (f"    {real} {self.names[i]}_[{BLOCK}];" for i in early)
        yield f"    for (size_t first = 0; first < n; first += {BLOCK}) {{"
        yield f"        const size_t count = n - first < {BLOCK} ? n - first : {BLOCK};"
        yield from self._moved({x: sizes[x] for x in given}, inward=True)
        yield f"        for (size_t i = 0; i < {BLOCK}; ++i) {{"
        for let in (s for s in of.order if isinstance(s, Let)):
            if let.place in needed:
                yield from (f"            {x}" for x in self.writer.assignments([let], syntax, at))
            elif let.place in early:
                yield (f"            {self.names[let.place]}_[i] = "
                       f"{of.value(let.place, self.names, syntax)};")
        yield from ("        }", f"        for (size_t i = 0; i < {BLOCK}; ++i) {{")
        for s in of.order:
            if isinstance(s, Let) and s.place in early:
                yield f"            const {real} {self.names[s.place]} = {self.names[s.place]}_[i];"
            elif isinstance(s, Store) or s.place in again:
                yield from (f"            {x}" for x in self.writer.assignments([s], syntax, at))
        yield "        }"
        found = [x for x in self.writer.outputs if x in used]
        yield from self._moved({x: sizes[x] for x in found}, inward=False)
        yield "    }"

    @staticmethod
    def _moved(sizes: Mapping[str, int], inward: bool) -> Iterator[str]:
        """Copies between the caller's arrays and a block; behind the last state it is repeated."""
        if not sizes:
            return
        yield f"        for (size_t i = 0; i < {BLOCK if inward else 'count'}; ++i) {{"
        if inward:
            yield "            const size_t s = first + (i < count ? i : count - 1);"
        for name, n in sizes.items():
            block, given = f"{name}_[k][i]", f"{name}[{'s' if inward else '(first + i)'}*{n} + k]"
            left, right = (block, given) if inward else (given, block)
            yield f"            for (size_t k = 0; k < {n}; ++k) {left} = {right};"
        yield "        }"

    def _needed_by(self, roots: Sequence[int]) -> set[int]:
        """The named values that these values are computed from."""
        found, stack = set[int](), list(roots)
        while stack:
            new = self.statements.reads(Let(stack.pop())) - found
            found |= new
            stack.extend(new)
        return found

    def _needed_by_the_rest(self, early: Sequence[int]) -> set[int]:
        """The named values that the outputs need when early sines and cosines are known."""
        found = set[int]()
        stack = [i for s in self.statements.order if isinstance(s, Store)
                 for i in self.statements.reads(s)]
        while stack:
            place = stack.pop()
            if place not in found and place not in early:
                found.add(place)
                stack.extend(self.statements.reads(Let(place)))
        return found

    def _calling_loop(self) -> Iterator[str]:
        """A long program: state by state through the function of one state."""
        names = [name for _, name in arguments(self.function)]
        moved = [f"{name} + i*{n}"
                 for name, n in zip(names, array_sizes(self.program), strict=True)]
        yield "    for (size_t i = 0; i < n; ++i) {"
        yield f"        {self.function.name}({', '.join(moved)});"
        yield "    }"
