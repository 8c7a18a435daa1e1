"""A second observer: joins a server over native QUIC, and prints a player's states.

    python tests/web/look.py ADDRESS sha256:FINGERPRINT GAME.json PLAYER --seconds 6

Each line is JSON: a tick of the player's own time, and the values of the player's entity that the
server sent for it. It uses the client in tests/python, which was written from the document alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: E402
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: E402
from phaselock.carriage import Connection, now_micros  # noqa: E402
from phaselock.control import Hello  # noqa: E402
from phaselock.records import Game  # noqa: E402
from phaselock.session import Counts, Session  # noqa: E402

HANDSHAKE_SECONDS_MAX = 60.0


def main() -> int:
    """Looks, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address", help="host:port")
    parser.add_argument("fingerprint", help="sha256: and 64 hexadecimal digits")
    parser.add_argument("game", type=Path, help="file with the game's description")
    parser.add_argument("player", help="name of the player to look at")
    parser.add_argument("--seconds", type=float, default=6.0, help="time to look for")
    arguments = parser.parse_args()
    described = arguments.game.read_text()
    game = Game.from_description(described)
    ages = [
        [field["name"] for field in kind["fields"] if field["age"]]
        for kind in json.loads(described)["kinds"]
    ]
    connection = Connection(arguments.address, arguments.fingerprint, 0.0, 1)
    connection.handshake(HANDSHAKE_SECONDS_MAX)
    key = Ed25519PrivateKey.generate()
    hello = Hello(
        name="Looker",
        game=game.name,
        game_hash=game.hash,
        sent=now_micros(),
        key=key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw),
        proof=connection.proof(key),
        resume=None,
    )
    connection.send_message(hello.body())
    session = Session(game, lambda tick: {}, Counts())
    told: set[tuple[int, int]] = set()
    end = time.monotonic() + arguments.seconds
    while time.monotonic() < end and session.disconnect is None:
        received = connection.receive(0.01)
        for body in received.messages:
            session.handle_message(body)
        for data, at in received.datagrams:
            for answer in session.handle_datagram(data, at):
                connection.send_datagram(answer)
        for packet in session.poll(now_micros()):
            connection.send_datagram(packet)
        owners = {n for n, (name, _) in session.names.items() if name == arguments.player}
        for tick, entity in session.states.latest.values():
            state = entity.state
            if state is None or state.owner not in owners or (tick, state.kind) in told:
                continue
            kind = game.kinds[state.kind]
            if kind.has("x"):
                told.add((tick, state.kind))
                values = kind.values(state.fields)
                # While the server waits for inputs, the state is from an earlier tick.
                own = tick - int(sum(values[name] for name in ages[state.kind]))
                print(json.dumps({"tick": own, "values": values}), flush=True)
    connection.close(0, "seen enough")
    if session.disconnect is not None:
        print(f"look.py: the server ended it: {session.disconnect}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
