"""Kernels of redundant arms take the pipeline of all programs."""

import numpy as np
import pytest

import closedform as cf
from closedform.applications.redundancy import Manipulability, Pose, Position
from closedform.applications.redundancy.problem import problem_of
from closedform.lowerings import lanes
from closedform.program.record import record

SEVEN = ("iiwa14", Position), ("panda", Pose)


def problem(name, task):
    robot = cf.load(name)
    frame = [*robot.body_names, *robot.frame_names][-1]
    return problem_of(robot, task(frame), Manipulability())


@pytest.mark.parametrize(("name", "task", "most"), [(*SEVEN[0], 4037), (*SEVEN[1], 10888)])
def test_they_take_at_most_so_many_operations(name, task, most):
    assert problem(name, task).kernel.operations.total <= most


@pytest.mark.parametrize(("name", "task"), SEVEN)
def test_what_is_compiled_is_what_was_recorded(name, task):
    here = problem(name, task)
    recorded = record(here._terms, {"q": (here.robot.nq,)}, "redundancy")
    assert here.kernel.operations.total <= recorded.operations.total
    assert here.kernel.operations.instructions < recorded.operations.instructions
    rng = np.random.default_rng(0)
    q = np.array([here.robot.random(rng) for _ in range(5)])
    for ours, theirs in zip(here.kernel(q), lanes.run(recorded, q), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())
