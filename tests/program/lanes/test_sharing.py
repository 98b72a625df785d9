"""What is told of limbs in lanes."""

from closedform.program.lanes.sharing import FoldedProgram, SharedLanes


def test_lanes_say_who_shares_them():
    lanes = SharedLanes((("left_hip", "right_hip"), ("left_knee", "right_knee")))
    assert lanes
    assert str(lanes) == "2 lanes: left_hip, right_hip\n2 lanes: left_knee, right_knee"


def test_where_there_are_none_they_say_why():
    program, lanes = FoldedProgram.missing("no two limbs have the same joints")
    assert program is None and not lanes
    assert str(lanes) == "no lanes: no two limbs have the same joints"
