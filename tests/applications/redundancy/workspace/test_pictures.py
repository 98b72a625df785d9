"""Pictures and the page of a map."""

import re

import numpy as np
import pytest

import closedform as cf
from closedform.applications.redundancy import Grid, Manipulability, PlanarPosition, map
from closedform.applications.redundancy.workspace.maps import VERDICTS, Map
from closedform.applications.redundancy.workspace.pictures import (
    histogram_figure,
    slices_figure,
    surface_figure,
)
from closedform.applications.studies.map_page import MEANING, map_page

ROBOT = cf.load("planar3r")


@pytest.fixture(scope="module")
def plane():
    return map(ROBOT, PlanarPosition(ROBOT.tip), Grid((-0.8, -0.8), (0.8, 0.8), 0.4),
               Manipulability())


class Solid:
    """A ball of certified places in a grid of 50³, as a table."""

    grid = Grid((-1, -1, -1), (0.96, 0.96, 0.96), 0.04)

    def column(self, name):
        inside = np.linalg.norm(self.grid[:], axis=1) < 0.6
        return {"verdict": np.where(inside, 0, VERDICTS.index("unreachable")).astype("u1"),
                "value": np.where(inside, -1.0, np.nan)}[name]


def test_slices_show_the_part_that_is_certified(plane):
    image = slices_figure(plane).axes[0].images[0]
    np.testing.assert_array_equal(image.get_array(), plane.reachability.T)
    assert image.get_extent() == pytest.approx([-1, 1, -1, 1])


def test_a_surface_is_of_what_is_reached():
    ball = Map(ROBOT, Solid.grid, Solid(), ())
    assert len(slices_figure(ball).axes) == 4
    faces = surface_figure(ball).axes[0].collections
    assert 500 < len(faces) < 28**3     # of the hull, no finer than is drawn


def test_a_histogram_counts_verdicts(plane):
    _, right = histogram_figure(plane).axes
    assert [p.get_width() for p in right.patches] == list(plane.counts().values())


def test_the_page_says_how_many_of_each_and_why(plane):
    page = map_page(plane, {"criterion": "centering", "grid": str(plane.targets)})
    for verdict, n in plane.counts().items():
        assert f">{verdict}</th>" in page and f">{n}</td>" in page and MEANING[verdict] in page
    assert page.count("<svg") == 2 and not re.search(r"<script|https?://(?!www\.w3)", page)
