"""The emulator's memory: what is out of bounds, not aligned or out of order is an error.

Threads run there in one order of many: shared memory that two of them use with no barrier between,
copies nobody waited for, and different numbers that two write to one place are errors too.
"""

import numpy as np

GUARD = 256


class Memory:
    """Arrays at addresses of their own, with untouchable gaps between them."""

    def __init__(self):
        self.bytes, self.owned = np.zeros(4096, np.uint8), np.zeros(4096, bool)

    def put(self, array, align=256):
        raw = np.frombuffer(array.tobytes(), np.uint8)
        start = -(-len(self.bytes) // 256) * 256 + align % 256
        pad = start - len(self.bytes)
        self.bytes = np.concatenate((self.bytes, np.zeros(pad, np.uint8), raw,
                                     np.zeros(GUARD, np.uint8)))
        self.owned = np.concatenate((self.owned, np.zeros(pad, bool), np.ones(len(raw), bool),
                                     np.zeros(GUARD, bool)))
        return start

    def space(self):
        return Space(self.bytes, self.owned, "global memory")

    def get(self, start, shape, dtype):
        count = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return self.bytes[start:start + count].copy().view(dtype).reshape(shape)


class FarMemory:
    """Arrays at any address: rows of a table that lie further apart than one could allocate."""

    def __init__(self):
        self.starts, self.places, self.bytes = [], [], np.zeros(0, np.uint8)

    def put(self, start, array=None):
        if array is None:
            start, array = 1 << 60, start
        raw = np.frombuffer(array.tobytes(), np.uint8)
        self.starts.append(start)
        self.places.append(len(self.bytes))
        self.bytes = np.concatenate((self.bytes, raw))
        return start

    def get(self, start, shape, dtype):
        place = self.places[self.starts.index(start)]
        count = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return self.bytes[place:place + count].copy().view(dtype).reshape(shape)

    def space(self):
        return _FarSpace(self)


class Space:
    """Bytes that threads read and write."""

    def __init__(self, data, owned, name):
        self.data, self.owned, self.name = data, owned, name

    def at(self, address, dtype, many=1):
        width = np.dtype(dtype).itemsize
        if np.any(address % (width * many)):
            raise RuntimeError(f"{self.name}: an access that is not aligned to {width * many}")
        cells = address[:, None] + np.arange(width * many)
        if cells.size and (cells.min() < 0 or cells.max() >= len(self.data)
                           or not self.owned[cells].all()):
            raise RuntimeError(f"{self.name}: an access outside of all arrays")
        return cells

    def read(self, address, dtype, many=1):
        cells = self.at(address, dtype, many)
        return np.ascontiguousarray(self.data[cells]).view(dtype).reshape(len(address), many)

    def write(self, address, values, dtype):
        cells = self.at(address, dtype, values.shape[1])
        raw = np.ascontiguousarray(values.astype(dtype, copy=False)).view(np.uint8)
        self.data[cells] = raw.reshape(cells.shape)


class _FarSpace(Space):
    def __init__(self, memory):
        super().__init__(memory.bytes, np.ones(len(memory.bytes), bool), "far memory")
        order = np.argsort(memory.starts)
        self.starts = np.array(memory.starts, np.int64)[order]
        self.places = np.array(memory.places, np.int64)[order]
        self.sizes = np.diff([*memory.places, len(memory.bytes)])[order]

    def at(self, address, dtype, many=1):
        k = np.searchsorted(self.starts, address, side="right") - 1
        within = address - self.starts[k]
        if np.any(k < 0) or np.any(within >= self.sizes[k]):
            raise RuntimeError(f"{self.name}: an access outside of all arrays")
        return super().at(self.places[k] + within, dtype, many)


class SharedMemory(Space):
    """A block's, of `threads` threads that say who they are before an access.

    A byte that one writes is another's only behind the next barrier of their warp. Copies that are
    asked for arrive when their group is waited for, and nobody may touch their bytes before.
    """

    def __init__(self, size, threads):
        super().__init__(np.zeros(size, np.uint8), np.ones(size, bool), "shared memory")
        self.barriers = np.zeros(threads, int)
        """That each thread is behind."""
        self.threads = np.zeros(0, int)
        self.writer, self.written = np.full(size, -1), np.full(size, -1)
        self.first, self.last, self.seen = (np.full(size, -1) for _ in range(3))
        """Of the threads that read a byte since the barrier `seen`, and so on."""
        self.due = np.zeros(size, bool)
        self.groups = {warp: [[]] for warp in range(threads // 32)}

    def read(self, address, dtype, many=1):
        cells = self.at(address, dtype, many)
        thread, now = self._taken(cells)
        if np.any(self.writer[cells] < 0):
            self._wrong("is read before it is written")
        new = self.seen[cells] != now
        self.first[cells] = np.where(new, thread, self.first[cells])
        self.last[cells] = np.where(new, thread, self.last[cells])
        self.seen[cells] = now
        for found, either in ((self.first, np.minimum), (self.last, np.maximum)):
            either.at(found, cells, np.broadcast_to(thread, cells.shape))
        return super().read(address, dtype, many)

    def write(self, address, values, dtype):
        cells = self.at(address, dtype, values.shape[1])
        self._claim(cells)
        super().write(address, values, dtype)
        self._mark(cells, self.threads)

    def ask(self, address, values):
        """A copy of words that will be there later."""
        cells = self.at(address, np.uint32, values.shape[1])
        self._claim(cells)
        self.due[cells] = True
        for thread, place, word in zip(self.threads, cells, values, strict=True):
            self.groups[thread // 32][-1].append((thread, place, word))

    def commit(self, threads):
        for warp in set(threads // 32):
            self.groups[warp].append([])

    def wait(self, threads, left):
        """Until no more than so many groups are on their way."""
        for warp in set(threads // 32):
            groups = self.groups[warp]
            while len(groups) - 1 > left:
                for thread, place, word in groups.pop(0):
                    self.due[place] = False
                    self.data[place] = np.ascontiguousarray(word).view(np.uint8)
                    self._mark(place[None], np.array([thread]))

    def _taken(self, cells):
        """Bytes are touched; the threads, and where they are."""
        thread, now = self.threads[:, None], self.barriers[self.threads][:, None]
        writer = self.writer[cells]
        if np.any(self.due[cells]):
            self._wrong("is used before a copy into it was waited for")
        if np.any((writer >= 0) & (writer != thread) & (
                (writer // 32 != thread // 32) | (self.written[cells] == now))):
            self._wrong("is used by two threads, one of which writes, without a barrier")
        return thread, now

    def _claim(self, cells):
        thread, now = self._taken(cells)
        others = (self.first[cells] != thread) | (self.last[cells] != thread)
        if np.any((self.seen[cells] == now) & others) or len(np.unique(cells)) < cells.size:
            self._wrong("is used by two threads, one of which writes, without a barrier")

    def _mark(self, cells, threads):
        self.writer[cells] = threads[:, None]
        self.written[cells] = self.barriers[threads][:, None]

    def _wrong(self, what):
        raise RuntimeError(f"{self.name} {what}")


class Writers:
    """Of a block's threads, who wrote what last in global memory, and behind which barrier.

    Threads beyond the last state may write the same again; what differs needs a barrier between.
    """

    def __init__(self, space, barriers):
        self.space, self.barriers = space, barriers
        self.thread, self.written = (np.full(len(space.data), -1) for _ in range(2))

    def write(self, threads, address, values, dtype):
        cells = self.space.at(address, dtype, values.shape[1])
        now = np.broadcast_to(self.barriers[threads][:, None], cells.shape)
        others = self.thread[cells] != threads[:, None]
        before = self.space.data[cells]
        self.space.write(address, values, dtype)
        if np.any(others & (self.written[cells] == now) & (before != self.space.data[cells])):
            raise RuntimeError(f"{self.space.name}: two threads write different numbers without a "
                               "barrier between them")
        self.thread[cells], self.written[cells] = threads[:, None], now
