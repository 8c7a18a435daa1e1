"""Field tables of inputs and entities."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Iterable, TypeVar

from .numbers import WIRE_TEXT, WireError, fnv1a_64

FIELD_BITS_MAX = 32
# Beyond it, a float does not hold every whole number.
LEAST_MAX = 1 << 53

T = TypeVar("T")


def entry(table: Any, name: str, kind: type[T] | tuple[type[T], ...]) -> T:
    """Entry of a table of a description. Raises `WireError` if the table has none of this type, and
    `ValueError` if it is a text that UTF-8 cannot hold."""
    value = table.get(name) if isinstance(table, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise WireError(f"not a description of a game: '{name}' is missing or of the wrong type")
    if isinstance(value, str):
        value.encode()
    return value


def whole(table: Any, name: str, most: int) -> int:
    """Entry that is a whole number from 0 on. Raises `WireError` if it is greater than `most`."""
    value = entry(table, name, int)
    if not 0 <= value <= most:
        raise WireError(f"not a description of a game: '{name}' is out of range")
    return value


@dataclass(frozen=True)
class Field:
    """Field of a record; its value is `least` and the wire's number over 2^digits."""

    name: str
    least: float
    bits: int
    digits: int
    owner_only: bool
    greatest: int

    def value(self, raw: int) -> float:
        """Value of the number on the wire."""
        return self.least + min(raw, self.greatest) / (1 << self.digits)

    def raw(self, value: float) -> int:
        """Number on the wire nearest to a value. Raises `WireError` for NaN."""
        if math.isnan(value):
            raise WireError(f"the value of '{self.name}' is not a number")
        return round(min(max((value - self.least) * (1 << self.digits), 0), self.greatest))

    @staticmethod
    def from_description(table: Any) -> Field:
        """Field as `phaselock-server describe` prints it."""
        bits = whole(table, "bits", FIELD_BITS_MAX)
        least: float = entry(table, "min", (int, float))
        if not abs(least) <= LEAST_MAX:
            raise WireError("not a description of a game: 'min' is out of range")
        return Field(
            entry(table, "name", str),
            least,
            bits,
            whole(table, "fraction_bits", FIELD_BITS_MAX),
            entry(table, "audience", str) == "owner",
            whole(table, "greatest", (1 << bits) - 1),
        )


@dataclass(frozen=True)
class Record:
    """Table of the fields of an input or of a kind of entity."""

    name: str
    fields: tuple[Field, ...]

    def has(self, name: str) -> bool:
        """Whether a field has this name."""
        return any(each.name == name for each in self.fields)

    def raw(self, values: dict[str, float]) -> tuple[int, ...]:
        """Numbers on the wire for named values; other fields have the value 0."""
        return tuple(each.raw(values.get(each.name, 0.0)) for each in self.fields)

    def values(self, raw: Iterable[int]) -> dict[str, float]:
        """Named values for numbers on the wire."""
        return {each.name: each.value(number) for each, number in zip(self.fields, raw)}

    @staticmethod
    def from_description(table: Any) -> Record:
        """Record as `phaselock-server describe` prints it."""
        fields = tuple(Field.from_description(each) for each in entry(table, "fields", list))
        return Record(entry(table, "name", str), fields)


@dataclass(frozen=True)
class Game:
    """All that plain coding needs to know of a game."""

    name: str
    hash: int
    input: Record
    kinds: tuple[Record, ...]

    @property
    def kind_bits(self) -> int:
        """Bits that the number of a kind needs."""
        return (len(self.kinds) - 1).bit_length()

    @staticmethod
    def from_description(printed: str) -> Game:
        """Game as `phaselock-server describe GAME` prints it. Raises `WireError` if the text is
        something else, or if the hash of the fields' text, or the protocol's, is not that of this
        reader."""
        try:
            description = json.loads(printed)
            own = entry(entry(description, "fields", dict), "text", str)
            for part, expected in (("wire", WIRE_TEXT), ("fields", own)):
                found = entry(entry(description, part, dict), "hash", str)
                if found != f"{fnv1a_64(expected):016x}":
                    raise WireError(f"the hash of '{part}' is not that of its text")
            return Game(
                entry(description, "game", str),
                fnv1a_64(own),
                Record.from_description(entry(description, "input", dict)),
                tuple(map(Record.from_description, entry(description, "kinds", list))),
            )
        except (ValueError, RecursionError) as error:
            raise WireError(f"not a description of a game: {error}") from error
