"""The languages that quantities leave to: `cf.export(robot, names, cf.targets.C(single=True), …)`.

The fields of a target are its options. `cf.export`, the command line, the documentation and the
tests read `TARGETS`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from closedform.applications.export.targets.c import C as C
from closedform.applications.export.targets.javascript import JavaScript as JavaScript
from closedform.applications.export.targets.javascript import Wasm as Wasm
from closedform.applications.export.targets.listing import Listing as Listing
from closedform.applications.export.targets.matlab import Matlab as Matlab
from closedform.applications.export.targets.python import Casadi as Casadi
from closedform.applications.export.targets.python import Jax as Jax
from closedform.applications.export.targets.python import Python as Python
from closedform.applications.export.targets.symbolic import Latex as Latex
from closedform.applications.export.targets.symbolic import Sympy as Sympy
from closedform.applications.export.targets.target import Target as Target

TARGETS: Mapping[str, type[Target]] = MappingProxyType({target.name: target for target in (
    C, Matlab, Python, Jax, Casadi, JavaScript, Wasm, Sympy, Latex, Listing,
)})
"""Every target by its name."""
