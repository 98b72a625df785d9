"""What the tests of exports run: compilers and interpreters, skipped loudly where absent."""

import os
import shutil
import subprocess
import sys

import pytest

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")
PACKAGES = {"gcc": "gcc", "clang": "clang", "g++": "g++", "octave": "octave", "node": "nodejs"}


def tool(name):
    """The program, or a skip that says what to install."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"NOT TESTED: no {name} on this machine; apt install {PACKAGES[name]}")
    return found


def run(command, folder, **environment):
    """Standard output and standard error of a command that has to succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def compile_folder(folder, compiler="gcc", *options):
    """Every C file of a folder, with all warnings as errors, to `check`."""
    language = ("-x", "c++") if compiler == "g++" else ("-std=c99",)
    sources = sorted(x.name for x in folder.glob("*.c"))
    run([tool(compiler), *language, *WARNINGS, *options, *sources, "-o", "check", "-lm"], folder)


RUN = {
    "c": lambda: (["./check"],),
    "matlab": lambda: ([tool("octave"), "--no-gui", "--quiet", "test_vectors.m"],),
    "javascript": lambda: ([tool("node"), "test_vectors.mjs"],),
    "wasm": lambda: ([tool("node"), "test_vectors.mjs"],),
}


def check_folder(folder, target):
    """Run the folder's runner as a user does; its output."""
    if target == "c":
        compile_folder(folder, "gcc", "-O1")
    commands = RUN.get(target, lambda: ([sys.executable, "test_vectors.py"],))()
    return "".join(run(command, folder, JAX_PLATFORMS="cpu") for command in commands)


def jax_function(program, derivatives=None):
    """The function of a program's exported source for JAX."""
    from closedform.lowerings.source.jax import jax_source

    module = {}
    exec(jax_source(program, program.name, [program.name], derivatives), module)
    return module[program.name]
