"""Tests of the Python client's wire, against the examples of the document. No network.

Run by `python -m unittest discover tests/python`, in the environment that `play.py` needs.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import tomllib
import unittest
from pathlib import Path
from typing import Any

from aioquic.tls import CipherSuite, KeySchedule
from cryptography.hazmat.primitives import hashes

from phaselock import Visit
from phaselock.__main__ import parse_input
from phaselock.carriage import exporter_secret
from phaselock.control import Body, Chat, Disconnect, Hello, Joined, Refused, Seat, Welcome
from phaselock.control import chat_body, frame, read_message, take_frames, text, varint
from phaselock.inputs import BitWriter, InputPacket
from phaselock.numbers import WIRE_TEXT, WireError, difference, fnv1a_64, nearest, unzigzag, zigzag
from phaselock.records import Field, Game, Record
from phaselock.session import NOTICES_MAX, Acks, Clock, Session
from phaselock.snapshots import Entity, Inputs, Reader, State, States, checksum
from phaselock.tables import EVEN, FIELD, HEADER, KIND, Rules
from phaselock.trained import Reader as TrainedReader

DOCUMENT = Path(__file__).parents[2] / "shared/netcode/WIRE.md"


def example(name: str) -> bytes:
    """Bytes of an example of the document."""
    found = re.search(rf"```{name}\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert found is not None, f"no example {name}"
    return bytes.fromhex(found[1])


class PlainWriter:
    """Writer of plain decisions: what `Decisions` reads."""

    def __init__(self) -> None:
        self.bits = ""

    def even(self, value: int, count: int) -> PlainWriter:
        """Number of this many bits."""
        self.bits += format(value, f"0{count}b") if count else ""
        return self

    def yes(self, *answers: bool) -> PlainWriter:
        """Decisions."""
        for answer in answers:
            self.even(int(not answer), 1)
        return self

    def number(self, value: int, most: int = 32) -> PlainWriter:
        """Number in the code of header numbers, or of gaps."""
        exponent = (value + 1).bit_length() - 1
        self.yes(*[True] * exponent, *[False] * (exponent < most))
        return self.even(value + 1 & (1 << exponent) - 1, exponent)

    def residual(self, change: int, bits: int) -> PlainWriter:
        """Difference of a field from its predicted value."""
        self.yes(change == 0)
        if change:
            exponent = abs(change).bit_length() - 1
            self.yes(change < 0, *[True] * exponent, *[False] * (exponent < bits - 1))
            self.even(abs(change) & (1 << exponent) - 1, exponent)
        return self

    def data(self, first: int, stamp: int = 0) -> bytes:
        """Packet with its first byte and its stamp."""
        padded = self.bits + "0" * (-len(self.bits) % 8)
        return bytes([first]) + stamp.to_bytes(2, "little") + int(padded, 2).to_bytes(len(padded) // 8, "big").rstrip(b"\0")


class Numbers(unittest.TestCase):
    def test_varints_and_zigzag_go_there_and_back(self) -> None:
        for value in (0, 1, 127, 128, 300, 16383, 16384, (1 << 64) - 1):
            self.assertEqual(Body(varint(value)).number(), value)
        self.assertEqual(varint(300), bytes([0xAC, 0x02]))
        self.assertEqual([zigzag(each) for each in (0, -1, 1, -2)], [0, 1, 2, 3])
        for value in (0, -1, 1, -2, 2, 1 << 40, -(1 << 40), -(1 << 63)):
            self.assertEqual(unzigzag(zigzag(value)), value)
        with self.assertRaises(WireError):
            Body(b"\xff" * 10).number()
        with self.assertRaises(WireError):
            Body(b"\x80").number()

    def test_differences_are_the_shorter_way(self) -> None:
        self.assertEqual(difference(3, 0, 2), -1)
        self.assertEqual(difference(2, 0, 2), -2)
        self.assertEqual(difference(0, 1023, 10), 1)
        self.assertEqual(nearest(5, 16, 65534), 65541)
        self.assertEqual(nearest(65535, 16, 65537), 65535)

    def test_protocol_hash_is_fnv(self) -> None:
        self.assertEqual(fnv1a_64(""), 0xCBF29CE484222325)
        self.assertEqual(fnv1a_64("a"), 0xAF63DC4C8601EC8C)
        self.assertIn(f"`{WIRE_TEXT}`", DOCUMENT.read_text())


class Control(unittest.TestCase):
    def test_example_of_a_disconnect_is_read(self) -> None:
        buffer = bytearray(example("example-disconnect") + b"\x05")
        (body,) = take_frames(buffer)
        self.assertEqual(read_message(body), Disconnect(4, "full", 5, None))
        self.assertEqual(buffer, b"\x05")

    def test_messages_are_read_and_cut_ones_refused(self) -> None:
        players = Joined([Seat(300, "Ada", False, (3, 1), 9), Seat(1, "Ülo", True, (0, 0), None)])
        body = b"\x03\x02" + varint(300) + text("Ada") + b"\0\3\1\1\x09\1"
        body += text("Ülo") + b"\1\0\0\0"
        self.assertEqual(read_message(body), players)
        for end in range(len(body)):
            with self.assertRaises(WireError):
                read_message(body[:end])
        with self.assertRaises(WireError):
            read_message(body + b"\0")
        self.assertIsNone(read_message(varint(99) + b"whatever"))

    def test_welcomes_may_have_more_fields_behind(self) -> None:
        numbers = b"\xc8" + varint(9) + varint(60) + varint(30) + varint(7) + varint(1 << 63)
        times = b"\0" + varint(5) + varint(zigzag(-3)) + b"\xff" + varint(zigzag(8)) + b"\2ab"
        body = b"\2" + text("s") + text("g") + numbers + times + b"\0later"
        expected = Welcome("s", "g", 200, 9, 60, 30, 7, 1 << 63, False, 5, -3, 255, 8, b"ab")
        self.assertEqual(read_message(body), expected)

    def test_requests_are_written(self) -> None:
        self.assertEqual(frame(chat_body("hi")), b"\x05\0\x02\0\x02hi")
        hello = Hello("n", "g", 1, -1, b"k" * 32, b"p" * 64, resume=200, wire=2, version="v")
        end = b"k" * 32 + b"p" * 64 + b"\1\xc8\1\1\0\0\0\0\0"
        self.assertEqual(hello.body(), b"\0\2\1v\1n\1\1g\1\1" + end)

    def test_hello_states_the_version_of_the_package(self) -> None:
        project = tomllib.loads((Path(__file__).parent / "pyproject.toml").read_text())["project"]
        hello = Hello("n", "g", 1, -1, b"k" * 32, b"p" * 64)
        self.assertEqual(hello.version, project["version"])
        # Hosts compare it with their oldest version.
        self.assertRegex(hello.version, r"^\d+\.\d+\.\d+$")


class InputPackets(unittest.TestCase):
    def test_example_is_written(self) -> None:
        fields = Field("x", -2, 2, 0, False, 3), Field("aim", 0, 12, 0, False, 4095)
        record = Record("input", (*fields, Field("fire", 0, 1, 0, False, 1)))
        fires = record.raw({"x": 1, "aim": 0x400, "fire": 1})
        rests = record.raw({"x": 1, "aim": 0x400})
        packet = InputPacket(0, 0x1234, (7, 0b101), 1_000_000, (999, 5000), 5, 600)
        packet.inputs = [(fires, 576, None), (fires, 580, 20), (rests, None, None)]
        self.assertEqual(packet.data(record), example("example-input"))

    def test_exponential_golomb_codes(self) -> None:
        for value, order, bits in ((0, 0, "1"), (1, 0, "010"), (2, 0, "011"), (5, 1, "0111")):
            writer = BitWriter()
            writer.exp_golomb(value, order)
            written = format(writer.bits, f"0{writer.length}b")[::-1]
            self.assertEqual(written, bits, f"{value} of order {order}")


def toy() -> Game:
    """Game of the document's example of a snapshot packet."""
    fields = Field("x", -128, 10, 2, False, 1023), Field("bounces", 0, 3, 0, False, 7)
    kind = Record("ball", (*fields, Field("plan", 0, 4, 0, True, 15)))
    return Game("toy", 0, kind, (kind,))


TOY_RULES = """game toy 1
tables 0
record ball
record ball
x -128 10 2 linear all predicted steered trending nothing 0 value 1023
bounces 0 3 0 step all predicted steered still nothing 0 value 7
plan 0 4 0 step owner predicted steered still nothing 0 value 15
"""


class Snapshots(unittest.TestCase):
    def test_example_is_read_from_its_predicted_values(self) -> None:
        ball = toy().kinds[0]
        states = States()
        moved = ball.raw({"x": 5, "bounces": 2, "plan": 5})
        jumped = ball.raw({"x": 2.5, "bounces": 2, "plan": 5})
        for age, index, x in ((6, 0, 2), (8, 0, 1), (6, 1, 1), (8, 1, 1)):
            old = State(1, 0, 3, ball.raw({"x": x, "bounces": 2, "plan": 5}))
            states.by_tick.setdefault(600 - age, {})[index] = old
        rules = Rules.from_text(TOY_RULES)
        levels = bytes([EVEN]) * (HEADER + KIND + 3 * FIELD)
        reader = TrainedReader(toy(), rules, levels, 60, 0, 3, states)
        snapshot = reader.read(example("example-snapshot"), 0, 580)
        self.assertEqual((snapshot.seq, snapshot.tick, snapshot.references), (8, 600, (6, 8)))
        self.assertEqual((snapshot.sent_after_tick, snapshot.echo), (2000, (77, 1234)))
        self.assertEqual(snapshot.perceived, (-2, 40000, 19008))
        self.assertEqual(snapshot.inputs, Inputs(6, 8992 // 16, 2, 8992 // 16 + 1, 5, 1, 3))
        entities = snapshot.entities
        self.assertEqual(
            entities,
            [
                Entity(0, State(1, 0, 3, moved), known=True),
                Entity(1, State(1, 0, 3, jumped), known=True),
                Entity(5, State(1, 0, 4, ball.raw({"x": -3, "bounces": 2}))),
                Entity(6, None, gone=True),
                Entity(9, None),
            ],
        )

    def test_plain_example_is_read(self) -> None:
        ball = toy().kinds[0]
        states = States()
        for age, index, x in ((6, 0, 2), (6, 1, 1), (8, 1, 1)):
            old = State(1, 0, 3, ball.raw({"x": x, "bounces": 2, "plan": 5}))
            states.by_tick.setdefault(600 - age, {})[index] = old
        snapshot = Reader(toy(), 0, 3, states).read(example("example-plain"), 0, 580)
        self.assertEqual((snapshot.seq, snapshot.tick, snapshot.references), (8, 600, (6,)))
        self.assertEqual(snapshot.echo, (77, 1234))
        self.assertEqual(snapshot.perceived, (-2, 40000, 19008))
        self.assertEqual(snapshot.inputs, Inputs(6, 562, 2, 563, 5, 1, 3))
        found = [each.state and ball.values(each.state.fields) for each in snapshot.entities]
        balls = [{"x": x, "bounces": 2, "plan": plan} for x, plan in ((2, 5), (2.5, 5), (-3, 0))]
        self.assertEqual(found, [*balls, None, None])
        self.assertEqual([each.index for each in snapshot.entities], [0, 1, 5, 6, 9])
        self.assertEqual([each.gone for each in snapshot.entities[3:]], [True, False])

    def packet(self, expected: list[Entity], sum_change: int = 0) -> PlainWriter:
        """Packet 65537 of tick 70000: one ball known and changed, one that wraps around, new."""
        out = PlainWriter().even(1, 16).even(70000 & 0xFFFF, 16)
        # Of its parts only perceived.
        out.even(0, 1).even(0, 1).even(1, 1).even(0, 1).even(0, 1)
        out.number(zigzag(12)).number(3).number(4).number(1).number(9)
        out.yes(True).number(2, 16).yes(True, True, False).residual(-3, 10).residual(0, 3)
        out.residual(-8, 4)
        out.yes(True).number(65536 - 2, 16).yes(False, True).even(255, 8).yes(True).even(300, 16)
        out.even(17, 10).even(5, 3).yes(False)
        return out.even(checksum(expected) ^ sum_change, 16)

    def expected(self) -> list[Entity]:
        """States in the packet."""
        changed = State(4, 0, 3, (1023, 1, 14))
        return [Entity(2, changed, known=True), Entity(1, State(255, 0, 300, (17, 5, 0)))]

    def reader(self) -> Reader:
        """Reader with the ball's older state."""
        states = States()
        states.by_tick[70000 - 10] = {2: State(4, 0, 3, (2, 1, 6))}
        return Reader(toy(), 17, 3, states)

    def test_packet_by_hand_is_read(self) -> None:
        data = self.packet(self.expected()).data(0x12, 0x8003)
        snapshot = self.reader().read(data, 65530, 69990)
        self.assertEqual((snapshot.seq, snapshot.tick), (65537, 70000))
        self.assertEqual(snapshot.sent_after_tick, 32768 + 3 * 64)
        self.assertEqual(snapshot.perceived, (12, 48, 64))
        self.assertEqual((snapshot.echo, snapshot.inputs, snapshot.references), (None, None, (10,)))
        self.assertEqual(snapshot.entities, self.expected())

    def test_bad_packets_are_refused(self) -> None:
        good = self.packet(self.expected()).data(0x12)
        wrong_sum = self.packet(self.expected(), 1).data(0x12)
        for data in (wrong_sum, good + b"\1", good + b"\0", good[:9], b"\x32" + good[1:], b""):
            with self.assertRaises(WireError):
                self.reader().read(data, 65530, 69990)
        reader = self.reader()
        reader.states.by_tick.clear()
        with self.assertRaises(WireError):
            reader.read(good, 65530, 69990)

    def test_states_are_kept_as_long_as_they_are_needed(self) -> None:
        reader = self.reader()
        snapshot = reader.read(self.packet(self.expected()).data(0x12), 65530, 69990)
        reader.states.commit(snapshot)
        self.assertEqual(reader.states.baseline(70000, 1).owner, 300)
        self.assertEqual(set(reader.states.seen()), {1, 2})
        snapshot.tick += 240
        reader.states.commit(snapshot)
        self.assertIn(70000, reader.states.by_tick)
        snapshot.tick += 240
        reader.states.commit(snapshot)
        self.assertNotIn(70000, reader.states.by_tick)


class SessionParts(unittest.TestCase):
    def test_acknowledgements_have_a_mask(self) -> None:
        acks = Acks()
        new = [acks.add(seq) for seq in (4, 7, 6, 6, 7)]
        self.assertEqual(new, [True, True, True, False, False])
        self.assertEqual((acks.newest, acks.mask), (7, 0b101))
        self.assertTrue(acks.add(60))
        self.assertEqual((acks.newest, acks.mask), (60, 0))
        self.assertFalse(acks.add(7))

    def test_clock_takes_the_quickest_answer_and_notices_a_step(self) -> None:
        clock = Clock()
        clock.add(asked=1000, held=100, server_sent=51_600, now=2100)
        clock.add(asked=1000, held=100, server_sent=90_000, now=9100)
        self.assertEqual((clock.trip, clock.offset), (1000, 50_000))
        clock.add(asked=1000, held=100, server_sent=-999_000, now=2100)
        self.assertEqual(clock.offset, -1_000_600)

    def test_untaken_chat_and_refusals_are_bounded(self) -> None:
        visit = Visit.__new__(Visit)
        visit.session = Session(toy(), lambda _: {})
        for number in range(2 * NOTICES_MAX):
            visit.session.handle_message(b"\6\0\0" + text(str(number)))
            visit.session.handle_message(b"\7" + varint(number) + b"\0")
        newest = range(NOTICES_MAX, 2 * NOTICES_MAX)
        self.assertEqual(list(visit.session.refused), [Refused(number, 0) for number in newest])
        self.assertEqual(visit.take_chat(), [Chat(None, 0, str(number)) for number in newest])
        self.assertEqual(visit.take_chat(), [])


def description() -> dict[str, Any]:
    """Game of one input field, as it is described."""
    table = {"name": "right", "min": -2.0, "bits": 2, "fraction_bits": 0, "audience": "all"}
    return {
        "game": "g",
        "wire": {"hash": f"{fnv1a_64(WIRE_TEXT):016x}"},
        "fields": {"text": "fields g\n", "hash": f"{fnv1a_64('fields g' + chr(10)):016x}"},
        "input": {"name": "Command", "fields": [table | {"greatest": 3}]},
        "kinds": [],
    }


class Descriptions(unittest.TestCase):
    def test_descriptions_are_held_to_their_hashes(self) -> None:
        described = description()
        game = Game.from_description(json.dumps(described))
        self.assertEqual(game.input.raw({"right": 1.0}), (3,))
        self.assertEqual(game.input.values((0,)), {"right": -2.0})
        described["fields"]["text"] += "record Command\n"
        with self.assertRaises(WireError):
            Game.from_description(json.dumps(described))

    def test_anything_else_is_refused_by_what_is_wrong(self) -> None:
        for printed in ("", "[]", "{}", "3", "null", '"wire"', "[" * 100_000, "9" * 5000):
            with self.assertRaisesRegex(WireError, "not a description of a game", msg=printed[:9]):
                Game.from_description(printed)
        wrong: object
        for name in description():
            for wrong in (None, 3, {}, "\ud800"):
                with self.assertRaises(WireError, msg=f"{name}: {wrong}"):
                    Game.from_description(json.dumps(description() | {name: wrong}))
        fields: dict[str, tuple[object, ...]] = {
            "name": (None, 1, []),
            "min": (None, "0", math.nan, math.inf, 10**400, True),
            "bits": (-1, 33, 2.0, "2", 10**400),
            "fraction_bits": (-1, 33, False),
            "greatest": (-1, 4),
            "audience": (None, 0),
        }
        for name, values in fields.items():
            for wrong in values:
                described = description()
                described["input"]["fields"][0][name] = wrong
                with self.assertRaisesRegex(WireError, f"'{name}'", msg=f"{name}: {wrong}"):
                    Game.from_description(json.dumps(described))

    def test_values_are_clamped_and_nan_is_refused(self) -> None:
        command = Game.from_description(json.dumps(description())).input
        for value, raw in ((-9.0, 0), (-math.inf, 0), (0.4, 2), (9.0, 3), (math.inf, 3)):
            self.assertEqual(command.raw({"right": value}), (raw,))
        with self.assertRaisesRegex(WireError, "'right' is not a number"):
            command.raw({"right": math.nan})

    def test_inputs_on_the_command_line_are_finite(self) -> None:
        self.assertEqual(parse_input("right=-1.5"), ("right", -1.5))
        with self.assertRaisesRegex(argparse.ArgumentTypeError, "write right=1$"):
            parse_input("right")
        for word in ("right=", "right=x", "right=inf", "right=nan", "right=1e999"):
            with self.assertRaisesRegex(argparse.ArgumentTypeError, "is not a number", msg=word):
                parse_input(word)


class Exporter(unittest.TestCase):
    def test_secret_is_that_of_rfc_8448(self) -> None:
        # Section 3, "Simple 1-RTT Handshake": master secret, hash up to the server's Finished.
        master = "18df06843d13a08bf2a449844c5f8a478001bc4d4c627984d5a41da8d0402919"
        transcript = "9608102a0f1ccc6db6250b7b7e417b1a000eaada3daae4777a7686c9ff83df13"
        expected = "fe22f881176eda18eb8f44529e6792c50c9a3f89452f68d8ae311b4309d3cf50"

        class Transcript:
            def copy(self) -> Transcript:
                return self

            def finalize(self) -> bytes:
                return bytes.fromhex(transcript)

        schedule = KeySchedule(CipherSuite.AES_128_GCM_SHA256)
        self.assertEqual(schedule.algorithm.name, hashes.SHA256.name)
        schedule.secret = bytes.fromhex(master)
        schedule.hash = Transcript()  # type: ignore[assignment]
        self.assertEqual(exporter_secret(schedule).hex(), expected)


if __name__ == "__main__":
    unittest.main()
