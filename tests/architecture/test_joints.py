"""What a kind of joint is stays in `model/joints/`: nobody else asks a joint for its kind."""

import ast
from pathlib import Path

import pytest

import closedform as cf
from closedform.model import joints

PACKAGE = Path(cf.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
KINDS = {kind.__name__ for kind in joints.KINDS}
HOME = "model/joints/"
MAKERS = {
    "__init__.py": "the public names",
    "model/edits.py": "locks joints",
    "model/formats/dh.py": "reads joints",
    "model/formats/mjcf/equalities.py": "couples joints, fixes welded ones",
    "model/formats/mjcf/read.py": "reads joints",
    "model/formats/sdf/joints.py": "reads joints",
    "model/formats/sdf/loops.py": "reads balls",
    "model/formats/symoro.py": "reads joints",
    "model/formats/sdf/read.py": "holds links on fixed joints",
    "model/formats/pinocchio.py": "reads joints",
    "model/formats/table.py": "reads joints",
    "model/formats/urdf/loops.py": "reads cut joints",
    "model/formats/urdf/read.py": "reads joints",
    "model/formats/urdf/write.py": "puts frames on fixed joints",
    "model/loops/affine.py": "makes followers of joints",
    "model/loops/gap.py": "has the rows of cut joints",
    "model/loops/records.py": "lists the joints that may be cut",
    "applications/identification/model.py": "holds a payload on a fixed joint",
    "applications/conventions/joints.py": "has the tables of other libraries",
    "applications/compile/loops/units.py": "lists the joints whose velocities turn with them",
    "maths/sweeps/joints.py": "has a step for the pose of each of those",
}
"""The files that may name kinds, because they make joints or hold what others know of them."""


def place(path):
    return path.relative_to(PACKAGE).as_posix()


OTHERS = [path for path in FILES if not place(path).startswith(HOME)]


def names(node):
    """Names of kinds in an expression: `Revolute`, `cf.Revolute`, tuples and unions of them."""
    return {x.id if isinstance(x, ast.Name) else x.attr for x in ast.walk(node)
            if isinstance(x, ast.Name | ast.Attribute)} & KINDS


def asks_for_a_kind(node):
    """Whether the node is isinstance(…, Kind), type(…) is Kind, case Kind(), or a name compared."""
    match node:
        case ast.Call(func=ast.Name("isinstance" | "issubclass"), args=[_, kinds]):
            return bool(names(kinds))
        case ast.MatchClass(cls=kind):
            return bool(names(kind))
        case ast.Compare(left=left, comparators=others):
            texts = {x.value for other in (left, *others) for x in ast.walk(other)
                     if isinstance(x, ast.Constant)}
            called = "__name__" in ast.dump(node) and texts & (KINDS | {k.lower() for k in KINDS})
            typed = any(isinstance(x, ast.Call) and isinstance(x.func, ast.Name)
                        and x.func.id == "type" for x in (left, *others))
            return bool(called or (typed and any(names(x) for x in (left, *others))))
    return False


def imported(tree):
    return {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
            and (node.module or "").startswith("closedform.model.joints") for alias in node.names}


@pytest.mark.parametrize("path", OTHERS, ids=place)
def test_no_file_outside_asks_a_joint_for_its_kind(path):
    tree = ast.parse(path.read_text(encoding="utf8"))
    asked = [ast.unparse(node) for node in ast.walk(tree) if asks_for_a_kind(node)]
    assert asked == []


@pytest.mark.parametrize("path", OTHERS, ids=place)
def test_only_those_who_make_joints_import_kinds(path):
    found = imported(ast.parse(path.read_text(encoding="utf8"))) & KINDS
    assert not found or place(path) in MAKERS


def test_the_list_of_makers_has_no_idle_entry():
    idle = [at for at in MAKERS
            if not imported(ast.parse((PACKAGE / at).read_text(encoding="utf8"))) & KINDS]
    assert idle == []


@pytest.mark.parametrize("code", [
    "isinstance(joint, Revolute)", "isinstance(joint, Free | Spherical)",
    "isinstance(joint, (cf.Planar, Free))", "type(joint) is Revolute", "type(joint) == cf.Free",
    "type(joint) in (Free, Planar)", "type(joint).__name__ not in ('Spherical', 'Planar')",
    "match joint:\n    case Revolute():\n        pass",
])
def test_every_way_to_ask_is_seen(code):
    assert any(asks_for_a_kind(node) for node in ast.walk(ast.parse(code)))
