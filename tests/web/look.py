"""A second observer: joins a server over native QUIC, and prints a player's states.

    python tests/web/look.py ADDRESS sha256:FINGERPRINT GAME.json PLAYER --seconds 6

Each line is JSON: a tick of the player's own time, and the values of the player's entity that the
server sent for it. It uses the client in tests/python, which was written from the document alone.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from phaselock.numbers import WireError  # noqa: E402
from phaselock.records import Game  # noqa: E402
from phaselock.visit import Visit, join  # noqa: E402


def print_new(visit: Visit, player: str, ages: list[list[str]], told: set[tuple[int, int]]) -> bool:
    """Prints the states of a player's entity that are not in `told`. Always returns False."""
    owners = {number for number, name in visit.names.items() if name == player}
    for tick, entity in visit.session.states.latest.values():
        state = entity.state
        if state is None or state.owner not in owners or (tick, state.kind) in told:
            continue
        kind = visit.session.game.kinds[state.kind]
        if kind.has("x"):
            told.add((tick, state.kind))
            values = kind.values(state.fields)
            # While the server waits for inputs, the state is from an earlier tick.
            own = tick - int(sum(values[name] for name in ages[state.kind]))
            print(json.dumps({"tick": own, "values": values}), flush=True)
    return False


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
    ages = [
        [field["name"] for field in kind["fields"] if field["age"]]
        for kind in json.loads(described)["kinds"]
    ]
    game, told = Game.from_description(described), set()
    try:
        with join(arguments.address, game, "Looker", arguments.fingerprint) as visit:
            look = functools.partial(print_new, visit, arguments.player, ages, told)
            visit.run(arguments.seconds, look)
    except WireError as error:
        print(f"look.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
