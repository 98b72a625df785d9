"""Exported text as it stands in this folder.

    CLOSEDFORM_REWRITE_GOLDEN=1 pytest tests/golden        writes it again; review the difference
"""

import os
from pathlib import Path

import pytest

import closedform as cf

HERE = Path(__file__).parent
REWRITE = os.environ.get("CLOSEDFORM_REWRITE_GOLDEN") == "1"

CASES = {
    "c": ("gravity_torque", False, ["planar2r_gravity_torque.h", "planar2r_gravity_torque.c"]),
    "matlab": ("gravity_torque", False, ["planar2r_gravity_torque.m"]),
    "python": ("mass_matrix", False, ["planar2r_mass_matrix.py"]),
    "jax": ("mass_matrix", False, ["planar2r_mass_matrix_jax.py"]),
    "casadi": ("mass_matrix", False, ["planar2r_mass_matrix_casadi.py"]),
    "javascript": ("gravity_torque", False, ["planar2r_gravity_torque.mjs"]),
    "wasm": ("gravity_torque", False, ["planar2r_gravity_torque_wasm.mjs"]),
    "sympy": ("coriolis_matrix", True, ["planar2r_coriolis_matrix_sympy.py"]),
    "latex": ("inverse_dynamics", True, ["planar2r_inverse_dynamics.tex"]),
}


@pytest.mark.parametrize("target", CASES)
def test_exported_text_is_as_it_was(target, tmp_path):
    quantity, symbols, names = CASES[target]
    cf.export(cf.load("planar2r"), quantity, target, tmp_path, symbols=symbols)
    for name in names:
        text, golden = (tmp_path / name).read_text(encoding="utf8"), HERE / f"{name}.txt"
        if REWRITE:
            golden.write_text(text, encoding="utf8", newline="\n")
        assert text == golden.read_text(encoding="utf8"), f"{golden.name}: see the module's help"
