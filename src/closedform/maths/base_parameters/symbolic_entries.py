"""SymPy expressions as elements of an exact field, and back.

A symbol a that stands inside sin or cos is replaced by t = tan(a/2):

    cos a = (1 − t²)/(1 + t²),   sin a = 2t/(1 + t²)

and on the way back every function of t is written as A(cos a) + sin a B(cos a), which is unique.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from closedform.errors import ArgumentError
from closedform.maths.base_parameters.exact_linear import NumberField, RationalFunctions
from closedform.maths.base_parameters.modified_dh import FINE, simplest_fraction

HALF = "tan({}/2)"
"""The name of the element that stands for an angle."""


def fraction_of(x: float) -> Fraction:
    """The simplest fraction that is the float x to rounding."""
    return simplest_fraction(x, FINE * abs(x))


def symbols_of(entries: Iterable[Any]) -> tuple[str, ...]:
    """Names of the field's symbols that SymPy expressions need, sorted."""
    import sympy
    names: set[str] = set()
    for entry in entries:
        plain, angles = _parts(sympy.sympify(entry))
        names |= {s.name for s in plain.free_symbols if s not in angles.values()}
        names |= {HALF.format(a.name) for a in angles}
    return tuple(sorted(names))


def rational_function(entry: Any, field: NumberField) -> Any:
    """A SymPy expression as an element of the field."""
    import sympy
    plain, angles = _parts(sympy.sympify(entry))
    known = {t.name: field.symbol(HALF.format(a.name)) for a, t in angles.items()}
    for s in plain.free_symbols:
        known.setdefault(s.name, None)
    known = {n: field.symbol(n) if x is None else x for n, x in known.items()}
    return _evaluated(plain, known, field)


def _parts(expression: Any) -> tuple[Any, dict[Any, Any]]:
    """The expression with t in place of each angle, and the t of each angle."""
    import sympy
    expression = sympy.expand_trig(expression)
    angles: dict[Any, Any] = {}
    swaps = {}
    for f in expression.atoms(sympy.sin, sympy.cos):
        a = f.args[0]
        if not a.is_Symbol:
            raise ArgumentError(f"{f}: only symbols and their sums and multiples can stand inside "
                                "sin and cos")
        t = angles.setdefault(a, sympy.Symbol(HALF.format(a.name)))
        cos = isinstance(f, sympy.cos)
        swaps[f] = (1 - t**2) / (1 + t**2) if cos else 2 * t / (1 + t**2)
    return expression.subs(swaps), angles


def _evaluated(x: Any, known: dict[str, Any], field: NumberField) -> Any:
    """The tree of sums, products and whole powers, walked over the field."""
    if x.is_Symbol:
        return known[x.name]
    if x.is_Rational:
        return field.number(Fraction(int(x.p), int(x.q)))
    if x.is_Float:
        return field.number(fraction_of(float(x)))
    if x.is_Add or x.is_Mul:
        total = None
        for part in x.args:
            y = _evaluated(part, known, field)
            total = y if total is None else total + y if x.is_Add else total * y
        return total
    if x.is_Pow and x.exp.is_Integer:
        base, n = _evaluated(x.base, known, field), int(x.exp)
        result = field.number(1)
        for _ in range(abs(n)):
            result = result * base
        return result if n >= 0 else 1 / result
    raise ArgumentError(f"{x} is no quotient of polynomials of symbols, sines and cosines")


def expression(x: Any, field: NumberField) -> Any:
    """An element of the field as a SymPy expression, angles as sin and cos again."""
    import sympy
    if not isinstance(field, RationalFunctions) or not field.symbols:
        value = field.value(x, {})
        return sympy.Rational(value.numerator, value.denominator)
    if not hasattr(x, "as_expr"):  # a plain integer among the entries
        return sympy.Integer(int(x))
    result = sympy.factor_terms(x.as_expr())
    for t in sorted(result.free_symbols, key=str):
        if t.name.startswith("tan(") and t.name.endswith("/2)"):
            result = _with_sine_and_cosine(result, t, sympy.Symbol(t.name[4:-3]))
    return result


def readable_sum(row: Mapping[int, Any], symbols: Mapping[int, Any], field: NumberField) -> Any:
    """Σ coefficient · symbol, written with terms of equal factors together.

    As in (D3² + R3²)(m3 + m4) + D4² m4: the monomials of the coefficients are sorted by the
    parameters that they multiply.
    """
    import sympy
    by_monomial: dict[Any, dict[int, Any]] = {}
    for column, x in row.items():
        coefficient = expression(x, field)
        for term in sympy.Add.make_args(sympy.expand(coefficient)):
            number, monomial = term.as_coeff_Mul()
            number = number if number.is_Integer else sympy.Float(float(number))
            by_monomial.setdefault(monomial, {})[column] = number
    by_parameters: dict[Any, list[Any]] = {}
    for monomial, part in by_monomial.items():
        sign = -1 if all(n < 0 for n in part.values()) else 1
        key = tuple((c, sign * n) for c, n in sorted(part.items()))
        by_parameters.setdefault(key, []).append(sign * monomial)
    return sympy.Add(*(sympy.Add(*monomials) * sympy.Add(*(n * symbols[c] for c, n in part))
                       for part, monomials in by_parameters.items()))


def _with_sine_and_cosine(f: Any, t: Any, angle: Any) -> Any:
    """f(t) = A(c) + s B(c) with c = cos a, s = sin a: t² = (1 − c)/(1 + c), t = s/(1 + c)."""
    import sympy
    c = sympy.Symbol("c_" + angle.name)
    numerator, denominator = sympy.fraction(sympy.together(f))
    numerator = sympy.expand(numerator * denominator.subs(t, -t))
    denominator = sympy.expand(denominator * denominator.subs(t, -t))
    square = (1 - c) / (1 + c)
    def half(parity: int) -> Any:
        terms = sympy.Poly(numerator, t).terms()
        return sum(k * square ** ((n - parity) // 2) for (n,), k in terms if n % 2 == parity)
    below = sum(k * square ** (n // 2) for (n,), k in sympy.Poly(denominator, t).terms())
    even, odd = sympy.cancel(half(0) / below), sympy.cancel(half(1) / below / (1 + c))
    return even.subs(c, sympy.cos(angle)) + sympy.sin(angle) * odd.subs(c, sympy.cos(angle))
