"""What a record of a motion says about itself."""

import pickle

import numpy as np

import closedform as cf
from flexible_arms import paper_arm
from random_robots import random_robot, random_state

TREE = random_robot(0, kinds=("free", "spherical"), bodies=3)
Q, V, _ = random_state(TREE, 0)
TIMES = np.linspace(0, 0.5, 6)


def test_integrated_quaternions_drift_and_those_told_do_not():
    rough = cf.simulate(TREE, (Q, V), None, TIMES, method=cf.RK45(rtol=1e-4, atol=1e-4))
    fine = cf.simulate(TREE, (Q, V), None, TIMES)
    assert 1e-9 < np.max(rough.constraint_residual) < 1e-3
    assert np.max(fine.constraint_residual) < 1e-8
    for run in (rough, fine):
        lengths = [np.linalg.norm(run.q[:, at][:, -4:], axis=1) for at in TREE.q_slices.values()]
        np.testing.assert_allclose(lengths, 1, atol=1e-15)


def test_the_smallest_eigenvalue_is_that_of_the_mass_matrix():
    run = cf.simulate(TREE, (Q, V), None, TIMES[:3])
    known = [np.linalg.eigvalsh(cf.mass_matrix(TREE, q))[0] for q in run.q]
    np.testing.assert_allclose(run.smallest_inertia, known, rtol=1e-9)
    arm, q0 = paper_arm(), [0, np.pi / 2, -0.2, 0, 0, 0]
    bent = cf.simulate(arm, (q0, np.zeros(6)), None, [0, 0.1])
    known = [np.linalg.eigvalsh(cf.flexible.inertia_matrix(arm, q))[0] for q in bent.q]
    np.testing.assert_allclose(bent.smallest_inertia, known, rtol=1e-9)
    model = cf.ElasticJoints(cf.load("planar2r"), [None, 30.0], 0.2, 0.5)
    run = cf.simulate(model, None, None, [0, 0.1])
    known = [np.linalg.eigvalsh(cf.mass_matrix(model.link_robot, q))[0] for q in run.q]
    np.testing.assert_allclose(run.smallest_inertia, known, rtol=1e-9)


def test_a_wrong_energy_would_be_seen():
    """The residual of a motion with a path bent by hand is what was bent."""
    run = cf.simulate(cf.load("planar2r"), ([0.3, 0.2], [0.0, 0.0]), None, [0, 0.1])
    path = run.path.copy()
    path[-1, -1] += 0.5                                          # work that nobody has done
    wrong = cf.Simulation(run.system, run.times, path, run.inputs, run.method, 0)
    np.testing.assert_allclose(wrong.energy_residual[-1], -0.5, atol=1e-8)
    assert wrong.energy_drift > 0.1 > 1e6 * run.energy_drift


def test_a_record_survives_pickling():
    springs = cf.ElasticJoints(cf.load("planar2r"), [None, 30.0], 0.2, 0.5)
    for model, state in ((TREE, (Q, V)), (springs, None)):
        run = cf.simulate(model, state, None, [0, 0.1])
        again = pickle.loads(pickle.dumps(run))
        np.testing.assert_array_equal(again.q, run.q)
        np.testing.assert_array_equal(again.energy, run.energy)


def test_its_text_names_system_method_and_check():
    text = repr(cf.simulate(cf.load("planar2r"), None, None, [0, 0.1]))
    assert text.startswith("<Simulation of planar2r: 2 times from 0 to 0.1 s, DOP853, energy drift")
