"""Status of a server without a login: a question in one UDP packet, and its answer."""

from __future__ import annotations

import socket
import struct
import time
from dataclasses import dataclass, field

from .numbers import WireError

QUESTION_BYTES = 1200
ANSWER_SECONDS_MAX = 60.0
# Packets may get lost: ask again.
ASKING_SECONDS = 0.5
HEAD = struct.Struct("<10sB8s")
FIELD = struct.Struct("<BH")
COUNTS = {4: "players", 5: "seats", 6: "bots", 7: "round", 8: "rooms", 9: "flags"}


@dataclass
class Info:
    """Status of a server; missing fields are empty."""

    name: str = ""
    version: str = ""
    games: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


def question(nonce: bytes) -> bytes:
    """Question whose answer repeats these eight bytes."""
    return HEAD.pack(b"?phaselock", 1, nonce).ljust(QUESTION_BYTES, b"\0")


def read_answer(data: bytes, nonce: bytes) -> Info:
    """Reads an answer; raises an error if it is not one, or answers another question."""
    if data[: HEAD.size] != HEAD.pack(b"!phaselock", 1, nonce) or len(data) > QUESTION_BYTES:
        raise WireError("no answer to this question")
    info = Info()
    at = HEAD.size
    while at < len(data):
        if at + FIELD.size > len(data):
            raise WireError("an answer is cut short")
        kind, length = FIELD.unpack_from(data, at)
        at += FIELD.size + length
        if at > len(data):
            raise WireError("an answer is cut short")
        value = data[at - length : at]
        if kind == 1:
            info.name = value.decode()
        elif kind == 2:
            info.version = value.decode()
        elif kind == 3:
            info.games.append(value.decode())
        elif kind in COUNTS:
            info.counts[COUNTS[kind]] = int.from_bytes(value, "little")
    return info


def ask(host: str, port: int, nonce: bytes) -> Info:
    """Asks a server; raises an error if it does not answer in time."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as asker:
        asker.settimeout(ASKING_SECONDS)
        asker.connect(address)
        end = time.monotonic() + ANSWER_SECONDS_MAX
        while time.monotonic() < end:
            asker.send(question(nonce))
            try:
                return read_answer(asker.recv(2048), nonce)
            except TimeoutError:
                pass
            except OSError as error:
                raise WireError(f"no answer to a question for the status: {error}") from error
        raise WireError("no answer to a question for the status")
