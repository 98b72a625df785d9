"""Where the camera stands: what a robot reaches is seen between the widgets of a page."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest

pytest.importorskip("viser", reason="the studio needs viser: pip install 'closedform[studio]'")

import closedform as cf
from closedform.applications.studio.subject import StudioRobot
from closedform.interfaces.studio.pages import left_width
from closedform.interfaces.studio.scene import StudioScene
from closedform.interfaces.studio.session import RIGHT
from closedform.interfaces.studio.shapes import SHEET

ROBOT = cf.load("puma560")
SCREENS = {"desk": (1280, 657), "wide": (1920, 937), "phone": (390, 844)}


def seen(camera, points):
    """Across and up in the picture, from its middle, in heights."""
    ahead = np.array(camera.look_at) - camera.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    away = points - camera.position
    scale = 0.5 / np.tan(camera.fov / 2) / (away @ ahead)
    return scale * (away @ right), scale * (away @ np.cross(right, ahead))


@pytest.mark.parametrize("screen", SCREENS)
def test_what_a_robot_reaches_is_seen_between_panels_and_above_a_phones_sheet(screen):
    width, height = SCREENS[screen]
    camera = SimpleNamespace(image_width=width, image_height=height, fov=np.radians(75.0))
    scene = StudioScene(MagicMock(), StudioRobot(ROBOT))
    scene.look(camera, left_width(camera) + RIGHT)
    rng = np.random.default_rng(7)
    tips = np.array([cf.poses(ROBOT, ROBOT.random(rng))[-1, :3, 3] for _ in range(300)])
    across, up = seen(camera, tips)
    panels = 0 if screen == "phone" else left_width(camera) + RIGHT
    half, low = (width - panels) / height / 2, -0.5 + (SHEET if screen == "phone" else 0.0)
    inside = (abs(across) < half) & (up < 0.5) & (up > low)
    assert np.mean(inside) > 0.97
    assert max(np.ptp(across[inside]) / (2 * half), np.ptp(up[inside]) / (0.5 - low)) > 0.6


def test_widths_of_panels_are_those_of_the_window_before_they_are_docked():
    assert left_width(SimpleNamespace(image_width=1280)) == 450
    assert left_width(SimpleNamespace(image_width=500)) == 300
