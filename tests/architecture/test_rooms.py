"""The rooms of the house and which may import which; citations; the public names."""

import ast
import re
from pathlib import Path

import pytest

import closedform as cf

PACKAGE = Path(cf.__file__).parent
ROOT = PACKAGE.parent.parent
FILES = sorted(PACKAGE.rglob("*.py"))

GROUND = {"arrays", "errors"}
MAY_IMPORT = {
    "errors": set(),
    "arrays": {"errors"},
    "model": GROUND,
    "program": GROUND,
    "maths": GROUND | {"model"},
    "lowerings": GROUND | {"program"},
    "applications": GROUND | {"model", "maths", "program", "lowerings"},
    "interfaces": GROUND | {"model", "applications", "__init__"},
    "__init__": GROUND | {"model", "maths", "applications"},
}


CONTRACT = """
load Robot Frame Body Revolute Prismatic Helical Cylindrical Universal Spherical Planar
Free Fixed Mimic Inertia from_modified_dh from_standard_dh from_screws lint
ClosedformError simulate poses frame_pose body_jacobians frame_jacobian
frame_jacobian_rate kinematic_hessian center_of_mass com_jacobian mass_matrix
coriolis_matrix christoffel_coriolis_matrix gravity_torque coriolis_torque bias
inverse_dynamics forward_dynamics passivity_inverse_dynamics kinetic_energy
potential_energy momentum centroidal_momentum_matrix joint_friction
operational_space_inertia LOCAL WORLD LOCAL_WORLD_ALIGNED
""".split()


def room_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def rooms_imported_by(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            if (node.module or "").startswith("closedform."):
                yield node.module.split(".")[1]
            elif node.module == "closedform":
                # `from closedform import __version__`: a public name, or a room itself
                yield from (n.name if n.name in MAY_IMPORT else "__init__" for n in node.names)
        elif isinstance(node, ast.Import):
            assert [name for name in CONTRACT if not hasattr(cf, name)] == []


def test_every_quantity_of_the_catalogue_is_public_under_its_name():
    assert [q.name for q in cf.CATALOGUE if getattr(cf, q.name, None) is not q.definition] == []


def test_every_quantity_says_what_it_returns():
    assert [q.name for q in cf.CATALOGUE if len(q.summary) < 10] == []
