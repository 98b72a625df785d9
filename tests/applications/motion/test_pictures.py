"""Curves over time in panels."""

import matplotlib
import numpy as np
import pytest

from closedform.applications.motion.pictures import Panel, panels_figure

matplotlib.use("Agg")
T = np.linspace(0, 1, 3)


@pytest.mark.parametrize(("panels", "axes"), [(1, 1), (4, 4), (5, 6), (6, 6)])
def test_many_panels_stand_in_two_columns(panels, axes):
    from matplotlib import pyplot
    figure = panels_figure("a_$b", T, [Panel("y", np.outer(T, [1, 2]), ("a", "b$"))] * panels)
    figure.canvas.draw()                                    # text with $ is no formula
    assert len(figure.axes) == axes
    assert [len(axis.lines) for axis in figure.axes] == [2] * panels + [0] * (axes - panels)
    assert figure.axes[0].get_legend() is not None
    pyplot.close(figure)


def test_curves_without_names_have_no_legend():
    from matplotlib import pyplot
    figure = panels_figure("motion", T, [Panel("y", T[:, None], ())])
    assert figure.axes[0].get_legend() is None
    assert figure.axes[0].get_xlabel() == "t [s]"
    pyplot.close(figure)
