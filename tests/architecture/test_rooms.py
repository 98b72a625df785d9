"""The rooms of the house and which may import which; sizes, cycles; citations; public names."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import closedform as cf

PACKAGE = Path(cf.__file__).parent
ROOT = PACKAGE.parent.parent
FILES = sorted(PACKAGE.rglob("*.py"))

GROUND = {"arrays", "errors", "version"}
MAY_IMPORT = {
    "errors": set(),
    "version": set(),
    "arrays": {"errors"},
    "model": GROUND,
    "program": GROUND,
    "maths": GROUND | {"model"},
    "lowerings": GROUND | {"program"},
    "applications": GROUND | {"model", "maths", "program", "lowerings"},
    "interfaces": GROUND | {"model", "applications", "__init__"},
    "__init__": GROUND | {"model", "maths", "lowerings", "applications"},
    "__main__": {"interfaces"},
}


MOST_FILES = 15
"""More than so many in one folder, and some of them belong into one of their own."""

FOLDERS = {
    "maths": {
        "algebra": set(),
        "scalars": set(),
        "definitions": {"algebra", "scalars"},
        "algorithms": {"algebra", "scalars", "definitions"},
        "papers": {"algebra", "scalars", "definitions", "algorithms", "flexible", "redundancy",
                   "base_parameters"},
        "canonical": {"algorithms", "definitions"},
        "sweeps": {"algorithms", "definitions", "scalars"},
        "base_parameters": {"algebra", "definitions", "algorithms"},
        "flexible": {"algebra", "scalars"},
        "elastic": {"algebra", "scalars", "definitions", "algorithms"},
        "redundancy": {"algebra", "scalars", "algorithms"},
        "identification": {"algebra", "definitions", "algorithms"},
        "loops": {"algebra", "scalars", "definitions", "algorithms"},
    },
    "program": {"lanes": set(), "rules": set(), "ordering": {"rules"}},
    "lowerings": {
        "native": set(), "store": set(), "source": set(), "cuda": {"native", "store"},
        "wasm": {"native", "source"},
        "frameworks": {"native", "store", "source", "cuda"},
        "call": {"native", "store", "source", "cuda", "frameworks"},
    },
    "model": {"groups": set(), "joints": {"groups"}, "loops": {"joints"}, "elasticity": {"joints"},
              "formats": {"groups", "joints", "loops"}, "zoo": {"formats"},
              "lint": {"formats", "joints", "loops", "zoo"}},
    "applications": {
        "conventions": set(), "base_parameters": {"compile"}, "compile": set(),
        "cluster": set(), "studies": {"compile", "cluster", "redundancy", "report"},
        "motion": {"compile"}, "redundancy": {"compile", "motion", "cluster"},
        "flexible": {"compile", "motion", "cluster"}, "elastic": {"compile", "motion"},
        "export": {"compile", "flexible", "elastic"}, "live": {"compile"},
        "identification": {"compile", "motion", "report", "cluster", "studies"},
        "report": {"compile", "motion", "redundancy", "conventions", "base_parameters", "export",
                   "live"},
        "studio": {"compile", "motion", "redundancy", "flexible", "elastic", "base_parameters",
                   "export", "identification", "report", "live"},
    },
}
"""Folders inside a room, each with those beside it that it may import."""

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
ElasticJoints export conventions
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


def modules_imported_by(path):
    """Full names, also of imports inside functions; not those for the type checker alone."""
    tree = ast.parse(path.read_text(encoding="utf8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("closedform"):
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                yield inside if inside in MODULES else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_between_the_folders_of_a_room_point_downwards(path):
    room, *inner = path.relative_to(PACKAGE).with_suffix("").parts
    if room not in FOLDERS or len(inner) < 2:
        return                       # a module beside the folders may use them all
    for name in modules_imported_by(path):
        _, other_room, *other = [*name.split("."), "", ""]
        if other_room == room and other[0] in FOLDERS[room] and other[0] != inner[0]:
            assert other[0] in FOLDERS[room][inner[0]], f"{module_name(path)} imports {name}"


def test_every_folder_of_a_room_is_in_the_table():
    for room, known in FOLDERS.items():
        found = {p.name for p in (PACKAGE / room).iterdir() if (p / "__init__.py").exists()}
        assert found == set(known)


def test_no_module_imports_itself_in_a_circle():
    """Neither at the top nor hidden in functions."""
    graph = {name: set(modules_imported_by(path)) - {name} for name, path in MODULES.items()
             if name != "closedform"}          # the package's own surface is asked for names only
    TopologicalSorter(graph).prepare()         # raises CycleError, which tells the circle


@pytest.mark.parametrize("folder", sorted({p.parent for p in FILES}),
                         ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_folder_is_full(folder):
    assert len(list(folder.glob("*.py"))) <= MOST_FILES


def test_every_work_in_the_bibliography_is_cited():
    places = (*FILES, *PACKAGE.rglob("*.toml"), *(ROOT / "docs").rglob("*.md"),
              *(ROOT / "tests").rglob("*.py"))
    text = "".join(path.read_text(encoding="utf8") for path in places)
    keys = set(re.findall(r"@\w+\{(\w+),", (ROOT / "references.bib").read_text(encoding="utf8")))
    assert {key for key in keys if key not in text} == set()


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
