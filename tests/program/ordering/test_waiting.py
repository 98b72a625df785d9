"""Values that wait for a later piece get slots that are free again when nobody waits any more."""

from hypothesis import given
from hypothesis import strategies as st

from closedform.program.ordering.waiting import waiting_slots


@st.composite
def cut_programs(draw):
    """Pieces of instructions, each with one result and arguments among the earlier results."""
    pieces, made = [], 0
    for _ in range(draw(st.integers(1, 5))):
        piece = []
        for _ in range(draw(st.integers(0, 6))):
            args = draw(st.lists(st.integers(0, made - 1), max_size=2)) if made else []
            piece.append(((made,), tuple(args)))
            made += 1
        pieces.append(piece)
    return pieces


@given(cut_programs())
def test_no_slot_is_taken_while_a_later_piece_needs_it(pieces):
    slots, count = waiting_slots(pieces)
    born = {i: k for k, piece in enumerate(pieces) for (i,), _ in piece}
    last = dict(born)
    for k, piece in enumerate(pieces):
        for _, args in piece:
            last.update((i, k) for i in args)
    waits = {i for i in born if last[i] > born[i]}
    assert set(slots) == waits and all(0 <= slot < count for slot in slots.values())
    for i in waits:
        for j in waits - {i}:
            if slots[i] == slots[j]:
                assert last[i] < born[j] or last[j] < born[i]


def test_a_slot_is_used_again():
    pieces = [[((0,), ())], [((1,), (0,))], [((2,), (1,))], [((3,), (2,))]]
    slots, count = waiting_slots(pieces)
    assert count == 2 and slots[0] == slots[2]
