"""Second derivatives of inverse dynamics in O(n d²): all in one frame.

The rules of `screws`, used twice; the definition is in `second_derivatives`. j ≺ k reads:
joint j lies between the world and joint k; j ⪯ k: or they are the same joint.

    2 B(I, X) Y   = X×* I Y − I (X × Y) + Y×* I X
    2 B(I, X)ᵀ Y  = X×* I Y − I (X × Y) − Y×* I X

Cites: [SinghRussellWensing2024] for an algorithm of the same order.
"""

from __future__ import annotations

from closedform.arrays import Array, namespace
from closedform.maths import state_pull_backs
from closedform.maths.algebra.entries import Entries, enter, tensor
from closedform.maths.algorithms.one_frame.derivatives import inverse_dynamics_and_derivatives
from closedform.maths.algorithms.one_frame.screws import Screw, Screws, screws
from closedform.maths.algorithms.one_frame.tensors import enter_mass_derivatives
from closedform.maths.definitions.second_derivatives import InverseDynamicsSecondDerivatives
from closedform.maths.loads import with_loads
from closedform.maths.pull_backs import pulled_back
from closedform.maths.quantity import folds
from closedform.maths.spatial import force_cross, motion_cross, power
from closedform.model.robot import Robot


@folds
@pulled_back(state_pull_backs.second_derivatives, inverse_dynamics_and_derivatives)
@with_loads
def inverse_dynamics_second_derivatives(
    robot: Robot, q: Array, v: Array, a: Array, base: int = 0,
) -> InverseDynamicsSecondDerivatives:
    """∂²τ/∂q∂q, ∂²τ/∂q∂v, ∂²τ/∂v∂v and ∂²τ/∂q∂a, (nv, nv, nv) each; `base` names the frame.

    What is differentiated are the first derivatives of `derivatives`; a zero stands where
    the three joints are not on one way to the world.
    """
    xp = namespace(q, v, a)
    here = screws(robot, q, v, a, base=base)
    qq: Entries = {}
    qv: Entries = {}
    vv: Entries = {}
    dM_dq: Entries = {}
    for k in here.segments:
        enter_mass_derivatives(here, k, dM_dq)
        for x in here.own[k]:
            _enter_rows(here, x, qq, qv, vv)
            _enter_columns(here, x, qq, qv, vv)
            _enter_leaf(here, x, qq, qv)
    qa: Entries = {(i, j, k): value for (i, k, j), value in dM_dq.items()}
    shape = (robot.nv, robot.nv, robot.nv)
    return InverseDynamicsSecondDerivatives(*(tensor(d, shape, xp) for d in (qq, qv, vv, qa)))


def _enter_rows(here: Screws, x: Screw, qq: Entries, qv: Entries, vv: Entries) -> None:
    """Derivatives of τ_x by two z, y ⪯ x; u = I S_x, b = 2 Bᵀ S_x, c_y = 2 B(I, Ψ̇_y)ᵀ S_x.

        y ⪯ z:   ∂_y ∂_z τ_x       = −(Ψ̈_y×* u + Ψ̇_y×* b) · S_z + (c_y − 2 Ψ̇_y×* u) · Ψ̇_z
                 ∂²τ_x/∂q_y∂v_z    = (c_y − 2 Ψ̇_y×* u) · S_z
                 ∂²τ_x/∂v_y∂v_z    = (2 B(I, S_y)ᵀ S_x − (2 or, in one joint, 1) S_y×* u) · S_z
        z ≺ y:   ∂_y ∂_z τ_x       = (S_y×* u) · Ψ̈_z + (S_y×* b + c_y) · Ψ̇_z
                 ∂²τ_x/∂q_y∂v_z    = (S_y×* u) · (Ψ̇_z + Ṡ_z) + (S_y×* b + c_y) · S_z
    """
    I, path = here.I[x.k], here.above(x.k) + here.own[x.k]
    u, b = I @ x.S, 2 * here.B[x.k].transposed_times(x.S)
    for y in path:
        turned, bent = force_cross(y.S, u), force_cross(y.dPsi, u)
        c = _rate_transposed(here, y.dPsi, x, bent)
        alpha = -(force_cross(y.ddPsi, u) + force_cross(y.dPsi, b))
        beta, later = c - 2 * bent, force_cross(y.S, b) + c
        fast = _rate_transposed(here, y.S, x, turned) - turned
        for z in path:
            if y.k <= z.k:
                enter(qq, (x.i, z.i, y.i), power(alpha, z.S) + power(beta, z.dPsi))
                enter(qv, (x.i, y.i, z.i), power(beta, z.S))
            else:
                enter(qq, (x.i, z.i, y.i), power(turned, z.ddPsi) + power(later, z.dPsi))
                enter(qv, (x.i, y.i, z.i), power(turned, z.dPsi + z.dS) + power(later, z.S))
            if y.k == z.k:
                enter(vv, (x.i, y.i, z.i), power(fast, z.S))
            elif y.k < z.k:
                value = power(fast - turned, z.S)
                enter(vv, (x.i, y.i, z.i), value)
                enter(vv, (x.i, z.i, y.i), value)


def _rate_transposed(here: Screws, X: Array, x: Screw, turned: Array) -> Array:
    """2 B(I, X)ᵀ S_x with turned = X×* I S_x."""
    I = here.I[x.k]
    return turned - I @ motion_cross(X, x.S) - force_cross(x.S, I @ X)


def _enter_columns(here: Screws, x: Screw, qq: Entries, qv: Entries, vv: Entries) -> None:
    """Derivatives of τ_i, i ≺ x, by x and by y ⪯ x, y last; A_x and W_x give the first derivatives.

        y ⪯ i:   ∂_y ∂_x τ_i       = S_i · r_y          ∂²τ_i/∂q_y∂v_x = S_i · ρ_y
        i ≺ y:   ∂_y ∂_x τ_i       = S_i · (r_y + S_y×* A_x)               S_i · (ρ_y + S_y×* W_x)

        r_y = S_x×* (I Ψ̈_y + 2 B Ψ̇_y) + I (Ψ̈_y × S_x + 2 Ψ̇_y × Ψ̇_x)
              + 2 B (Ψ̇_y × S_x) + 2 B(I, Ψ̇_y) Ψ̇_x
        ρ_y = 2 I (Ψ̇_y × S_x) + 2 B(I, Ψ̇_y) S_x

    and by v_y, v_x: as ρ_y with S_y for Ψ̇_y, with one I (S_y × S_x) less in one joint.
    """
    I, B, own, above = here.I[x.k], here.B[x.k], here.own[x.k], here.above(x.k)
    u, u_dot = I @ x.S, I @ x.dPsi
    A_x = force_cross(x.S, here.f[x.k]) + I @ x.ddPsi + B @ (2 * x.dPsi)
    W_x = I @ (x.dPsi + x.dS) + B @ (2 * x.S)
    for y in above + own:
        bent, I_dot = motion_cross(y.dPsi, x.S), I @ y.dPsi
        inner = motion_cross(y.ddPsi, x.S) + motion_cross(y.dPsi, x.dPsi)
        r = (force_cross(x.S, I @ y.ddPsi + B @ (2 * y.dPsi)) + I @ inner
             + B @ (2 * bent) + force_cross(y.dPsi, u_dot) + force_cross(x.dPsi, I_dot))
        rho = I @ bent + force_cross(y.dPsi, u) + force_cross(x.S, I_dot)
        r_moved, rho_moved = r + force_cross(y.S, A_x), rho + force_cross(y.S, W_x)
        fast = force_cross(y.S, u) + force_cross(x.S, I @ y.S)
        fast = fast if y.k == x.k else fast + I @ motion_cross(y.S, x.S)
        for i in above:
            still = y.k <= i.k
            enter(qq, (i.i, x.i, y.i), power(i.S, r if still else r_moved))
            enter(qv, (i.i, y.i, x.i), power(i.S, rho if still else rho_moved))
            value = power(i.S, fast)
            enter(vv, (i.i, x.i, y.i), value)
            if y.k < x.k:
                enter(vv, (i.i, y.i, x.i), value)


def _enter_leaf(here: Screws, x: Screw, qq: Entries, qv: Entries) -> None:
    """Derivatives of τ_i by j and then by the coordinate x, for i, j ≺ x.

        E Y = 2 (S_x×* B − B S_x× + B(I, Ψ̇_x)) Y
        ∂_x ∂_j τ_i      = S_i · ((S_x×* I − I S_x×) Ψ̈_j + E Ψ̇_j),  with S_j×* A_x more where i ≺ j
        ∂²τ_i/∂q_x∂v_j   = S_i · ((S_x×* I − I S_x×) (Ψ̇_j + Ṡ_j) + E S_j)
    """
    I, B, above = here.I[x.k], here.B[x.k], here.above(x.k)
    rate, I_dot = I.rate(x.S), I @ x.dPsi
    A_x = force_cross(x.S, here.f[x.k]) + I @ x.ddPsi + B @ (2 * x.dPsi)

    def E(Y: Array) -> Array:
        return (force_cross(x.S, B @ (2 * Y)) - B @ (2 * motion_cross(x.S, Y))
                + force_cross(x.dPsi, I @ Y) - I @ motion_cross(x.dPsi, Y)
                + force_cross(Y, I_dot))

    for j in above:
        change = rate @ j.ddPsi + E(j.dPsi)
        moved = change + force_cross(j.S, A_x)
        fast = rate @ (j.dPsi + j.dS) + E(j.S)
        for i in above:
            enter(qq, (i.i, j.i, x.i), power(i.S, change if j.k <= i.k else moved))
            enter(qv, (i.i, x.i, j.i), power(i.S, fast))
