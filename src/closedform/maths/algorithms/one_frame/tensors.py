"""∂M/∂q, ∂C/∂q, ∂C/∂v, ∂g/∂q and Christoffel symbols in O(n d²): all in one frame.

The rules are those of `screws`: entries vanish unless the joints of all indices lie
on one way to the world, and one or two products of 6-vectors give each of the others. j ≺ k
reads: joint j lies between the world and joint k; j ⪯ k: or they are the same joint.

The definitions are in `state_derivatives` and `christoffel`.

Cites: [SinghRussellWensing2022] for the rules; [EcheandiaWensing2021] for Christoffel symbols in
O(n d²).
"""

from __future__ import annotations

from closedform.arrays import Array, namespace
from closedform.maths import state_pull_backs
from closedform.maths.algebra.entries import Entries, enter, tensor
from closedform.maths.algorithms.one_frame.matrices import mass_matrix, passive_dynamics_matrices
from closedform.maths.algorithms.one_frame.screws import Screw, Screws, screws
from closedform.maths.algorithms.operators import BlockOperator
from closedform.maths.definitions.state_derivatives import StateDerivatives
from closedform.maths.loads import with_loads
from closedform.maths.pull_backs import pulled_back, symbols
from closedform.maths.quantity import folds
from closedform.maths.spatial import force_cross, motion_cross, power
from closedform.model.robot import Robot


@folds
@pulled_back(state_pull_backs.state_derivatives, passive_dynamics_matrices)
@with_loads
def state_derivatives(robot: Robot, q: Array, v: Array, base: int = 0) -> StateDerivatives:
    """∂M/∂q, ∂C/∂q, ∂C/∂v (nv, nv, nv) and ∂g/∂q (nv, nv), with the passive C of (6b).

        M_ij = S_i · I S_j      C_ij = S_i · (I Ṡ_j + O S_j)      g_i = S_i · I γ      O = Σ V×* I

    with the composites I, O behind the deeper of joints i and j; `base` names the frame.
    """
    xp = namespace(q, v)
    here = screws(robot, q, v, base=base)
    O = here.passive_operators()
    dM_dq: Entries = {}
    dC_dq: Entries = {}
    dC_dv: Entries = {}
    dg_dq: Entries = {}
    for k in here.segments:
        enter_mass_derivatives(here, k, dM_dq)
        for x in here.own[k]:
            _enter_coriolis_by_path(here, x, O[k], dC_dq, dC_dv)
            _enter_coriolis_by_leaf(here, x, O[k], dC_dq, dC_dv)
            _enter_gravity(here, x, dg_dq)
    n = robot.nv
    cube = (n, n, n)
    return StateDerivatives(tensor(dM_dq, cube, xp), tensor(dC_dq, cube, xp),
                            tensor(dC_dv, cube, xp), tensor(dg_dq, (n, n), xp))


def enter_mass_derivatives(here: Screws, k: int, dM_dq: Entries) -> None:
    """∂M_ij/∂q_y where joint k is the deepest of the three.

        j ≺ y ⪯ i:   S_j · S_y×* (I_i S_i)          i, j ≺ y:   S_i · (S_y×* I_y − I_y S_y×) S_j
    """
    I, own, above = here.I[k], here.own[k], here.above(k)
    for x in own:
        momentum = I @ x.S
        for y in above + own:
            turned = force_cross(y.S, momentum)
            for j in above:
                if j.k < y.k:
                    value = power(turned, j.S)
                    enter(dM_dq, (x.i, j.i, y.i), value)
                    enter(dM_dq, (j.i, x.i, y.i), value)
        rate = I.rate(x.S)
        for at, j in enumerate(above):
            change = rate @ j.S
            for other, i in enumerate(above[:at + 1]):
                value = power(change, i.S)
                enter(dM_dq, (i.i, j.i, x.i), value)
                if other < at:
                    enter(dM_dq, (j.i, i.i, x.i), value)


def _enter_coriolis_by_path(
    here: Screws, x: Screw, O: BlockOperator, dC_dq: Entries, dC_dv: Entries,
) -> None:
    """∂C_xj, ∂C_ix by the coordinates and speeds y ⪯ x, for j ⪯ x and i ≺ x.

        y ⪯ j:       ∂_y C_xj = −(Ψ̇_y×* I S_x + I (Ψ̇_y × S_x)) · S_j
        j ≺ y:       ∂_y C_xj = (S_y×* I S_x) · Ṡ_j + (S_y×* Oᵀ S_x − I (Ψ̇_y × S_x)) · S_j
        y ⪯ i:       ∂_y C_ix = S_i · (Ψ̇_y×* I S_x + I (Ψ̇_y × S_x))
        i ≺ y:       ∂_y C_ix = the same + S_i · S_y×* (I Ṡ_x + O S_x)

    and by v_y: the first and third with S_y for Ψ̇_y; without S_y×* I S_x where j ≺ y.
    """
    I, own, above = here.I[x.k], here.own[x.k], here.above(x.k)
    momentum, o = I @ x.S, O.transposed_times(x.S)
    force = I @ x.dS + O @ x.S
    for y in above + own:
        bent = I @ motion_cross(y.dPsi, x.S)
        turned, side = force_cross(y.S, momentum), I @ motion_cross(y.S, x.S)
        whole, fast = force_cross(y.dPsi, momentum) + bent, turned + side
        later = force_cross(y.S, o) - bent
        for j in above + own:
            if y.k <= j.k:
                enter(dC_dq, (x.i, j.i, y.i), -power(whole, j.S))
                enter(dC_dv, (x.i, j.i, y.i), -power(fast, j.S))
            else:
                enter(dC_dq, (x.i, j.i, y.i), power(turned, j.dS) + power(later, j.S))
                enter(dC_dv, (x.i, j.i, y.i), -power(side, j.S))
        moved = whole + force_cross(y.S, force)
        for i in above:
            enter(dC_dq, (i.i, x.i, y.i), power(whole if y.k <= i.k else moved, i.S))
            enter(dC_dv, (i.i, x.i, y.i), power(fast, i.S))


def _enter_coriolis_by_leaf(
    here: Screws, x: Screw, O: BlockOperator, dC_dq: Entries, dC_dv: Entries,
) -> None:
    """∂C_ij by the coordinate and the speed x, for i, j ≺ x.

        ∂_x C_ij    = S_i · ((S_x×* I − I S_x×) Ṡ_j + (S_x×* O − O S_x× + Ψ̇_x×* I) S_j)
        ∂C_ij/∂v_x  = S_i · S_x×* I S_j
    """
    I, above = here.I[x.k], here.above(x.k)
    rate = I.rate(x.S)
    for j in above:
        momentum = I @ j.S
        change = (rate @ j.dS + force_cross(x.S, O @ j.S)
                  - O @ motion_cross(x.S, j.S) + force_cross(x.dPsi, momentum))
        fast = force_cross(x.S, momentum)
        for i in above:
            enter(dC_dq, (i.i, j.i, x.i), power(change, i.S))
            enter(dC_dv, (i.i, j.i, x.i), power(fast, i.S))


def _enter_gravity(here: Screws, x: Screw, dg_dq: Entries) -> None:
    """∂g_x/∂q_y = I S_x · (γ × S_y) for y ⪯ x;  ∂g_i/∂q_x = S_i · (S_x×* I γ + I (γ × S_x))."""
    I, above = here.I[x.k], here.above(x.k)
    momentum = I @ x.S
    for y in above + here.own[x.k]:
        enter(dg_dq, (x.i, y.i), power(momentum, motion_cross(here.gamma, y.S)))
    change = force_cross(x.S, I @ here.gamma) + I @ motion_cross(here.gamma, x.S)
    for i in above:
        enter(dg_dq, (i.i, x.i), power(change, i.S))


@folds
@pulled_back(symbols, mass_matrix)
@with_loads
def christoffel_symbols(robot: Robot, q: Array, base: int = 0) -> Array:
    """Γ_ijk = ∂C_ij/∂v_k of the Christoffel C, (nv, nv, nv), in O(n d²).

        2 Γ_ijk = S_i · (S_k×* I S_j + S_j×* I S_k ± I (S_k × S_j)),   + for k ⪯ j, − for j ≺ k

    with I behind the deepest of the three joints; `base` names the frame of expression.
    """
    xp = namespace(q)
    here = screws(robot, q, base=base)
    symbols: Entries = {}
    for k in here.segments:
        for x in here.own[k]:
            _enter_symbols(here, x, symbols)
    n = robot.nv
    return tensor(symbols, (n, n, n), xp)


def _enter_symbols(here: Screws, x: Screw, symbols: Entries) -> None:
    """Γ where x is among the deepest: as i with j, k ⪯ x, or as j or k with i ≺ x."""
    I, own, above = here.I[x.k], here.own[x.k], here.above(x.k)
    momentum = I @ x.S / 2
    for y in above + own:
        turned, side = force_cross(y.S, momentum), I @ motion_cross(y.S, x.S) / 2
        swapped = force_cross(x.S, I @ y.S) / 2
        row = -(turned + side + swapped)
        for z in above + own:
            if y.k <= z.k:                           # k = y, j = z
                value = power(row, z.S)
                enter(symbols, (x.i, z.i, y.i), value)
                if y.k < z.k:
                    enter(symbols, (x.i, y.i, z.i), value)
        column = turned + swapped + side             # k = y, j = x
        for i in above:
            value = power(column, i.S)
            enter(symbols, (i.i, x.i, y.i), value)
            if y.k < x.k:
                enter(symbols, (i.i, y.i, x.i), value)
