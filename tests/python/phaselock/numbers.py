"""Limits of the protocol, hashes, and codes of numbers."""

WIRE_TEXT = "layout 14 inputs 64 baselines 240 entities 16384 extrapolated 32"
MESSAGE_BYTES_MAX = 2048
DATAGRAM_BYTES_MAX = 1150
NAME_BYTES_MAX = 32
TICKET_BYTES_MAX = 512
WEB_HASHES_MAX = 2
WEB_HOST_BYTES_MAX = 64
TEXT_BYTES_MAX = 256
SETUP_BYTES_MAX = 1024
ROSTER_MAX = 40
WATCHERS_MAX = 256
WATCH_DELAY_MAX = 60_000_000
TICK_MAX = 1 << 48
ENTITIES_MAX = 16384
PACKET_ENTITIES_MAX = 1024
PACKET_INPUTS_MAX = 64
BASELINE_AGE_MAX = 240
HELD_MAX = (1 << 22) - 1
PLAIN_CODING = 1
INPUT_KIND = 1
SNAPSHOT_KIND = 2


class WireError(Exception):
    """Bytes that the document does not allow, or a packet that contradicts earlier states."""


def fnv1a_64(data: str | bytes) -> int:
    """64-bit hash of bytes, or of a text in UTF-8."""
    value = 0xCBF29CE484222325
    for byte in data.encode() if isinstance(data, str) else data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def zigzag(value: int) -> int:
    """Maps signed to unsigned numbers: 0, -1, 1, -2 to 0, 1, 2, 3."""
    return value << 1 if value >= 0 else (-value << 1) - 1


def unzigzag(value: int) -> int:
    """Inverse of `zigzag`."""
    return value >> 1 if value & 1 == 0 else -((value + 1) >> 1)


def nearest(low: int, bits: int, known: int) -> int:
    """Number with the low `bits` bits `low` that is nearest to a known one."""
    size = 1 << bits
    return known + (low - known + size // 2) % size - size // 2


def difference(value: int, older: int, bits: int) -> int:
    """Shorter way around 2^bits from one value to another, from -2^(bits-1)."""
    return nearest(value - older & ((1 << bits) - 1), bits, 0)
