"""The PTX that is written, run by NumPy: every thread of a block with its own place in the text.

Of the threads that can go on, those furthest behind do; a warp's barrier holds its threads until
all that have not ended are there. Accesses out of an array or not aligned are errors, and so are
registers that are read before they are written, and memory that is not used in order
(`ptx_memory.py`).
"""

import re
from functools import cache

import numpy as np

from closedform.lowerings.call.kernel import compile_program
from closedform.lowerings.store.cache import Cache
from closedform.program.record import record
from ptx_memory import SharedMemory, Space, Writers

TYPES = {"f64": np.float64, "f32": np.float32, "u32": np.uint32, "b32": np.uint32,
         "s32": np.int32, "u64": np.uint64, "b64": np.uint64, "s64": np.int64}


@cache
def fused():
    """x y + z in one rounding, by the machine's own instruction."""
    return compile_program(record(lambda x, y, z: x * y + z, dict.fromkeys("xyz", ()), "fma"),
                           Cache(None))


class Emulator:
    """A kernel's text, ready to be launched."""

    def __init__(self, text):
        function = re.search(r"^\.func (\w+)\(.*?\)\n\{\n(.*?)^\}$", text, re.M | re.S)
        if function:
            text = text[:function.start()] + text[function.end():]
        head, body = text.split("\n{\n", 1)
        self.arguments = re.findall(r"\.param \.u64 (\w+)", head)
        tables = re.findall(r"\.(const|global) .*? (\w+)\[\d+\] = \{(.*?)\};", head)
        self.tables = {name: np.array([int(w, 0) for w in words.split(", ")],
                                      np.uint64 if space == "const" else np.uint32)
                       for space, name, words in tables}
        self.distant = {name: {} for space, name, _ in tables if space == "global"}
        self.threads = int(re.search(r"\.maxntid (\d+)", head).group(1))
        self.local, self.own = 0, {}
        self.code, self.labels, self.types = [], {}, {}
        self._read(body[:body.rindex("}")])
        self.called = len(self.code)
        """Where the function begins, if there is one; its names end with a mark of their own."""
        if function:
            name, body = function.groups()
            self.labels[name] = self.called
            self._read(re.sub(r"(%[a-z]\d+|\b[A-Z]+\d*\b(?=[:;]))", r"\1_", body))

    def _read(self, body):
        for line in body.splitlines():
            line = line.strip().rstrip(";")
            if line.endswith(":"):
                self.labels[line[:-1]] = len(self.code)
            elif line.startswith((".pragma", ".param")):
                continue
            elif line.startswith(".reg"):
                kind, name = re.match(r"\.reg \.(\w+) %(\w)<", line).groups()
                self.types[name] = kind
            elif line.startswith(".local"):
                name, size = re.search(r"(\w+)\[(\d+)\]", line).groups()
                self.own[name] = self.local
                self.local += -(-int(size) // 16) * 16
            elif line:
                self.code.append(_parsed(line))

    def launch(self, memory, blocks, shared, *values):
        given = dict(zip(self.arguments, values, strict=True))
        self.blocks = blocks
        for name, places in self.distant.items():
            if id(memory) not in places:
                places[id(memory)] = memory.put(self.tables[name])
            self.own[name] = places[id(memory)]
        for block in range(blocks):
            _Block(self, memory, block, shared, given).run()


def _parsed(line):
    guard, op, rest = re.match(r"(?:@(%p\d+_?) )?([\w.]+)\s*(.*)$", line).groups()
    return guard, op, re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", rest)


class _Block:
    def __init__(self, kernel, memory, block, shared, given):
        n = kernel.threads
        self.kernel, self.given, self.n = kernel, given, n
        self.registers = {"%tid.x": np.arange(n, dtype=np.uint32),
                          "%ctaid.x": np.full(n, block, np.uint32),
                          "%nctaid.x": np.full(n, kernel.blocks, np.uint32)}
        self.known = {name: np.ones(n, bool) for name in self.registers}
        self.at = np.zeros(n, int)
        self.back = np.zeros(n, int)
        self.waits = np.zeros(n, bool)
        self.ended = np.zeros(n, bool)
        self.spaces = {"global": memory.space(),
                       "shared": SharedMemory(shared, n)}
        self.writers = Writers(self.spaces["global"], self.spaces["shared"].barriers)
        self.own = np.zeros((n, kernel.local), np.uint8)

    def run(self):
        with np.errstate(all="ignore"):
            while not self.ended.all():
                self._release()
                ready = ~self.ended & ~self.waits
                here = self.at[ready].min()
                self._step(here, ready & (self.at == here))

    def _release(self):
        """Warps whose threads all wait go on."""
        for start in range(0, self.n, 32):
            warp = slice(start, start + 32)
            if (self.waits[warp] | self.ended[warp]).all() and self.waits[warp].any():
                self.at[warp] += self.waits[warp]
                self.spaces["shared"].barriers[warp] += 1
                self.waits[warp] = False

    def _step(self, here, mask):
        guard, op, args = self.kernel.code[here]
        if guard:
            self._known(guard, mask)
            taken = mask & self.registers[guard]
        else:
            taken = mask
        if op == "bra":
            self.at[mask] += 1
            self.at[taken] = self.kernel.labels[args[0]]
            return
        if op == "call":
            self.back[taken] = here + 1
            self.at[taken] = self.kernel.labels[args[0]]
            return
        if op == "ret" and here >= self.kernel.called:
            self.at[taken] = self.back[taken]
            return
        if op == "ret":
            self.ended |= taken
            return
        if op.startswith("cp.async.") and "shared" not in op:
            self.at[mask] += 1
            threads = np.flatnonzero(taken)
            if op == "cp.async.commit_group":
                self.spaces["shared"].commit(threads)
            else:
                self.spaces["shared"].wait(threads, int(args[0]))
            return
        if op in ("bar.warp.sync", "bar.sync"):
            self.waits |= taken
            return
        self.at[mask] += 1
        if taken.any():
            self._do(op, args, taken)

    # ------------------------------------------------------------------ values
    def _known(self, name, mask):
        if not self.known.get(name, np.zeros(self.n, bool))[mask].all():
            raise RuntimeError(f"{name} is read before it is written")

    def _value(self, arg, dtype, mask):
        if arg.startswith("%"):
            self._known(arg, mask)
            x = self.registers[arg][mask]
            return x if x.dtype in (dtype, bool) else x.view(dtype)
        count = int(mask.sum())
        if arg.startswith("0d"):
            return np.full(count, int(arg[2:], 16), np.uint64).view(np.float64)
        if arg.startswith("0f"):
            return np.full(count, int(arg[2:], 16), np.uint32).view(np.float32)
        if arg == "pool" or arg in self.kernel.tables or arg in self.kernel.own:
            return np.full(count, self.kernel.own.get(arg, 0), dtype)
        bits = 8 * np.dtype(dtype).itemsize
        unsigned = np.dtype(f"u{bits // 8}")
        return np.full(count, int(arg, 0) & ((1 << bits) - 1), unsigned).view(dtype)

    def _set(self, name, x, mask):
        kind = self.kernel.types[name[1]]
        dtype = bool if kind == "pred" else TYPES[kind]
        x = np.asarray(x)
        x = x.astype(bool) if dtype is bool else x if x.dtype == dtype else x.view(dtype)
        if name not in self.registers:
            self.registers[name] = np.zeros(self.n, dtype)
            self.known[name] = np.zeros(self.n, bool)
        self.registers[name][mask] = x
        self.known[name] |= mask

    def _place(self, arg, mask):
        base, _, shift = arg[1:-1].partition("+")
        shift = int(shift or 0)
        if base.startswith("%"):
            kind = np.uint32 if base[1] == "r" else np.uint64
            return self._value(base, kind, mask).astype(np.int64) + shift
        return np.full(int(mask.sum()), self.kernel.own.get(base, 0) + shift, np.int64)

    # ------------------------------------------------------------------ instructions
    def _do(self, op, args, mask):
        head, *rest = op.split(".")
        self.spaces["shared"].threads = np.flatnonzero(mask)
        if head == "cp":
            source, target = self._place(args[1], mask), self._place(args[0], mask)
            words = int(args[2]) // 4
            found = self.spaces["global"].read(source, np.uint32, words)
            self.spaces["shared"].ask(target, found)
        elif head in ("ld", "st"):
            self._move(head, rest, args, mask)
        elif head == "prefetch":                        # it must not leave the arrays either
            self.spaces[rest[0]].read(self._place(args[0], mask), np.float32)
        elif head == "red":
            dtype, place = TYPES[rest[-1]], self._place(args[0], mask)
            memory, x = self.spaces[rest[0]], self._value(args[1], dtype, mask)
            for k, value in zip(place, x, strict=True):     # one thread after the other
                old = memory.read(np.array([k]), dtype)
                memory.write(np.array([k]), np.maximum(old, value), dtype)
        elif head == "mov" and args[0].startswith("{"):
            low, high = args[0].strip("{}").split(", ")
            x = self._value(args[1], np.uint64, mask)
            self._set(low, x.astype(np.uint32), mask)
            self._set(high, (x >> np.uint64(32)).astype(np.uint32), mask)
        elif head == "mov" and args[1].startswith("{"):
            low, high = (self._value(a, np.uint32, mask).astype(np.uint64)
                         for a in args[1].strip("{}").split(", "))
            self._set(args[0], low | high << np.uint64(32), mask)
        elif head in ("cvta",):
            self._set(args[0], self._value(args[1], np.uint64, mask), mask)
        elif head == "cvt":
            x = self._value(args[1], TYPES[rest[-1]], mask)
            self._set(args[0], x.astype(TYPES[rest[-2]]), mask)
        elif head == "setp":
            dtype = TYPES[rest[-1]]
            x, y = (self._value(a, dtype, mask) for a in args[1:3])
            compare = {"lt": np.less, "gt": np.greater, "ge": np.greater_equal,
                       "le": np.less_equal, "eq": np.equal, "ne": np.not_equal}[rest[0]]
            either = self._value(args[3], bool, mask) if "or" in rest else False
            self._set(args[0], compare(x, y) | either, mask)
        elif head == "selp":
            dtype = TYPES[rest[-1]]
            x, y = (self._value(a, dtype, mask) for a in args[1:3])
            self._set(args[0], np.where(self._value(args[3], bool, mask), x, y), mask)
        else:
            self._set(args[0], self._arithmetic(head, rest, args[1:], mask), mask)

    def _arithmetic(self, head, rest, args, mask):
        dtype = TYPES[rest[-1]]
        if "wide" in rest:
            wide = np.int64 if dtype is np.int32 else np.uint64
            x, y = (self._value(a, dtype, mask).astype(wide) for a in args[:2])
            product = (x * y).view(np.uint64)
            return product if head == "mul" else product + self._value(args[2], np.uint64, mask)
        if head in ("shl", "shr"):
            x = self._value(args[0], dtype, mask)
            count = self._value(args[1], np.uint32, mask).astype(dtype)
            bits = 8 * np.dtype(dtype).itemsize
            shift = np.left_shift if head == "shl" else np.right_shift
            return np.where(count < bits, shift(x, np.minimum(count, dtype(bits - 1))), dtype(0))
        x = [self._value(a, dtype, mask) for a in args]
        if head == "rcp":                               # correct to 20 bits, as the GPU's at least
            exact = 1 / x[0]
            return exact if dtype is np.float32 else (
                exact.view(np.uint64) & np.uint64(0xFFFFFFFF << 32)).view(dtype)
        if head == "fma":
            return np.asarray(fused()(*x))
        if head == "mul" and "hi" in rest:
            return np.array([int(a) * int(b) >> 64 for a, b in zip(*x, strict=True)], np.uint64)
        if head == "mad":
            return x[0] * x[1] + x[2]
        if head == "clz":
            return np.array([64 - int(a).bit_length() for a in x[0]], np.uint32)
        return {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
                "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
                "min": np.minimum, "max": np.maximum, "neg": np.negative, "abs": np.abs,
                "sqrt": np.sqrt, "not": np.invert, "mov": lambda a: a}[head](*x)

    def _move(self, head, rest, args, mask):
        dtype, space = TYPES[rest[-1]], rest[0]
        if space == "param" and head == "st":
            self._set("%q_", self._value(args[1], np.uint64, mask), mask)
            return
        if space == "param" and args[1][1:-1] not in self.given:    # the function's
            self._set(args[0], self._value("%q_", np.uint64, mask), mask)
            return
        if space == "param":
            self._set(args[0], np.full(int(mask.sum()), self.given[args[1][1:-1]], np.uint64), mask)
            return
        names = args[0 if head == "ld" else 1].strip("{}").split(", ")
        address = args[1 if head == "ld" else 0]
        place = self._place(address, mask)
        if space == "const":
            name = "numbers" if address.startswith("[numbers") else "two_over_pi"
            self._set(args[0], self.kernel.tables[name][place // 8], mask)
            return
        if space == "local":
            memory = Space(self.own.ravel(), np.ones(self.own.size, bool), "local memory")
            place = place + np.flatnonzero(mask) * self.kernel.local
        else:
            memory = self.spaces[space]
        if head == "ld":
            found = memory.read(place, dtype, len(names))
            for k, name in enumerate(names):
                self._set(name, np.ascontiguousarray(found[:, k]), mask)
        else:
            values = np.stack([self._value(x, dtype, mask) for x in names], axis=1)
            if space == "global":
                self.writers.write(np.flatnonzero(mask), place, values, dtype)
            else:
                memory.write(place, values, dtype)
