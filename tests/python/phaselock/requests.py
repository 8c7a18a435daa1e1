"""Readers of clients' control messages and input packets, as a server has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .control import COLORS, GAMES_MAX, Body, read_audience, read_look, read_mark, read_motion
from .control import read_ticket, room_code
from .inputs import InputPacket
from .numbers import DATAGRAM_BYTES_MAX, HELD_MAX, INPUT_KIND, NAME_BYTES_MAX, PACKET_INPUTS_MAX
from .numbers import TEXT_BYTES_MAX, WireError, unzigzag
from .records import Record


@dataclass
class HelloRequest:
    """First message of a session, with all of the client's games and their hashes."""

    wire: int
    version: str
    name: str
    games: list[tuple[str, int]]
    sent: int
    key: bytes
    proof: bytes
    resume: int | None
    wishes: int
    room: str | None
    password: str | None
    look: tuple[int, int]
    ticket: bytes | None


@dataclass
class Query:
    """Query for the server's status."""


@dataclass
class ChatRequest:
    """Chat line to an audience."""

    to: int
    text: str


@dataclass
class GameRequest:
    """Request to the game with this number, in the game's own format."""

    number: int
    data: bytes


@dataclass
class RoundRequest:
    """Request about the round: a word, or a word and its subject."""

    request: Any


@dataclass
class WatchRequest:
    """Request to watch from now on, or to play."""

    on: bool


@dataclass
class QuickRequest:
    """Quick message with this number."""

    to: int
    number: int


@dataclass
class MarkRequest:
    """Mark on the map: kind and position."""

    to: int
    mark: tuple[int, int, int]


@dataclass
class Restyle:
    """Request for another name or look."""

    name: str
    look: tuple[int, int]


@dataclass
class EarlyRequest:
    """Request for early steering of these kinds, a bit each, in the game with this number."""

    number: int
    kinds: int


@dataclass
class GhostRequest:
    """Request for the run with this hash; None for the list of ghosts."""

    fetch: int | None


Request = (
    HelloRequest
    | Query
    | ChatRequest
    | GameRequest
    | RoundRequest
    | WatchRequest
    | QuickRequest
    | MarkRequest
    | Restyle
    | EarlyRequest
    | GhostRequest
)


def read_request(data: bytes) -> Request | None:
    """Message from a client; None if its kind is unknown."""
    body = Body(data)
    kind = body.number(32)
    request: Request
    if kind == 0:
        wire, version, name = body.number(), body.text(TEXT_BYTES_MAX), body.text(TEXT_BYTES_MAX)
        count = body.number()
        if count > GAMES_MAX:
            raise WireError(f"{count} games")
        games = [(body.text(NAME_BYTES_MAX), body.number()) for _ in range(count)]
        sent, key, proof = body.signed(), body.take(32), body.take(64)
        resume, wishes = body.option(body.number), body.number(32)
        # Hellos of earlier versions end before the room, or before the password.
        room = None if body.is_over() else body.option(lambda: room_code(body))
        password = None if body.is_over() else body.option(lambda: body.text(TEXT_BYTES_MAX))
        look = (0, 0) if body.is_over() else read_look(body, COLORS + 1)
        ticket = None if body.is_over() else read_ticket(body)
        names = wire, version, name, games
        proofs = sent, key, proof, resume
        return HelloRequest(*names, *proofs, wishes, room, password, look, ticket)
    if kind == 1:
        request = Query()
    elif kind == 2:
        request = ChatRequest(read_audience(body), body.text())
    elif kind == 3:
        request = GameRequest(body.u8(), body.octets())
    elif kind == 4:
        request = RoundRequest(_read_round(body))
    elif kind == 5:
        request = WatchRequest(body.flag())
    elif kind == 6:
        request = QuickRequest(read_audience(body), body.u8())
    elif kind == 7:
        request = MarkRequest(read_audience(body), read_mark(body))
    elif kind == 8:
        request = Restyle(body.text(), (body.u8(), body.u8()))
    elif kind == 9:
        request = EarlyRequest(body.u8(), body.number(32))
    elif kind == 10:
        wants = body.word("List", "Fetch")
        request = GhostRequest(body.number() if wants == "Fetch" else None)
    else:
        return None
    body.end()
    return request


def _read_round(body: Body) -> Any:
    kind = body.number(32)
    if kind == 0:
        return {"Ready": body.flag()}
    if kind == 1:
        return {"Side": body.u8()}
    if kind == 2:
        return {"Call": read_motion(body)}
    if kind == 3:
        return {"Vote": body.word("Yes", "No", "Veto")}
    raise WireError(f"a request about the round of the kind {kind}")


class BitReader:
    """Fields bit by bit, lowest bit first."""

    def __init__(self, data: bytes) -> None:
        self.bits = int.from_bytes(data, "little")
        self.left = len(data) * 8

    def number(self, count: int) -> int:
        """Number of this many bits."""
        if count > self.left:
            raise WireError("a packet is cut short")
        value = self.bits & (1 << count) - 1
        self.bits >>= count
        self.left -= count
        return value

    def flag(self) -> bool:
        """One bit."""
        return self.number(1) == 1

    def exp_golomb(self, order: int) -> int:
        """Exp-Golomb code of an unsigned number below 2^32."""
        width = 0
        while not self.flag():
            width += 1
            if width > 32 - order:
                raise WireError("an Exp-Golomb code of more than 32 bits")
        value = ((1 << width | self.number(width)) - 1 << order) + self.number(order)
        if value >> 32:
            raise WireError("an Exp-Golomb code of more than 32 bits")
        return value

    def delta(self, record: Record, older: tuple[int, ...]) -> tuple[int, ...]:
        """Record, as its difference from an older one."""
        raw = []
        for each, old in zip(record.fields, older):
            change = 0
            if self.flag():
                change = unzigzag(self.exp_golomb(max(0, each.bits // 2 - 2)) + 1)
            half = 1 << each.bits - 1
            if not -half <= change < half:
                raise WireError(f"a difference of {change} in a field of {each.bits} bits")
            raw.append(min(old + change & 2 * half - 1, each.greatest))
        return tuple(raw)

    def end(self) -> None:
        """Raises an error if anything is left except zero bits of the last byte."""
        if self.left >= 8 or self.bits:
            raise WireError("a packet goes on behind its end")


def read_inputs(data: bytes, record: Record) -> InputPacket:
    """Input packet of any of the server's games."""
    if not data or data[0] & 15 != INPUT_KIND or len(data) > DATAGRAM_BYTES_MAX:
        raise WireError("no input packet")
    source = BitReader(data[1:])
    seq = source.number(16)
    ack = (source.number(16), source.number(32)) if source.flag() else None
    sent = source.number(32)
    echo = (source.number(32), source.number(24)) if source.flag() else None
    if echo is not None and echo[1] > HELD_MAX:
        raise WireError(f"an echo was held for {echo[1]} microseconds")
    packet = InputPacket(data[0] >> 4, seq, ack, sent, echo, source.number(8), source.number(16))
    count = source.number(7)
    if count > PACKET_INPUTS_MAX:
        raise WireError(f"{count} inputs")
    newer = (0,) * len(record.fields)
    for index in range(count):
        if source.flag():
            newer = source.delta(record, newer)
        elif index == 0:
            raise WireError("the first input has no fields")
        lag = instant = None
        if index == 0 or source.flag():
            lag = source.number(15) if index == 0 or source.flag() else None
            instant = source.number(7) if lag is None or source.flag() else None
        packet.inputs.append((newer, lag, instant))
    source.end()
    return packet
