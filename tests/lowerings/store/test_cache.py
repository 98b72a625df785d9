"""Compiled code on disk is used only if it is whole, ours and the right one."""

import dataclasses
import os
import signal
import stat
import subprocess
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from closedform.errors import FormatError
from closedform.lowerings.call import code as native_module
from closedform.lowerings.call.kernel import Kernel, compile_program
from closedform.lowerings.store import cache as cache_module
from closedform.lowerings.store import program_bytes
from closedform.lowerings.store.cache import MAGIC, SECTIONS, Cache, entry_key
from closedform.program.check import ProgramError
from random_programs import random_inputs, random_program

PROGRAM = random_program(1)
INPUTS = random_inputs(PROGRAM, 0)
KEY = entry_key("some code")
CONTENT = {name: name.encode() * 50 for name in SECTIONS}
on_posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache")


def place(cache, key=KEY):
    return cache.folder / f"closedform-{key}"


def key_of(path):
    return path.name.removeprefix("closedform-")


def values(kernel):
    return [np.asarray(x).tolist() for x in kernel(*INPUTS)]


EXPECTED = values(compile_program(PROGRAM, Cache(None)))


def must_not_compile(*_):
    raise AssertionError("compiled although the code is in the cache")


def test_what_is_written_is_read(cache):
    assert cache.read(KEY) is None
    cache.write(KEY, CONTENT)
    assert cache.read(KEY, SECTIONS) == CONTENT
    assert cache.read(KEY, ("program",)) == {"program": CONTENT["program"]}
    assert cache.read(entry_key("other code")) is None


def test_a_second_kernel_is_loaded_and_neither_built_nor_compiled(cache, monkeypatch):
    first = Kernel.load("model, quantity", lambda: PROGRAM, cache)
    batch = [np.asarray(x).tolist() for x in first(*(np.stack([x, x]) for x in INPUTS))]
    monkeypatch.setattr(native_module, "_compiled", must_not_compile)
    again = Kernel.load("model, quantity", must_not_compile, cache)
    assert values(again) == EXPECTED
    assert again.operations == PROGRAM.operations and again.name == PROGRAM.name
    assert [np.asarray(x).tolist() for x in again(*(np.stack([x, x]) for x in INPUTS))] == batch
    assert again.program.digest == PROGRAM.digest


def test_batch_code_can_be_compiled_from_the_stored_program(cache):
    Kernel.load("key", lambda: PROGRAM, cache)
    again = Kernel.load("key", must_not_compile, cache)
    single = again(*(np.float32(x) for x in INPUTS))
    assert all(np.asarray(x).dtype == np.float32 for x in single)


def test_keys_of_callers_and_digests_of_programs_do_not_mix(cache):
    other = random_program(2)
    compile_program(PROGRAM, cache)
    assert Kernel.load(PROGRAM.digest, lambda: other, cache).program.digest == other.digest


def test_code_for_another_processor_is_not_used(cache, monkeypatch):
    compile_program(PROGRAM, cache)
    lesser = dataclasses.replace(native_module.host(), name="x86-64", features="")
    monkeypatch.setattr(native_module, "host", lambda: lesser)
    monkeypatch.setattr(native_module, "_compiled", must_not_compile)
    with pytest.raises(AssertionError, match="compiled although"):
        compile_program(PROGRAM, cache)


def entry(cache):
    path, = (p for p in cache.folder.iterdir())
    return path


@pytest.mark.parametrize("place", [0, 10, 24, 40, 60, 70, 150, 200, 260, -1, -40, 0.3, 0.5, 0.7])
def test_a_flipped_bit_anywhere_is_noticed_and_the_code_rebuilt(cache, place):
    compile_program(PROGRAM, cache)
    path = entry(cache)
    sound = path.read_bytes()
    data = bytearray(sound)
    data[int(place * len(data)) if isinstance(place, float) else place] ^= 0x10
    path.write_bytes(bytes(data))
    read = cache.read(key_of(path), SECTIONS)
    assert read is None
    assert values(compile_program(PROGRAM, cache)) == EXPECTED


def test_a_flipped_bit_of_a_length_is_noticed(cache):
    """Also where the file would be larger than any, and in sections that are not asked for."""
    cache.write(KEY, CONTENT)
    sound = place(cache).read_bytes()
    starts = [len(MAGIC) + 32 + 40 * k for k in range(len(SECTIONS))]
    for bit in range(64):
        for start in starts:
            data = bytearray(sound)
            data[start + bit // 8] ^= 1 << bit % 8
            place(cache).write_bytes(bytes(data))
            assert cache.read(KEY, ("interface",)) is None, (start, bit)


@pytest.mark.parametrize("length", [0, 1, 23, 24, 100, 216, 300, 0.5, -1])
def test_a_truncated_file_is_noticed_and_the_code_rebuilt(cache, length):
    compile_program(PROGRAM, cache)
    path = entry(cache)
    sound = path.read_bytes()
    path.write_bytes(sound[:int(length * len(sound)) if isinstance(length, float) else length])
    assert cache.read(key_of(path), SECTIONS) is None
    assert values(compile_program(PROGRAM, cache)) == EXPECTED


def test_a_file_under_a_foreign_name_is_not_used(cache):
    """Code of one program, sound in itself, in the place of another's."""
    other = random_program(2)
    compile_program(other, cache)
    stolen = entry(cache).read_bytes()
    entry(cache).unlink()
    compile_program(PROGRAM, cache)
    path = entry(cache)
    path.write_bytes(stolen)
    assert cache.read(key_of(path)) is None
    assert values(compile_program(PROGRAM, cache)) == EXPECTED
    assert path.read_bytes() != stolen


def test_a_damaged_program_is_built_again(cache):
    Kernel.load("key", lambda: PROGRAM, cache)
    path = entry(cache)
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(bytes(data))
    built = []
    kernel = Kernel.load("key", lambda: built.append(1) or PROGRAM, cache)
    assert values(kernel) == EXPECTED and built == []
    assert kernel.program is PROGRAM and built == [1]


@on_posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_may_write_is_not_used_and_a_warning_says_so(cache, mode):
    compile_program(PROGRAM, cache)
    cache.folder.chmod(mode)
    with pytest.warns(UserWarning, match=f"is not used: it has mode {mode:o}") as told:
        assert cache.read(key_of(entry(cache))) is None
        assert values(compile_program(PROGRAM, cache)) == EXPECTED
    assert len(told) == 1                                   # for three times that it was asked for
    assert len(list(cache.folder.iterdir())) == 1


@on_posix
def test_a_folder_that_others_may_only_look_into_is_used(cache):
    """As a plain `mkdir` makes it."""
    cache.folder.mkdir(mode=0o755)
    cache.write(KEY, CONTENT)
    assert cache.read(KEY, SECTIONS) == CONTENT


@on_posix
def test_a_file_that_others_may_write_is_not_used(cache):
    cache.write(KEY, CONTENT)
    place(cache).chmod(0o622)
    assert cache.read(KEY) is None


@on_posix
def test_folder_and_files_are_private(cache):
    cache.write(KEY, CONTENT)
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(place(cache).stat().st_mode) == 0o600


def test_a_cache_that_cannot_be_written_is_a_warning_and_no_error(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.warns(UserWarning, match="not used"):
        assert values(compile_program(PROGRAM, Cache(tmp_path / "file"))) == EXPECTED


def test_the_entries_unused_for_longest_go_first(tmp_path):
    cache = Cache(tmp_path / "cache", limit=2500)
    keys = [entry_key(str(k)) for k in range(4)]
    for age, key in zip((30, 20, 10), keys, strict=False):
        cache.write(key, {"code": bytes(600)})
        moment = time.time() - age
        os.utime(place(cache, key), (moment, moment))
    assert cache.read(keys[0]) is not None                  # used now: the second is the oldest
    cache.write(keys[3], {"code": bytes(600)})
    assert [cache.read(key) is not None for key in keys] == [True, False, True, True]


def test_libraries_go_with_the_entries_and_are_looked_at_before_they_are_named(tmp_path):
    cache = Cache(tmp_path / "cache", limit=2500)
    first = cache.keep_library(bytes(1500))
    assert first.read_bytes() == bytes(1500) and first.stat().st_mode & 0o777 == 0o600
    digest = first.stem.removeprefix("closedform-")
    moment = time.time() - 10
    os.utime(first, (moment, moment))
    assert cache.library(digest) == first and time.time() - first.stat().st_mtime < 5
    os.utime(first, (moment, moment))
    second = cache.keep_library(bytes(1600))
    assert not first.exists() and second.exists() and cache.library(digest) is None
    second.write_bytes(b"other")
    assert cache.library(second.stem.removeprefix("closedform-")) is None
    assert Cache(None).keep_library(b"x") is None


def test_files_left_by_a_dead_writer_are_swept_when_they_are_old(cache):
    cache.write(KEY, CONTENT)
    old, new = (cache.folder / f"closedform-{digit * 16}.part" for digit in "ab")
    for path, age in ((old, 7200), (new, 0)):
        path.write_bytes(b"half")
        moment = time.time() - age
        os.utime(path, (moment, moment))
    cache.write(KEY, CONTENT)
    assert list(cache.folder.glob("*.part")) == [new]


def test_files_and_links_that_are_not_the_caches_are_never_deleted(tmp_path):
    cache, outside = Cache(tmp_path / "cache", limit=0), tmp_path / "outside"
    cache.folder.mkdir(mode=0o700)
    outside.write_bytes(bytes(1000))
    foreign = [cache.folder / name for name in (
        "thesis.part", "a" * 64, f"{'b' * 16}.part", "closedform-notes.part", "closedform-thesis",
        f"closedform-{'c' * 64}.bak", f"closedform-{'D' * 64}")]
    links = [cache.folder / f"closedform-{x}" for x in ("e" * 64, f"{'e' * 16}.part")]
    for path in foreign:
        path.write_bytes(bytes(1000))
        os.utime(path, (0, 0))
    for path in links:
        path.symlink_to(outside)
    os.utime(outside, (0, 0))
    cache.write(KEY, CONTENT)               # more than nothing, so everything of its own goes
    assert set(cache.folder.iterdir()) == {*foreign, *links}
    assert outside.exists()


@on_posix
def test_a_link_in_the_place_of_an_entry_is_not_followed(cache, tmp_path):
    cache.write(KEY, CONTENT)
    elsewhere = place(cache).rename(tmp_path / "elsewhere")
    sound = elsewhere.read_bytes()
    place(cache).symlink_to(elsewhere)
    assert cache.read(KEY) is None
    cache.write(KEY, {"code": b"other"})
    assert elsewhere.read_bytes() == sound and not place(cache).is_symlink()


def test_the_environment_chooses_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("CLOSEDFORM_CACHE", str(tmp_path))
    assert Cache.default().folder == tmp_path
    for off in ("off", "OFF", "Off", "0", "none", " off "):
        monkeypatch.setenv("CLOSEDFORM_CACHE", off)
        assert Cache.default().folder is None
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLOSEDFORM_CACHE", "~/kernels")
    if os.name == "posix":
        assert Cache.default().folder == tmp_path / "kernels"
    monkeypatch.delenv("CLOSEDFORM_CACHE")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert Cache.default().folder == tmp_path / "xdg" / "closedform"
        for on in ("1", "on", "Yes", "true"):
            monkeypatch.setenv("CLOSEDFORM_CACHE", on)
            assert Cache.default().folder == tmp_path / "xdg" / "closedform"


@on_posix
@pytest.mark.parametrize("chosen", ["", "~/kernels"])
def test_without_a_home_there_is_a_warning_and_no_cache(monkeypatch, chosen):
    import pwd

    def unknown(uid):
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOSEDFORM_CACHE", chosen)
    monkeypatch.setattr(cache_module, "_warned", set())
    with pytest.warns(UserWarning, match="is not used: Could not determine home") as told:
        assert values(compile_program(PROGRAM)) == EXPECTED
        assert Cache.default() == Cache(None)
    assert len(told) == 1


def write_for_ever(folder):
    """What the process to be killed does; it tells when it has begun."""
    cache = Cache(Path(folder))
    big = {name: os.urandom(1) * 4_000_000 for name in SECTIONS}
    print("begun", flush=True)
    while True:
        cache.write(KEY, big)


@on_posix
def test_a_writer_that_is_killed_leaves_a_whole_entry_or_none(cache):
    tests = Path(__file__).parent
    command = (f"import sys; sys.path[:0] = [{str(tests)!r}, {str(tests.parents[1])!r}]; "
               f"import test_cache; test_cache.write_for_ever({str(cache.folder)!r})")
    for delay in (0.003, 0.03):
        writer = subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE)
        assert writer.stdout is not None and writer.stdout.readline() == b"begun\n"
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        if place(cache).exists():
            found = cache.read(KEY, SECTIONS)
            assert found is not None
            assert all(len(set(found[name])) == 1 for name in SECTIONS)
    assert values(compile_program(PROGRAM, cache)) == EXPECTED


def compile_in_a_process(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return values(compile_program(PROGRAM, Cache(Path(folder))))


def test_processes_may_compile_the_same_at_once(cache):
    with ProcessPoolExecutor(3) as pool:
        assert all(x == EXPECTED for x in pool.map(compile_in_a_process, [str(cache.folder)] * 6))
    assert [p.suffix for p in cache.folder.iterdir()] == [""]


def test_a_program_survives_being_stored():
    for seed in range(3):
        program = random_program(seed, operations=200)
        again = program_bytes.from_bytes(program_bytes.to_bytes(program), program.digest)
        assert (again.name, again.inputs) == (program.name, program.inputs)
        assert (again.code, again.outputs) == (program.code, program.outputs)


@pytest.mark.parametrize("damage", [
    lambda data: data[:3], lambda data: data[:100], lambda data: data[:-8], lambda data: b"",
    lambda data: data[:4] + b"\0" + data[5:], lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    lambda data: data[:300] + bytes([data[300] ^ 1]) + data[301:],
])
def test_a_damaged_stored_program_is_refused(damage):
    data = program_bytes.to_bytes(PROGRAM)
    with pytest.raises(FormatError, match="a stored program"):
        program_bytes.from_bytes(damage(data), PROGRAM.digest)


def test_a_program_that_is_not_well_formed_is_not_compiled():
    wrong = type(PROGRAM)(PROGRAM.name, PROGRAM.inputs, PROGRAM.outputs,
                          (*PROGRAM.code, PROGRAM.code[-1]))
    with pytest.raises(ProgramError, match="repeats"):
        compile_program(wrong, Cache(None))
