"""Sums over subtrees and ways to the world, of one tree by hand."""

from operator import add

from closedform.maths.algebra.trees import Parents, subtree_sums, way_up

PARENT = Parents([0, 0, 1, 2, 1, 0])    # 0 is the world; 1 carries 2, which carries 3, and 4


def test_every_number_gets_the_sum_of_what_lies_behind_it():
    assert subtree_sums([0, 1, 10, 100, 1000, 5], PARENT, add) == [0, 1111, 110, 100, 1000, 5]


def test_parts_may_change_on_their_way_to_the_parent():
    doubled = subtree_sums([0, 1, 1, 1, 1, 1], PARENT, add, lambda k, part: 2 * part)
    assert doubled == [0, 1 + 2 * (1 + 2) + 2, 3, 1, 1, 1]


def test_the_way_up_is_nearest_first_and_leaves_out_its_ends():
    assert way_up(PARENT, 3) == [2, 1]
    assert way_up(PARENT, 5) == []


def test_bodies_that_share_a_place_are_added_up_for_their_parent():
    shared = Parents(PARENT, {2: lambda part: 4 * part})
    assert subtree_sums([0, 1, 1, 1, 1, 1], shared, add) == [0, 10, 2, 1, 1, 1]
