"""The two-link arm with two modes per link, coefficient by coefficient, as the paper prints it.

`b[113]` is b_113 of the paper's (32), `h[101]` its h_101 of (34), `t[11]` its t_11 of (33). All b
and t are as printed. Five h are misprinted and corrected here:

| coefficient | printed            | right              |
|-------------|--------------------|--------------------|
| h_107       | −A ℓ1 φ'11         | −2 A ℓ1 φ'11       |
| h_117       | −(v21 + mp φ21)    | +(v21 + mp φ21)    |
| h_118       | −(v22 + mp φ22)    | +(v22 + mp φ22)    |
| h_412       | −2 t22 φ12 φ'12    | −2 t22 φ12 φ'11    |
| h_413       | −2 t21 φ12 φ'11    | −2 t21 φ12 φ'12    |

with A = m2 d2 + mp ℓ2. As printed, energy is not conserved; `tests/papers/test_deluca_siciliano.py`
shows it, and that this form equals the general one.

Cites: [DeLucaSiciliano1991, eqs. (32)–(35) and appendix].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from closedform.arrays import Array, namespace
from closedform.errors import ModelError
from closedform.maths.flexible.arm import FlexibleArm


class Coefficients(NamedTuple):
    """The paper's constants, by their printed numbers."""

    b: Mapping[int, float]
    h: Mapping[int, float]
    t: Mapping[int, float]


def coefficients(arm: FlexibleArm) -> Coefficients:
    """The appendix for an arm of two links with two of their own modes each, (MD) = 0.

    p and s are φ_e and φ'_e. J, M, u, x, y stand for sums that the paper writes out.
    """
    if [link.modes for link in arm.links] != [2, 2] or any(load.moment for load in arm.loads):
        raise ModelError("the paper's explicit form is for 2 links with 2 modes each, (MD) = 0, "
                         f"not for {arm!r}")
    (one, two), (first, second) = arm.links, arm.modes
    l1, l2, m1, m2 = one.length, two.length, first.mass, second.mass
    Jh1, Jh2, mh2, Jo1, Jo2 = (one.hub_inertia, two.hub_inertia, two.hub_mass, first.inertia,
                               second.inertia)
    mp, Jp = arm.payload.mass, arm.payload.inertia
    (p11, p12), (s11, s12), (w11, w12) = first.tip, first.tip_slope, first.w
    (p21, p22), (s21, s22) = second.tip, second.tip_slope
    (v21, v22), (w21, w22) = second.v, second.w

    A = second.first_moment + mp * l2                                       # m2 d2 + mp l2
    J, M = Jh2 + Jo2 + Jp + mp * l2**2, mh2 + m2 + mp
    t21, t22 = v21 + mp * p21, v22 + mp * p22
    u21, u22 = w21 + Jp * s21 + mp * l2 * p21, w22 + Jp * s22 + mp * l2 * p22
    x, y = p11 * s12 - p12 * s11, p11 * s12 + p12 * s11
    b = {
        111: Jh1 + Jo1 + Jh2 + mh2 * l1**2 + Jo2 + m2 * l1**2 + Jp + mp * (l1**2 + l2**2),
        112: 2 * A * l1, 113: 2 * A, 114: -2 * l1, 121: J, 122: A * l1, 123: A, 124: -l1,
        131: w11 + J * s11 + M * l1 * p11, 132: A * (p11 + l1 * s11), 133: -(p11 + l1 * s11),
        134: -A * x, 141: w12 + J * s12 + M * l1 * p12, 142: A * (p12 + l1 * s12),
        143: -(p12 + l1 * s12), 144: A * x, 151: u21, 152: t21 * l1, 153: t21, 161: u22,
        162: t22 * l1, 163: t22,
        221: J, 231: J * s11, 232: A * p11, 233: -p11, 234: -A * p11, 241: J * s12, 242: A * p12,
        243: -p12, 244: -A * p12, 251: u21, 261: u22,
        331: m1, 332: 2 * A * p11 * s11, 333: -2 * p11 * s11, 341: 0, 342: A * y, 343: -y,
        351: u21 * s11, 352: t21 * p11, 353: -t21 * p11, 361: u22 * s11, 362: t22 * p11,
        363: -t22 * p11,
        441: m1, 442: 2 * A * p12 * s12, 443: -2 * p12 * s12, 451: u21 * s12, 452: t21 * p12,
        453: -t21 * p12, 461: u22 * s12, 462: t22 * p12, 463: -t22 * p12,
        551: m2, 561: 0,
        661: m2,
    }
    h = {
        101: -2 * A * l1, 102: 2 * A * (p11 - l1 * s11), 103: 2 * A * (p12 - l1 * s12),
        104: -2 * t21 * l1, 105: -2 * t22 * l1, 106: -A * l1, 107: -2 * A * l1 * s11,
        108: -2 * A * l1 * s12, 109: -2 * t21 * l1, 110: -2 * t22 * l1, 111: -2 * t21 * l1 * s11,
        112: -2 * t22 * l1 * s11, 113: -2 * t21 * l1 * s12, 114: -2 * t22 * l1 * s12, 115: 2 * A,
        116: A, 117: t21, 118: t22, 119: -2 * l1, 120: -l1, 121: -(p11 + l1 * s11),
        122: -(p12 + l1 * s12), 123: -A * x, 124: A * x,
        201: A * l1, 202: 2 * A * p11, 203: 2 * A * p12, 204: -A, 205: -t21, 206: -t22, 207: l1,
        208: p11 + l1 * s11, 209: p12 + l1 * s12, 210: A * x, 211: -A * x, 212: p11 * s11, 213: y,
        214: t21 * p11, 215: t22 * p11, 216: p12 * s12, 217: t21 * p12, 218: t22 * p12,
        301: -A * (p11 - l1 * s11), 302: -2 * A * p11, 303: -2 * A * x, 304: -2 * t21 * p11,
        305: -2 * t22 * p11, 306: -A * p11, 307: -2 * A * p11 * s11, 308: -2 * A * p11 * s12,
        309: -2 * t21 * p11, 310: -2 * t22 * p11, 311: -2 * t21 * p11 * s11,
        312: -2 * t22 * p11 * s11, 313: -2 * t21 * p11 * s12, 314: -2 * t22 * p11 * s12,
        315: -(p11 + l1 * s11), 316: -p11, 317: -2 * p11 * s11, 318: -y, 319: -A * p11,
        320: -t21 * p11, 321: -t22 * p11, 322: -A * x,
        401: -A * (p12 - l1 * s12), 402: -2 * A * p12, 403: 2 * A * x, 404: -2 * t21 * p12,
        405: -2 * t22 * p12, 406: -A * p12, 407: -2 * A * p12 * s11, 408: -2 * A * p12 * s12,
        409: -2 * t21 * p12, 410: -2 * t22 * p12, 411: -2 * t21 * p12 * s11,
        412: -2 * t22 * p12 * s11, 413: -2 * t21 * p12 * s12, 414: -2 * t22 * p12 * s12,
        415: -(p12 + l1 * s12), 416: -p12, 417: -y, 418: -2 * p12 * s12, 419: -A * p12,
        420: -t21 * p12, 421: -t22 * p12, 422: A * x,
        501: t21 * l1, 502: 2 * t21 * p11, 503: 2 * t21 * p12, 504: t21, 505: -t21 * p11,
        506: -t21 * p12,
        601: t22 * l1, 602: 2 * t22 * p11, 603: 2 * t22 * p12, 604: t22, 605: -t22 * p11,
        606: -t22 * p12,
    }
    t = {11: p11 - l1 * s11, 12: p12 - l1 * s12, 21: t21, 22: t22, 31: s11, 32: s12}
    return Coefficients(b, h, t)


def _sums(c: Coefficients, q: Array) -> tuple[Array, Array, Array]:
    """t_1, t_2, t_3 of (33)."""
    t, (_, _, d11, d12, d21, d22) = c.t, q
    return t[11] * d11 + t[12] * d12, t[21] * d21 + t[22] * d22, t[31] * d11 + t[32] * d12


def inertia_matrix(c: Coefficients, q: Array) -> Array:
    """B(q) by (32), (6, 6)."""
    xp, b = namespace(q), c.b
    d11, d12 = q[2], q[3]
    t1, t2, t3 = _sums(c, q)
    c2, s2 = xp.cos(q[1]), xp.sin(q[1])
    upper = [
        [b[111] + b[112] * c2 + (b[113] * t1 + b[114] * t2) * s2,
         b[121] + b[122] * c2 + (b[123] * t1 + b[124] * t2) * s2,
         b[131] + b[132] * c2 + (b[133] * t2 + b[134] * d12) * s2,
         b[141] + b[142] * c2 + (b[143] * t2 + b[144] * d11) * s2,
         b[151] + b[152] * c2 + b[153] * t1 * s2,
         b[161] + b[162] * c2 + b[163] * t1 * s2],
        [b[221],
         b[231] + b[232] * c2 + (b[233] * t2 + b[234] * t3) * s2,
         b[241] + b[242] * c2 + (b[243] * t2 + b[244] * t3) * s2,
         b[251], b[261]],
        [b[331] + b[332] * c2 + b[333] * t2 * s2,
         b[341] + b[342] * c2 + b[343] * t2 * s2,
         b[351] + b[352] * c2 + b[353] * t3 * s2,
         b[361] + b[362] * c2 + b[363] * t3 * s2],
        [b[441] + b[442] * c2 + b[443] * t2 * s2,
         b[451] + b[452] * c2 + b[453] * t3 * s2,
         b[461] + b[462] * c2 + b[463] * t3 * s2],
        [b[551], b[561]],
        [b[661]],
    ]
    return xp.array([[upper[min(i, j)][abs(i - j)] for j in range(6)] for i in range(6)])


def coriolis_torque(c: Coefficients, q: Array, v: Array) -> Array:
    """h(q, v) by (34), (6,)."""
    xp, h = namespace(q, v), c.h
    d11, d12 = q[2], q[3]
    w1, w2, e11, e12, e21, e22 = v
    t1, t2, t3 = _sums(c, q)
    c2, s2 = xp.cos(q[1]), xp.sin(q[1])
    h1 = ((h[101] * w2 + h[102] * e11 + h[103] * e12 + h[104] * e21 + h[105] * e22) * w1
          + (h[106] * w2 + h[107] * e11 + h[108] * e12 + h[109] * e21 + h[110] * e22) * w2
          + (h[111] * e21 + h[112] * e22) * e11 + (h[113] * e21 + h[114] * e22) * e12) * s2 + (
          (h[115] * w1 + h[116] * w2 + h[117] * e21 + h[118] * e22) * t1
          + (h[119] * w1 + h[120] * w2 + h[121] * e11 + h[122] * e12) * t2
          + h[123] * d12 * e11 + h[124] * d11 * e12) * w2 * c2                          # (34a)
    h2 = (h[201] * w1 + h[202] * e11 + h[203] * e12) * w1 * s2 + (
          ((h[204] * w1 + h[205] * e21 + h[206] * e22) * t1
           + (h[207] * w1 + h[208] * e11 + h[209] * e12) * t2
           + h[210] * d12 * e11 + h[211] * d11 * e12) * w1
          + ((h[212] * e11 + h[213] * e12) * t2 + (h[214] * e21 + h[215] * e22) * t3) * e11
          + (h[216] * e12 * t2 + (h[217] * e21 + h[218] * e22) * t3) * e12) * c2        # (34b)
    h3 = _link_one(h, 300, (w1, w2, e11, e12, e21, e22), (e12, d12), t2, t3, c2, s2)     # (34c)
    h4 = _link_one(h, 400, (w1, w2, e11, e12, e21, e22), (e11, d11), t2, t3, c2, s2)     # (34d)
    h5, h6 = ((h[k + 1] * w1 + h[k + 2] * e11 + h[k + 3] * e12) * w1 * s2
              + (h[k + 4] * t1 * w1 + (h[k + 5] * e11 + h[k + 6] * e12) * t3) * w2 * c2
              for k in (500, 600))                                                      # (34e, f)
    return xp.stack([h1, h2, h3, h4, h5, h6])


def _link_one(h: Mapping[int, float], k: int, v: tuple[Array, ...], other: tuple[Array, Array],
              t2: Array, t3: Array, c2: Array, s2: Array) -> Array:
    """(34c) for k = 300, (34d) for k = 400: alike but for `other`, the rate and the deflection."""
    w1, w2, e11, e12, e21, e22 = v
    e, d = other
    return ((h[k + 1] * w1 + h[k + 2] * w2 + h[k + 3] * e + h[k + 4] * e21 + h[k + 5] * e22) * w1
            + (h[k + 6] * w2 + h[k + 7] * e11 + h[k + 8] * e12 + h[k + 9] * e21
               + h[k + 10] * e22) * w2
            + (h[k + 11] * e21 + h[k + 12] * e22) * e11
            + (h[k + 13] * e21 + h[k + 14] * e22) * e12) * s2 + (
            (h[k + 15] * w1 + h[k + 16] * w2 + h[k + 17] * e11 + h[k + 18] * e12) * t2
            + (h[k + 19] * w2 + h[k + 20] * e21 + h[k + 21] * e22) * t3
            + h[k + 22] * d * w1) * w2 * c2
