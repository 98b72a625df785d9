"""Which robots an algorithm is for."""

import pytest

import closedform as cf
from closedform.errors import ModelError
from closedform.maths.algorithms.applicability import applies, uncoupled
from closedform.maths.catalogue import CATALOGUE
from random_robots import random_robot

COUPLED = random_robot(1, ("revolute", "mimic"), bodies=4)


@uncoupled
def picky(robot, q, base=0):
    """A docstring."""
    return len(q) + base


def test_an_algorithm_for_uncoupled_robots_says_so_and_refuses_others():
    robot = cf.load("planar2r")
    assert applies(picky, robot)
    assert picky(robot, [1, 2], base=3) == 5
    assert not applies(picky, COUPLED)
    with pytest.raises(ModelError, match="picky is for robots without mimic"):
        picky(COUPLED, [])


def test_it_keeps_its_name_and_docstring():
    assert (picky.__name__, picky.__doc__) == ("picky", "A docstring.")


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.name)
def test_every_row_can_be_computed_for_coupled_robots(row):
    assert any(applies(x, COUPLED) for x in row.algorithms or (row.definition,))
