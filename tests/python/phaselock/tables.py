"""A game's rules from the text of its hash, and tables of levels, for trained coding."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .numbers import WireError, difference, fnv1a_64

FILE_START = b"phaselock tables 7\n"
EVEN = 128
NUMBERS = 11
NUMBER_CONTEXTS = 33
GAPS = NUMBERS * NUMBER_CONTEXTS
GAP_CONTEXTS = 68
HEADER = GAPS + 4 * GAP_CONTEXTS
KIND = 337
FIELD = 21176


def single(text: str) -> float:
    """The nearest single-precision number to a decimal one."""
    found: float = struct.unpack("<f", struct.pack("<f", float(text)))[0]
    return found


@dataclass(frozen=True)
class TrainedField:
    """Field with everything that its predicted value depends on; `mover` is the index of the field
    that moves it."""

    least: float
    bits: int
    digits: int
    motion: str
    owner_only: bool
    steering: bool
    trending: bool
    mover: int | None
    drift: float
    greatest: int

    @property
    def follows(self) -> bool:
        """Whether its course predicts it."""
        return self.trending and self.motion in ("linear", "angle", "wrap")

    def difference(self, older: int, value: int) -> int:
        """Shorter way around from one number to another."""
        return difference(value, older, self.bits)

    def on_grid(self, step: int) -> int:
        """Number on the wire nearest to a step: wrapped, or clamped."""
        if self.motion in ("angle", "wrap"):
            return step & (1 << self.bits) - 1
        return min(max(step, 0), self.greatest)

    def unit(self, raw: int) -> float:
        """Value of a quaternion's component."""
        return self.least + raw / float(1 << self.digits)


@dataclass(frozen=True)
class Rules:
    """Game, from the text of its hash: name, checksum of its tables, fields of each kind."""

    game: str
    tables: int
    kinds: tuple[tuple[TrainedField, ...], ...]

    @staticmethod
    def from_text(text: str) -> Rules:
        """Rules in a text; raises `WireError` if it is invalid."""
        lines = [line.split(" ") for line in text.splitlines()]
        if len(lines) < 2 or lines[0][0] != "game" or lines[1][0] != "tables":
            raise WireError("no text of a game's rules")
        records: list[list[list[str]]] = []
        for words in lines[2:]:
            if len(words) == 2 and words[0] == "record":
                records.append([])
            elif len(words) == 13 and records:
                records[-1].append(words)
            else:
                raise WireError(f"no line of a game's rules: {' '.join(words)}")
        kinds = tuple(tuple(_field(words, table) for words in table) for table in records[1:])
        return Rules(lines[0][1], int(lines[1][1], 16), kinds)


def _field(words: list[str], table: list[list[str]]) -> TrainedField:
    _, least, bits, digits, motion, audience, _, steering, trending, by, drift, _, greatest = words
    return TrainedField(
        float(least),
        int(bits),
        int(digits),
        motion,
        audience == "owner",
        steering == "steering",
        trending == "trending",
        _mover(words[0], by, [each[0] for each in table]),
        single(drift),
        int(greatest),
    )


def _mover(name: str, by: str, names: list[str]) -> int | None:
    """Index of the field with this name, or of its component with the moved one's name."""
    _, dot, component = name.partition(".")
    for index, each in enumerate(names):
        if each in (by, by + dot + component):
            return index
    return None


def _spread(general: bytes, kinds: list[int]) -> bytes:
    levels = bytearray(general[:HEADER])
    for fields in kinds:
        levels += general[HEADER : HEADER + KIND]
        levels += general[HEADER + KIND :] * fields
    return bytes(levels)


def _parse(data: bytes, general: bytes | None) -> tuple[bytes, list[int]]:
    if not data.startswith(FILE_START):
        raise WireError("no file of tables of this version")
    at = len(FILE_START) + 8
    kinds = list(data[at + 1 : at + 1 + data[at]])
    at += 1 + len(kinds)
    if kinds and general is None:
        raise WireError("the general tables are of kinds")
    ground = bytes([EVEN]) * (HEADER + KIND + FIELD)
    levels = bytearray(_spread(general, kinds) if general is not None and kinds else ground)

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    to = 0
    while at < len(data):
        to += varint()
        count = varint()
        if to + count > len(levels) or at + count > len(data):
            raise WireError("a file of tables is cut short or too long")
        levels[to : to + count] = data[at : at + count]
        at += count
        to += count
    return bytes(levels), kinds


def levels_of(rules: Rules, general: bytes, own: bytes | None = None) -> bytes:
    """Levels of a game's decisions, of the files of the general tables and of its own; raises
    `WireError` if their checksum is not that of the rules."""
    counts = [len(kind) for kind in rules.kinds]
    everybody, _ = _parse(general, None)
    levels = _spread(everybody, counts)
    if own is not None:
        of_game, kinds = _parse(own, everybody)
        levels = of_game if kinds == counts else levels
    if fnv1a_64(levels) != rules.tables:
        raise WireError("the tables are not those of the game")
    return levels
