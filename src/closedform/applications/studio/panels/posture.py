"""Where the arm is and what that posture is worth: certificate, reach, limits."""

from __future__ import annotations

import numpy as np

from closedform.applications.redundancy.certificate import Solution
from closedform.applications.studio import cells
from closedform.applications.studio.posture import pulls
from closedform.applications.studio.shown import Shown
from closedform.applications.units import units


def certificate(s: Shown) -> str:
    """The verdict on this q, if it came from the gizmo; else what would give one."""
    state, pulled = s.state, pulls(s.subject.robot, s.state.tip)
    if pulled.task is None:
        return f"<p>{cells.escape(pulled.reason[:1].upper() + pulled.reason[1:])}.</p>"
    if state.refused is not None:
        return ('<p class="bad" data-verdict>unreachable</p>'
                + cells.facts({"‖f(q) − x‖ [m, rad]": state.refused.task_residual},
                              "residual of the target"))
    if state.solution is None:
        return "<p>Pull the gizmo: the posture then comes with its certificate.</p>"
    return verdict(state.solution, state.criterion, len(state.branches), state.branch)


def verdict(found: Solution, criterion: str, branches: int = 0, branch: int = -1) -> str:
    """What a solution says of itself."""
    good = "good" if found.certified else "warn"
    rows: dict[str, str | float] = {
        f"{cells.escape(criterion)} H(q)": float(found.value),
        "‖f(q) − x‖ [m, rad]": float(found.task_residual),
        "‖Nᵀh‖": float(found.optimality_residual),
        "reduced Hessian": ", ".join(cells.number(float(x)) for x in found.reduced_hessian) or "—",
        "σ min of the task": float(found.sigma_min),
        "limits that hold": ", ".join(map(cells.escape, found.limits)) or "none",
        "branch sign": f"{found.branch_sign:+d}",
    }
    if branches:
        rows["branch"] = f"{branch + 1} of {branches}"
    return (f'<p class="{good}" data-verdict>{cells.escape(found.verdict.value)}</p>'
            + cells.facts(rows, "certificate"))


def reach(s: Shown) -> str:
    """Singular values of J, where the tip is, and how far the limits are."""
    T, sigma = s.places.frame_pose, s.sigma
    named = {f"σ{k + 1}": float(x) for k, x in enumerate(sigma)}
    rows: dict[str, str | float] = {
        "tip": cells.escape(s.state.tip),
        "x, y, z [m]": _three(T[:3, 3]),
        "manipulability √det JJᵀ": s.manipulability,
        "σ min / σ max": float(sigma[-1] / sigma[0]) if sigma[0] > 0 else 0.0,
        **named,
        "centre of mass [m]": _three(s.places.center_of_mass),
    }
    return cells.facts(rows, "reach of the tip")


def limits(s: Shown) -> str:
    """Each coordinate between its limits: the bar is full at a limit."""
    robot, q, low, high = s.subject.robot, s.state.q, s.subject.lower, s.subject.upper
    bounded = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
    if not len(bounded):
        return "<p>No joint has limits.</p>"
    middle = (low[bounded] + high[bounded]) / 2
    half = (high[bounded] - low[bounded]) / 2
    names = [name for name, i in robot.q_slices.items() for _ in range(i.stop - i.start)]
    beside = [(float(q[k]), f"{cells.number(float(low[k]))} … {cells.number(float(high[k]))}")
              for k in bounded]
    return (f"<p>In {units(robot, 'rad', 'm')}; empty in the middle of a range, full at its ends."
            "</p>" + cells.bars(q[bounded] - middle, half, [names[k] for k in bounded],
                                "distance from the middle of the range", beside))


def _three(x: np.ndarray) -> str:
    title = ", ".join(repr(float(v)) for v in x)
    return f'<span title="{title}">{", ".join(cells.number(float(v), 1.0) for v in x)}</span>'
