"""Input packets, from client to server."""

from __future__ import annotations

from dataclasses import dataclass, field

from .numbers import HELD_MAX, INPUT_KIND, difference, zigzag
from .records import Record


class BitWriter:
    """Fields bit by bit, lowest bit first."""

    def __init__(self) -> None:
        self.bits = 0
        self.length = 0

    def number(self, value: int, bits: int) -> None:
        """Low bits of a number."""
        self.bits |= (value & ((1 << bits) - 1)) << self.length
        self.length += bits

    def flag(self, value: bool) -> None:
        """One bit."""
        self.number(int(value), 1)

    def exp_golomb(self, value: int, order: int) -> None:
        """Exp-Golomb code of an unsigned number."""
        scaled = (value >> order) + 1
        width = scaled.bit_length() - 1
        self.number(1 << width, width + 1)
        self.number(scaled, width)
        self.number(value, order)

    def delta(self, record: Record, raw: tuple[int, ...], older: tuple[int, ...]) -> None:
        """Record, as its difference from an older one."""
        for each, new, old in zip(record.fields, raw, older):
            change = difference(new, old, each.bits)
            self.flag(change != 0)
            if change:
                self.exp_golomb(zigzag(change) - 1, max(0, each.bits // 2 - 2))

    def data(self) -> bytes:
        """Bytes so far, the last one padded with zeros."""
        return self.bits.to_bytes((self.length + 7) // 8, "little")


@dataclass
class InputPacket:
    """Packet from client to server. `inputs` are numbers on the wire, a view lag in 1/64 of a tick,
    or none for that of the next newer one, and an instant in 1/64 of a tick before the end of the
    tick, or none; the newest comes first. `echo` is a time and how long it was held, in
    microseconds; `ack` a sequence number and the mask of those before."""

    game_number: int
    seq: int
    ack: tuple[int, int] | None
    sent: int
    echo: tuple[int, int] | None
    epoch: int
    tick: int
    inputs: list[tuple[tuple[int, ...], int | None, int | None]] = field(default_factory=list)

    def data(self, record: Record) -> bytes:
        """Bytes of the packet."""
        out = BitWriter()
        out.number(INPUT_KIND | (self.game_number & 15) << 4, 8)
        out.number(self.seq, 16)
        out.flag(self.ack is not None)
        if self.ack is not None:
            out.number(self.ack[0], 16)
            out.number(self.ack[1], 32)
        out.number(self.sent, 32)
        out.flag(self.echo is not None)
        if self.echo is not None:
            out.number(self.echo[0], 32)
            out.number(min(self.echo[1], HELD_MAX), 24)
        out.number(self.epoch, 8)
        out.number(self.tick, 16)
        out.number(len(self.inputs), 7)
        older = (0,) * len(record.fields)
        for index, (raw, lag, instant) in enumerate(self.inputs):
            changed = index == 0 or raw != older
            out.flag(changed)
            if changed:
                out.delta(record, raw, older)
            if index > 0:
                out.flag(lag is not None or instant is not None)
                if lag is not None or instant is not None:
                    out.flag(lag is not None)
            if lag is not None or index == 0:
                out.number(lag or 0, 15)
                out.flag(instant is not None)
            if instant is not None:
                out.number(instant, 7)
            older = raw
        return out.data()
