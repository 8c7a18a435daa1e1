"""acos, sin and cos of musl and FreeBSD, to the last bit, as the document requires.

Python's own are the platform's, which may differ in the last bit.
"""

from __future__ import annotations

import math
import struct

PI_HALF = 1.57079632679489655800e00
PI_HALF_REST = 6.12323399573676603587e-17
ACOS_P = (
    1.66666666666666657415e-01,
    -3.25565818622400915405e-01,
    2.01212532134862925881e-01,
    -4.00555345006794114027e-02,
    7.91534994289814532176e-04,
    3.47933107596021167570e-05,
)
ACOS_Q = (
    1.0,
    -2.40339491173441421878e00,
    2.02094576023350569471e00,
    -6.88283971605453293030e-01,
    7.70381505559019352791e-02,
)
SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
TO_INTEGER = 1.5 / 2.0**-52
TWO_BY_PI = 6.36619772367581382433e-01
# Pi / 2 in parts of 33 bits, and the remainder after each.
PARTS = (
    (1.57079632673412561417e00, 6.07710050650619224932e-11),
    (6.07710050630396597660e-11, 2.02226624879595063154e-21),
    (2.02226624871116645580e-21, 8.47842766036889956997e-32),
)


def _bits(value: float) -> int:
    found: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    return found


def _double(bits: int) -> float:
    found: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return found


def _acos_rest(z: float) -> float:
    p = ACOS_P[4] + z * ACOS_P[5]
    for each in ACOS_P[3::-1]:
        p = each + z * p
    q = ACOS_Q[4]
    for each in ACOS_Q[3::-1]:
        q = each + z * q
    return z * p / q


def acos(x: float) -> float:
    """Arc cosine of a number from 0 to 1."""
    assert 0.0 <= x <= 1.0
    if x == 1.0:
        return 0.0
    high = _bits(x) >> 32
    if high < 0x3FE00000:
        if high <= 0x3C600000:
            return PI_HALF + _double(0x3870000000000000)
        return PI_HALF - (x - (PI_HALF_REST - x * _acos_rest(x * x)))
    z = (1.0 - x) * 0.5
    root = math.sqrt(z)
    cut = _double(_bits(root) & 0xFFFFFFFF00000000)
    rest = (z - cut * cut) / (root + cut)
    return 2.0 * (cut + (_acos_rest(z) * root + rest))


def _sin_near(x: float, y: float, exact: bool) -> float:
    z = x * x
    w = z * z
    r = SIN[1] + z * (SIN[2] + z * SIN[3]) + z * w * (SIN[4] + z * SIN[5])
    v = z * x
    if exact:
        return x + v * (SIN[0] + z * r)
    return x - ((z * (0.5 * y - v * r) - y) - v * SIN[0])


def _cos_near(x: float, y: float) -> float:
    z = x * x
    w = z * z
    r = z * (COS[0] + z * (COS[1] + z * COS[2])) + w * w * (COS[3] + z * (COS[4] + z * COS[5]))
    half = 0.5 * z
    w = 1.0 - half
    return w + (((1.0 - w) - half) + (z * r - x * y))


def _exponent(x: float) -> int:
    return _bits(x) >> 52 & 0x7FF


def _reduced_at_length(x: float) -> tuple[int, float, float]:
    turns = x * TWO_BY_PI + TO_INTEGER - TO_INTEGER
    rest = x - turns * PARTS[0][0]
    small = turns * PARTS[0][1]
    found = rest - small
    for (part, tail), lost in zip(PARTS[1:], (16, 49)):
        if _exponent(x) - _exponent(found) <= lost:
            break
        before = rest
        small = turns * part
        rest = before - small
        small = turns * tail - ((before - rest) - small)
        found = rest - small
    return int(turns), found, (rest - found) - small


def _reduced(x: float) -> tuple[int, float, float]:
    """Quarter turns in an angle, and the rest as a sum of two numbers."""
    high = _bits(x) >> 32 & 0x7FFFFFFF
    assert high < 0x413921FB, "no angle of a turn is so great"
    sign = -1 if x < 0 else 1
    for bound, quarters in ((0x4002D97C, 1), (0x400F6A7A, 2), (0x4015FDBC, 3), (0x401C463B, 4)):
        if high <= bound:
            # So near to a quarter turn that more digits are needed.
            near = high & 0xFFFFF == 0x921FB if quarters <= 2 else high in (0x4012D97C, 0x401921FB)
            if near:
                break
            z = x - sign * (quarters * PARTS[0][0])
            found = z - sign * (quarters * PARTS[0][1])
            return sign * quarters, found, (z - found) - sign * (quarters * PARTS[0][1])
    return _reduced_at_length(x)


def sin_cos(x: float) -> tuple[float, float]:
    """Sine and cosine of an angle of less than a million and a half."""
    high = _bits(x) >> 32 & 0x7FFFFFFF
    if high <= 0x3FE921FB:
        if high < 0x3E46A09E:
            return x, 1.0
        return _sin_near(x, 0.0, True), _cos_near(x, 0.0)
    quarters, near, rest = _reduced(x)
    s, c = _sin_near(near, rest, False), _cos_near(near, rest)
    return ((s, c), (c, -s), (-s, -c), (-c, s))[quarters & 3]
