"""The figures to reach, and what a run measured."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import contenders_casadi
import contenders_jax
import contenders_mujoco
import contenders_pinocchio as pinocchio
from clock import Times, ratio
from contenders_ours import NATIVE, PYTHON, PYTHON_OUT, batch_label
from subjects import (
    ARM,
    DERIVATIVES,
    FD,
    HUMANOID,
    ID,
    JET,
    MASS,
    MATRICES,
    MATRICES_6B,
    TASKS,
    TREE,
    Subject,
)
from tables import Table, number

Measured = Mapping[tuple[str, str], Times]
"""Times by robot and task."""


@dataclass(frozen=True)
class Figure:
    """A ratio to reach: theirs over ours, at least `least` for each kind of robot."""

    text: str
    task: str
    ours: str
    theirs: str
    least: Mapping[str, float]


_CPP, _PY = pinocchio.CPP, pinocchio.PYTHON

FIGURES = (
    Figure("inverse dynamics, native", ID, NATIVE, _CPP, {ARM: 15, HUMANOID: 10}),
    Figure("inverse dynamics, Python with out=", ID, PYTHON_OUT, _PY, {ARM: 12, HUMANOID: 8}),
    Figure("inverse dynamics, Python allocating", ID, PYTHON, _PY, {ARM: 9, HUMANOID: 7}),
    Figure("inverse dynamics, batch of 10⁵", ID, batch_label(100_000), _CPP,
           {ARM: 45, HUMANOID: 20}),
    Figure("inverse dynamics, batch of 512", ID, batch_label(512), _CPP, {HUMANOID: 30}),
    Figure("mass matrix, native", MASS, NATIVE, _CPP, {ARM: 9, HUMANOID: 5}),
    Figure("forward dynamics, native", FD, NATIVE, _CPP, {ARM: 14, HUMANOID: 7}),
    Figure("M, Christoffel C, g, native", MATRICES, NATIVE, _CPP, {ARM: 20, HUMANOID: 7, TREE: 1}),
    Figure("∂τ/∂q, ∂τ/∂v, M, τ, native", DERIVATIVES, NATIVE, _CPP, {ARM: 9, HUMANOID: 3.3}),
    Figure("∂τ/∂q, ∂τ/∂v, batch of 2048", DERIVATIVES, batch_label(2048), _CPP, {ARM: 35}),
    Figure("∂τ/∂q, ∂τ/∂v, batch of 64", DERIVATIVES, batch_label(64), _CPP, {HUMANOID: 15}),
)

PAPERS = (
    ("τ, τ̇, τ̈, native", "iiwa14", JET, "Müller & Kumar 2021", 1.6e6, 1000),
    ("M, (6b) C, g, native", "humanoid25", MATRICES_6B, "Garofalo et al. 2013", 0.244e6, 1),
)
"""Published times in ns, and how many times below them to stay."""


def figures_table(measured: Measured, subjects: Sequence[Subject]) -> Table:
    """Every figure for every robot that it is about."""
    rows: list[tuple[str, ...]] = []
    for figure in FIGURES:
        for subject in subjects:
            if subject.kind not in figure.least:
                continue
            times = measured.get((subject.name, figure.task), {})
            reached, least = ratio(times, figure.theirs, figure.ours), figure.least[subject.kind]
            rows.append((figure.text, subject.name, figure.theirs, _median(times, figure.theirs),
                         _median(times, figure.ours), number(reached, "x"), f"≥ {least:g}x",
                         at_least(reached, least)))
    rows += _own_rows(measured, subjects) + _paper_rows(measured)
    return Table(
        "Figures to reach", ("quantity", "robot", "against", "theirs, ns", "ours, ns", "ratio",
                             "target", "verdict"), rows,
        "Nanoseconds per state on one core, medians over rounds in which the contenders take "
        "turns; the ratio is the median of the rounds' ratios. Pinocchio C++ is the cheapest of "
        "its variants, its Python call the one a user writes.")


def _paper_rows(measured: Measured) -> list[tuple[str, ...]]:
    """What the papers report on the computers of their time."""
    rows: list[tuple[str, ...]] = []
    for text, robot, task, paper, reported, least in PAPERS:
        ours = _middle(measured.get((robot, task), {}), NATIVE)
        share = reported / ours if ours else None
        rows.append((text, robot, paper, number(reported), number(ours), number(share, "x"),
                     f"≥ {least}x", at_least(share, least)))
    return rows


def _own_rows(measured: Measured, subjects: Sequence[Subject]) -> list[tuple[str, ...]]:
    """τ, τ̇, τ̈ in calls of inverse dynamics, what (6b) costs instead of Christoffel's C, and a
    batch called from Python."""
    rows: list[tuple[str, ...]] = []
    for subject in subjects:
        called = f"{batch_label(100_000)}, Python"
        times = measured.get((subject.name, ID), {})
        if called in times and _CPP in times:
            rows.append(("inverse dynamics, batch of 10⁵, called from Python", subject.name, _CPP,
                         number(_middle(times, _CPP)), number(_middle(times, called)),
                         number(ratio(times, _CPP, called), "x"), "", ""))
        jet = _middle(measured.get((subject.name, JET), {}), NATIVE)
        once = _middle(measured.get((subject.name, ID), {}), NATIVE)
        if subject.kind == ARM:
            share = jet / once if jet and once else None
            limit = "≤ 4.5x" if subject.name == "iiwa14" else ""
            rows.append(("τ, τ̇, τ̈, native", subject.name, "inverse dynamics, native",
                         number(once), number(jet), number(share, "x"), limit,
                         at_most(share, 4.5) if limit else ""))
        six_b = measured.get((subject.name, MATRICES_6B), {})
        cpp = _middle(measured.get((subject.name, MATRICES), {}), _CPP)
        ours = _middle(six_b, NATIVE)
        rows.append(("M, (6b) C, g, native", subject.name, _CPP, number(cpp), number(ours),
                     number(cpp / ours if cpp and ours else None, "x"), "", ""))
    return rows


def contenders_table(measured: Measured, subjects: Sequence[Subject]) -> Table:
    """Nanoseconds per state of everyone."""
    peers = (_CPP, _PY, contenders_mujoco.LABEL, contenders_casadi.LABEL, contenders_jax.LABEL)
    head = ("quantity", "robot", "native", "Python", "out=", "batch f64", "batch f32", *peers)
    rows = []
    for task in TASKS:
        for subject in subjects:
            times = measured.get((subject.name, task.name))
            if times is None:
                continue
            size = task.batches_of(subject.kind)[0]
            labels = (NATIVE, PYTHON, PYTHON_OUT, batch_label(size), batch_label(size, "f32"))
            rows.append((task.name, subject.name,
                         *(_median(times, label) for label in (*labels, *peers))))
    return Table("All contenders, ns per state", head, rows,
                 "Batches: 10⁵ states for inverse dynamics, else 2048 (arms) and 64 (humanoids); "
                 "one thread. JAX: jit(vmap), 4096 states (512). CasADi: conventional spatial "
                 "algebra, C code, gcc -O3 -march=native; it returns M with the derivatives too.")


def at_least(x: float | None, least: float) -> str:
    return "not measured" if x is None else "reached" if x >= least else "missed"


def at_most(x: float | None, most: float) -> str:
    return "not measured" if x is None else "reached" if x <= most else "missed"


def _middle(times: Times, label: str) -> float | None:
    return statistics.median(times[label]) if label in times else None


def _median(times: Times, label: str) -> str:
    return number(_middle(times, label))
