"""Symbolic expressions made readable: angles added, abbreviations c12 and s12, terms grouped.

An expression is a polynomial in parameters (lengths, masses), in rates and in sines and cosines of
angles. Products of sines and cosines become those of sums of angles where that is shorter; then the
monomials in the parameters that share a factor are collected:

    l_1² m_1 + l_1² m_2 + l_2² m_2 + 2 l_1 l_2 m_2 c2
        = l_1² (m_1 + m_2) + l_2² m_2 + 2 l_1 l_2 m_2 c2

Expressions that divide by angles, as those of closed loops, stay as they are with shared terms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
import sympy
from sympy.simplify.fu import TR8

from closedform.arrays import Array
from closedform.program.record import object_array


def readable(outputs: Mapping[str, Array], angles: Sequence[Any], parameters: Sequence[Any],
             ) -> tuple[list[tuple[Any, Any]], dict[str, np.ndarray]]:
    """The abbreviations that are used, and the outputs in them."""
    if any(_is_fraction(x) for array in outputs.values() for x in np.ravel(array)):
        return _shared(outputs)
    short: dict[Any, Any] = {}
    made = {key: object_array([_grouped(_abbreviated(_shortest(x, angles), angles, short),
                                        parameters, set(short.values()))
                               for x in np.ravel(np.asarray(array, dtype=object))],
                              np.shape(array)) for key, array in outputs.items()}
    terms = [(symbol, function) for function, symbol in short.items()]
    return sorted(terms, key=lambda x: (len(x[0].name), x[0].name)), made


def _is_fraction(x: Any) -> bool:
    """Whether an angle stands in a denominator, as where a loop is solved."""
    return any(p.exp.is_negative and p.base.has(sympy.sin, sympy.cos)
               for p in sympy.sympify(x).atoms(sympy.Pow))


def _shared(outputs: Mapping[str, Array],
            ) -> tuple[list[tuple[Any, Any]], dict[str, np.ndarray]]:
    """Fractions as they are: what several have in common is a term t_k."""
    flat = [exact(x) for array in outputs.values() for x in np.ravel(array)]
    symbols = (sympy.Symbol(f"t_{k}", real=True) for k in count(1))
    terms, made = sympy.cse(flat, symbols=symbols, order="none")
    found, at = dict[str, np.ndarray](), 0
    for key, array in outputs.items():
        n = int(np.size(array))
        found[key], at = object_array(made[at:at + n], np.shape(array)), at + n
    return list(terms), found


def exact(x: Any) -> Any:
    """An expression with its floats as the rationals they stand for: 0.5 is 1/2."""
    return sympy.nsimplify(sympy.sympify(x), rational=True)


def _shortest(x: Any, angles: Sequence[Any]) -> Any:
    """Of a polynomial in sines and cosines and a sum of those of added angles the shorter one."""
    flat = sympy.expand(sympy.expand_trig(sympy.expand(exact(x))))
    reduced = _reduced(flat, angles)
    summed = sympy.expand(TR8(reduced))
    return min((summed, reduced), key=lambda y: (sympy.count_ops(y), len(str(y))))


def _reduced(x: Any, angles: Sequence[Any]) -> Any:
    """A polynomial in sines and cosines with every sin² replaced by 1 − cos²."""
    for q in angles:
        s = sympy.Dummy("s")
        polynomial = sympy.expand(x.subs(sympy.sin(q), s))
        if polynomial.has(s):
            polynomial = sympy.rem(polynomial, s**2 + sympy.cos(q)**2 - 1, s)
        x = sympy.expand(polynomial.subs(s, sympy.sin(q)))
    return x


def _abbreviated(x: Any, angles: Sequence[Any], short: dict[Any, Any]) -> Any:
    """c12 for cos(q1 + q2): sums of different angles with their numbers."""
    number = {q: k + 1 for k, q in enumerate(angles)}
    for function in sorted(x.atoms(sympy.sin, sympy.cos), key=str):
        parts = function.args[0].as_ordered_terms()
        if all(part in number for part in parts):
            digits = [str(number[part]) for part in sorted(parts, key=lambda q: number[q])]
            short.setdefault(function, sympy.Symbol(
                function.func.__name__[0] + "_".join(digits), real=True))
    return x.xreplace(short)


def _grouped(x: Any, parameters: Sequence[Any], trig: set[Any]) -> Any:
    """Σ (sum of monomials in the parameters) · (what they multiply)."""
    used = [p for p in parameters if x.has(p)]
    if not used:
        return _collected(x, trig)
    groups: dict[Any, Any] = {}
    for monomial, factor in sympy.Poly(x, *used).terms():
        scale, primitive = sympy.expand(factor).as_content_primitive()
        if primitive.could_extract_minus_sign():
            scale, primitive = -scale, sympy.expand(-primitive)
        weight = sympy.prod(p**n for p, n in zip(used, monomial, strict=True))
        groups[primitive] = groups.get(primitive, 0) + scale * weight
    return sympy.Add(*(_factored(weight) * _collected(primitive, trig)
                       for primitive, weight in groups.items()))


def _factored(x: Any) -> Any:
    """A polynomial as a product, or a sum with the factors taken out that most terms share."""
    whole = sympy.factor(x)
    if not whole.is_Add:
        return whole
    terms = whole.as_ordered_terms()
    powers = [{b**n for b, n in term.as_powers_dict().items() if b.is_Symbol} for term in terms]
    shared = {f: sum(f in own for own in powers) for f in set().union(*powers)}
    best = max(shared, key=lambda f: (shared[f], f.as_base_exp()[1], str(f)), default=None)
    if best is None or shared[best] < 2:
        return whole
    inside = sympy.Add(*(t / best for t, own in zip(terms, powers, strict=True) if best in own))
    outside = sympy.Add(*(t for t, own in zip(terms, powers, strict=True) if best not in own))
    return sympy.Add(best * _factored(inside), _factored(outside), evaluate=False)


def _collected(x: Any, trig: set[Any]) -> Any:
    """A sum collected by sines and cosines, with common factors in front."""
    found = sorted((s for s in trig if x.has(s)), key=str)
    collected = sympy.collect(x, found, sympy.factor_terms) if found else sympy.factor_terms(x)
    return min((collected, sympy.factor_terms(x)), key=sympy.count_ops)
