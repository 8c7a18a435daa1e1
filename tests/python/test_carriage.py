"""Tests of connections over the loopback interface, to servers that answer, are silent or gone.

Run by `python -m unittest discover tests/python`, in the environment that `play.py` needs.
"""

from __future__ import annotations

import datetime
import errno
import gc
import hashlib
import logging
import socket
import threading
import time
import unittest
import warnings
from typing import Any, Callable
from unittest import mock

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from phaselock import Game, Visit, join
from phaselock.carriage import APPLICATION_PROTOCOL, Connection, SocketAddress, connect
from phaselock.links import Link
from phaselock.numbers import WireError
from phaselock.records import Record

GAME = Game("toy", 0, Record("input", ()), ())
HOST = "127.0.0.1"
OTHER_PRINT = "sha256:" + "00" * 32
# Far more than a handshake takes.
SECONDS = 30.0


def silent_socket() -> socket.socket:
    """Socket at which nobody answers."""
    silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    silent.bind((HOST, 0))
    return silent


def certificate() -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """Self-signed certificate, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "phaselock")])
    start = datetime.datetime(2020, 1, 1)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, start)
    return builder.not_valid_after(start.replace(year=2100)).sign(key, SHA256()), key


class Server:
    """Server that shakes hands with one client after another, in a thread of its own."""

    def __init__(self) -> None:
        self.certificate, self.key = certificate()
        self.socket = silent_socket()
        self.socket.settimeout(0.02)
        self.port: int = self.socket.getsockname()[1]
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._serve)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of its certificate."""
        return f"sha256:{hashlib.sha256(self.certificate.public_bytes(Encoding.DER)).hexdigest()}"

    def __enter__(self) -> Server:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.thread.join()
        self.socket.close()

    def _serve(self) -> None:
        configuration = QuicConfiguration(
            is_client=False,
            alpn_protocols=[APPLICATION_PROTOCOL],
            max_datagram_frame_size=65536,
            certificate=self.certificate,
            private_key=self.key,
        )
        clients: dict[object, QuicConnection] = {}
        while not self.is_over.is_set():
            try:
                data, address = self.socket.recvfrom(65536)
            except (TimeoutError, ConnectionError):
                continue
            if address not in clients:
                # A long header has the client's choice of an ID behind its first 5 bytes.
                first = data[6 : 6 + data[5]]
                clients[address] = QuicConnection(
                    configuration=configuration, original_destination_connection_id=first
                )
            clients[address].receive_datagram(data, address, time.monotonic())
            for answer, to in clients[address].datagrams_to_send(time.monotonic()):
                self.socket.sendto(answer, to)


class DeadSocket(socket.socket):
    """Socket as Windows has it after an unreachable port was reported."""

    def recv(self, *_: object) -> bytes:
        super().recv(65536)
        raise ConnectionResetError(errno.ECONNRESET, "an existing connection was closed")

    def sendto(self, *_: object) -> int:
        raise ConnectionResetError(errno.ECONNRESET, "an existing connection was closed")


class UnreachableSocket(socket.socket):
    """Socket of a machine without a network."""

    def sendto(self, *_: object) -> int:
        raise OSError(errno.ENETUNREACH, "Network is unreachable")


def resolving_to(*addresses: tuple[str, int]) -> Any:
    """Replaces the lookup of names."""
    found = [(socket.AF_INET, socket.SOCK_DGRAM, 17, "", address) for address in addresses]
    return mock.patch("phaselock.carriage.socket.getaddrinfo", lambda *_, **__: found)


def with_sockets(kind: type[socket.socket]) -> Any:
    """Replaces the sockets of new connections."""
    return mock.patch("phaselock.carriage.socket.socket", kind)


def setUpModule() -> None:
    # aioquic's; errors are raised as well.
    logging.getLogger("quic").setLevel(logging.CRITICAL)


idle_soon = mock.patch("phaselock.carriage.IDLE_SECONDS_MAX", 0.5)


def unclosed(does: Callable[[], object]) -> list[str]:
    """Warnings of sockets that a function leaves open."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        does()
        gc.collect()
    return [str(each.message) for each in caught]


class Connecting(unittest.TestCase):
    def test_server_of_the_fingerprint_is_reached(self) -> None:
        with Server() as server:
            link = Link(HOST, server.port, server.fingerprint)
            with connect(link, SECONDS) as connection:
                self.assertEqual(connection.fingerprint, server.fingerprint)
                self.assertGreaterEqual(connection.socket.fileno(), 0)
            connection.close(0, "again")

    def test_refusal_is_an_answer(self) -> None:
        with Server() as server, silent_socket() as silent:
            found = f"^no connection: the server's fingerprint is {server.fingerprint}$"
            places = silent.getsockname(), (HOST, server.port)
            with resolving_to(*places), self.assertRaisesRegex(WireError, found):
                connect(Link("server", 1, OTHER_PRINT), SECONDS)

    def test_all_addresses_of_a_name_are_tried(self) -> None:
        with Server() as server, silent_socket() as silent:
            # The first does not answer, and the second is no address that can be sent to.
            places = silent.getsockname(), ("255.255.255.255", 9), (HOST, server.port)
            with resolving_to(*places), connect(Link("server", 1), SECONDS) as connection:
                self.assertEqual(connection.address, (HOST, server.port))

    def test_no_answer_is_a_wire_error_and_leaves_no_socket(self) -> None:
        def fail() -> None:
            with self.assertRaisesRegex(WireError, "no connection to 127.0.0.1: no answer$"):
                join(f"{HOST}:{silent.getsockname()[1]}", GAME, "Ada")

        with silent_socket() as silent, idle_soon:
            self.assertEqual(unclosed(fail), [])

    def test_unknown_names_are_wire_errors(self) -> None:
        for name in ("nowhere.invalid", "a" * 64):
            with self.assertRaisesRegex(WireError, f"there is no address of {name}"):
                join(name, GAME, "Ada")

    def test_unreachable_networks_are_told_at_once(self) -> None:
        def fail() -> None:
            with self.assertRaisesRegex(WireError, "unreachable: .*Network is unreachable$"):
                join(HOST, GAME, "Ada")

        with with_sockets(UnreachableSocket):
            self.assertEqual(unclosed(fail), [])


class DeadServers(unittest.TestCase):
    def dead(self, kind: type[socket.socket], address: SocketAddress) -> Connection:
        """Connection on a socket of this kind."""
        with with_sockets(kind):
            return Connection((socket.AF_INET, address), None)

    def test_reset_is_a_lost_packet_like_any_other(self) -> None:
        with silent_socket() as silent, idle_soon:
            connection = self.dead(DeadSocket, silent.getsockname())
            connection.socket.bind((HOST, 0))
            silent.sendto(b"something to read", connection.socket.getsockname())
            end = time.monotonic() + SECONDS
            while connection.closed is None and time.monotonic() < end:
                connection.receive(0.1)
            self.assertEqual(connection.closed, (None, "no answer"))
            connection.close(0, "")

    def test_leaving_hides_no_error(self) -> None:
        with silent_socket() as silent:
            for error in (OSError("the network is down"), WireError("a message of 65535 bytes")):
                visit = Visit(self.dead(DeadSocket, silent.getsockname()), GAME)
                fails = mock.patch.object(visit.connection, "receive", side_effect=error)
                with fails, self.assertRaises(KeyError), visit:
                    raise KeyError("the first error")
                self.assertEqual(visit.connection.socket.fileno(), -1)
                visit.leave()


if __name__ == "__main__":
    unittest.main()
