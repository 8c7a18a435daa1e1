"""Field tables of inputs and entities."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Iterable

from .numbers import WIRE_TEXT, WireError, fnv1a_64


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
        """Number on the wire nearest to a value."""
        return min(max(round((value - self.least) * (1 << self.digits)), 0), self.greatest)


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
    def from_description(table: dict[str, Any]) -> Record:
        """Record as `phaselock-server describe` prints it."""
        return Record(
            table["name"],
            tuple(
                Field(
                    each["name"],
                    each["min"],
                    each["bits"],
                    each["fraction_bits"],
                    each["audience"] == "owner",
                    each["greatest"],
                )
                for each in table["fields"]
            ),
        )


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
        """Game as `phaselock-server describe GAME` prints it; raises `WireError` if the hash of
        the fields' text, or the protocol's, is not that of this reader."""
        description = json.loads(printed)
        for part, expected in (("wire", WIRE_TEXT), ("fields", description["fields"]["text"])):
            if int(description[part]["hash"], 16) != fnv1a_64(expected):
                raise WireError(f"the hash of '{part}' is not that of its text")
        return Game(
            description["game"],
            int(description["fields"]["hash"], 16),
            Record.from_description(description["input"]),
            tuple(Record.from_description(kind) for kind in description["kinds"]),
        )
