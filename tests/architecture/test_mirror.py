"""Every module has a test file of its name, or stands in the table with the test that holds it."""

from pathlib import Path

import pytest

import closedform

PACKAGE = Path(closedform.__file__).parent
TESTS = Path(__file__).parents[1]
ROOMS = ("maths", "program", "lowerings", "applications")

HOLDS = {
    "applications/compile/loops/test_sweeping.py": (
        "", "maths/sweeps/articulated maths/sweeps/bodies maths/sweeps/frames maths/sweeps/joints "
        "maths/sweeps/pairs maths/sweeps/parameters maths/sweeps/products maths/sweeps/sums "
        "applications/compile/loops/lifted applications/compile/loops/needs "
        "applications/compile/loops/plans applications/compile/loops/units "
        "lowerings/call/interpreted lowerings/native/loops/arrangement "
        "lowerings/native/loops/blocks lowerings/native/loops/columns "
        "lowerings/native/loops/memory lowerings/native/loops/module lowerings/native/loops/pairs "
        "lowerings/native/loops/sweep program/sweeps"),
    "maths/algorithms/test_every_algorithm.py": (
        "maths/algorithms", "coriolis_transpose forward_derivatives inverse_mass newton_euler "
        "regressors time_derivatives one_frame/derivatives one_frame/frame "
        "one_frame/matrices one_frame/screws one_frame/second one_frame/tensors "
        "own_frames/body_motion own_frames/center_of_mass own_frames/centroidal "
        "own_frames/derivatives own_frames/energies own_frames/matrices"),
    "maths/algorithms/test_jets.py": (
        "maths/algorithms", "jacobian_jets"),
    "maths/base_parameters/test_base_parameters.py": (
        "maths/base_parameters", "base_recursion declared exact_geometry symbolic_entries"),
    "maths/base_parameters/test_exact_linear.py": (
        "maths/base_parameters", "coupled_rank energy_vectors modified_dh"),
    "maths/canonical/test_frames.py": (
        "maths/canonical", "regrouping snapping"),
    "maths/definitions/test_state_derivatives.py": (
        "maths/definitions", "christoffel dynamics_matrices"),
    "laws/test_dynamics_laws.py": (
        "maths/definitions", "closed_form energy"),
    "maths/loops/test_embedding.py": (
        "maths", "loops/torques scalars/moving"),
    "maths/loops/test_forces.py": (
        "maths", "loops/catalogue"),
    "maths/test_pull_backs.py": (
        "maths", "state_pull_backs"),
    "maths/test_catalogue.py": (
        "maths", "quantity elastic/catalogue flexible/catalogue"),
    "applications/test_refusals.py": (
        "maths", "arguments elastic/arguments flexible/arguments"),
    "maths/elastic/test_joints.py": (
        "maths", "elastic/control scalars/two_derivatives"),
    "maths/flexible/test_dynamics.py": (
        "maths/flexible", "arm kinematics regressor tensors"),
    "papers/test_deluca_siciliano.py": (
        "maths/papers", "de_luca_siciliano"),
    "papers/test_gautier_khalil.py": (
        "maths/papers", "gautier_khalil"),
    "maths/test_kinematics.py": (
        "maths", "spatial"),
    "program/test_differentiate.py": (
        "program", "ops"),
    "program/test_record.py": (
        "program", "program"),
    "program/lanes/test_numbers.py": (
        "program/lanes", "limbs unfolded"),
    "program/rules/test_simplify.py": (
        "program/rules", "angles cancel factor flat share"),
    "lowerings/call/test_quick.py": (
        "lowerings/call", "python_objects slow vectorcall"),
    "lowerings/frameworks/test_casadi_operator.py": (
        "lowerings/frameworks", "casadi_c casadi_plan"),
    "lowerings/store/test_cache.py": (
        "lowerings", "call/code store/program_bytes"),
    "lowerings/frameworks/test_torch_operator.py": (
        "lowerings/frameworks", "differentiable handles"),
    "lowerings/native/test_functions.py": (
        "lowerings/native", "cpu emit ir memory steps"),
    "lowerings/cuda/test_code.py": (
        "lowerings/cuda", "memory pieces plan rare/careful rare/far_angles rare/watch staying "
        "steps/order text tiles"),
    "lowerings/cuda/test_kernel.py": (
        "lowerings", "cuda/calls/launches cuda/calls/clock cuda/calls/device_array "
        "native/launching"),
    "lowerings/cuda/test_errors.py": (
        "lowerings/cuda", "calls/dlpack driver"),
    "lowerings/frameworks/test_jax_operator.py": (
        "lowerings/frameworks", "jax_axes"),
    "lowerings/frameworks/xla/test_handler.py": (
        "lowerings/frameworks/xla", "checks frame jobs"),
    "lowerings/frameworks/xla/test_gpu.py": (
        "lowerings/frameworks/xla", "loaded records"),
    "lowerings/source/test_c_source.py": (
        "lowerings/source", "assignments c_batch c_text"),
    "lowerings/source/test_jax.py": (
        "lowerings/source", "jax_loop"),
    "lowerings/test_to_sympy.py": (
        "lowerings/source", "readable"),
    "interfaces/cli/test_base.py": (
        "applications/base_parameters", "picture summary"),
    "agreement/test_kernels.py": (
        "applications/compile", "quantities"),
    "lowerings/call/test_trial.py": (
        "applications/compile", "robot_trial states"),
    "applications/conventions/test_robots.py": (
        "applications/conventions", "joints"),
    "applications/elastic/test_elastic.py": (
        "applications/elastic", "laws linear pictures programs torques"),
    "applications/identification/excitation/test_problem.py": (
        "applications/identification/excitation", "criteria rows"),
    "applications/identification/excitation/test_excite.py": (
        "applications/identification/excitation", "picture plan search"),
    "applications/export/test_export.py": (
        "applications/export", "header options pieces symbolic vectors sources/elastic_joints "
        "sources/flexible_arms sources/robots sources/source targets/c targets/javascript "
        "targets/listing targets/matlab targets/python targets/python_folder "
        "targets/symbolic targets/target"),
    "applications/live/test_page.py": (
        "applications/live", "arms cells model robots skeleton"),
    "applications/export/test_names.py": (
        "applications", "figure_text"),
    "applications/flexible/test_flexible.py": (
        "applications/flexible", "batch equations files pictures programs vibration"),
    "applications/identification/test_information.py": (
        "applications/identification", "rows triangles"),
    "applications/identification/test_verdict.py": (
        "applications/identification", "other_friction validate result"),
    "applications/identification/output/test_page.py": (
        "applications/identification/output", "files figures"),
    "applications/identification/estimate/test_fit.py": (
        "applications/identification/estimate",
        "consistent found least_squares prior_weight uncertainty"),
    "applications/identification/estimate/test_essential.py": (
        "applications/identification/estimate", "advice"),
    "applications/identification/logs/test_read.py": (
        "applications/identification/logs", "columns csv log names npz parquet table units"),
    "applications/identification/logs/test_rosbag.py": (
        "applications/identification/logs", "bag_files cdr"),
    "applications/identification/signals/test_signals.py": (
        "applications/identification/signals", "delay grid spectrum survey windows"),
    "applications/identification/signals/test_diagnosis.py": (
        "applications/identification/signals", "findings"),
    "applications/redundancy/workspace/test_maps.py": (
        "applications/redundancy/workspace", "ascents seeds"),
    "applications/studies/test_sweeps.py": (
        "applications/studies", "designs states"),
    "applications/studies/test_monte_carlo.py": (
        "applications/studies", "distributions"),
    "applications/redundancy/workspace/test_pictures.py": (
        "applications/studies", "map_page"),
    "applications/redundancy/test_redundancy.py": (
        "applications/redundancy",
        "batch certificate climb criteria curves plots resolved solving "
        "tasks tracking"),
    "applications/studio/test_shown.py": (
        "applications/studio", "cells subject parting panels/dynamics panels/formulas "
        "panels/model panels/posture panels/table"),
    "applications/studio/test_state.py": (
        "applications/studio", "dials link posture"),
    "applications/studio/test_recording.py": (
        "applications/studio", "bending fitting"),
    "applications/report/test_report.py": (
        "applications/report",
        "bench certificates formulas quantities record redundancy "
        "workers"),
    "applications/report/test_page.py": (
        "applications/report", "bodies tables"),
}
"""Tests that hold modules without a file of their name: the folder, and the modules in it."""

HELD_BY = {"/".join(filter(None, (folder, name))): test
           for test, (folder, names) in HOLDS.items() for name in names.split()}


def modules():
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            if path.name != "__init__.py":
                yield path.relative_to(PACKAGE).with_suffix("").as_posix()


def mirror(module):
    folder, _, name = module.rpartition("/")
    return TESTS / folder / f"test_{name}.py"


@pytest.mark.parametrize("module", list(modules()))
def test_every_module_has_its_test(module):
    if module in HELD_BY:
        assert not mirror(module).exists(), "has a file of its own now: leave the table"
        assert (TESTS / HELD_BY[module]).exists()
    else:
        own = mirror(module).relative_to(TESTS)
        assert mirror(module).exists(), f"write {own}, or name the test that holds the module"


def test_the_table_names_modules_that_exist():
    assert set(HELD_BY) <= set(modules())
