"""Phaselock's wire, written from `shared/netcode/WIRE.md` alone.

| module | holds |
|---|---|
| `numbers` | limits, hashes and codes of numbers |
| `control` | messages of the control stream |
| `records` | field tables, as `phaselock-server describe` prints them |
| `inputs` | input packets |
| `snapshots` | snapshot packets in plain coding, and their states |
| `requests` | what clients send, as a server reads it |
| `trained` | snapshot packets in trained coding: the range coder, references, contexts |
| `prediction` | predicted values of fields, and their residuals |
| `tables` | rules of a game as text, and files of tables |
| `trigonometry` | acos, sin and cos to the last bit |
| `links` | addresses of servers, and links to them |
| `session` | one session: acknowledgements, clock, inputs; no I/O, and time is an argument |
| `carriage` | QUIC: fingerprint, proof of identity, loss on purpose |
| `visit` | a player on a server, in one object; `join` begins here |
| `__main__` | plays from the command line |

Names are those of the document.
"""

from .numbers import WireError
from .records import Game
from .visit import Seen, Visit, join

__all__ = ["Game", "Seen", "Visit", "WireError", "join"]
