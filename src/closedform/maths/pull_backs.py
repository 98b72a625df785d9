"""How quantities of a free robot become those of one whose joints follow others by polynomials.

With q̂ = γ(q) and G = ∂γ/∂q (`embedding`), momenta and torques are those of the free robot, seen in
the velocities that are left:

    τ = Gᵀ τ̂      M = Gᵀ M̂ G      C = Gᵀ (Ĉ G + M̂ Ġ)      J = Ĵ G      J̇ = Ĵ̇ G + Ĵ Ġ

and their derivatives follow by the chain rule (`state_pull_backs`). `pulled_back` puts the rule
that a quantity obeys before its function, definition or algorithm; robots without such joints are
handed on as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from inspect import signature
from math import comb
from typing import Any

from closedform.arrays import Array, namespace
from closedform.maths.embedding import Factors, embedding
from closedform.maths.quantity import Function
from closedform.model.loops.affine import affine, y_of
from closedform.model.robot import Robot

ByName = dict[str, Any]
"""The arguments of a function by name, the robot among them."""
PullBack = Callable[..., Any]
"""(the function, what is `Seen` of its arguments, further functions): the quantity."""
RATES = ("v", "a", "j")


def pulled_back(rule: PullBack, *companions: Function) -> Callable[[Function], Function]:
    """A function of robots, with a rule for those whose joints follow others by polynomials.

    `companions` are functions of further quantities that the rule takes.
    """
    def decorate(function: Function) -> Function:
        names = signature(function)

        @wraps(function)
        def call(robot: Robot, *args: Any, **named: Any) -> Any:
            if not robot.is_embedded:
                return function(robot, *args, **named)
            given = names.bind(robot, *args, **named).arguments
            if robot.loops and (same := affine(robot)) is not None:
                return call(**given | {"robot": same, "q": given["q"][y_of(robot)]})
            if robot.loops:                      # the tree may have followers by polynomials
                return getattr(rule, "of_loops", rule)(call, Seen(dict(given)), *companions)
            return rule(function, Seen(dict(given)), *companions)

        return call
    return decorate


class Seen:
    """The arguments of a function, and what they are for the free robot."""

    def __init__(self, given: ByName) -> None:
        self.given, self.robot, self.q = given, given["robot"], given["q"]
        self.e = embedding(self.robot)
        self.motion = (list(given["rates"]) if "rates" in given
                       else [given[name] for name in RATES if name in given])

    @cached_property
    def hats(self) -> ByName:
        """The arguments of the free robot."""
        given, e, q = self.given, self.e, self.q
        rates = e.rates(q, self.motion) if self.motion else []
        result = given | {"robot": e.free, "q": e.coordinates(q)}
        if "rates" in given:
            return result | {"rates": namespace(q, given["rates"]).stack(rates)}
        result |= dict(zip(RATES, rates, strict=False))
        if "v_r" in given:
            (g, dg), v_r = self.g(1), given["v_r"]
            result["v_r"] = e.raised(v_r, g)
            result["a_r"] = e.raised(given["a_r"], g) + e.raised(v_r, dg)
        return result

    def free(self, function: Function, **instead: Any) -> Any:
        """A function of the free robot, with those of the arguments that it takes."""
        taken = signature(function).parameters
        return function(**{k: x for k, x in (self.hats | instead).items() if k in taken})

    def g(self, count: int = 0) -> list[Factors]:
        """γ' and so many of its time derivatives."""
        return self.e.slope_rates(self.q, self.motion[:count])

    def slope(self, order: int, *times: Array) -> Factors:
        """γ⁽ᵒʳᵈᵉʳ⁾, each times the given entries of its driver."""
        found = dict(self.e.slopes(self.q, order))
        for r in found:
            for x in times:
                found[r] = found[r] * x[self.e.v_source[r]]
        return found

    def last(self, x: Array, factors: Factors) -> Array:
        """x with its last axis folded."""
        return self.e.folded(x, *[None] * (x.ndim - 1), factors)

    def diagonal(self, x: Array) -> Array:
        """diag(x), (nv, nv)."""
        return namespace(x).eye(self.robot.nv) * x


def instead_of(rule: PullBack) -> Callable[[PullBack], PullBack]:
    """A rule for robots with loops in place of the one for followers by polynomials."""
    def decorate(other: PullBack) -> PullBack:
        vars(rule)["of_loops"] = other
        return other
    return decorate


def together(*parts: Factors) -> Factors:
    """The sum of factors."""
    return {r: sum(f[r] for f in parts if r in f) for r in dict.fromkeys(
        r for f in parts for r in f)}


def twice(factors: Factors) -> Factors:
    return {r: 2 * f for r, f in factors.items()}


# ---------------------------------------------------------------------- tensors
def tensor(*axes: bool) -> PullBack:
    """Axes that are ones of velocities are folded with G: `tensor(False, True)` for J."""
    def rule(function: Function, seen: Seen) -> Any:
        found, (g,) = seen.free(function), seen.g()
        return seen.e.folded(found, *(g if axis else None for axis in axes)) if axes else found
    return rule


SAME = tensor()
"""What has no axis of velocities: energies, velocities and accelerations of bodies."""
COVECTOR = tensor(True)
FORM = tensor(True, True)
COLUMNS = tensor(False, True)


def rate(function: Function, seen: Seen, J: Function) -> Array:
    """J̇ = Ĵ̇ G + Ĵ Ġ."""
    g, dg = seen.g(1)
    return seen.last(seen.free(function), g) + seen.last(seen.free(J), dg)


def second_rate(function: Function, seen: Seen, J: Function, dJ: Function) -> Array:
    """J̈ = Ĵ̈ G + 2 Ĵ̇ Ġ + Ĵ G̈."""
    g, dg, ddg = seen.g(2)
    return (seen.last(seen.free(function), g) + 2 * seen.last(seen.free(dJ), dg)
            + seen.last(seen.free(J), ddg))


def hessian(function: Function, seen: Seen, J: Function) -> Array:
    """∂J_ij/∂q_k = Ĥ G G, and Ĵ ∂G/∂q on j = k."""
    g, = seen.g()
    own = seen.last(seen.free(J), seen.slope(2))
    diagonal = namespace(own).stack([seen.diagonal(row) for row in own])
    return seen.e.folded(seen.free(function), None, g, g) + diagonal


# ---------------------------------------------------------------------- torques
def connection(function: Function, seen: Seen, mass: Function) -> Array:
    """C = Gᵀ (Ĉ G + M̂ Ġ), passive if Ĉ is, and of Christoffel symbols if Ĉ is."""
    return _connection(seen, seen.free(function), seen.free(mass))


def _connection(seen: Seen, C: Array, M: Array) -> Array:
    g, dg = seen.g(1)
    return seen.e.folded(C, g, g) + seen.e.folded(M, g, dg)


def matrices(function: Function, seen: Seen) -> Any:
    """M, C and g at once."""
    (g,), found = seen.g(), seen.free(function)
    return found._replace(M=seen.e.folded(found.M, g, g), C=_connection(seen, found.C, found.M),
                          g=seen.e.folded(found.g, g))


def motion_torque(function: Function, seen: Seen, momentum: Function) -> Array:
    """C v, or C v + g: Gᵀ (f̂ + M̂ Ġ v)."""
    g, dg = seen.g(1)
    bent = seen.free(momentum, v=seen.e.raised(seen.given["v"], dg))
    return seen.e.folded(seen.free(function) + bent, g)


def transpose_torque(function: Function, seen: Seen, momentum: Function) -> Array:
    """Cᵀ v = Gᵀ Ĉᵀ v̂ + Ġᵀ M̂ v̂."""
    g, dg = seen.g(1)
    return seen.e.folded(seen.free(function), g) + seen.e.folded(seen.free(momentum), dg)


def symbols(function: Function, seen: Seen, mass: Function) -> Array:
    """Γ_ijk = Γ̂ G G G, and Gᵀ M̂ ∂G/∂q on j = k."""
    g, = seen.g()
    own = seen.e.folded(seen.free(mass), g, seen.slope(2))
    diagonal = namespace(own).stack([seen.diagonal(row) for row in own])
    return seen.e.folded(seen.free(function), g, g, g) + diagonal


def solved(function: Function, seen: Seen, solve: Function, mass: Function,
           inverse: Function) -> Array:
    """a with M a = τ − τ(q, v, 0)."""
    given = {k: x for k, x in seen.given.items() if k != "tau"}
    still = inverse(**given, a=namespace(seen.q).zeros(seen.robot.nv))
    return solve(seen.robot, mass(seen.robot, seen.q), seen.given["tau"] - still)


def solved_derivatives(function: Function, seen: Seen, by_factor: Function,
                       inverse: Function) -> Any:
    """∂a/∂q, ∂a/∂v and M⁻¹ from τ and its derivatives, `inverse`."""
    given = {k: x for k, x in seen.given.items() if k != "tau"}
    still = inverse(**given, a=namespace(seen.q).zeros(seen.robot.nv))

    def derivatives(a: Array) -> Any:
        return inverse(**given, a=a)[1:]

    return by_factor(seen.robot, still.dtau_da, seen.given["tau"] - still.tau, derivatives)


# ---------------------------------------------------------------------- by time and parameters
def jet(function: Function, seen: Seen) -> Array:
    """The time derivatives of f̂ G, all in the rows of an array: Σ_k (n over k) f̂⁽ᵏ⁾ G⁽ⁿ⁻ᵏ⁾."""
    found, g = seen.free(function), seen.g(len(seen.motion))
    rows = [[seen.last(comb(n, k) * found[k], g[n - k]) for k in range(n + 1)]
            for n in range(len(found))]
    return namespace(found).stack([sum(row[1:], row[0]) for row in rows])


def time_derivatives(function: Function, seen: Seen, matrices: Function) -> Any:
    """Those of M = Gᵀ M̂ G, C = Gᵀ (Ĉ G + M̂ Ġ) and g = Gᵀ ĝ, by the product rule."""
    found, now, g = seen.free(function), seen.free(matrices), seen.g(3)
    M, C = (now.M, found.dM, found.ddM), (now.C, found.dC, found.ddC)

    def rated(n: int, X: tuple[Array, ...], left: list[Factors], right: list[Factors]) -> Array:
        """The n-th derivative of leftᵀ X right."""
        terms = [comb(n, i) * comb(n - i, j) * seen.e.folded(X[i], left[j], right[n - i - j])
                 for i in range(n + 1) for j in range(n - i + 1)]
        return sum(terms[1:], terms[0])

    dM, ddM = (rated(n, M, g, g) for n in (1, 2))
    dC, ddC = (rated(n, C, g, g) + rated(n, M, g, g[1:]) for n in (1, 2))
    fold = seen.e.folded
    dg = fold(found.dg, g[0]) + fold(now.g, g[1])
    ddg = fold(found.ddg, g[0]) + 2 * fold(found.dg, g[1]) + fold(now.g, g[2])
    return found._replace(dM=dM, ddM=ddM, dC=dC, ddC=ddC, dg=dg, ddg=ddg)


def parameter_derivatives(function: Function, seen: Seen) -> Any:
    """∂M/∂π, ∂C/∂π and ∂g/∂π, as M, C and g."""
    (g, dg), found, fold = seen.g(1), seen.free(function), seen.e.folded
    return found._replace(dM_dpi=fold(found.dM_dpi, g, g), dg_dpi=fold(found.dg_dpi, g),
                          dC_dpi=fold(found.dC_dpi, g, g) + fold(found.dM_dpi, g, dg))
