"""Plays on a server from the command line.

    phaselock-server describe skirmish >skirmish.json
    python -m phaselock HOST:PORT skirmish.json

Until the time is over, the player holds a random direction for a second at a time, or the input
given with `--input`. Each second, the program prints where its own entities are. The server's
certificate is checked if the address is a link, or `--fingerprint` is given; otherwise the program
trusts the one that it sees, and prints it.
"""

from __future__ import annotations

import argparse
import io
import logging
import math
import random
import sys
from pathlib import Path

from .numbers import WireError
from .records import Game
from .visit import Visit, join


def parse_number(text: str) -> float:
    """Reads a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number")
    return value


def parse_input(text: str) -> tuple[str, float]:
    """Reads `FIELD=NUMBER`."""
    name, sign, value = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"'{text}' has no value; write {text}=1")
    return name, parse_number(value)


def options() -> argparse.ArgumentParser:
    """The command line."""
    summary = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m phaselock", description=summary)
    parser.add_argument("server", metavar="HOST:PORT", help="address or phaselock:// link")
    parser.add_argument(
        "game", type=Path, metavar="GAME.json", help="output of `phaselock-server describe GAME`"
    )
    parser.add_argument("--fingerprint", help="of the server's certificate: sha256:…")
    parser.add_argument("--name", default="Python", help="name of the player (default: Python)")
    parser.add_argument(
        "--seconds", type=parse_number, default=10.0, help="time to play (default: 10)"
    )
    parser.add_argument(
        "--input", type=parse_input, action="append", metavar="FIELD=NUMBER", help="input to hold"
    )
    parser.add_argument("--say", help="chat line to send after joining")
    return parser


def pick_controls(game: Game, dice: random.Random) -> dict[str, float]:
    """A random direction: each signed field of the input is -1, 0 or 1."""
    ways = [each.name for each in game.input.fields if each.least < 0]
    return {name: dice.choice([-1.0, 0.0, 1.0]) for name in ways}


def tell(visit: Visit) -> None:
    """Prints the chat since the last call, and the player's own entities."""
    for line in visit.take_chat():
        who = "server" if line.sender is None else visit.names.get(line.sender, "?")
        print(f"{who}: {line.text}")
    for entity in visit.entities():
        if entity.owner == visit.player:
            fields = ", ".join(f"{name} {value:.2f}" for name, value in entity.fields.items())
            print(f"{entity.kind} at tick {visit.tick}: {fields}")


def play(arguments: argparse.Namespace) -> None:
    """A whole visit."""
    try:
        game = Game.from_description(arguments.game.read_text(encoding="utf-8"))
    except (ValueError, WireError) as error:
        raise WireError(f"{arguments.game}: {error}") from error
    held = dict(arguments.input or [])
    for name in held:
        if not game.input.has(name):
            known = ", ".join(each.name for each in game.input.fields)
            raise WireError(f"{game.name} has no input '{name}', only {known}")
    dice = random.Random()
    with join(arguments.server, game, arguments.name, arguments.fingerprint) as visit:
        print(f"player {visit.player} of {game.name}, at {visit.fingerprint}")
        if arguments.say:
            visit.say(arguments.say)
        left = arguments.seconds
        while left > 0:
            visit.controls = held or pick_controls(game, dice)
            visit.run(min(left, 1.0))
            left -= 1.0
            tell(visit)


def main() -> int:
    """Plays as the command line says. Returns the exit status: 1 after a failure."""
    arguments = options().parse_args()
    # aioquic's; errors are raised as well.
    logging.getLogger("quic").setLevel(logging.CRITICAL)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # On Windows, the encoding of files lacks many letters of names and chat.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        play(arguments)
    except (OSError, ValueError, WireError) as error:
        print(f"phaselock: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
