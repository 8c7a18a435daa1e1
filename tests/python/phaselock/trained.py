"""Snapshot packets in trained coding: the range coder, and entities from several references."""

from __future__ import annotations

import math
from typing import Callable, Sequence

from .numbers import DATAGRAM_BYTES_MAX, ENTITIES_MAX, PACKET_ENTITIES_MAX, WireError
from .prediction import AllYes, Extrapolate, Fields, digits, mantissa
from .records import Game
from .snapshots import REFERENCES_MAX, Entity, Number, Snapshot, State, States
from .snapshots import Reader as PlainReader
from .tables import FIELD, GAP_CONTEXTS, GAPS, HEADER, KIND, NUMBER_CONTEXTS, Rules

RANGE_BITS = 56
# Width of a group without decisions, and the width below which a group ends by itself.
WHOLE, NARROW = 1 << 32, 1 << 16
USUAL, NEWEST, PRESENT = 324, 326, 327
KNOWN, THERE, GONE, OWNED, MORE = 332, 333, 334, 335, 336


def _likelihood(level: int) -> int:
    likely = math.floor(65536 / (1 + math.exp((128 - level) / 16)) + 0.5)
    return min(max(likely, 1), 65535)


# Probability of a yes in 1/65536, by level.
LIKELIHOODS = [_likelihood(level) for level in range(256)]


class RangeReader:
    """Reader of groups of decisions with the levels of their contexts."""

    def __init__(self, levels: bytes, data: bytes) -> None:
        self.levels = levels
        self.data = data
        self.at = 0
        self.code = 0
        self.range = 1 << RANGE_BITS
        for _ in range(RANGE_BITS // 8):
            self._pull()
        self._begin()

    def _pull(self) -> None:
        byte = self.data[self.at] if self.at < len(self.data) else 0
        self.code = self.code << 8 | byte
        self.at += 1

    def _begin(self) -> None:
        self.unit = self.range >> 32
        self.rest = min(self.code // self.unit, WHOLE - 1)
        self.start = 0
        self.width = WHOLE

    def close(self) -> None:
        """Ends the group, unless it is empty."""
        if self.width == WHOLE:
            return
        self.code -= self.unit * self.start
        self.range = self.unit * self.width
        while self.range < 1 << RANGE_BITS - 8:
            self.range <<= 8
            self._pull()
        self._begin()

    def bit(self, context: int) -> bool:
        """Decision in a context."""
        split = self.width * LIKELIHOODS[self.levels[context]] >> 16
        yes = self.rest < split
        if yes:
            self.width = split
        else:
            self.rest -= split
            self.start += split
            self.width -= split
        if self.width < NARROW:
            self.close()
        return yes

    def even(self, count: int) -> int:
        """Number of this many bits, each as likely 0 as 1."""
        value = 0
        while count > 0:
            take = min(count, 16)
            if self.width >> take < NARROW:
                self.close()
            self.width >>= take
            digits = min(self.rest // self.width, (1 << take) - 1)
            self.rest -= self.width * digits
            self.start += self.width * digits
            value = value << take | digits
            count -= take
        return value

    def number(self, which: Number) -> int:
        """Number below 2^32."""
        exponent = 0
        while exponent < 32 and self.bit(NUMBER_CONTEXTS * which + exponent):
            exponent += 1
        value = (1 << exponent | self.even(exponent)) - 1
        if value >> 32:
            raise WireError("a number of more than 32 bits")
        return value

    def gap(self, before: int) -> int:
        """Number of indices left out, below 2^16, coded by the previous gap."""
        start = GAPS + GAP_CONTEXTS * min(before, 3)
        exponent = 0
        while exponent < 16 and self.bit(start + 4 * exponent):
            exponent += 1
        value = mantissa(self, start + 4 * exponent + 1, exponent) - 1
        if value >> 16:
            raise WireError("a gap of more than 16 bits")
        return value

    def end(self) -> None:
        """Raises an error if the packet has bytes that no decision reached."""
        self.close()
        if self.at < len(self.data):
            raise WireError(f"{len(self.data) - self.at} bytes behind a packet's end")
        if self.data and self.data[-1] == 0:
            raise WireError("a packet's last byte is 0")


class Reader(PlainReader):
    """Reader of the snapshot packets of one game in trained coding, for one player.
    `extrapolate` has the game's own function for each kind that has one."""

    def __init__(
        self,
        game: Game,
        rules: Rules,
        levels: bytes,
        tick_hz: int,
        game_number: int,
        player: int,
        states: States,
        extrapolate: dict[int, Extrapolate] | None = None,
    ) -> None:
        super().__init__(game, game_number, player, states)
        self.rules = rules
        self.levels = levels
        self.tick_hz = tick_hz
        self.extrapolate = extrapolate or {}
        self.starts = [HEADER]
        for kind in rules.kinds:
            self.starts.append(self.starts[-1] + KIND + FIELD * len(kind))

    def read(self, data: bytes, known_seq: int, known_tick: int) -> Snapshot:
        """The packet's contents; its low bits are resolved near the known numbers."""
        if not self.is_mine(data) or len(data) > DATAGRAM_BYTES_MAX:
            raise WireError("no snapshot packet of this game")
        left, coded = self.opened(data)
        source = RangeReader(self.levels, coded)
        read = self._header(source, left, known_seq, known_tick, REFERENCES_MAX)
        source.close()
        read.entities = _Entities(self, source, read).read()
        return self._checked(source, read)

    def full(self, source: RangeReader, index: int, owned: Callable[[], bool]) -> State:
        """An entity's whole state."""
        return self._full(source, index, owned)

    def age(self, source: RangeReader) -> int:
        """Age of an entity's own baseline."""
        return self._age(source)


class _Entities:
    """Entities of one packet, with the state that their contexts depend on."""

    def __init__(self, reader: Reader, source: RangeReader, packet: Snapshot) -> None:
        self.reader = reader
        self.source = source
        self.tick = packet.tick
        self.ages = list(packet.references)
        self.lately = 0
        self.usual = 0

    def _plain(self, context: int) -> bool:
        return self.source.bit(HEADER + context)

    def read(self) -> list[Entity]:
        entities: list[Entity] = []
        index, gap, passed = -1, 0, 0
        while self._plain(MORE):
            gap = self.source.gap(gap)
            passed += gap + 1 if entities else 1
            index = index + 1 + gap & 0xFFFF
            full = len(entities) == PACKET_ENTITIES_MAX
            if index >= ENTITIES_MAX or passed > 1 << 16 or full:
                raise WireError(f"entity {index} is out of order or too much")
            entities.append(self._entity(index))
            self.source.close()
        return entities

    def _entity(self, index: int) -> Entity:
        if self._plain(KNOWN):
            return Entity(index, self._known(index), known=True)
        if self._plain(THERE):
            state = self.reader.full(self.source, index, lambda: self._plain(OWNED))
            return Entity(index, state)
        return Entity(index, None, gone=self._plain(GONE))

    def _references(self) -> list[int]:
        """Ages of an entity's references."""
        self.usual = int(bool(self.ages) and self._plain(USUAL + self.usual))
        if self.usual:
            return self.ages
        if len(self.ages) > 1 and self._plain(NEWEST):
            own = self.ages[:1]
        else:
            own = [self.reader.age(self.source)]
        for n, age in enumerate(age for age in self.ages if age > own[0]):
            if self._plain(PRESENT + min(n, 4)) and len(own) < REFERENCES_MAX:
                own.append(age)
        return own

    def _known(self, index: int) -> State:
        ages = self._references()
        base = self.reader.states.baseline(self.tick - ages[0], index)
        table = self.reader.rules.kinds[base.kind]
        if not any(field.trending for field in table):
            ages = ages[:2]
        past = [self.reader.states.baseline(self.tick - age, index) for age in ages]
        if any(each[:3] != base[:3] for each in past):
            raise WireError(f"references of entity {index} are of different ones")
        states = [each.fields for each in past]
        now = before = 8
        if len(states) > 1:
            now = _activity(base.kind, self.reader.rules, states[0], states[1])
            before = _activity(base.kind, self.reader.rules, states[0], states[:4][-1])
        start = self.reader.starts[base.kind]
        predicted = self.source.bit(start + (now * 9 + before) * 4 + self.lately)
        self.source.close()
        self.lately = (self.lately * 2 + predicted) % 4
        mine = base.owner == self.reader.player
        fields = Fields(
            AllYes() if predicted else self.source,
            start,
            table,
            [each.owner_only and not mine for each in table],
            self.reader.tick_hz,
            states,
            ages,
            self.reader.extrapolate.get(base.kind),
        )
        return base._replace(fields=fields.decode())


def _activity(kind: int, rules: Rules, newer: Sequence[int], older: Sequence[int]) -> int:
    """Number of binary digits of the greatest difference between two references."""
    fields = zip(rules.kinds[kind], older, newer)
    return min(7, max(digits(abs(each.difference(a, b))) for each, a, b in fields))
