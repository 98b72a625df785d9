"""Optimal control in CasADi: a kernel for the whole horizon, beside the same written out in SX.

`python 14_casadi.py 50` solves the problem with 50 nodes; without a number there are ten.
"""

import sys
import time
from typing import Any

import casadi
import numpy as np

import closedform as cf

arm = cf.compile(cf.load("panda"))
n, DURATION = arm.robot.nv, 2.0
START = np.array([0.0, 0.4, 0.0, -1.6, 0.0, 2.0, 0.8])
END = START + np.array([0.5, 0.3, -0.4, 0.5, 0.3, -0.3, 0.6])


def problem(f: Any, kind: Any, nodes: int, explicit: bool = False) -> tuple[dict[str, Any], Any]:
    """From rest to rest with little torque: the NLP in MX or SX, and a first guess.

    `f(Q, V, U)` are the accelerations of all nodes. By the midpoint rule,

        q⁺ = q + h (v + v⁺)/2,    v⁺ = v + h f((q + q⁺)/2, (v + v⁺)/2, u)

    or, `explicit`, by Euler's. A stage's variables and equations follow each other.
    """
    h = DURATION / nodes
    Z, last = kind.sym("Z", 3 * n, nodes), kind.sym("last", 2 * n)
    Q, V, U = (casadi.horzcat(Z[:n, :], last[:n]), casadi.horzcat(Z[n:2 * n, :], last[n:]),
               Z[2 * n:, :])
    q, v = (Q[:, :-1], V[:, :-1]) if explicit else ((Q[:, :-1] + Q[:, 1:]) / 2,
                                                    (V[:, :-1] + V[:, 1:]) / 2)
    gaps = casadi.vertcat(Q[:, 1:] - Q[:, :-1] - h * v, V[:, 1:] - V[:, :-1] - h * f(q, v, U))
    begin, end = np.append(START, np.zeros(n)), np.append(END, np.zeros(n))
    g = [gaps[:, 0], Z[:2 * n, 0] - begin, casadi.vec(gaps[:, 1:]), last - end]
    cost = h * (1e-4 * casadi.sumsqr(U) + 1e-2 * casadi.sumsqr(V))
    stage = np.concatenate([begin, arm.gravity_torque(START)])
    return ({"x": casadi.vertcat(casadi.vec(Z), last), "f": cost, "g": casadi.vertcat(*g)},
            np.concatenate([np.tile(stage, nodes), end]))


def written_out(nodes: int) -> Any:
    """The program in SX, once for each node."""
    f = arm.forward_dynamics.casadi(symbolic=True)
    return lambda Q, V, U: casadi.horzcat(*(f(Q[:, k], V[:, k], U[:, k]) for k in range(nodes)))


def solved(nlp: dict[str, Any], guess: Any) -> tuple[float, float]:
    """The least cost, and milliseconds of CPU per iteration of IPOPT."""
    quiet: dict[str, Any] = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
    solver = casadi.nlpsol("solver", "ipopt", nlp, quiet)
    begin = time.process_time()
    found = solver(x0=guess, lbg=0, ubg=0)
    spent = time.process_time() - begin
    assert solver.stats()["success"]
    return float(found["f"]), 1e3 * spent / solver.stats()["iter_count"]


if __name__ == "__main__":
    nodes = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    cost, kernel = solved(*problem(arm.forward_dynamics.casadi(nodes), casadi.MX, nodes))
    same, sx = solved(*problem(written_out(nodes), casadi.SX, nodes))
    print(f"{nodes} nodes, least cost {cost:.6f}: {kernel:.2f} ms per iteration with the kernel, "
          f"{sx:.2f} ms written out in SX")
    assert abs(cost - same) < 1e-6
