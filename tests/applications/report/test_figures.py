"""Pictures of the report."""

import numpy as np
from matplotlib.lines import Line2D

import closedform as cf
from closedform.applications.report.figures import skeleton


def starred():
    """An arm whose base body carries many sensors, its hand a tool."""
    at = np.eye(4)
    at[0, 3] = 0.5
    inertia = cf.Inertia(1, (0, 0, 0), np.eye(3))
    bodies = [cf.Body("base", None, cf.Revolute((0, 0, 1)), inertia=inertia),
              cf.Body("hand", "base", cf.Revolute((0, 1, 0)), at, inertia)]
    rng = np.random.default_rng(0)
    sensors = []
    for k in range(40):
        place = np.eye(4)
        place[:3, 3] = rng.normal(size=3)
        sensors.append(cf.Frame(f"sensor{k}", "base", place))
    return cf.Robot("starred", bodies, frames=[*sensors, cf.Frame("tool", "hand", at)])


def test_joints_lie_on_top_of_frames_and_sensors_make_no_star():
    figure = skeleton(starred(), np.zeros(3))
    for axes in figure.axes:
        lines = [x for x in axes.lines if isinstance(x, Line2D)]
        labels = [line.get_label() for line in lines]
        assert labels.index("joints") > labels.index("frames")
        assert sum(line.get_linestyle() != "None" for line in lines) == 2 + 1   # bones, the tool


def test_a_robot_without_mass_has_no_centre_in_its_picture():
    shown = skeleton(starred(), None).axes[0]
    assert "centre of mass" not in [line.get_label() for line in shown.lines]
