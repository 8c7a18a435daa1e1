"""Snapshot packets in plain coding, and their states; `trained` has the other coding.

Reading a packet changes nothing: `read` gives back a `Snapshot`, and `States.commit` keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Callable, NamedTuple, Protocol

from .numbers import BASELINE_AGE_MAX, DATAGRAM_BYTES_MAX, ENTITIES_MAX, HELD_MAX
from .numbers import PACKET_ENTITIES_MAX, SNAPSHOT_KIND
from .numbers import WireError, nearest, unzigzag
from .records import Field, Game

COARSE_MICROS = 16
REFERENCES_MAX = 5
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
    """One entity in a packet: its state, and whether it is coded from an older one; or no state,
    and whether the entity no longer exists."""

    index: int
    state: State | None
    known: bool = False
    gone: bool = False


class Inputs(NamedTuple):
    """Arrival of inputs: ticks relative to the packet's, times in units of 16 microseconds.
    `assumed_back` is how many ticks ago the last one ran without an input. The last two are low
    bits of counts, and in every fourth packet only."""

    newest_ahead: int
    newest_early: int
    worst_back: int
    worst_early: int
    assumed_back: int | None
    ticks_without: int | None
    packets_missing: int | None


@dataclass
class Snapshot:
    """Packet as read. `sent` is the server's time, in microseconds; `echo` the low 24 bits of a
    client's time and how long it was held; `perceived` the change of the client's offset, its
    round trip and the offset's error bound, in microseconds; `references` are ages in ticks."""

    seq: int
    tick: int
    sent_after_tick: int
    echo: tuple[int, int] | None
    perceived: tuple[int, int, int] | None
    inputs: Inputs | None
    references: tuple[int, ...]
    entities: list[Entity]


class Number(IntEnum):
    """Number in a packet; trained coding has statistics for each."""

    HELD = 0
    OFFSET_CHANGE = 1
    ROUND_TRIP = 2
    ERROR = 3
    NEWEST_AHEAD = 4
    NEWEST_EARLY = 5
    WORST_BACK = 6
    WORST_EARLY = 7
    BASELINE_AGE = 8
    REFERENCES = 9
    REFERENCE_AGE = 10


class Source(Protocol):
    """Reader of decisions in either coding."""

    def even(self, count: int) -> int:
        """Number of this many even decisions, highest bit first."""

    def number(self, which: Number) -> int:
        """Number below 2^32."""

    def end(self) -> None:
        """Raises an error if the packet continues."""


class Decisions:
    """Reader of plain decisions: one bit each, the highest of a byte first, 0 for yes."""

    def __init__(self, data: bytes) -> None:
        self.bits = int.from_bytes(data, "big")
        self.length = len(data) * 8
        self.at = 0

    def even(self, count: int) -> int:
        """Number of this many bits, highest first; beyond the end every bit is 0."""
        self.at += count
        left = self.length - self.at
        bits = self.bits >> left if left >= 0 else self.bits << -left
        return bits & ((1 << count) - 1)

    def yes(self) -> bool:
        """One decision."""
        return self.even(1) == 0

    def exponent(self, most: int) -> int:
        """Number of yes decisions before the first no, up to this maximum."""
        count = 0
        while count < most and self.yes():
            count += 1
        return count

    def number(self, _which: Number) -> int:
        """Number below 2^32, in the code of header numbers."""
        exponent = self.exponent(32)
        value = (1 << exponent | self.even(exponent)) - 1
        if value >> 32:
            raise WireError("a number of more than 32 bits")
        return value

    def gap(self) -> int:
        """Number of indices left out, below 2^16."""
        exponent = self.exponent(16)
        value = (1 << exponent | self.even(exponent)) - 1
        if value >> 16:
            raise WireError("a gap of more than 16 bits")
        return value

    def residual(self, bits: int) -> int:
        """Difference of a field of this many bits from its predicted value."""
        if self.yes():
            return 0
        negative = self.yes()
        exponent = self.exponent(bits - 1)
        size = 1 << exponent | self.even(exponent)
        if size > (1 << bits - 1) - (not negative):
            raise WireError(f"a difference of {size} in a field of {bits} bits")
        return -size if negative else size

    def end(self) -> None:
        """Raises an error if the packet has bytes that no decision reached."""
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
        """Stores a snapshot's states; drops those older than any baseline."""
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
        """Newest state of each visible entity."""
        return {
            index: entity.state
            for index, (_, entity) in self.latest.items()
            if entity.state is not None
        }


def signed(source: Source, which: Number) -> int:
    """Zigzag of a number."""
    return unzigzag(source.number(which))


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
        """Whether this is a snapshot packet of this game, and not a straggler of another."""
        return len(data) > 0 and data[0] == self.first_byte

    def read(self, data: bytes, known_seq: int, known_tick: int) -> Snapshot:
        """The packet's contents; its low bits are resolved near the known numbers."""
        if not self.is_mine(data) or len(data) > DATAGRAM_BYTES_MAX:
            raise WireError("no snapshot packet of this game")
        left, coded = self.opened(data)
        source = Decisions(coded)
        read = self._header(source, left, known_seq, known_tick, references_max=1)
        read.entities = self._entities(source, read.tick, next(iter(read.references), None))
        return self._checked(source, read)

    @staticmethod
    def opened(data: bytes) -> tuple[int, bytes]:
        """Microseconds from the tick's time to the packet's departure, and the coded part."""
        if len(data) < 3:
            raise WireError("a snapshot packet is cut short")
        stamp = int.from_bytes(data[1:3], "little")
        return min(stamp, 32768) + 64 * max(stamp - 32768, 0), data[3:]

    def _header(
        self, source: Source, left: int, known_seq: int, known_tick: int, references_max: int
    ) -> Snapshot:
        """Everything before the entities, for a packet that left this long after its tick was
        due."""
        seq = nearest(source.even(16), 16, known_seq)
        tick = nearest(source.even(16), 16, known_tick)
        has_echo, has_perceived, has_inputs, has_assumed = self._parts(source)
        echo = None
        if has_echo:
            echo = source.even(24), signed(source, Number.HELD) + left
            if not 0 <= echo[1] <= HELD_MAX:
                raise WireError(f"an echo was held for {echo[1]} microseconds")
        perceived = None
        if has_perceived:
            change = signed(source, Number.OFFSET_CHANGE)
            trip = source.number(Number.ROUND_TRIP) * COARSE_MICROS
            perceived = change, trip, source.number(Number.ERROR) * COARSE_MICROS
        inputs = self._inputs(source, seq, has_assumed) if has_inputs else None
        count = source.number(Number.REFERENCES)
        if count > references_max:
            raise WireError(f"{count} references")
        ages: list[int] = []
        for which in [Number.BASELINE_AGE, *[Number.REFERENCE_AGE] * (count - 1)][:count]:
            ages.append(self._age(source, which, ages[-1] if ages else 0))
        return Snapshot(seq, tick, left, echo, perceived, inputs, tuple(ages), [])

    @staticmethod
    def _checked(source: Source, read: Snapshot) -> Snapshot:
        """Packet, read up to its checksum."""
        if source.even(16) != checksum(read.entities):
            raise WireError(f"the checksum of packet {read.seq} is wrong")
        source.end()
        return read

    @staticmethod
    def _parts(source: Source) -> tuple[bool, bool, bool, bool]:
        """Whether a packet has an echo, perceived, inputs, and among these an assumed one."""
        usual = True, True, True, False
        if source.even(1):
            return usual
        echo, perceived, inputs, assumed = (bool(source.even(1)) for _ in usual)
        parts = echo, perceived, inputs, assumed
        if parts == usual or (assumed and not inputs):
            raise WireError("invalid parts of a header")
        return parts

    @staticmethod
    def _inputs(source: Source, seq: int, has_assumed: bool) -> Inputs:
        ahead, early = signed(source, Number.NEWEST_AHEAD), signed(source, Number.NEWEST_EARLY)
        back, less = source.number(Number.WORST_BACK), signed(source, Number.WORST_EARLY)
        assumed = source.even(8) if has_assumed else None
        counts = (source.even(16), source.even(16)) if seq % 4 == 0 else (None, None)
        return Inputs(ahead, early, back, less, assumed, *counts)

    @staticmethod
    def _age(source: Source, which: Number = Number.BASELINE_AGE, newer: int = 0) -> int:
        age = newer + source.number(which) + 1
        if age > BASELINE_AGE_MAX:
            raise WireError(f"a baseline that is {age} ticks old")
        return age

    def _entities(self, source: Decisions, tick: int, usual_age: int | None) -> list[Entity]:
        entities: list[Entity] = []
        index, passed = -1, 0
        while source.yes():
            gap = source.gap()
            passed += gap + 1 if entities else 1
            index = index + 1 + gap & 0xFFFF
            full = len(entities) == PACKET_ENTITIES_MAX
            if index >= ENTITIES_MAX or passed > 1 << 16 or full:
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
                min(older + source.residual(each.bits) & (1 << each.bits) - 1, each.greatest)
                if self._sees(each, baseline.owner)
                else older
                for each, older in zip(self.game.kinds[baseline.kind].fields, baseline.fields)
            )
            return Entity(index, baseline._replace(fields=fields), known=True)
        if source.yes():
            return Entity(index, self._full(source, index, source.yes))
        return Entity(index, None, gone=source.yes())

    def _full(self, source: Source, index: int, owned: Callable[[], bool]) -> State:
        """An entity's whole state; a decision says whether it has an owner."""
        generation = source.even(8)
        kind = source.even(self.game.kind_bits)
        if kind >= len(self.game.kinds):
            raise WireError(f"entity {index} is of kind {kind}")
        owner = source.even(16) if owned() else None
        fields = tuple(
            min(source.even(each.bits), each.greatest) if self._sees(each, owner) else 0
            for each in self.game.kinds[kind].fields
        )
        return State(generation, kind, owner, fields)

    def _sees(self, field: Field, owner: int | None) -> bool:
        return not field.owner_only or owner == self.player
