"""One word, one meaning: no two modules define a public class or type of the same name."""

import ast
from collections import defaultdict
from pathlib import Path

import closedform

PACKAGE = Path(closedform.__file__).parent

SEVERAL = {
    "Function": "a function of the mathematics, and one that is being compiled",
    "Model": "what is to be identified of a robot, and which terms of a flexible arm are kept",
    "Verdict": "on an identified robot, and on a redundant arm's configuration",
    "Kind": "a kind of model in the catalogue, and a kind of number in machine code",
}
"""Names that more than one module may define, and why."""


def defined_types(path):
    """Public classes, and aliases of types, which look like CamelCase, at the top of a module."""
    for node in ast.parse(path.read_text(encoding="utf8")).body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name) and target.id[0].isupper() \
                        and not target.id.isupper():
                    yield target.id


def places():
    found = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in defined_types(path):
            if not name.startswith("_"):
                found[name].append(str(path.relative_to(PACKAGE)))
    return found


def test_no_two_modules_define_a_type_of_the_same_name():
    several = {name: at for name, at in places().items() if len(at) > 1}
    assert {k: v for k, v in several.items() if k not in SEVERAL} == {}


def test_the_exceptions_are_needed():
    several = {name for name, at in places().items() if len(at) > 1}
    assert set(SEVERAL) <= several
