"""Addresses of servers, and links to them: `host`, `host:port`, `phaselock://host#sha256:…`."""

from __future__ import annotations

import ipaddress
import re
import string
from typing import NamedTuple

from .numbers import WireError

SCHEME = "phaselock://"
PORT = 4433
LINK_BYTES_MAX = 400
HOST_BYTES_MAX = 253
# The percent sign before a zone, as links write it (RFC 6874); a plain one is accepted too.
ZONE_SIGN = "%25"
NAME_CHARACTERS = set(string.ascii_letters + string.digits + "-._")
FINGERPRINT = re.compile("sha256:[0-9A-Fa-f]{64}")


class Link(NamedTuple):
    """A server. `host` is a name or an IP address without brackets; without a fingerprint, any
    certificate is trusted."""

    host: str
    port: int
    fingerprint: str | None = None

    @staticmethod
    def from_text(written: str) -> Link:
        """Reads an address, or a link in any case of its scheme. Raises `WireError` if it is
        neither."""
        written = written.strip()
        address, fingerprint = written, None
        if written[: len(SCHEME)].lower() == SCHEME:
            address, sign, rest = written[len(SCHEME) :].partition("#")
            fingerprint = read_fingerprint(rest) if sign else None
            address = address.removesuffix("/").replace(ZONE_SIGN, "%", 1)
        host, port = split_port(address)
        is_port = port.isascii() and port.isdigit() and len(port) < 6 and 0 < int(port) < 1 << 16
        if len(written.encode(errors="replace")) > LINK_BYTES_MAX or not host or not is_port:
            raise WireError(
                f"'{written[:LINK_BYTES_MAX]}' is not an address; write a name or an IP address, "
                f"and a port if it is not {PORT}: example.org:5000, 192.0.2.7, [2001:db8::1]:5000"
            )
        return Link(host, int(port), fingerprint)


def read_fingerprint(written: str) -> str:
    """Fingerprint with lowercase digits. Raises `WireError` if the text is none."""
    if not FINGERPRINT.fullmatch(written):
        raise WireError('a fingerprint is "sha256:" and 64 hexadecimal digits')
    return written.lower()


def split_port(address: str) -> tuple[str, str]:
    """Host and port of an address. The host is empty if it is neither a name nor an IP address. A
    bare IPv6 address has no port."""
    if address.startswith("["):
        host, bracket, rest = address[1:].partition("]")
        is_host = is_ip(host) and bracket and (not rest or rest.startswith(":"))
        return host if is_host else "", rest[1:] if rest else str(PORT)
    host, colon, port = address.partition(":")
    if ":" in port:
        return address if is_ip(address) else "", str(PORT)
    return host if is_ip(host) or is_name(host) else "", port if colon else str(PORT)


def is_ip(host: str) -> bool:
    """Whether this is an IP address. One of IPv6 may have a zone."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_name(host: str) -> bool:
    """Whether this can be a name. A final dot stands for the DNS root."""
    labels = host.removesuffix(".").split(".")
    return len(host) <= HOST_BYTES_MAX and all(labels) and set(host) <= NAME_CHARACTERS
