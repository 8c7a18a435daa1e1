"""Joins a server with other people's WebTransport libraries, which follow the drafts strictly.

    python3 -m venv somewhere && somewhere/bin/pip install -r tests/python/strict.txt
    somewhere/bin/python tests/python/strict.py 127.0.0.1:PORT skirmish.json

pywebtransport opens no stream without the drafts' flow control; aioquic's HTTP/3 requests sessions
by both names of the protocol. Each gets the challenge, proves its key, and gets a Welcome and a
snapshot.
A failure ends the run with status 1.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import ssl
import sys
from pathlib import Path

from aioquic.asyncio import QuicConnectionProtocol, connect
from aioquic.h3.connection import H3Connection
from aioquic.h3.events import DatagramReceived, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent, StreamDataReceived
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pywebtransport.client import WebTransportClient
from pywebtransport.config import ClientConfig

from phaselock.control import Hello, Welcome, frame, read_message, take_frames
from phaselock.records import Game

PATH = "/phaselock"
PREFACE = b"\1"
CHALLENGE_BYTES = 32
BINDING_LABEL = b"phaselock web binding\0"
PROOF_TEXT = b"phaselock identity 1"
SECONDS_MAX = 60.0


def hello(game: Game, challenge: bytes, certificate: bytes) -> bytes:
    """First message, with the proof of a new key, for a server with this certificate."""
    key = Ed25519PrivateKey.generate()
    name = f"sha-256:{hashlib.sha256(certificate).hexdigest()}".encode()
    binding = hashlib.sha256(BINDING_LABEL + challenge + name).digest()
    message = Hello(
        name="Strict",
        game=game.name,
        game_hash=game.hash,
        sent=0,
        key=key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw),
        proof=key.sign(PROOF_TEXT + binding),
    )
    return frame(message.body())


def is_welcome(buffer: bytearray) -> bool:
    """Whether a Welcome is among the complete messages of a buffer, which are removed."""
    return any(isinstance(read_message(body), Welcome) for body in take_frames(buffer))


async def by_pywebtransport(host: str, port: int, game: Game) -> None:
    """Joins with pywebtransport."""
    config = ClientConfig(verify_mode=ssl.CERT_NONE, connect_timeout=SECONDS_MAX)
    async with WebTransportClient(config=config) as client:
        session = await client.connect(url=f"https://{host}:{port}{PATH}")
        datagrams = await session.create_datagram_transport()
        stream = await session.create_bidirectional_stream()
        await stream.write(data=PREFACE)
        challenge = await stream.readexactly(n=CHALLENGE_BYTES)
        certificate = session.connection.protocol_handler.quic_connection.tls._peer_certificate
        await stream.write(data=hello(game, challenge, certificate.public_bytes(Encoding.DER)))
        buffer = bytearray()
        while not is_welcome(buffer):
            buffer += await stream.read()
        await datagrams.receive()
        await session.close()


class Http3(QuicConnectionProtocol):
    """A client of aioquic's HTTP/3."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)
        self.http: H3Connection | None = None
        self.changed = asyncio.Event()
        self.statuses: dict[int, bytes] = {}
        self.game: int | None = None
        self.received = bytearray()
        self.snapshots = 0

    def quic_event_received(self, event: QuicEvent) -> None:
        """Handles received events."""
        if isinstance(event, ProtocolNegotiated):
            self.http = H3Connection(self._quic, enable_webtransport=True)
        if isinstance(event, StreamDataReceived) and event.stream_id == self.game:
            # aioquic takes it for a request: it knows only incoming WebTransport streams.
            self.received += event.data
        elif self.http is not None:
            self._take_http(event)
        self.changed.set()

    def _take_http(self, event: QuicEvent) -> None:
        for it in self.http.handle_event(event):
            if isinstance(it, HeadersReceived):
                self.statuses[it.stream_id] = dict(it.headers)[b":status"]
            elif isinstance(it, DatagramReceived):
                self.snapshots += 1

    async def until(self, holds) -> None:
        """Waits for a condition."""
        while not holds():
            self.changed.clear()
            await self.changed.wait()

    async def request(self, method: str, path: str, protocol: str | None) -> tuple[int, bytes]:
        """Number of a request's stream, and the status of its answer."""
        stream = self._quic.get_next_available_stream_id()
        fields = {":method": method, ":scheme": "https", ":authority": "127.0.0.1", ":path": path}
        if protocol:
            fields[":protocol"] = protocol
        headers = [(name.encode(), value.encode()) for name, value in fields.items()]
        self.http.send_headers(stream, headers, end_stream=protocol is None)
        self.transmit()
        await self.until(lambda: stream in self.statuses)
        return stream, self.statuses[stream]


async def by_aioquic(host: str, port: int, game: Game, protocol: str) -> None:
    """Joins with aioquic, after refused requests."""
    configuration = QuicConfiguration(
        alpn_protocols=["h3"], max_datagram_frame_size=65536, verify_mode=ssl.CERT_NONE
    )
    async with connect(host, port, configuration=configuration, create_protocol=Http3) as client:
        await client.until(lambda: client.http)
        for asked, expected in [
            (("GET", "/", None), b"404"),
            (("GET", PATH, None), b"405"),
            (("CONNECT", PATH, "websocket"), b"501"),
            (("CONNECT", "/elsewhere", protocol), b"404"),
        ]:
            _, status = await client.request(*asked)
            assert status == expected, f"{asked} is answered with {status}"
        session, status = await client.request("CONNECT", PATH, protocol)
        assert status == b"200", f"the session is answered with {status}"
        _, status = await client.request("CONNECT", PATH, protocol)
        assert status == b"429", f"a second session is answered with {status}"
        stream = client.game = client.http.create_webtransport_stream(session)
        client._quic.send_stream_data(stream, PREFACE)
        client.transmit()
        await client.until(lambda: len(client.received) >= CHALLENGE_BYTES)
        challenge = bytes(client.received[:CHALLENGE_BYTES])
        del client.received[:CHALLENGE_BYTES]
        certificate = client._quic.tls._peer_certificate.public_bytes(Encoding.DER)
        client._quic.send_stream_data(stream, hello(game, challenge, certificate))
        client.transmit()
        await client.until(lambda: is_welcome(client.received))
        await client.until(lambda: client.snapshots > 0)


async def run(arguments: argparse.Namespace) -> None:
    """Joins with each library."""
    game = Game.from_description(arguments.game.read_text())
    host, _, port = arguments.address.rpartition(":")
    for name, join in [
        ("pywebtransport", by_pywebtransport(host, int(port), game)),
        ("aioquic, webtransport", by_aioquic(host, int(port), game, "webtransport")),
        ("aioquic, webtransport-h3", by_aioquic(host, int(port), game, "webtransport-h3")),
    ]:
        await asyncio.wait_for(join, SECONDS_MAX)
        print(f"{name}: welcomed, and sent a snapshot")


def main() -> int:
    """Joins, as the command line says; the exit status is 1 after a failure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address", help="host:port")
    parser.add_argument("game", type=Path, help="file with the game's description")
    asyncio.run(run(parser.parse_args()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
