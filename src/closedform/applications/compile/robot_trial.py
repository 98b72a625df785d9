"""What programs of a robot are compared with: the definitions of the catalogue, on floats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from closedform.applications.compile.forms import Forms
from closedform.applications.compile.names import output_names
from closedform.applications.compile.requests import Request
from closedform.applications.compile.states import natural_size, nearby, random_input
from closedform.arrays import Array
from closedform.lowerings.call.trial import NEAR, SEED, Trial
from closedform.maths.canonical.tilts import tilts
from closedform.maths.frames import frame_pose
from closedform.maths.quantity import Form
from closedform.program.program import Program, Slot


def robot_trial(forms: Forms, requests: Sequence[Request], slots: Sequence[Slot],
                plain: Callable[[], Sequence[Program]]) -> Trial:
    """The trial of programs that compute requests of the inputs `slots`.

    Definitions take a few per cent of the time that recording and compiling take.
    """
    robot, names = forms.robot, output_names(requests)

    def definition(forms: Forms, given: Mapping[str, Array]) -> dict[str, Array]:
        found: dict[str, Array] = {}
        for request, own in zip(requests, names, strict=True):
            value = forms.evaluated(request, request.row.definition, Form.USER, given)
            found |= zip(own, value if request.row.fields else (value,), strict=True)
        return found

    def beside(given: Mapping[str, Array]) -> dict[str, Array]:
        return definition(Forms(nearby(robot, NEAR), forms.inputs, 0, forms.order), given)

    return Trial(f"{' and '.join(r.text for r in requests)} of {robot.name}",
                 lambda rng: {s.name: random_input(robot, s, rng) for s in slots},
                 partial(definition, forms), beside, plain, partial(oddity, forms),
                 len(robot.bodies), natural_size(robot))


def oddity(forms: Forms) -> str:
    """The joints that canonical frames may go wrong at: nearly parallel, or visibly misplaced."""
    near = [f"{name} by {angle:.1e} rad" for name, angle in tilts(forms.robot).items()]
    if near:
        return f"; axes nearly parallel to the one before: {', '.join(near)}"
    q, own = forms.robot.random(SEED), forms.canonical
    wrong = [body.joint_name for body in forms.robot.bodies if not np.allclose(
        frame_pose(own.robot, q + own.offset, body.name), frame_pose(forms.robot, q, body.name))]
    return f"; misplaced from the joint {wrong[0]} on" if wrong else ""
