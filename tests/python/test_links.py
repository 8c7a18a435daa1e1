"""Tests of addresses and links: the cases of `invitation.rs`. No network.

Run by `python -m unittest discover tests/python`, in the environment that `play.py` needs.
"""

from __future__ import annotations

import unittest

from phaselock.links import LINK_BYTES_MAX, Link, read_fingerprint
from phaselock.numbers import WireError

PRINT = "sha256:" + "ab" * 32


class Links(unittest.TestCase):
    def test_links_and_addresses_are_read(self) -> None:
        for written, expected in (
            ("example.org", Link("example.org", 4433)),
            ("example.org.:5", Link("example.org.", 5)),
            ("phaselock://example.org", Link("example.org", 4433)),
            ("phaselock://example.org/", Link("example.org", 4433)),
            (f" PhaseLock://[2001:db8::1]:5#{PRINT}\n", Link("2001:db8::1", 5, PRINT)),
            (f"phaselock://192.0.2.7:4433/#{PRINT}", Link("192.0.2.7", 4433, PRINT)),
            ("2001:db8::1", Link("2001:db8::1", 4433)),
            ("[2001:db8::1]", Link("2001:db8::1", 4433)),
            ("phaselock://[fe80::1%25eth0]:5/", Link("fe80::1%eth0", 5)),
            ("phaselock://[fe80::1%eth0]:5/", Link("fe80::1%eth0", 5)),
            ("[fe80::1%25]:5", Link("fe80::1%25", 5)),
        ):
            self.assertEqual(Link.from_text(written), expected, written)

    def test_hostile_links_are_refused(self) -> None:
        for written in (
            "",
            ":5",
            "phaselock://",
            "phaselock://#",
            "phaselock://a#",
            "phaselock://a#sha256:00",
            f"phaselock://a#{PRINT}#{PRINT}",
            f"phaselock://a?x#{PRINT}",
            f"a#{PRINT}",
            "phaselock://user@a",
            "phaselock://a/b",
            "phaselock://a//",
            "phaselock://a:0",
            "a:65536",
            "a:",
            "a:+5",
            "a:٣",
            "a:" + "9" * 5000,
            "a..b",
            "[a]:5",
            "[::1",
            "[::1]5",
            "phaselock://--fullscreen x",
            "http://a",
            "é",
            "\udcff",
            "a" * 254,
            "phaselock://" + "a" * LINK_BYTES_MAX,
        ):
            with self.assertRaises(WireError, msg=written):
                Link.from_text(written)

    def test_fingerprints_have_64_digits(self) -> None:
        self.assertEqual(read_fingerprint("sha256:" + "AB" * 32), PRINT)
        for written in ("", PRINT[7:], PRINT[:-1], PRINT + "0", PRINT.upper(), PRINT + "\n"):
            with self.assertRaises(WireError, msg=written):
                read_fingerprint(written)


if __name__ == "__main__":
    unittest.main()
