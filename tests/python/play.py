"""A player in Python, written only from Phaselock's document.

    phaselock-server describe skirmish >skirmish.json
    python3 -m venv somewhere && somewhere/bin/pip install -r tests/python/requirements.txt
    somewhere/bin/python tests/python/play.py 127.0.0.1:PORT sha256:FINGERPRINT skirmish.json

The player joins with plain coding, walks right and left in turn, chats, cuts its connection, gets
its seat back and leaves, and checks that the server's states agree. Every snapshot packet must
decode. With `--hostile` the player makes mistakes instead, and checks the server's answer to each.
The output is one line of JSON; a failure ends the run with status 1.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from pathlib import Path
from typing import Callable, TypeVar

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from phaselock.carriage import Closed, Connection, connect
from phaselock.control import Disconnect, Hello, Refused, Status, Welcome
from phaselock.control import chat_body, query_body, read_message, varint
from phaselock.links import Link
from phaselock.numbers import WireError
from phaselock.query import ask
from phaselock.records import Game
from phaselock.session import Counts, Session
from phaselock.snapshots import State
from phaselock.visit import ANSWER_SECONDS_MAX, drive, make_hello

NAME = "Python"
LINE = "written from the document"
TURN_TICKS = 90
# Distance that a walker must cover in each direction, in the field's unit; arbitrary.
WAY_MIN = 0.5
# Distance between two states, in that unit, that only a spawn explains.
STEP_MAX = 1.0
# Maximum drift of two clocks since they were last compared.
DRIFT_MICROS_MAX = 1000
UNKNOWN_REQUEST = 77

Controls = Callable[[int], dict[str, float]]
M = TypeVar("M")


def check(holds: bool, failure: str) -> None:
    """Raises an error with this text, unless the condition holds."""
    if not holds:
        raise WireError(failure)


class Player:
    """Player with a key pair, who can join any number of times."""

    def __init__(self, arguments: argparse.Namespace, game: Game) -> None:
        self.arguments = arguments
        self.link = Link.from_text(arguments.address)._replace(fingerprint=arguments.fingerprint)
        self.game = game
        self.key = Ed25519PrivateKey.generate()
        self.connections = 0

    def connect(self) -> Connection:
        """Connection to the server, past its handshake."""
        seed = self.arguments.seed + self.connections
        self.connections += 1
        return connect(self.link, ANSWER_SECONDS_MAX, self.arguments.loss / 100, seed)

    def hello(self, connection: Connection, resume: int | None = None) -> Hello:
        """First message on a connection."""
        return make_hello(connection, self.key, self.game, NAME, resume)


class Walk:
    """Walks back and forth, and measures how far the player's own entity moved each way."""

    def __init__(self, axis: str, place: str) -> None:
        self.axis = axis
        self.place = place
        self.way = {1: 0.0, -1: 0.0}
        self.before: tuple[int, State, float] | None = None

    def direction(self, tick: int) -> int:
        """Direction in a tick: right for a while, then left."""
        return 1 if tick // TURN_TICKS % 2 == 0 else -1

    def controls(self, tick: int) -> dict[str, float]:
        """Input of a tick."""
        return {self.axis: float(self.direction(tick))}

    def own(self, session: Session) -> tuple[int, State] | None:
        """Own entity that has a position: tick and state."""
        player = session.welcome.player if session.welcome else None
        for tick, entity in session.states.latest.values():
            state = entity.state
            if state is None or state.owner != player:
                continue
            if session.game.kinds[state.kind].has(self.place):
                return tick, state
        return None

    def look(self, session: Session) -> bool:
        """Adds the distance since the last call; returns whether both are long enough."""
        found = self.own(session)
        if found is not None:
            tick, state = found
            at = session.game.kinds[state.kind].values(state.fields)[self.place]
            if self.before is not None and tick > self.before[0]:
                direction = self.direction(tick)
                turned = self.direction(self.before[0]) != direction
                same = self.before[1].generation == state.generation
                step = at - self.before[2]
                if same and not turned and abs(step) < STEP_MAX:
                    self.way[direction] += step * direction
            if self.before is None or tick > self.before[0]:
                self.before = tick, state, at
        return all(way >= WAY_MIN for way in self.way.values())


def join(
    player: Player, controls: Controls, resume: int | None, counts: Counts
) -> tuple[Connection, Session]:
    """Connection and session with a Welcome and a first snapshot."""
    connection = player.connect()
    connection.send_message(player.hello(connection, resume).body())
    session = Session(player.game, controls, counts)
    before = counts.inputs
    begun = drive(connection, session, ANSWER_SECONDS_MAX, lambda: counts.inputs > before)
    check(begun, "no welcome and snapshots in time")
    return connection, session


def play(arguments: argparse.Namespace, game: Game) -> dict[str, object]:
    """A whole visit; returns its results."""
    check(game.input.has(arguments.axis), f"no input of {game.name} is named {arguments.axis}")
    player = Player(arguments, game)
    walk = Walk(arguments.axis, arguments.place)
    counts = Counts()
    connection, session = join(player, walk.controls, None, counts)
    first = session.welcome
    assert first is not None

    connection.send_message(chat_body(LINE))
    came_back = drive(
        connection,
        session,
        ANSWER_SECONDS_MAX,
        lambda: any(c.sender == first.player and c.text == LINE for c in session.chat),
    )
    check(came_back, "our own chat line did not come back")
    own_name = session.names.get(first.player, ("", True))[0]
    check(own_name.startswith(NAME), f"our own name is {own_name!r}")
    drive(connection, session, ANSWER_SECONDS_MAX, lambda: len(session.names) > arguments.others)
    others = sorted(name for number, (name, _) in session.names.items() if number != first.player)
    check(len(others) >= arguments.others, f"of the other players only {others} are known")

    half = arguments.seconds / 2
    drive(connection, session, half, lambda: walk.look(session) and False)
    connection.abandon()
    connection, session = join(player, walk.controls, first.token, counts)
    second = session.welcome
    assert second is not None
    check(second.resumed, "the seat was not resumed")
    check(second.player == first.player, f"player {first.player} came back as {second.player}")
    walk.before = None
    drive(connection, session, half, lambda: walk.look(session) and False)
    # On a busy machine it takes longer.
    drive(connection, session, ANSWER_SECONDS_MAX, lambda: walk.look(session))
    check(
        all(way >= WAY_MIN for way in walk.way.values()),
        f"our entity did not follow its inputs: {walk.way}",
    )
    clock_difference = session.clock.offset - (session.perceived_offset or 0)
    # Each side knows the offset to half a round trip; the server states its error bound.
    bound = session.clock.trip // 2 + session.perceived_error + DRIFT_MICROS_MAX
    check(abs(clock_difference) <= bound, f"the clocks differ by {clock_difference} microseconds")
    connection.close(0, "the player left")
    return {
        "game": game.name,
        **dataclasses.asdict(session.counts),
        "entities": len(session.states.seen()),
        "others": others,
        "way_right": round(walk.way[1], 2),
        "way_left": round(walk.way[-1], 2),
        "ticks_without_input": session.ticks_without_input,
        "clock_difference_us": clock_difference,
    }


def answer(connection: Connection, wanted: type[M]) -> M:
    """Waits for the first message of a kind."""
    end = time.monotonic() + ANSWER_SECONDS_MAX
    while time.monotonic() < end:
        received = connection.receive(0.1)
        for body in received.messages:
            message = read_message(body)
            if isinstance(message, wanted):
                return message
        check(received.closed is None, f"closed before a {wanted.__name__}: {received.closed}")
    raise WireError(f"no {wanted.__name__} came")


def wait_closed(connection: Connection) -> Closed:
    """End of a connection that the server closes."""
    end = time.monotonic() + ANSWER_SECONDS_MAX
    while connection.closed is None and time.monotonic() < end:
        connection.receive(0.1)
    check(connection.closed is not None, "the server did not close the connection")
    assert connection.closed is not None
    return connection.closed


def hostile(arguments: argparse.Namespace, game: Game) -> dict[str, object]:
    """Mistakes, each answered as the document says; returns the answers."""
    answers: dict[str, object] = {}
    player = Player(arguments, game)

    def refused(words: str, code: int, player: Player, change: Callable[[Hello], None]) -> None:
        with player.connect() as connection:
            hello = player.hello(connection)
            change(hello)
            connection.send_message(hello.body())
            message = answer(connection, Disconnect)
            closed = wait_closed(connection)
        check(message.code == code, f"{words}: the code is {message.code}, not {code}")
        check(closed.code == code, f"{words}: the connection closed with {closed}, not {code}")
        check(closed.text == message.text, f"{words}: the texts are {closed} and {message}")
        answers[words] = [message.code, message.text]

    def flip_proof(hello: Hello) -> None:
        hello.proof = bytes([hello.proof[0] ^ 1]) + hello.proof[1:]

    def other_wire(hello: Hello) -> None:
        hello.wire ^= 1

    def other_game(hello: Hello) -> None:
        hello.game_hash ^= 1

    refused("wrong proof", 12, player, flip_proof)
    refused("wrong protocol", 5, player, other_wire)
    refused("wrong game", 6, player, other_game)

    with player.connect() as connection:
        connection.send_message(player.hello(connection).body())
        welcome = answer(connection, Welcome)
        connection.send_message(varint(UNKNOWN_REQUEST))
        message = answer(connection, Refused)
        check(message == Refused(UNKNOWN_REQUEST, 0), f"an unknown request got {message}")
        answers["unknown request"] = dataclasses.asdict(message)

        def foreign_token(hello: Hello) -> None:
            hello.resume = welcome.token

        refused("foreign token", 13, Player(arguments, game), foreign_token)

    with player.connect() as connection:
        connection.send_message(query_body())
        status = answer(connection, Status)
        check(status.game == game.name, f"the status names the game {status.game}")
        check(wait_closed(connection).code == 0, "an answered query did not end with code 0")
    answers["query"] = status.players
    info = ask(player.link.host, player.link.port, b"12345678")
    check(game.name in info.games, f"the server tells of the games {info.games}")
    check(info.counts["seats"] > 0, f"the server tells of {info.counts}")
    answers["status"] = info.counts
    return answers


def main() -> int:
    """Plays, as the command line says; the exit status is 1 after a failure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address", help="host:port")
    parser.add_argument("fingerprint", help="sha256: and 64 hexadecimal digits")
    parser.add_argument("game", type=Path, help="file with the game's description")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of the walk")
    parser.add_argument("--loss", type=float, default=0.0, help="per cent of packets, either way")
    parser.add_argument("--seed", type=int, default=1, help="seed of the loss")
    parser.add_argument("--axis", default="right", help="field of the input that walks")
    parser.add_argument("--place", default="x", help="field of the entity that it changes")
    parser.add_argument("--others", type=int, default=1, help="least number of other players")
    parser.add_argument("--hostile", action="store_true", help="make mistakes instead")
    arguments = parser.parse_args()
    try:
        game = Game.from_description(arguments.game.read_text())
        print(json.dumps((hostile if arguments.hostile else play)(arguments, game)))
    except WireError as error:
        print(f"play.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
