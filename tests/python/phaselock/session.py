"""One session from its welcome on: messages and datagrams in, input packets out.

Nothing here does I/O or reads a clock. Times are the client's, in microseconds.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Callable

from .control import Chat, Disconnect, Epoch, Joined, Left, Refused, Welcome, read_message
from .inputs import InputPacket
from .numbers import DATAGRAM_BYTES_MAX, PACKET_INPUTS_MAX, WireError, nearest
from .records import Game
from .snapshots import Reader, Snapshot, States

ACK_MASK_BITS = 32
CLOCK_SAMPLES_MAX = 64
# Chat lines and refusals that wait to be taken; beyond it, the oldest are dropped.
NOTICES_MAX = 512
# A sample this far from the others means that the server has lost or gained time.
CLOCK_STEP_MICROS = 200_000
VIEW_LAG_MAX = 0x7FFF
# Ticks by which inputs should arrive early, in addition to the path; arbitrary.
LEAD_TICKS = 3


@dataclass
class Counts:
    """Counts of a session's packets and states."""

    datagrams: int = 0
    stragglers: int = 0
    doubles: int = 0
    snapshots: int = 0
    states: int = 0
    states_known: int = 0
    gone: int = 0
    hidden: int = 0
    input_packets: int = 0
    inputs: int = 0
    epochs: int = 0


class Clock:
    """Offset from the client's clock to the server's, from the fastest of the last answers."""

    def __init__(self) -> None:
        self.samples: deque[tuple[int, int]] = deque(maxlen=CLOCK_SAMPLES_MAX)

    def add(self, asked: int, held: int, server_sent: int, now: int) -> None:
        """Adds an answer's four times: asked at, held for, sent at by the server's clock, now."""
        trip = now - asked - held
        if trip < 0:
            raise WireError(f"a round trip of {trip} microseconds")
        offset = server_sent + trip // 2 - now
        if self.samples and abs(offset - self.offset) > CLOCK_STEP_MICROS + trip:
            self.samples.clear()
        self.samples.append((trip, offset))

    @property
    def offset(self) -> int:
        """Microseconds to add to the client's clock to get the server's."""
        return min(self.samples)[1]

    @property
    def trip(self) -> int:
        """Least round trip of the samples."""
        return min(self.samples)[0]


@dataclass
class Acks:
    """Numbers of the snapshot packets that arrived."""

    newest: int | None = None
    mask: int = 0

    def add(self, seq: int) -> bool:
        """Records a packet; returns whether it is new."""
        if self.newest is None or seq > self.newest:
            ahead = 0 if self.newest is None else seq - self.newest
            self.mask = (self.mask << 1 | 1) << ahead - 1 if ahead else 0
            self.mask &= (1 << ACK_MASK_BITS) - 1
            self.newest = seq
            return True
        behind = self.newest - seq - 1
        if behind < 0 or behind >= ACK_MASK_BITS or self.mask >> behind & 1:
            return False
        self.mask |= 1 << behind
        return True


@dataclass
class Session:
    """Session of one player. `controls` returns the input for a tick, by field names."""

    game: Game
    controls: Callable[[int], dict[str, float]]
    counts: Counts = field(default_factory=Counts)
    welcome: Welcome | None = None
    names: dict[int, tuple[str, bool]] = field(default_factory=dict)
    chat: deque[Chat] = field(default_factory=lambda: deque(maxlen=NOTICES_MAX))
    refused: deque[Refused] = field(default_factory=lambda: deque(maxlen=NOTICES_MAX))
    disconnect: Disconnect | None = None
    clock: Clock = field(default_factory=Clock)
    states: States = field(default_factory=States)
    newest: Snapshot | None = None
    perceived_offset: int | None = None
    perceived_error: int = 0
    ticks_without_input: int = 0
    _player: int = 0
    _first_offset: int = 0
    _epoch: int = 0
    _reader: Reader | None = None
    _acks: Acks = field(default_factory=Acks)
    _echo: tuple[int, int] | None = None
    _seq: int = 0
    _confirmed: int = -1
    _pending: deque[tuple[int, tuple[int, ...], int]] = field(default_factory=deque)

    def handle_message(self, body: bytes) -> None:
        """Handles a control message."""
        message = read_message(body)
        if isinstance(message, Welcome):
            self._begin(message)
        elif isinstance(message, Joined):
            self.names.update({each.player: (each.name, each.bot) for each in message.players})
        elif isinstance(message, Left):
            self.names.pop(message.player, None)
        elif isinstance(message, Epoch):
            self._epoch = message.epoch
            self._pending.clear()
            self._confirmed = self.states.newest_tick or 0
            self.clock = Clock()
            self.counts.epochs += 1
        elif isinstance(message, Chat):
            self.chat.append(message)
        elif isinstance(message, Refused):
            self.refused.append(message)
        elif isinstance(message, Disconnect):
            self.disconnect = message

    def handle_datagram(self, data: bytes, now: int) -> list[bytes]:
        """Handles a datagram; returns the packets to send at once."""
        self.counts.datagrams += 1
        if self._reader is None or self.welcome is None or not self._reader.is_mine(data):
            self.counts.stragglers += 1
            return []
        snapshot = self._reader.read(
            data, self._acks.newest or 0, self.states.newest_tick or self.welcome.tick
        )
        newer = self._acks.newest is None or snapshot.seq > self._acks.newest
        if not self._acks.add(snapshot.seq):
            self.counts.doubles += 1
            return []
        self._count(snapshot)
        self.states.commit(snapshot)
        sent = self.tick_micros(snapshot.tick) + snapshot.sent_after_tick
        if newer:
            self.newest = snapshot
            self._echo = sent, now
        if snapshot.echo is not None:
            asked = nearest(snapshot.echo[0], 24, now)
            self.clock.add(asked, snapshot.echo[1], sent, now)
        if snapshot.inputs is not None:
            self._confirmed = max(self._confirmed, snapshot.tick + snapshot.inputs.newest_ahead)
            if snapshot.inputs.ticks_without is not None:
                self.ticks_without_input = snapshot.inputs.ticks_without
        if snapshot.perceived is not None:
            self.perceived_offset = self._first_offset + snapshot.perceived[0]
            self.perceived_error = snapshot.perceived[2]
        return [self._packet(now)] if self.perceived_offset is None else []

    def poll(self, now: int) -> list[bytes]:
        """Input packets that are due: one per tick."""
        if self.newest is None or self.perceived_offset is None or not self.clock.samples:
            return []
        ahead = self.clock.trip // 2 + LEAD_TICKS * 1_000_000 // self.tick_hz
        due = (now + self.clock.offset + ahead) * self.tick_hz // 1_000_000
        if self._pending and due - self._pending[-1][0] > PACKET_INPUTS_MAX:
            self._pending.clear()
        first = self._pending[-1][0] + 1 if self._pending else due
        for tick in range(first, due + 1):
            lag = min(max(0, tick - self.newest.tick) * 64, VIEW_LAG_MAX)
            self._pending.append((tick, self.game.input.raw(self.controls(tick)), lag))
            self.counts.inputs += 1
        while len(self._pending) > PACKET_INPUTS_MAX or (
            len(self._pending) > 1 and self._pending[0][0] <= self._confirmed
        ):
            self._pending.popleft()
        return [self._packet(now)] if first <= due else []

    def seconds_to_next_tick(self, now: int) -> float:
        """Time until `poll` is due again; a hundredth of a second if unknown."""
        if not self._pending or not self.clock.samples:
            return 0.01
        ahead = self.clock.trip // 2 + LEAD_TICKS * 1_000_000 // self.tick_hz
        due = self.tick_micros(self._pending[-1][0] + 1) - self.clock.offset - ahead
        return max(0, due - now) / 1_000_000 + 0.0005

    @property
    def tick_hz(self) -> int:
        """Ticks a second."""
        if self.welcome is None:
            raise WireError("no welcome yet")
        return self.welcome.tick_hz

    def tick_micros(self, tick: int) -> int:
        """Server's time at which a tick is due."""
        return tick * 1_000_000 // self.tick_hz

    def _begin(self, welcome: Welcome) -> None:
        if welcome.game != self.game.name:
            raise WireError(f"the server plays {welcome.game}")
        if self.welcome is None:
            self._player, self._first_offset = welcome.player, welcome.offset
        self.welcome = welcome
        self._epoch = welcome.epoch
        self.states = States()
        self._reader = Reader(self.game, welcome.number, self._player, self.states)
        self._acks = Acks()
        self._echo = None
        self._seq = 0
        self._confirmed = welcome.tick
        self._pending.clear()

    def _count(self, snapshot: Snapshot) -> None:
        self.counts.snapshots += 1
        for entity in snapshot.entities:
            self.counts.states += entity.state is not None
            self.counts.states_known += entity.known
            self.counts.gone += entity.state is None and entity.gone
            self.counts.hidden += entity.state is None and not entity.gone

    def _packet(self, now: int) -> bytes:
        if self.welcome is None:
            raise WireError("no welcome yet")
        seq, acks, echo = self._seq, self._acks, self._echo
        self._seq += 1
        self.counts.input_packets += 1
        newest_first = list(self._pending)[::-1]
        packet = InputPacket(
            game_number=self.welcome.number,
            seq=seq,
            ack=None if acks.newest is None else (acks.newest, acks.mask),
            sent=now,
            echo=None if echo is None else (echo[0], now - echo[1]),
            epoch=self._epoch,
            tick=newest_first[0][0] if newest_first else 0,
            inputs=[(raw, lag, None) for _, raw, lag in newest_first],
        )
        while len(data := packet.data(self.game.input)) > DATAGRAM_BYTES_MAX:
            packet.inputs.pop()
        return data
