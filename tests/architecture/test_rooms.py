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
    "__main__": {"interfaces"},
}


CONTRACT = """
load Robot Frame Body Revolute Prismatic Helical Cylindrical Universal Spherical Planar Free
Fixed Mimic Gimbal groups Inertia from_modified_dh from_standard_dh from_screws lint ClosedformError
simulate poses frame_pose body_jacobians frame_jacobian frame_jacobian_rate
kinematic_hessian center_of_mass com_jacobian mass_matrix coriolis_matrix
christoffel_coriolis_matrix gravity_torque coriolis_torque bias inverse_dynamics
forward_dynamics passivity_inverse_dynamics kinetic_energy potential_energy momentum
centroidal_momentum_matrix joint_friction operational_space_inertia LOCAL WORLD
LOCAL_WORLD_ALIGNED compile base_parameters time_derivatives inverse_dynamics_jet jacobian_jet
state_derivatives inverse_dynamics_derivatives forward_dynamics_derivatives
inverse_dynamics_second_derivatives regressor slotine_li_regressor parameter_derivatives
FlexibleArm FlexibleLink Payload flexible redundancy elastic
ElasticJoints
"""


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
            names = [alias.name for alias in node.names if alias.name.startswith("closedform")]
            yield from ([*name.split("."), "__init__"][1] for name in names)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_downwards(path):
    room = room_of(path)
    assert set(rooms_imported_by(path)) <= MAY_IMPORT[room] | {room}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_citation_is_in_the_bibliography(path):
    keys = set(re.findall(r"@\w+\{(\w+),", (ROOT / "references.bib").read_text(encoding="utf8")))
    cited = set(re.findall(r"\[([A-Z][A-Za-z]+(?:19|20)\d\d)\b", path.read_text(encoding="utf8")))
    assert cited <= keys


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_room_without_a_name(path):
    assert not re.match(r"(utils|helpers|common|misc)", path.name)


def test_the_public_names_of_the_contract_exist():
    assert [name for name in CONTRACT.split() if not hasattr(cf, name)] == []


def test_every_quantity_of_the_catalogue_is_public_under_its_name():
    assert [q.name for q in cf.CATALOGUE if getattr(cf, q.name, None) is not q.definition] == []


def test_every_quantity_says_what_it_returns():
    assert [q.name for q in cf.CATALOGUE if len(q.summary) < 10] == []
