"""What may be asked, and what is refused."""

import pytest

import closedform as cf
from closedform.applications.compile.requests import At, Request, asked_request, checked_reference
from closedform.errors import ArgumentError, UnknownName
from closedform.maths.catalogue import CATALOGUE, quantity

ROBOT = cf.load("ur5")
FRAME = ROBOT.body_names[-1]


def test_a_name_is_a_row():
    assert asked_request(ROBOT, "mass_matrix") == Request(quantity("mass_matrix"))


def test_a_frame_has_a_reference_where_the_quantity_takes_one():
    assert asked_request(ROBOT, At("frame_jacobian", FRAME)).reference is cf.LOCAL_WORLD_ALIGNED
    assert asked_request(ROBOT, At("frame_jacobian", FRAME, cf.LOCAL)).reference is cf.LOCAL
    assert asked_request(ROBOT, At("frame_pose", FRAME)).reference is None


@pytest.mark.parametrize(("asked", "error", "words"), [
    ("frame_pose", ArgumentError, "needs a frame"),
    (At("mass_matrix", FRAME), ArgumentError, "takes no frame"),
    (At("frame_pose", FRAME, cf.LOCAL), ArgumentError, "takes no reference"),
    (At("frame_jacobian", FRAME, "local"), ArgumentError, "must be cf.LOCAL"),
    (At("frame_pose", "nowhere"), UnknownName, "nowhere"),
    ("mass", UnknownName, "mass"),
])
def test_what_cannot_be_is_refused(asked, error, words):
    with pytest.raises(error, match=words):
        asked_request(ROBOT, asked)


def test_texts_tell_requests_apart():
    requests = []
    for row in CATALOGUE:
        if not row.framed:
            requests.append(Request(row))
        else:
            references = (cf.LOCAL, cf.WORLD) if checked_reference(row, None) else (None,)
            requests += [Request(row, frame, reference) for frame in ROBOT.body_names[:2]
                         for reference in references]
    assert len({r.text for r in requests}) == len(requests)
