"""The test vectors in `shared/netcode/vectors`, read by this package alone.

Run by `python -m unittest discover tests/python`, in the environment that `play.py` needs.
"""

from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from phaselock.carriage import PROOF_TEXT
from phaselock.control import Chat, Commands, Disconnect, Epoch, GameEvent, Ghosts, Hello, Joined
from phaselock.control import Left, Mark, Message, Places, Quick, Refused, RoundNotice, RunPart
from phaselock.control import Seat, Status
from phaselock.control import Watching, Welcome
from phaselock.control import chat_body, frame, query_body, read_message, take_frames
from phaselock.numbers import WIRE_TEXT, WireError, fnv1a_64
from phaselock.records import Game, Record
from phaselock.requests import ChatRequest, EarlyRequest, GameRequest, GhostRequest
from phaselock.requests import HelloRequest, MarkRequest, Query, QuickRequest, Request, Restyle
from phaselock.requests import RoundRequest, WatchRequest, read_inputs, read_request
from phaselock.session import Acks
from phaselock.snapshots import Reader, Snapshot, States
from phaselock.tables import Rules, levels_of
from phaselock.trained import Reader as TrainedReader

NETCODE = Path(__file__).parents[2] / "shared/netcode"
VECTORS = NETCODE / "vectors"
GENERAL_TABLES = NETCODE / "src/wire/general.tables"

Values = dict[str, Any]


def vectors(name: str) -> Values:
    """Content of a file of vectors."""
    content: Values = json.loads((VECTORS / name).read_text())
    return content


class SessionReader:
    """Reader of a session's datagrams as a client has it."""

    def __init__(self, session: Values) -> None:
        description = session["description"]
        game = Game.from_description(json.dumps(description))
        self.tick_hz: int = session["tick_hz"]
        self.newest_tick: int = session["tick"]
        self.acks = Acks()
        self.states = States()
        whose = session["number"], session["player"], self.states
        self.reader = Reader(game, *whose)
        if session["coding"] == "trained":
            rules = Rules.from_text(description["rules"]["text"])
            levels = levels_of(rules, GENERAL_TABLES.read_bytes())
            self.reader = TrainedReader(game, rules, levels, self.tick_hz, *whose)

    def read(self, line: Values) -> Values:
        """The line's members, as this package reads its bytes; raises `WireError`."""
        data = bytes.fromhex(line["bytes"])
        read = self.reader.read(data, self.acks.newest or 0, self.newest_tick)
        if not self.acks.add(read.seq):
            return {"refused": "doubled"}
        self.states.commit(read)
        self.newest_tick = max(self.newest_tick, read.tick)
        return self._members(read)

    def _members(self, read: Snapshot) -> Values:
        sent = read.tick * 1_000_000 // self.tick_hz + read.sent_after_tick
        inputs = None
        if read.inputs is not None:
            ahead, early, back, less, *counts = read.inputs
            times = early * 16, back, (early - less) * 16
            inputs = [read.tick + ahead & 0xFFFF, *times, *counts]
        entities: list[list[Any]] = []
        for each in read.entities:
            if each.state is None:
                entities.append([each.index, "gone" if each.gone else "hidden"])
            else:
                generation, kind, owner, fields = each.state
                entities.append([each.index, generation, kind, owner, list(fields)])
        return {
            "seq": read.seq,
            "tick": read.tick,
            "sent": sent & 0xFFFFFFFF,
            "echo": None if read.echo is None else list(read.echo),
            "perceived": None if read.perceived is None else list(read.perceived),
            "inputs": inputs,
            "references": list(read.references),
            "entities": entities,
        }


def told(line: Values) -> Values:
    """Members of a line that a reader has to find."""
    given = ("bytes", "session", "after", "why")
    return {name: it for name, it in line.items() if name not in given}


class Sessions(unittest.TestCase):
    def check(self, name: str) -> None:
        """Every datagram says what its line says."""
        session = vectors(name)
        reader = SessionReader(session)
        for line in session["datagrams"]:
            self.assertEqual(reader.read(line), told(line))
        self.assertGreaterEqual(len(session["datagrams"]), 300)

    def test_plain_session_is_read(self) -> None:
        self.check("plain.json")

    def test_trained_session_is_read(self) -> None:
        self.check("trained.json")

    def test_malformed_datagrams_are_refused_and_odd_ones_are_not(self) -> None:
        sessions = {name: vectors(name) for name in ("plain.json", "trained.json")}
        malformed = vectors("malformed.json")
        for line in malformed["snapshots"] + malformed["odd_snapshots"]:
            session = sessions[line["session"]]
            reader = SessionReader(session)
            for before in session["datagrams"][: line["after"]]:
                reader.read(before)
            with self.subTest(line["why"], session=line["session"]):
                if line.get("refused", "doubled") == "doubled":
                    self.assertEqual(reader.read(line), told(line))
                else:
                    with self.assertRaises(WireError):
                        reader.read(line)


def message_values(message: Message) -> Values:
    """Values of a server's message, as the vectors have them."""
    values: dict[str, Any]
    if isinstance(message, Joined):
        return {"kind": "Joined", "players": [seat_values(each) for each in message.players]}
    if isinstance(message, Chat):
        values = {"from": message.sender, "to": message.to, "text": message.text}
        return {"kind": "Chat", **values}
    if isinstance(message, Quick):
        values = {"from": message.sender, "to": message.to, "number": message.number}
        return {"kind": "Quick", **values}
    if isinstance(message, Mark):
        values = {"from": message.sender, "to": message.to, "mark": list(message.mark)}
        return {"kind": "Mark", **values}
    if isinstance(message, Commands):
        return {"kind": "Commands", "commands": [list(each) for each in message.commands]}
    if isinstance(message, Ghosts):
        offers = [[name, time, str(run), *rest] for name, time, run, *rest in message.offers]
        return {"kind": "Ghosts", "offers": offers}
    if isinstance(message, RunPart):
        values = {"hash": str(message.hash), "from": message.start, "bytes": message.data.hex()}
        return {"kind": "Ghosts", **values}
    if isinstance(message, GameEvent):
        return {"kind": "Game", "bytes": message.data.hex()}
    if isinstance(message, RoundNotice):
        return {"kind": "Round", "notice": message.notice}
    values = dict(vars(message))
    wide = {Welcome: ("seed", "token", "tick", "offset", "unix_micros"), Epoch: ("unix_micros",)}
    wide[Status] = ("tick",)
    for name in wide.get(type(message), ()):
        values[name] = str(values[name])
    if isinstance(message, Status):
        values["rooms"] = [vars(room) for room in message.rooms]
    if isinstance(message, Welcome):
        values["setup"] = message.setup.hex()
    if isinstance(message, Disconnect):
        for name in ("fingerprint", "ticket"):
            values[name] = None if values[name] is None else values[name].hex()
        values["hashes"] = [digest.hex() for digest in message.hashes]
    plain = Disconnect | Status | Welcome | Left | Epoch | Refused | Watching | Places
    assert isinstance(message, plain)
    return {"kind": type(message).__name__, **values}


def seat_values(seat: Seat) -> list[object]:
    """Values of a player."""
    person = None if seat.person is None else str(seat.person)
    return [seat.player, seat.name, seat.bot, list(seat.look), person]


def request_values(request: Request) -> Values:
    """Values of a client's message."""
    if isinstance(request, HelloRequest):
        values = dict(vars(request))
        values["games"] = [[name, str(number)] for name, number in request.games]
        values |= {"key": request.key.hex(), "proof": request.proof.hex()}
        values |= {"wire": str(request.wire), "sent": str(request.sent)}
        values["look"] = list(request.look)
        values["ticket"] = None if request.ticket is None else request.ticket.hex()
        values["resume"] = None if request.resume is None else str(request.resume)
        return {"kind": "Hello", **values}
    if isinstance(request, Query):
        return {"kind": "Query"}
    if isinstance(request, ChatRequest):
        return {"kind": "Chat", "to": request.to, "text": request.text}
    if isinstance(request, RoundRequest):
        return {"kind": "Round", "request": request.request}
    if isinstance(request, WatchRequest):
        return {"kind": "Watch", "on": request.on}
    if isinstance(request, QuickRequest):
        return {"kind": "Quick", **vars(request)}
    if isinstance(request, MarkRequest):
        return {"kind": "Mark", "to": request.to, "mark": list(request.mark)}
    if isinstance(request, Restyle):
        return {"kind": "Restyle", "name": request.name, "look": list(request.look)}
    if isinstance(request, EarlyRequest):
        return {"kind": "Early", **vars(request)}
    if isinstance(request, GhostRequest):
        fetch = None if request.fetch is None else str(request.fetch)
        return {"kind": "Ghosts", "fetch": fetch}
    assert isinstance(request, GameRequest)
    return {"kind": "Game", "number": request.number, "bytes": request.data.hex()}


def body_of(line: Values) -> bytes:
    """Body of the one message that a line frames."""
    buffer = bytearray.fromhex(line["bytes"])
    bodies = take_frames(buffer)
    if len(bodies) != 1 or buffer:
        raise WireError("no message, or more than one")
    return bodies[0]


class Control(unittest.TestCase):
    def test_messages_of_servers_are_read(self) -> None:
        for line in vectors("control.json")["server"]:
            message = read_message(body_of(line))
            assert message is not None, line
            self.assertEqual(message_values(message), line["message"])

    def test_messages_of_clients_are_read(self) -> None:
        for line in vectors("control.json")["client"]:
            request = read_request(body_of(line))
            assert request is not None, line
            self.assertEqual(request_values(request), line["message"])

    def test_messages_of_clients_are_written(self) -> None:
        written = 0
        for line in vectors("control.json")["client"]:
            request = read_request(body_of(line))
            if isinstance(request, Query):
                body = query_body()
            elif isinstance(request, ChatRequest):
                body = chat_body(request.text, request.to)
            elif isinstance(request, HelloRequest) and len(request.games) == 1:
                values = dict(vars(request))
                ((game, game_hash),) = values.pop("games")
                body = Hello(game=game, game_hash=game_hash, **values).body()
                if line["bytes"].endswith(b"later".hex()):
                    body += b"later"
            else:
                continue
            self.assertEqual(frame(body).hex(), line["bytes"])
            written += 1
        self.assertGreaterEqual(written, 4)

    def test_malformed_messages_are_refused(self) -> None:
        malformed = vectors("malformed.json")
        for side, read in (("client", read_request), ("server", read_message)):
            for line in malformed[side]:
                with self.subTest(line["why"], side=side):
                    if line["refused"] == "kind":
                        self.assertIsNone(read(body_of(line)))
                    else:
                        with self.assertRaises(WireError):
                            read(body_of(line))


class InputPackets(unittest.TestCase):
    def setUp(self) -> None:
        self.file = vectors("inputs.json")
        self.record = Record.from_description(self.file["input"])

    def test_packets_are_read_and_written(self) -> None:
        for line in self.file["packets"]:
            data = bytes.fromhex(line["bytes"])
            packet = read_inputs(data, self.record)
            self.assertEqual(packet.data(self.record), data)
            values = dict(vars(packet))
            values["number"] = values.pop("game_number")
            values["inputs"] = [[list(raw), lag, at] for raw, lag, at in packet.inputs]
            for name in ("ack", "echo"):
                values[name] = values[name] and list(values[name])
            self.assertEqual(values, told(line))

    def test_malformed_packets_are_refused(self) -> None:
        for line in vectors("malformed.json")["inputs"]:
            with self.subTest(line["why"]), self.assertRaises(WireError):
                read_inputs(bytes.fromhex(line["bytes"]), self.record)


class Hashes(unittest.TestCase):
    def test_hashes_are_those_of_their_texts(self) -> None:
        hashes = vectors("hashes.json")
        for line in [*hashes["fnv1a"], hashes["wire"], hashes["rules"], hashes["fields"]]:
            self.assertEqual(f"{fnv1a_64(line['text']):016x}", line["hash"])
        self.assertEqual(hashes["wire"]["text"], WIRE_TEXT)

    def test_checksum_of_the_tables_is_that_of_their_levels(self) -> None:
        hashes = vectors("hashes.json")
        rules = Rules.from_text(hashes["rules"]["text"])
        levels = levels_of(rules, GENERAL_TABLES.read_bytes())
        self.assertEqual(len(levels), hashes["tables"]["levels"])
        self.assertEqual(f"{fnv1a_64(levels):016x}", hashes["tables"]["hash"])

    def test_proof_of_identity_is_the_signature(self) -> None:
        identity = {name: bytes.fromhex(it) for name, it in vectors("identity.json").items()}
        key = Ed25519PrivateKey.from_private_bytes(identity["secret"])
        self.assertEqual(key.public_key().public_bytes_raw(), identity["key"])
        self.assertEqual(PROOF_TEXT + identity["exported"], identity["text"])
        self.assertEqual(key.sign(identity["text"]), identity["proof"])


if __name__ == "__main__":
    unittest.main()
