"""[Chang1987]: the tables, the formulas, the counts; what is wrong in print is shown here."""

from itertools import pairwise

import numpy as np
import pytest

import closedform as cf
from closedform.applications import redundancy
from closedform.maths.papers.chang import proposed_method_counts, resolved_motion_counts

ROBOT = cf.load("planar3r")
TASK = redundancy.PlanarPosition("tip")
CRITERION = redundancy.Manipulability()
U, V = 850 / 600, 200 / 600
VERTICES = np.array([[446.004433, 91.513530], [446.004433, -8.486470], [546.004433, -8.486470],
                     [546.004433, 91.513530]]) / 1e3
START = np.radians([-40.5006, 141.6408, 78.4169])
PROPOSED = np.array([[-25.5116, 134.4894, 100.8165], [-13.4927, 135.1801, 101.6627],
                     [-7.1232, 128.0020, 92.1837], [-17.0753, 127.4846, 91.4484]])
AT_REST = np.array([[-25.5115, 134.4894, 100.8164], [-13.4927, 135.1801, 101.6626],
                    [-7.1232, 128.0020, 92.1837], [-17.0752, 127.4846, 91.4484]])
FIRST_CYCLE = np.array([[-14.0445, 135.3160, 101.2448], [-7.1924, 127.9635, 92.4919],
                        [-17.0519, 127.3890, 91.7938], [-25.7427, 134.4867, 100.7127]])
FIRST_TIPS = np.array([[445.74, -6.5824], [545.52, -6.8216], [545.73, 92.947], [445.97, 93.167]])
STEADY = np.array([[-25.7472, 134.4929, 100.7206], [-14.0476, 135.3249, 101.2557],
                   [-25.4178, 134.3821, 101.2799], [-14.0526, 135.3293, 101.2610]])
STEADY_TIPS = np.array([[445.89, 93.140], [445.63, -6.6244], [445.60, 92.912], [445.57, -6.6184]])


def tip(q):
    return cf.frame_pose(ROBOT, q, "tip")[:2, 3]


def square(points):
    corners = [*VERTICES, VERTICES[0]]
    return np.concatenate([a + np.arange(points)[:, None] / points * (b - a)
                           for a, b in pairwise(corners)] + [corners[:1]])


@pytest.fixture(scope="module")
def lagging():
    """The resolved motion of Tables I and II, with the settings that reproduce it."""
    cycles = [*VERTICES] * 3
    path = np.array([*cycles, VERTICES[0], VERTICES[1], VERTICES[0], VERTICES[1]])
    return redundancy.resolved_motion(
        ROBOT, TASK, path, redundancy.Yoshikawa(), np.radians([-90.0, 175.0, 0.0]), speed=0.01,
        gain=10.0, step=0.02, integrator=redundancy.Integrator(1, previous=1 / 6, late=True))


def test_the_first_vertex_is_the_tip_of_the_recovered_start():
    np.testing.assert_allclose(tip(np.radians([-90.0, 175.0, 0.0])), VERTICES[0], atol=5e-10)


def test_the_printed_start_row_does_not_belong_to_its_tip():
    """Table I prints (446.00, 91.514) for it; all other rows agree with (30)."""
    assert np.linalg.norm(tip(START) - VERTICES[0]) == pytest.approx(0.52e-3, abs=0.01e-3)
    for row, printed in zip(PROPOSED, VERTICES, strict=True):
        assert np.linalg.norm(tip(np.radians(row)) - printed) < 5e-6


@pytest.mark.parametrize("method", [redundancy.Climb(), redundancy.Hybrid()], ids=["climb", "hybr"])
def test_tables_I_to_III_proposed_method(method):
    """All twelve angles within 1e-4 degrees of the print."""
    for vertex, printed in zip(VERTICES, PROPOSED, strict=True):
        found = redundancy.solve(ROBOT, TASK, vertex, CRITERION, np.radians(printed) + 0.02,
                                 method=method)
        assert found.verdict == "maximum"
        assert np.abs(np.degrees(found.q) - printed).max() < 1e-4


def test_every_criterion_made_of_the_determinant_has_the_same_solution():
    for criterion in (redundancy.DetJJt(), redundancy.Yoshikawa()):
        found = redundancy.solve(ROBOT, TASK, VERTICES[0], criterion, START)
        assert np.abs(np.degrees(found.q) - PROPOSED[0]).max() < 1e-4
        assert found.verdict == "maximum"


def test_table_III_resolved_motion_at_rest():
    """Self-motion alone ends at the same angles, within one unit of the last printed digit."""
    for vertex, printed, start in zip(VERTICES, AT_REST, PROPOSED, strict=True):
        resting = np.repeat(vertex[None], 150, axis=0)
        off = np.radians(start) + 0.02
        begin = redundancy.solve(ROBOT, TASK, vertex, redundancy.Posture(off), off).q
        found = redundancy.resolved_motion(ROBOT, TASK, resting, redundancy.Yoshikawa(), begin,
                                           gain=10.0, step=0.1)
        assert np.abs(np.degrees(begin) - printed).max() > 0.3
        assert np.abs(np.degrees(found.q[-1]) - printed).max() < 1.5e-4


def test_table_I_resolved_motion(lagging):
    """H = √det in metres, 10 mm/s, α = 10, the start (−90, 175, 0): not what the text says."""
    assert np.abs(np.degrees(lagging.q[1:5]) - FIRST_CYCLE).max() < 4e-4
    assert np.abs(1e3 * np.array([tip(q) for q in lagging.q[1:5]]) - FIRST_TIPS).max() < 8e-3


def test_table_II_resolved_motion(lagging):
    """After three cycles; the text says two."""
    assert np.abs(np.degrees(lagging.q[12:16]) - STEADY).max() < 4e-4
    assert np.abs(1e3 * np.array([tip(q) for q in lagging.q[12:16]]) - STEADY_TIPS).max() < 8e-3


def test_a_correct_runge_kutta_keeps_the_tip_on_the_path():
    """The printed errors of 1–2 mm are not the method's."""
    found = redundancy.resolved_motion(ROBOT, TASK, [*VERTICES, VERTICES[0]],
                                       redundancy.Yoshikawa(), np.radians([-90.0, 175.0, 0.0]),
                                       speed=0.01, gain=10.0, step=0.01)
    assert found.task_error.max() < 3e-9


def test_formulas_of_section_IV():
    """H, h, Z and (32) as printed, in units of l1; (31) is ∂x/∂θ divided by l1."""
    q, u, v = np.array([0.4, 1.3, -0.6]), U, V
    t2, t3 = q[1], q[2]
    s2, s3, s23, c23 = np.sin(t2), np.sin(t3), np.sin(t2 + t3), np.cos(t2 + t3)
    s22, s33, s233, s223 = (np.sin(2 * t2), np.sin(2 * t3), np.sin(t2 + 2 * t3),
                            np.sin(2 * t2 + t3))
    s2233 = np.sin(2 * t2 + 2 * t3)
    J = cf.frame_jacobian(ROBOT, q, "tip")[:2] / 0.6
    H = (2 * s3**2 * u**2 * v**2 + 2 * s23 * s3 * u * v**2 + 2 * s23**2 * v**2
         + 2 * s2 * s23 * u * v + s2**2 * u**2)
    assert pytest.approx(np.linalg.det(J @ J.T), rel=1e-13) == H
    h = np.array([0.0,
                  2 * (c23 * s3 * u + s2233) * v**2 + 2 * s223 * u * v + s22 * u**2,
                  2 * (s33 * u**2 + s233 * u + s2233) * v**2 + 2 * c23 * s2 * u * v])
    Z = np.array([s3 * u * v, -s3 * u * v - s23 * v, s23 * v + s2 * u])
    np.testing.assert_allclose(J @ Z, 0, atol=1e-15)
    printed = (2 * u**2 * v**3 * (s23 * s33 - c23 * s3**2)
               + u * v**3 * (2 * s23 * s233 - 3 * s2233 * s3) + 2 * u**3 * v**2 * s2 * s33
               + u**2 * v**2 * (np.cos(2 * t3) - np.cos(2 * t2))
               + 2 * u * v**2 * (s2 * s2233 - np.cos(t2) * s23**2)
               - u**3 * v * s22 * s3 - 2 * u**2 * v * s2 * s3)
    assert Z @ h == pytest.approx(printed, abs=1e-14)


def test_operation_counts_14_to_25():
    counts = proposed_method_counts(7, 6)
    assert counts == (318, 222, 202, 563.5, 1305.5)
    n, m = 7, 6
    for constant, holds in ((-139, True), (-133, False)):              # (18); its repeat is wrong
        total = 2 / 3 * m**3 + 11.5 * n**2 + 2 * n * m - m**2 / 2 - m / 6 + 96 * n + constant
        assert (total == pytest.approx(counts.total)) is holds
    assert resolved_motion_counts(7, 6, 2, 23 * 7) == 1867             # (24) with 4/3 m³
    assert resolved_motion_counts(7, 6, 4, 13 * 7) == 3503             # (25)


def test_operation_counts_of_section_V():
    """N1 = 136 holds; N2 = 239 and 175 do not follow from (21)–(23)."""
    assert proposed_method_counts(3, 2, forward_kinematics=8, jacobian=12).total == 135.5
    assert resolved_motion_counts(3, 2, 4, 13 * 3, jacobian=12) == 275
    assert resolved_motion_counts(3, 2, 2, 23 * 3, jacobian=12) == 187


@pytest.mark.parametrize("k", range(4))
def test_every_vertex_has_eight_stationary_points(k):
    """Four for each elbow sign, half of them maxima; the paper's is not the best on the left."""
    found = redundancy.branches(ROBOT, TASK, VERTICES[k], CRITERION)
    assert len(found) == 8
    assert [s.verdict for s in found].count("maximum") == 4
    assert [s.verdict for s in found].count("minimum") == 4
    assert sum(np.sin(s.q[1]) > 0 for s in found) == 4
    values = [s.value for s in found]
    assert values == sorted(values, reverse=True)
    paper = redundancy.solve(ROBOT, TASK, VERTICES[k], CRITERION, np.radians(PROPOSED[k]))
    assert (paper.value < values[0] - 1e-4) is (k < 2)


def test_measured_values_of_the_two_maxima_on_the_left():
    """H of (29) in units of l1: 0.793664 on the tracked branch, 0.797023 at the best."""
    best = redundancy.branches(ROBOT, TASK, VERTICES[0], CRITERION)
    H = [np.exp(2 * s.value) / 0.6**4 for s in best]
    assert H[0] == pytest.approx(0.797023, abs=1e-6)
    assert H[2] == pytest.approx(0.793664, abs=1e-6)


def test_the_square_is_repeatable_in_both_directions():
    path = square(25)
    there = redundancy.track(ROBOT, TASK, path, CRITERION, START)
    back = redundancy.track(ROBOT, TASK, path[::-1], CRITERION, there.q[-1])
    assert there.complete and back.complete
    assert np.abs(there.q[-1] - there.q[0]).max() < 1e-9
    assert np.abs(back.q[::-1] - there.q).max() < 1e-9
    corners = np.degrees(there.q[[0, 25, 50, 75]])
    assert np.abs(corners - PROPOSED).max() < 1e-4


def test_the_hybrid_method_finds_minima_and_says_so():
    """From (−90, 175, 0) it ends at the minimum H = 0.024."""
    found = redundancy.solve(ROBOT, TASK, VERTICES[0], redundancy.DetJJt(),
                             np.radians([-90.0, 175.0, 0.0]), method=redundancy.Hybrid())
    assert found.verdict == "minimum"
    assert found.value / 0.6**4 == pytest.approx(0.02405, abs=1e-4)
