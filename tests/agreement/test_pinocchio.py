"""Agreement with Pinocchio on every URDF of example-robot-data that it loads, fixed and floating, matched by name."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import closedform as cf
from closedform.applications.conventions import from_pinocchio_model
from closedform.maths import recursive

pin = pytest.importorskip("pinocchio")
data = pytest.importorskip("example_robot_data")

ROBOTS = Path(data.robots_loader.getModelPath("")) if hasattr(data, "robots_loader") else None
