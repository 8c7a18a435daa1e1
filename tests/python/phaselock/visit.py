"""A player on a server, in one object: connection, session, and what is seen.

    with join("phaselock://host:4433#sha256:...", game, "Ada") as visit:
        visit.controls = {"right": 1.0}
        visit.run(2.0)
        print(visit.entities())
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import TracebackType
from typing import Callable

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .carriage import Connection, connect, now_micros
from .control import Chat, Hello, chat_body
from .links import Link, read_fingerprint
from .numbers import WireError
from .records import Game
from .session import Session

ANSWER_SECONDS_MAX = 60.0


@dataclass(frozen=True)
class Seen:
    """An entity as the server last sent it. `id` is its index and generation; `owner` is a
    player's number, or None."""

    id: tuple[int, int]
    owner: int | None
    kind: str
    fields: dict[str, float]


def make_hello(
    connection: Connection,
    key: Ed25519PrivateKey,
    game: Game,
    name: str,
    resume: int | None = None,
) -> Hello:
    """First message on a connection."""
    return Hello(
        name=name,
        game=game.name,
        game_hash=game.hash,
        sent=now_micros(),
        key=key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw),
        proof=connection.proof(key),
        resume=resume,
    )


def drive(
    connection: Connection, session: Session, seconds: float, done: Callable[[], bool]
) -> bool:
    """Plays until a condition holds; returns False after the given time. Raises `WireError` if the
    server ends the session."""
    end = time.monotonic() + seconds
    while not done():
        left = end - time.monotonic()
        if left <= 0:
            return False
        received = connection.receive(min(left, session.seconds_to_next_tick(now_micros())))
        for body in received.messages:
            session.handle_message(body)
        for data, at in received.datagrams:
            for answer in session.handle_datagram(data, at):
                connection.send_datagram(answer)
        for packet in session.poll(now_micros()):
            connection.send_datagram(packet)
        if session.disconnect is not None:
            raise WireError(f"the server ended it: {session.disconnect.text}")
        if received.closed is not None:
            raise WireError(f"the connection ended: {received.closed.text}")
    return True


class Visit:
    """A player on a server, from the first snapshot on. `join` makes it; `controls` are the values
    of the input's fields that all following ticks use."""

    def __init__(self, connection: Connection, game: Game) -> None:
        self.connection = connection
        self.controls: dict[str, float] = {}
        self.session = Session(game, lambda _: self.controls)

    def __enter__(self) -> Visit:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()

    @property
    def player(self) -> int:
        """Number of this player."""
        if self.session.welcome is None:
            raise WireError("no welcome yet")
        return self.session.welcome.player

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the server's certificate."""
        return self.connection.fingerprint

    @property
    def names(self) -> dict[int, str]:
        """Names of all players, by number."""
        return {number: name for number, (name, _) in self.session.names.items()}

    @property
    def tick(self) -> int:
        """The newest tick that was received."""
        return self.session.states.newest_tick or 0

    def run(self, seconds: float, done: Callable[[], bool] = lambda: False) -> bool:
        """Plays for some time, or until a condition holds; returns whether it holds. Call it again
        within a few seconds: nothing is sent in between, and the server drops clients that stay
        silent."""
        return drive(self.connection, self.session, seconds, done)

    def entities(self) -> list[Seen]:
        """All entities that this player may see, in the order of their indices."""
        kinds = self.session.game.kinds
        return [
            Seen(
                (index, state.generation),
                state.owner,
                kinds[state.kind].name,
                kinds[state.kind].values(state.fields),
            )
            for index, state in sorted(self.session.states.seen().items())
        ]

    def say(self, text: str) -> None:
        """Sends a chat line to all players."""
        self.connection.send_message(chat_body(text))

    def take_chat(self) -> list[Chat]:
        """Chat lines since the last call, at most the newest 512."""
        lines = list(self.session.chat)
        self.session.chat.clear()
        return lines

    def leave(self) -> None:
        """Leaves the server."""
        self.connection.close(0, "the player left")


def join(
    server: str,
    game: Game,
    name: str,
    fingerprint: str | None = None,
    key: Ed25519PrivateKey | None = None,
) -> Visit:
    """Joins a server at `host:port` or by a `phaselock://` link, and returns when the first
    snapshots have arrived. `fingerprint` replaces the link's; without either, any certificate is
    trusted. The server recognises the player by `key`; by default, a new key is made. Raises
    `WireError` if there is no such server, or it refuses or does not answer."""
    link = Link.from_text(server)
    if fingerprint is not None:
        link = link._replace(fingerprint=read_fingerprint(fingerprint))
    connection = connect(link, ANSWER_SECONDS_MAX)
    visit = Visit(connection, game)
    try:
        hello = make_hello(connection, key or Ed25519PrivateKey.generate(), game, name)
        connection.send_message(hello.body())
        if not visit.run(ANSWER_SECONDS_MAX, lambda: visit.session.counts.inputs > 0):
            raise WireError("no welcome and snapshots in time")
    except BaseException:
        visit.leave()
        raise
    return visit
