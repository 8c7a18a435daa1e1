"""Predicted values of an entity's fields, and the fields coded as their residuals.

Names are those of the document's pseudocode where it has some.
"""

from __future__ import annotations

import math
from typing import Callable, Protocol, Sequence

from .tables import FIELD, KIND, TrainedField
from .trigonometry import acos, sin_cos

EXTRAPOLATED_TICKS_MAX = 32
FINE_MAX = 1 << 48
GRADES = (0, 1, 2, 3, 3, 4, 5, 5, 6, 6)
SQRT_2 = math.sqrt(2.0)

Quaternion = list[float]
# Extrapolates from a state and steering fields by ticks, or returns None.
Extrapolate = Callable[[Sequence[int], Sequence[int], int], "list[int] | None"]


class Coder(Protocol):
    """Reader of decisions."""

    def bit(self, context: int) -> bool:
        """Decision in a context."""

    def even(self, count: int) -> int:
        """Number of this many bits, coded as an even number."""


class AllYes:
    """Reads nothing: every field has its predicted value."""

    def bit(self, _context: int) -> bool:
        """Always yes."""
        return True

    def even(self, _count: int) -> int:
        """Never called."""
        return 0


def digits(number: int) -> int:
    """Count of binary digits; 0 has none."""
    return number.bit_length()


def trunc_div(a: int, b: int) -> int:
    """Quotient, rounded toward zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def round_half_away(value: float) -> int:
    """Nearest whole number, halves away from zero."""
    size = math.floor(abs(value))
    size += abs(value) - size >= 0.5
    return size if value >= 0 else -size


def move(fine: int, base: int) -> tuple[int, bool]:
    """Class and direction of a move from a step."""
    way = fine - 256 * base
    return min(digits((abs(way) + 128) // 256), 11), way <= 0


def sure(fine: int) -> tuple[int, bool]:
    """Nearness to the middle between two steps, and its direction."""
    part = fine - 256 * ((fine + 128) // 256)
    return abs(part) * 8 // 129, part >= 0


def dot(a: Quaternion, b: Quaternion) -> float:
    """Dot product, with each operation rounded separately."""
    return ((a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]) + a[3] * b[3]


def turn(newer: Quaternion, older: Quaternion, ticks: int, t: int) -> Quaternion:
    """Rotation `t` ticks after the newer one, on the great circle through both."""
    cosine = dot(newer, older)
    if cosine < 0:
        older, cosine = [-each for each in older], -cosine
    angle = acos(min(cosine, 1.0))
    sine = sin_cos(angle)[0]
    side, rate = [0.0] * 4, 0.0
    if sine >= 1e-6:
        side = [(newer[k] * cosine - older[k]) / sine for k in range(4)]
        rate = angle / float(ticks)
    s, c = sin_cos(rate * float(t))
    return [newer[k] * c + side[k] * s for k in range(4)]


class Fields:
    """Fields of one entity in one packet. `past` are its references, newest first, with ages in
    ticks; `hidden` marks the fields that the reader does not see."""

    def __init__(
        self,
        coder: Coder,
        start: int,
        table: Sequence[TrainedField],
        hidden: Sequence[bool],
        tick_hz: int,
        past: Sequence[Sequence[int]],
        age: Sequence[int],
        extrapolate: Extrapolate | None = None,
    ) -> None:
        self.coder = coder
        self.start = start
        self.table = table
        self.hidden = hidden
        self.hz = tick_hz
        self.past = past
        self.age = age
        self.game = extrapolate
        self.value = [0] * len(table)
        self.last = 0
        self.greatest = 0

    def decode(self) -> tuple[int, ...]:
        """Numbers of all fields."""
        moved = self._steer()
        count = 2
        while count < len(self.past) and self.straight(count + 1):
            count += 1
        i = 0
        while i < len(self.table):
            each = self.table[i]
            motions = [one.motion for one in self.table[i : i + 4]]
            if each.steering or self.hidden[i]:
                pass
            elif motions == ["unit"] * 4:
                self._four(i, moved)
                i += 3
            elif motions == ["largest"] + ["smallest"] * 3:
                self._three(i, moved)
                i += 3
            elif each.follows and len(self.past) >= 2:
                self._residual(i, *self.trend(i, count))
            else:
                self._as_moved(i, moved)
            i += 1
        return tuple(self.value)

    def _steer(self) -> list[int]:
        """Reads the steering fields; returns the state extrapolated from them."""
        moved = self._extrapolated(self.past[0])
        steered = list(self.past[0])
        changed = restarts = False
        for i, each in enumerate(self.table):
            if not each.steering:
                continue
            if not self.hidden[i]:
                if each.drift != 0 and restarts:
                    fine = 128 * self.age[0]
                    self._residual(i, fine, move(fine, 0)[0], True)
                else:
                    self._as_moved(i, moved)
            if each.drift != 0:
                restarts = False
            elif self.value[i] != moved[i]:
                restarts = True
            changed = changed or self.value[i] != moved[i]
            steered[i] = self.value[i]
        return self._extrapolated(steered) if changed else moved

    def _extrapolated(self, steering: Sequence[int]) -> list[int]:
        if self.game is not None and self.age[0] <= EXTRAPOLATED_TICKS_MAX:
            moved = self.game(self.past[0], steering, self.age[0])
            if moved is not None:
                return [0 if hidden else each for hidden, each in zip(self.hidden, moved)]
        return self.by_table()

    def by_table(self) -> list[int]:
        """Numbers extrapolated by the field table."""
        base, t = self.past[0], self.age[0]
        moved = list(base)
        for i, each in enumerate(self.table):
            if each.mover is None and each.drift == 0:
                continue
            fine = 256 * base[i]
            if each.mover is not None:
                by = self.table[each.mover]
                centre = math.trunc(-by.least * 2.0**by.digits)
                speed = 256 * (base[each.mover] - centre)
                fall = math.trunc(by.drift * 2.0 ** (by.digits + 8))
                way = speed * t + trunc_div(fall * t * t, 2 * self.hz)
                shift = each.digits - by.digits
                way = way << shift if shift >= 0 else way >> -shift
                fine = min(max(fine + trunc_div(way, self.hz), -FINE_MAX), FINE_MAX)
            if each.drift != 0:
                fall = math.trunc(each.drift * 2.0 ** (each.digits + 8))
                fine = min(max(fine + trunc_div(fall * t, self.hz), -FINE_MAX), FINE_MAX)
            moved[i] = each.on_grid((fine + 128) // 256)
        return moved

    def _as_moved(self, i: int, moved: Sequence[int]) -> None:
        each = self.table[i]
        way = each.difference(self.past[0][i], moved[i])
        kind, up = move(256 * moved[i], moved[i] - way)
        if each.bits <= 3:
            kind, up = moved[i], True
        self._residual(i, 256 * moved[i], kind, up)

    def line(self, i: int, n: int) -> tuple[int, int, int, list[int]]:
        """Least-squares line through the newest references: value now, rise, the divisor of both,
        and the references' distances from the baseline."""
        each, age = self.table[i], self.age[:n]
        y = [each.difference(self.past[0][i], state[i]) for state in self.past[:n]]
        x, xx = -sum(age), sum(ticks**2 for ticks in age)
        y1, xy = sum(y), -sum(ticks * one for ticks, one in zip(age, y))
        return y1 * xx - x * xy, n * xy - x * y1, n * xx - x * x, y

    def straight(self, n: int) -> bool:
        """Whether all fields that follow are on their lines through the newest references."""
        for i, each in enumerate(self.table):
            if each.follows:
                now, rise, divisor, y = self.line(i, n)
                for one, age in zip(y, self.age):
                    if abs(one * divisor - now + rise * age) > divisor:
                        return False
        return True

    def fall(self, i: int) -> int | None:
        """Distance from the baseline of a field that falls freely, in 1/256 steps."""
        each, age = self.table[i], self.age
        if each.drift == 0 or len(self.past) < 3:
            return None
        g = math.trunc(each.drift * 2.0 ** (each.digits + 8) / float(self.hz * self.hz))
        first, second = (256 * each.difference(self.past[0][i], self.past[j][i]) for j in (1, 2))
        newer, older = age[1] - age[0], age[2] - age[1]
        speed = trunc_div(-first, newer)
        gained = trunc_div((speed - trunc_div(first - second, older)) * 2, newer + older)
        if abs(gained - g) * 5 >= abs(g) * 2:
            return None
        return speed * age[0] + trunc_div(g * age[0] * (age[0] + newer), 2)

    def trend(self, i: int, count: int) -> tuple[int, int, bool]:
        """Predicted value, class and direction of a field that follows its course."""
        base = 256 * self.past[0][i]
        fall = self.fall(i) if count == 2 else None
        if fall is not None:
            kind, up = move(base + fall, self.past[0][i])
            return base + fall, 44 + min(3, (max(kind, 5) - 4) // 2), up
        now, _, divisor, _ = self.line(i, count)
        fine = base + 256 * now // divisor
        if count == 2:
            return fine, *move(fine, self.past[0][i])
        near, up = sure(fine)
        return fine, 12 + 8 * (count - 3) + near, up

    def _whole(self, state: Sequence[int], f: int) -> Quaternion:
        q = [self.table[f + k].unit(state[f + k]) for k in range(4)]
        length = math.sqrt(dot(q, q))
        return [each / length for each in q] if length > 0.1 else [0.0, 0.0, 0.0, 1.0]

    def _turns(self, f: int, n: int) -> bool:
        """Whether the newest references lie on the great circle through the ends."""
        limit = 1.5 / float(1 << self.table[f].digits)
        newest, oldest = self._whole(self.past[0], f), self._whole(self.past[n - 1], f)
        for j in range(1, n - 1):
            w = self._whole(self.past[j], f)
            ticks = self.age[n - 1] - self.age[0]
            q = turn(newest, oldest, ticks, self.age[0] - self.age[j])
            if dot(w, q) < 0:
                q = [-each for each in q]
            if any(abs(a - b) > limit for a, b in zip(w, q)):
                return False
        return True

    def _four(self, f: int, moved: Sequence[int]) -> None:
        q, on = self._whole(moved, f), 0
        if self.table[f].trending and len(self.past) >= 2:
            on = 2
            while on < len(self.past) and self._turns(f, on + 1):
                on += 1
            older = self._whole(self.past[on - 1], f)
            ticks = self.age[on - 1] - self.age[0]
            q = turn(self._whole(self.past[0], f), older, ticks, self.age[0])
        largest = max(range(4), key=lambda k: (abs(q[k]), k))
        squares = 0.0
        for k in range(4):
            if k == largest:
                continue
            each = self.table[f + k]
            fine = round_half_away((q[k] - each.least) * float(1 << each.digits) * 256.0)
            if on <= 2:
                kind, up = move(fine, self.past[0][f + k])
            else:
                near, up = sure(fine)
                kind = 12 + 8 * (on - 3) + near
            self._residual(f + k, fine, kind, up)
            component = each.unit(self.value[f + k])
            squares += component * component
        size = math.sqrt(max(1.0 - squares, 0.0))
        each = self.table[f + largest]
        part = -size if q[largest] < 0 else size
        fine = round_half_away((part - each.least) * float(1 << each.digits) * 256.0)
        near, up = sure(fine)
        self._residual(f + largest, fine, 36 + min(math.trunc(squares * 8.0), 7), up, near)

    def _smallest_three(self, state: Sequence[int], f: int) -> Quaternion:
        q, squares = [0.0] * 4, 0.0
        for m, k in self._others(state[f], f):
            q[k] = (state[m] / self._full(m) - 0.5) * SQRT_2
            squares += q[k] * q[k]
        q[state[f] % 4] = math.sqrt(max(1.0 - squares, 0.0))
        return q

    @staticmethod
    def _others(largest: int, f: int) -> list[tuple[int, int]]:
        """Fields and components, except the one that is left out."""
        return list(zip(range(f + 1, f + 4), (k for k in range(4) if k != largest % 4)))

    def _full(self, i: int) -> float:
        return float((1 << self.table[i].bits) - 1)

    def _three(self, f: int, moved: Sequence[int]) -> None:
        self._as_moved(f, moved)
        held = q = self._smallest_three(self.past[0], f)
        if len(self.past) >= 2:
            older = self._smallest_three(self.past[1], f)
            q = turn(held, older, self.age[1] - self.age[0], self.age[0])
        largest = self.value[f] % 4
        if q[largest] < 0:
            q = [-each for each in q]
        if held[largest] < 0:
            held = [-each for each in held]
        for m, k in self._others(largest, f):
            full = self._full(m)
            fine = round_half_away((q[k] / SQRT_2 + 0.5) * full * 256.0)
            fine = min(max(fine, 0), 256 * int(full))
            base = round_half_away((held[k] / SQRT_2 + 0.5) * full)
            self._residual(m, fine, *move(fine, base))

    def _residual(self, i: int, fine: int, kind: int, up: bool, far: int | None = None) -> None:
        """Reads a field; `kind` is its class in the document."""
        each, bit, first = self.table[i], self.coder.bit, self.start + KIND + i * FIELD
        expected = each.on_grid((fine + 128) // 256)
        near = min(self.last, 9)
        if far is None:
            far = GRADES[self.greatest] if self.greatest < len(GRADES) else 7
        context = (kind * 10 + near) * 8 + far
        d = 0
        if not bit(first + context):
            below = bit(first + 3840 + context)
            broad = ((kind // 2 * 5 + near // 2) * 4 + far // 2) * 2 + below
            e = 0
            while e < each.bits - 1 and bit(first + 7680 + broad * 14 + min(e, 13)):
                e += 1
            size = mantissa(self.coder, first + 21120 + min(e, 13) * 4, e)
            d = -size if below == up else size
        self.value[i] = min(expected + d & (1 << each.bits) - 1, each.greatest)
        self.greatest = max(self.greatest, self.last)
        self.last = digits(abs(d))


def mantissa(coder: Coder, context: int, count: int) -> int:
    """Number with this many binary digits after the first one."""
    size = 1
    if count > 0:
        size = size * 2 + (not coder.bit(context))
    if count > 1:
        size = size * 2 + (not coder.bit(context + 1 + size % 2))
    return size << count - 2 | coder.even(count - 2) if count > 2 else size
