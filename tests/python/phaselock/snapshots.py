"""Snapshot packets in plain coding, and the states that they tell of.

Reading a packet changes nothing: `read` gives back a `Snapshot`, and `States.commit` keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .numbers import BASELINE_AGE_MAX, DATAGRAM_BYTES_MAX, ENTITIES_MAX, HELD_MAX
from .numbers import PACKET_ENTITIES_MAX, SNAPSHOT_KIND
from .numbers import WireError, nearest, unzigzag
from .records import Field, Game

COARSE_MICROS = 16
# A little more than the age of the oldest baseline.
TICKS_KEPT = BASELINE_AGE_MAX + 16


class State(NamedTuple):
    """Entity at one tick: fields are numbers on the wire."""

    generation: int
    kind: int
    owner: int | None
    fields: tuple[int, ...]


@dataclass(frozen=True)
class Entity:
    """News of one entity: its state, and whether it is coded from an older one; or no state, and
    whether the entity no longer exists."""

    index: int
    state: State | None
    known: bool = False
    gone: bool = False


class Inputs(NamedTuple):
    """Arrival of inputs: ticks relative to the packet's, times in units of 16 microseconds. The
    last two are low bits of counts, and in every fourth packet only."""

    newest_ahead: int
    newest_early: int
    worst_back: int
    worst_early: int
    ticks_without: int | None
    packets_missing: int | None


@dataclass
class Snapshot:
    """Packet as read. `sent` is the server's time, in microseconds; `echo` the low 24 bits of a
    client's time and how long it was held; `perceived` the change of the client's offset, its
    round trip and the offset's error bound, in microseconds."""

    seq: int
    tick: int
    sent_after_tick: int
    echo: tuple[int, int] | None
    perceived: tuple[int, int, int] | None
    inputs: Inputs | None
    reference: int | None
    entities: list[Entity]


class Decisions:
    """Reader of plain decisions: one bit each, the highest of a byte first, 0 for yes."""

    def __init__(self, data: bytes) -> None:
        self.bits = int.from_bytes(data, "big")
        self.length = len(data) * 8
        self.at = 0

    def even(self, count: int) -> int:
        """Number of so many bits, highest first; beyond the end every decision is a yes."""
        self.at += count
        left = self.length - self.at
        bits = self.bits >> left if left >= 0 else self.bits << -left
        return ~bits & ((1 << count) - 1)

    def yes(self) -> bool:
        """One decision."""
        return self.even(1) == 1

    def exponent(self, most: int) -> int:
        """Count of decisions that say yes before the first no, at most so many."""
        count = 0
        while count < most and self.yes():
            count += 1
        return count

    def number(self) -> int:
        """Number below 2^32, in the code of header numbers."""
        exponent = self.exponent(32)
        value = (1 << exponent | self.even(exponent)) - 1
        if value >> 32:
            raise WireError("a number of more than 32 bits")
        return value

    def signed(self) -> int:
        """Zigzag of a `number`."""
        return unzigzag(self.number())

    def gap(self) -> int:
        """Count of indices that are left out, below 2^16."""
        exponent = self.exponent(16)
        value = (1 << exponent | self.even(exponent)) - 1
        if value >> 16:
            raise WireError("a gap of more than 16 bits")
        return value

    def residual(self, bits: int) -> int:
        """Difference of a field of so many bits from its predicted value."""
        if self.yes():
            return 0
        negative = self.yes()
        exponent = self.exponent(bits - 1)
        size = 1 << exponent | self.even(exponent)
        if size > (1 << bits - 1) - (not negative):
            raise WireError(f"a difference of {size} in a field of {bits} bits")
        return -size if negative else size

    def end(self) -> None:
        """Nothing: raises an error if the packet has bytes that no decision reached."""
        if self.length - self.at >= 8:
            raise WireError(f"{(self.length - self.at) // 8} bytes behind a packet's end")
        if self.length > 0 and self.bits & 0xFF == 0:
            raise WireError("a packet's last byte is 0")


class States:
    """States of entities by tick, as long as a packet may refer to them."""

    def __init__(self) -> None:
        self.by_tick: dict[int, dict[int, State]] = {}
        self.newest_tick: int | None = None
        self.latest: dict[int, tuple[int, Entity]] = {}

    def commit(self, snapshot: Snapshot) -> None:
        """Keeps a snapshot's states; what is older than any baseline goes."""
        states = self.by_tick.setdefault(snapshot.tick, {})
        for entity in snapshot.entities:
            if entity.state is not None:
                states[entity.index] = entity.state
            if self.latest.get(entity.index, (-1,))[0] <= snapshot.tick:
                self.latest[entity.index] = snapshot.tick, entity
        self.newest_tick = max(self.newest_tick or 0, snapshot.tick)
        for tick in [each for each in self.by_tick if each < self.newest_tick - TICKS_KEPT]:
            del self.by_tick[tick]

    def baseline(self, tick: int, index: int) -> State:
        """State that a packet refers to."""
        state = self.by_tick.get(tick, {}).get(index)
        if state is None:
            raise WireError(f"a packet refers to entity {index} at tick {tick}, which is not here")
        return state

    def seen(self) -> dict[int, State]:
        """Newest state of each entity that is in sight."""
        return {
            index: entity.state
            for index, (_, entity) in self.latest.items()
            if entity.state is not None
        }


def checksum(entities: list[Entity]) -> int:
    """Low 16 bits of the sum over a packet's entities."""
    total = 0
    for entity in entities:
        words = [entity.index]
        if entity.state is not None:
            state = entity.state
            words.append(state.generation * 256 + state.kind + 1)
            words.append(0 if state.owner is None else state.owner + 1)
            words.extend(state.fields)
        value = 0x811C9DC5
        for word in words:
            value = (value ^ word) * 0x01000193 & 0xFFFFFFFF
        rotated = (total << 5 | total >> 27) & 0xFFFFFFFF
        total = (rotated ^ value) * 0x01000193 & 0xFFFFFFFF
    return (total ^ total >> 16) & 0xFFFF


class Reader:
    """Reader of the snapshot packets of one game, for one player."""

    def __init__(self, game: Game, game_number: int, player: int, states: States) -> None:
        self.game = game
        self.first_byte = SNAPSHOT_KIND | (game_number & 15) << 4
        self.player = player
        self.states = states

    def is_mine(self, data: bytes) -> bool:
        """True for a snapshot packet of this game; stragglers of another are not."""
        return len(data) > 0 and data[0] == self.first_byte

    def read(self, data: bytes, known_seq: int, known_tick: int) -> Snapshot:
        """Packet's content; the numbers known are near to those that its low bits stand for."""
        if not self.is_mine(data) or len(data) > DATAGRAM_BYTES_MAX:
            raise WireError("no snapshot packet of this game")
        source = Decisions(data[1:])
        seq = nearest(source.even(16), 16, known_seq)
        tick = nearest(source.even(16), 16, known_tick)
        sent = source.signed()
        echo = (source.even(24), source.number()) if source.yes() else None
        if echo is not None and echo[1] > HELD_MAX:
            raise WireError(f"an echo was held for {echo[1]} microseconds")
        perceived = None
        if source.yes():
            change, trip, error = source.signed(), source.number(), source.number()
            perceived = change, trip * COARSE_MICROS, error * COARSE_MICROS
        inputs = self._inputs(source, seq) if source.yes() else None
        references = source.number()
        if references > 1:
            raise WireError(f"{references} references in plain coding")
        age = self._age(source) if references else None
        entities = self._entities(source, tick, age)
        if source.even(16) != checksum(entities):
            raise WireError(f"the checksum of packet {seq} is wrong")
        source.end()
        return Snapshot(seq, tick, sent, echo, perceived, inputs, age, entities)

    @staticmethod
    def _inputs(source: Decisions, seq: int) -> Inputs:
        ahead, early = source.signed(), source.signed()
        back, worst_early = source.number(), source.signed()
        counts = (source.even(16), source.even(16)) if seq % 4 == 0 else (None, None)
        return Inputs(ahead, early, back, worst_early, *counts)

    @staticmethod
    def _age(source: Decisions) -> int:
        age = source.number() + 1
        if age > BASELINE_AGE_MAX:
            raise WireError(f"a baseline that is {age} ticks old")
        return age

    def _entities(self, source: Decisions, tick: int, usual_age: int | None) -> list[Entity]:
        entities: list[Entity] = []
        index = -1
        wraps = 0
        while source.yes():
            index += 1 + source.gap()
            if index >> 16:
                index &= 0xFFFF
                wraps += 1
            if index >= ENTITIES_MAX or wraps > 1 or len(entities) == PACKET_ENTITIES_MAX:
                raise WireError(f"entity {index} is out of order or too much")
            entities.append(self._entity(source, tick, usual_age, index))
        return entities

    def _entity(self, source: Decisions, tick: int, usual_age: int | None, index: int) -> Entity:
        if source.yes():
            age = usual_age
            if age is None or not source.yes():
                age = self._age(source)
                if usual_age is not None and usual_age > age and source.yes():
                    raise WireError(f"entity {index} has two references in plain coding")
            baseline = self.states.baseline(tick - age, index)
            if source.yes():
                return Entity(index, baseline, known=True)
            fields = tuple(
                older + source.residual(each.bits) & (1 << each.bits) - 1
                if self._sees(each, baseline.owner)
                else older
                for each, older in zip(self.game.kinds[baseline.kind].fields, baseline.fields)
            )
            return Entity(index, baseline._replace(fields=fields), known=True)
        if not source.yes():
            return Entity(index, None, gone=source.yes())
        generation = source.even(8)
        kind = source.even(self.game.kind_bits)
        if kind >= len(self.game.kinds):
            raise WireError(f"entity {index} is of kind {kind}")
        owner = source.even(16) if source.yes() else None
        fields = tuple(
            source.even(each.bits) if self._sees(each, owner) else 0
            for each in self.game.kinds[kind].fields
        )
        return Entity(index, State(generation, kind, owner, fields))

    def _sees(self, field: Field, owner: int | None) -> bool:
        return not field.owner_only or owner == self.player
