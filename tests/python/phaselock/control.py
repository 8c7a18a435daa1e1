"""Control messages: postcard bodies, each after its length."""

from __future__ import annotations

import string
from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple, TypeVar

from .numbers import MESSAGE_BYTES_MAX, NAME_BYTES_MAX, PLAIN_CODING, ROSTER_MAX, SETUP_BYTES_MAX
from .numbers import WATCH_DELAY_MAX, WATCHERS_MAX, WEB_HASHES_MAX, WEB_HOST_BYTES_MAX
from .numbers import TEXT_BYTES_MAX, TICK_MAX, TICKET_BYTES_MAX, WIRE_TEXT, WireError
from .numbers import fnv1a_64, unzigzag, zigzag

# The package's own; a test compares it with pyproject.toml.
VERSION = "0.1.0"
# Bytes of a host's name.
HOST_LETTERS = set(string.ascii_letters + string.digits + ".-")
TICK_HZ_MIN = 10
TICK_HZ_MAX = 128
SNAPSHOT_HZ_MIN = 2
REFUSALS = 12
GAMES_MAX = 16
OUTCOMES = ("Passed", "Failed", "Vetoed", "Moot")
COLORS = 12
PATTERNS = 8
QUICK_MESSAGES = 32
MARK_KINDS = 4
MARK_UNITS_MAX = 1 << 20
GHOSTS_MAX = 16
RUN_BYTES_MAX = 60_000
RUN_PART_BYTES = 1024
COMMANDS_MAX = 32
ROOMS_MAX = 16
ROOM_CODE_CHARACTERS = set("abcdefghijklmnopqrstuvwxyz0123456789-")

T = TypeVar("T")


def varint(value: int) -> bytes:
    """LEB128 of an unsigned number."""
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(parts) + bytes([value])


def text(value: str) -> bytes:
    """Text with its length in bytes before it."""
    return varint(len(value.encode())) + value.encode()


class Body:
    """Reader of a control message's body; every method takes the next field."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, length: int) -> bytes:
        """As many bytes as the length says."""
        if self.at + length > len(self.data):
            raise WireError("a message ends in the middle of a field")
        self.at += length
        return self.data[self.at - length : self.at]

    def u8(self) -> int:
        """Number of one byte."""
        return self.take(1)[0]

    def number(self, bits: int = 64) -> int:
        """Unsigned LEB128 varint of at most this number of bits."""
        value = 0
        for shift in range(0, bits, 7):
            byte = self.u8()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >> bits:
                    break
                return value
        raise WireError(f"a varint has more than {bits} bits")

    def signed(self, bits: int = 64) -> int:
        """Signed number: a zigzag varint of at most this number of bits."""
        return unzigzag(self.number(bits))

    def flag(self) -> bool:
        """Boolean of one byte."""
        value = self.u8()
        if value > 1:
            raise WireError(f"a boolean is {value}")
        return value == 1

    def octets(self) -> bytes:
        """Bytes after their length."""
        return self.take(self.number())

    def text(self, most: int = MESSAGE_BYTES_MAX) -> str:
        """UTF-8 text after its length, of at most this number of bytes."""
        octets = self.octets()
        if len(octets) > most:
            raise WireError(f"a text has {len(octets)} bytes")
        try:
            return octets.decode()
        except UnicodeDecodeError as error:
            raise WireError(f"a text is not UTF-8: {error}") from error

    def word(self, *words: str) -> str:
        """Word with this number."""
        at = self.number(32)
        if at >= len(words):
            raise WireError(f"a word of the number {at}")
        return words[at]

    def option(self, read: Callable[[], T]) -> T | None:
        """None, or a value read by the given method."""
        return read() if self.flag() else None

    def is_over(self) -> bool:
        """Whether no bytes are left."""
        return self.at == len(self.data)

    def end(self) -> None:
        """Raises an error if bytes are left."""
        if self.at != len(self.data):
            raise WireError(f"{len(self.data) - self.at} bytes behind a message's last field")


def room_code(body: Body) -> str:
    """Code of a room."""
    code = body.text(NAME_BYTES_MAX)
    if not code or not set(code) <= ROOM_CODE_CHARACTERS:
        raise WireError(f"a room's code is {code!r}")
    return code


def frame(body: bytes) -> bytes:
    """Message on the stream: its length, then its body."""
    if len(body) > MESSAGE_BYTES_MAX:
        raise WireError(f"a message of {len(body)} bytes")
    return len(body).to_bytes(2, "little") + body


def take_frames(buffer: bytearray) -> list[bytes]:
    """Bodies of the complete messages in a buffer, which keeps the rest."""
    bodies = []
    while len(buffer) >= 2:
        length = int.from_bytes(buffer[:2], "little")
        if length > MESSAGE_BYTES_MAX:
            raise WireError(f"a message says that it has {length} bytes")
        if len(buffer) < 2 + length:
            break
        bodies.append(bytes(buffer[2 : 2 + length]))
        del buffer[: 2 + length]
    return bodies


@dataclass
class Hello:
    """First message of a session."""

    name: str
    game: str
    game_hash: int
    sent: int
    key: bytes
    proof: bytes
    resume: int | None = None
    wire: int = fnv1a_64(WIRE_TEXT)
    version: str = VERSION
    wishes: int = PLAIN_CODING
    room: str | None = None
    password: str | None = None
    look: tuple[int, int] = (0, 0)
    ticket: bytes | None = None

    def body(self) -> bytes:
        """Message's body."""
        return b"".join(
            [
                varint(0),
                varint(self.wire),
                text(self.version),
                text(self.name),
                varint(1),
                text(self.game),
                varint(self.game_hash),
                varint(zigzag(self.sent)),
                self.key,
                self.proof,
                b"\0" if self.resume is None else b"\1" + varint(self.resume),
                varint(self.wishes),
                b"\0" if self.room is None else b"\1" + text(self.room),
                b"\0" if self.password is None else b"\1" + text(self.password),
                bytes(self.look),
                b"\0"
                if self.ticket is None
                else b"\1" + varint(len(self.ticket)) + self.ticket,
            ]
        )


def query_body() -> bytes:
    """Query for the server's status."""
    return varint(1)


def chat_body(line: str, to: int = 0) -> bytes:
    """Chat line to everybody, or to an audience."""
    return varint(2) + varint(to) + text(line)


@dataclass
class Disconnect:
    """Last message of a session, with the reason for its end."""

    code: int
    text: str
    retry_after: int | None
    redirect: str | None
    fingerprint: bytes | None = None
    ticket: bytes | None = None
    hashes: list[bytes] = field(default_factory=list)
    host: str = ""


@dataclass
class RoomStatus:
    """One room of a server."""

    code: str
    game: str
    players: int
    players_max: int
    bots: int


@dataclass
class Status:
    """Answer to a query."""

    server: str
    version: str
    game: str
    players: int
    players_max: int
    bots: int
    tick: int
    rooms: list[RoomStatus]
    watchers: int = 0


@dataclass
class Welcome:
    """Answer to a hello; also the beginning of a server's next game."""

    server: str
    game: str
    number: int
    seed: int
    tick_hz: int
    snapshot_hz: int
    player: int
    token: int
    resumed: bool
    tick: int
    offset: int
    epoch: int
    unix_micros: int
    setup: bytes
    watching: int | None = None


class Seat(NamedTuple):
    """Player, with colour and marking, and a number that identifies the person to others."""

    player: int
    name: str
    bot: bool
    look: tuple[int, int]
    person: int | None


@dataclass
class Joined:
    """Players in the room."""

    players: list[Seat]


@dataclass
class Left:
    """Player who has left, and the code of the cause."""

    player: int
    code: int


@dataclass
class Epoch:
    """Notice that tick 0 moved, since the server lost time."""

    epoch: int
    unix_micros: int


@dataclass
class Chat:
    """Chat line from a player, or from the host, who is not a player."""

    sender: int | None
    to: int
    text: str


@dataclass
class Refused:
    """Request that was refused."""

    request: int
    refusal: int


@dataclass
class GameEvent:
    """Event in the game's own format."""

    data: bytes


@dataclass
class Watching:
    """Players who from now on watch, or play."""

    players: list[int]
    watching: bool


@dataclass
class Places:
    """Free seats, and the number of clients ahead of this one in the queue."""

    free: int
    ahead: int | None


@dataclass
class RoundNotice:
    """News about the round: a word, and its subject."""

    notice: Any


@dataclass
class Quick:
    """Quick message from a player."""

    sender: int
    to: int
    number: int


@dataclass
class Mark:
    """Mark of a player on the map: kind and position."""

    sender: int
    to: int
    mark: tuple[int, int, int]


@dataclass
class Commands:
    """Commands that the player may type in the chat: names and usages."""

    commands: list[tuple[str, str]]


@dataclass
class Ghosts:
    """Ghosts that can be fetched: name, hundredths of a second, hash, size, whether its own."""

    offers: list[tuple[str, int, int, int, bool]]


@dataclass
class RunPart:
    """Part of a run: the run's hash, the number of bytes before, and the bytes."""

    hash: int
    start: int
    data: bytes


Message = (
    Disconnect
    | Status
    | Welcome
    | Joined
    | Left
    | Epoch
    | Chat
    | Refused
    | GameEvent
    | RoundNotice
    | Watching
    | Places
    | Quick
    | Mark
    | Commands
    | Ghosts
    | RunPart
)


def read_motion(body: Body) -> Any:
    """Subject of a vote."""
    kind = body.number(32)
    if kind == 0:
        return {"Game": body.text(NAME_BYTES_MAX)}
    if kind == 1:
        return {"Kick": body.number(16)}
    if kind in (2, 3):
        return ("MoreTime", "Shuffle")[kind - 2]
    raise WireError(f"a vote of the kind {kind}")


def _read_presence(body: Body) -> Any:
    player, ping = body.number(16), body.number(16)
    return [player, {"ping_ms": ping, "is_ready": body.flag(), "is_away": body.flag()}]


def _read_round(body: Body) -> Any:
    kind = body.number(32)
    if kind == 0:
        count = body.number()
        if count > GAMES_MAX:
            raise WireError(f"{count} games")
        return {
            "House": {
                "games": [body.text(NAME_BYTES_MAX) for _ in range(count)],
                "next": body.option(lambda: body.text(NAME_BYTES_MAX)),
                "votes": body.u8(),
                "ready": body.word("Off", "Early", "Wait"),
                "is_staff": body.flag(),
            }
        }
    if kind == 1:
        count = body.number()
        if count > ROSTER_MAX:
            raise WireError(f"{count} players in a message")
        return {"Presence": [_read_presence(body) for _ in range(count)]}
    if kind == 2:
        by, motion = body.number(16), read_motion(body)
        counts = {name: body.number(16) for name in ("yes", "no", "voters")}
        return {"Poll": {"by": by, "motion": motion, **counts, "left_ms": body.number(32)}}
    if kind == 3:
        motion = read_motion(body)
        return {"Voted": {"motion": motion, "outcome": body.word(*OUTCOMES)}}
    raise WireError(f"news about the round of the kind {kind}")


def read_audience(body: Body) -> int:
    """Audience of a line: 0 all, 1 the speaker's side."""
    to = body.number(32)
    if to > 1:
        raise WireError(f"an audience {to}")
    return to


def read_ticket(body: Body) -> bytes | None:
    """Ticket for another server, which only servers read."""
    ticket = body.option(body.octets)
    if ticket is not None and len(ticket) > TICKET_BYTES_MAX:
        raise WireError(f"a ticket of {len(ticket)} bytes")
    return ticket


def read_web(body: Body) -> tuple[list[bytes], str]:
    """How browsers recognise another server."""
    count = body.number()
    if count > WEB_HASHES_MAX:
        raise WireError(f"{count} digests of certificates")
    hashes = [body.take(32) for _ in range(count)]
    host = body.text(WEB_HOST_BYTES_MAX)
    if not set(host) <= HOST_LETTERS:
        raise WireError(f"{host!r} is no host")
    return hashes, host


def read_look(body: Body, colors: int = COLORS) -> tuple[int, int]:
    """Colour and marking; clients may also send a colour that stands for none."""
    # Hellos of earlier versions end before the look.
    color = body.u8()
    pattern = 0 if body.is_over() else body.u8()
    if color >= colors or pattern >= PATTERNS:
        raise WireError(f"a look of colour {color} and marking {pattern}")
    return color, pattern


def read_mark(body: Body) -> tuple[int, int, int]:
    """Kind and position of a mark."""
    kind, x, y = body.u8(), body.signed(32), body.signed(32)
    return kind, x, y


def _read_rooms(body: Body) -> list[RoomStatus]:
    """Rooms at the end of a Status; empty if it is of an earlier version."""
    count = 0 if body.is_over() else body.number()
    if count > ROOMS_MAX:
        raise WireError(f"a list of {count} rooms")
    return [
        RoomStatus(
            room_code(body),
            body.text(NAME_BYTES_MAX),
            body.number(16),
            body.number(16),
            body.number(16),
        )
        for _ in range(count)
    ]


def read_message(data: bytes) -> Message | None:
    """Message from a server; None if its kind is unknown."""
    body = Body(data)
    kind = body.number(32)
    message: Message
    if kind == 0:
        goodbye = Disconnect(
            body.number(16),
            body.text(TEXT_BYTES_MAX),
            body.option(lambda: body.number(32)),
            body.option(lambda: body.text(TEXT_BYTES_MAX)),
        )
        # Goodbyes of earlier versions end before the fingerprint.
        if not body.is_over():
            goodbye.fingerprint = body.option(lambda: body.take(32))
        if not body.is_over():
            goodbye.ticket = read_ticket(body)
        if not body.is_over():
            goodbye.hashes, goodbye.host = read_web(body)
        return goodbye
    if kind == 1:
        names = body.text(TEXT_BYTES_MAX), body.text(TEXT_BYTES_MAX), body.text(NAME_BYTES_MAX)
        counts = body.number(16), body.number(16), body.number(16)
        status = Status(*names, *counts, body.number(), _read_rooms(body))
        if not body.is_over():
            status.watchers = body.number(16)
        return status
    if kind == 2:
        return _read_welcome(body)
    if kind == 3:
        count = body.number()
        if count > ROSTER_MAX:
            raise WireError(f"{count} players in a message")
        message = Joined([_read_seat(body) for _ in range(count)])
    elif kind == 4:
        message = Left(body.number(16), body.number(16))
    elif kind == 5:
        message = Epoch(body.u8(), body.signed())
    elif kind == 6:
        sender = body.option(lambda: body.number(16))
        message = Chat(sender, read_audience(body), body.text(TEXT_BYTES_MAX))
    elif kind == 7:
        message = Refused(body.number(32), body.number(32))
        if message.refusal >= REFUSALS:
            raise WireError(f"a refusal of the kind {message.refusal}")
    elif kind == 8:
        message = GameEvent(body.octets())
    elif kind == 9:
        message = RoundNotice(_read_round(body))
    elif kind == 10:
        count = body.number()
        if count > WATCHERS_MAX:
            raise WireError(f"{count} watchers in a message")
        message = Watching([body.number(16) for _ in range(count)], body.flag())
    elif kind == 11:
        message = Places(body.number(16), body.option(lambda: body.number(16)))
    elif kind == 12:
        message = Quick(body.number(16), read_audience(body), body.u8())
        if message.number >= QUICK_MESSAGES:
            raise WireError(f"a quick message {message.number}")
    elif kind == 13:
        message = Mark(body.number(16), read_audience(body), read_mark(body))
        mark_kind, *position = message.mark
        if mark_kind >= MARK_KINDS or max(map(abs, position)) > MARK_UNITS_MAX:
            raise WireError(f"a mark {message.mark}")
    elif kind == 14:
        message = _read_commands(body)
    elif kind == 15:
        message = _read_ghosts(body)
    else:
        return None
    body.end()
    return message


def _read_seat(body: Body) -> Seat:
    player, name, bot = body.number(16), body.text(NAME_BYTES_MAX), body.flag()
    return Seat(player, name, bot, read_look(body), body.option(body.number))


def _read_ghosts(body: Body) -> Ghosts | RunPart:
    if body.word("Offers", "Part") == "Part":
        part = RunPart(body.number(), body.number(32), body.octets())
        if len(part.data) > RUN_PART_BYTES:
            raise WireError(f"a part of a run of {len(part.data)} bytes")
        return part
    count = body.number()
    if count > GHOSTS_MAX:
        raise WireError(f"a list of {count} ghosts")
    offers = []
    for _ in range(count):
        name, hundredths = body.text(NAME_BYTES_MAX), body.number(32)
        offer = name, hundredths, body.number(), body.number(32), body.flag()
        if not 0 < offer[3] <= RUN_BYTES_MAX:
            raise WireError(f"a run of {offer[3]} bytes")
        offers.append(offer)
    return Ghosts(offers)


def _read_commands(body: Body) -> Commands:
    count = body.number()
    if count > COMMANDS_MAX:
        raise WireError(f"a list of {count} commands")
    return Commands([(body.text(24), body.text(36)) for _ in range(count)])


def _read_welcome(body: Body) -> Welcome:
    welcome = Welcome(
        server=body.text(TEXT_BYTES_MAX),
        game=body.text(NAME_BYTES_MAX),
        number=body.u8(),
        seed=body.number(),
        tick_hz=body.number(32),
        snapshot_hz=body.number(32),
        player=body.number(16),
        token=body.number(),
        resumed=body.flag(),
        tick=body.number(),
        offset=body.signed(),
        epoch=body.u8(),
        unix_micros=body.signed(),
        setup=body.octets(),
    )
    if not body.is_over():
        welcome.watching = body.option(body.signed)
    if not 0 <= (welcome.watching or 0) <= WATCH_DELAY_MAX:
        raise WireError(f"a delay of {welcome.watching} microseconds")
    ticks, snapshots = welcome.tick_hz, welcome.snapshot_hz
    if not TICK_HZ_MIN <= ticks <= TICK_HZ_MAX or snapshots < SNAPSHOT_HZ_MIN or ticks % snapshots:
        raise WireError(f"{ticks} ticks and {snapshots} snapshots a second")
    if welcome.tick > TICK_MAX or len(welcome.setup) > SETUP_BYTES_MAX:
        raise WireError("a welcome is beyond its limits")
    return welcome
