"""Carriage over QUIC: one connection to a server with a known fingerprint.

aioquic has no exporter of TLS (RFC 8446, section 7.5). Its secret is due when the server's
Finished is part of the transcript and nothing behind it is, which is when TLS installs the keys
that the server's packets are read with; so the connection takes it there.
"""

from __future__ import annotations

import hashlib
import random
import select
import socket
import ssl
import time
from types import TracebackType
from typing import NamedTuple

from aioquic import tls
from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.packet import QuicProtocolVersion
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding

from .control import frame, take_frames
from .links import Link
from .numbers import WireError

APPLICATION_PROTOCOL = "phaselock"
EXPORTER_LABEL = b"EXPORTER-phaselock-identity"
PROOF_TEXT = b"phaselock identity 1"
DATAGRAM_FRAME_BYTES_MAX = 65536
IDLE_SECONDS_MAX = 10.0
UDP_BYTES_MAX = 65536
CLOSING_SECONDS = 0.5
# Time after which the next address of a name is tried too (RFC 8305).
ATTEMPT_SECONDS = 0.25
ADDRESSES_MAX = 8
POLL_SECONDS = 0.05

# What `getaddrinfo` returns.
SocketAddress = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]


class Closed(NamedTuple):
    """End of a connection. `code` is None if the transport ended it."""

    code: int | None
    text: str


class Received(NamedTuple):
    """Everything received since the last call: bodies of messages, datagrams with the client's time
    of reading in microseconds, and the connection's end."""

    messages: list[bytes]
    datagrams: list[tuple[bytes, int]]
    closed: Closed | None


def now_micros() -> int:
    """The client's clock in microseconds, from an arbitrary start."""
    return time.monotonic_ns() // 1000


def exporter_secret(schedule: tls.KeySchedule) -> bytes:
    """Exporter master secret of a key schedule, at the server's Finished."""
    return schedule.derive_secret(b"exp master")


def export(algorithm: hashes.HashAlgorithm, secret: bytes, label: bytes, length: int) -> bytes:
    """Keying material for a label and an empty context."""
    empty = hashes.Hash(algorithm).finalize()
    derived = tls.hkdf_expand_label(algorithm, secret, label, empty, algorithm.digest_size)
    return tls.hkdf_expand_label(algorithm, derived, b"exporter", empty, length)


class ExportingConnection(QuicConnection):
    """QUIC connection of a client that checks the server's fingerprint before it sends anything,
    and keeps TLS's exported bytes for the proof of identity. Without a fingerprint it keeps the one
    that it sees."""

    def __init__(self, configuration: QuicConfiguration, fingerprint: str | None) -> None:
        super().__init__(configuration=configuration)
        self.fingerprint = fingerprint
        self.exported: bytes | None = None

    def _initialize(self, peer_cid: bytes) -> None:
        super()._initialize(peer_cid)
        install = self.tls.update_traffic_key_cb

        def take_secret(
            direction: tls.Direction, epoch: tls.Epoch, suite: tls.CipherSuite, key: bytes
        ) -> None:
            if epoch == tls.Epoch.ONE_RTT and direction == tls.Direction.DECRYPT:
                self._check_fingerprint()
                schedule = self.tls.key_schedule
                assert schedule is not None, "keys come from a schedule"
                secret = exporter_secret(schedule)
                self.exported = export(schedule.algorithm, secret, EXPORTER_LABEL, 32)
            install(direction, epoch, suite, key)

        self.tls.update_traffic_key_cb = take_secret

    def _check_fingerprint(self) -> None:
        certificate = self.tls._peer_certificate
        if certificate is None:
            raise tls.AlertBadCertificate("the server has no certificate")
        digest = hashlib.sha256(certificate.public_bytes(Encoding.DER))
        found = f"sha256:{digest.hexdigest()}"
        if self.fingerprint is None:
            self.fingerprint = found
        if found != self.fingerprint.lower():
            raise tls.AlertBadCertificate(f"the server's fingerprint is {found}")


class Connection:
    """Connection to a server at one address; `connect` makes it. Without a fingerprint, any
    certificate is trusted. It deliberately loses the share `loss` of packets in both directions, by
    the seed."""

    def __init__(
        self,
        address: tuple[socket.AddressFamily, SocketAddress],
        fingerprint: str | None,
        loss: float = 0.0,
        seed: int = 0,
    ) -> None:
        family, self.address = address
        self.loss = loss
        self.random = random.Random(seed)
        self.buffer = bytearray()
        self.closed: Closed | None = None
        self.connected = False
        self.answered = False
        configuration = QuicConfiguration(
            alpn_protocols=[APPLICATION_PROTOCOL],
            idle_timeout=IDLE_SECONDS_MAX,
            max_datagram_frame_size=DATAGRAM_FRAME_BYTES_MAX,
            server_name="phaselock",
            supported_versions=[QuicProtocolVersion.VERSION_1],
            # The fingerprint identifies the certificate; there is no authority.
            verify_mode=ssl.CERT_NONE,
        )
        self.quic = ExportingConnection(configuration, fingerprint)
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        self.quic.connect(self.address, time.monotonic())
        self.stream = self.quic.get_next_available_stream_id()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(0, "the player left")

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the server's certificate; empty before the handshake if none was given."""
        return self.quic.fingerprint or ""

    def proof(self, key: Ed25519PrivateKey) -> bytes:
        """Proof that this side has the key; worthless on any other connection."""
        if self.quic.exported is None:
            raise WireError("no proof before the handshake")
        return key.sign(PROOF_TEXT + self.quic.exported)

    def send_message(self, body: bytes) -> None:
        """Sends a control message."""
        self.quic.send_stream_data(self.stream, frame(body))

    def send_datagram(self, data: bytes) -> None:
        """Sends a datagram."""
        self.quic.send_datagram_frame(data)

    def receive(self, seconds: float) -> Received:
        """Waits for data or until the time is over, and sends what is due."""
        self._transmit()
        timer = self.quic.get_timer()
        if timer is not None:
            seconds = min(seconds, timer - time.monotonic())
        select.select([self.socket], [], [], max(0.0, seconds))
        received = Received([], [], None)
        while self._read_packet():
            received = self._take_events(received)
        timer = self.quic.get_timer()
        if timer is not None and timer <= time.monotonic():
            self.quic.handle_timer(time.monotonic())
        received = self._take_events(received)
        self._transmit()
        return received

    def close(self, code: int, text: str, seconds: float = CLOSING_SECONDS) -> None:
        """Closes the connection with a code and a text, which are sent again for some time if they
        may be lost. Raises no error: a server that gets neither notices the silence."""
        if self.socket.fileno() < 0:
            return
        self.quic.close(error_code=code, reason_phrase=text)
        end = time.monotonic() + seconds
        try:
            self._transmit()
            while self.closed is None and time.monotonic() < end:
                self.receive(POLL_SECONDS)
        except (OSError, WireError):
            pass
        finally:
            self.socket.close()

    def abandon(self) -> None:
        """Cuts the connection without a word to the server."""
        self.socket.close()

    def _read_packet(self) -> bool:
        try:
            data = self.socket.recv(UDP_BYTES_MAX)
        except (BlockingIOError, ConnectionError):
            # Windows reports here that an earlier packet could not be delivered.
            return False
        if self.random.random() >= self.loss:
            self.answered = True
            self.quic.receive_datagram(data, self.address, time.monotonic())
        return True

    def _transmit(self) -> None:
        for data, _ in self.quic.datagrams_to_send(time.monotonic()):
            if self.random.random() >= self.loss:
                try:
                    self.socket.sendto(data, self.address)
                except (BlockingIOError, ConnectionError):
                    pass  # Lost, as any packet may be.
                except OSError as error:
                    # Later it is lost too: networks come back.
                    if not self.connected and self.closed is None:
                        self.closed = Closed(None, f"the address is unreachable: {error}")

    def _take_events(self, received: Received) -> Received:
        while (event := self.quic.next_event()) is not None:
            if isinstance(event, events.HandshakeCompleted):
                self.connected = True
            elif isinstance(event, events.StreamDataReceived):
                self.buffer += event.data
                received.messages.extend(take_frames(self.buffer))
            elif isinstance(event, events.DatagramFrameReceived):
                received.datagrams.append((event.data, now_micros()))
            elif isinstance(event, events.ConnectionTerminated):
                code = event.error_code if event.frame_type is None else None
                text = event.reason_phrase if self.answered else "no answer"
                self.closed = Closed(code, text)
        return received._replace(closed=self.closed)


def lookup(link: Link) -> list[tuple[socket.AddressFamily, SocketAddress]]:
    """Addresses of a server, in the order in which the system prefers them."""
    try:
        found = socket.getaddrinfo(link.host, link.port, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        raise WireError(f"there is no address of {link.host}: {error}") from error
    return [(family, address) for family, _, _, _, address in found[:ADDRESSES_MAX]]


def first_connected(attempts: list[Connection], seconds: float) -> Connection | None:
    """Waits until the first of several connections is established; returns None after the given
    time, or if all have failed. Raises `WireError` if a server refuses: that is an answer, so only
    silence leads to another address."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pending = [each for each in attempts if each.closed is None]
        if not pending:
            break
        for each in pending:
            each.receive(POLL_SECONDS / len(pending))
            if each.connected:
                return each
            if each.answered and each.closed is not None:
                raise WireError(f"no connection: {each.closed.text}")
    return None


def connect(link: Link, seconds: float, loss: float = 0.0, seed: int = 0) -> Connection:
    """Connects to a server, and returns when it is verified. Tries all addresses of a name in quick
    succession until one answers. Raises `WireError` if none does within the given time."""
    end = time.monotonic() + seconds
    waiting = lookup(link)
    attempts: list[Connection] = []
    failures: list[str] = []
    winner: Connection | None = None
    try:
        while waiting or any(each.closed is None for each in attempts):
            if waiting:
                try:
                    attempts.append(Connection(waiting.pop(0), link.fingerprint, loss, seed))
                except OSError as error:
                    failures.append(str(error))
            left = end - time.monotonic()
            if left <= 0:
                break
            winner = first_connected(attempts, min(left, ATTEMPT_SECONDS) if waiting else left)
            if winner is not None:
                return winner
        failures += [each.closed.text for each in attempts if each.closed is not None]
        reasons = "; ".join(dict.fromkeys(failures)) or f"no answer within {seconds:g} s"
        raise WireError(f"no connection to {link.host}: {reasons}")
    finally:
        for each in attempts:
            if each is not winner:
                each.close(0, "another address answers", 0.0)
