"""Joins a server with the C library, for any game, by its description alone: plays for some seconds with
all inputs at their greatest, and checks that there is something to see.

    any.py LIBRARY LINK DESCRIPTION [SECONDS]
"""

import ctypes
import json
import sys
import time

ENTITIES_MAX = 1024
PLAYING, ENDED, OWN = 1, 4, 1


class Options(ctypes.Structure):
    """`phaselock_options`"""

    _fields_ = [
        ("abi", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("game", ctypes.c_uint64),
        ("server", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("password", ctypes.c_char_p),
        ("room", ctypes.c_char_p),
        ("known_hosts", ctypes.c_char_p),
        ("key_file", ctypes.c_char_p),
        ("predict", ctypes.c_void_p),
        ("user", ctypes.c_void_p),
        ("own_kind", ctypes.c_int32),
        ("reserved", ctypes.c_uint32),
    ]


class Entity(ctypes.Structure):
    """`phaselock_entity`"""

    _fields_ = [
        ("id", ctypes.c_uint32),
        ("owner", ctypes.c_int32),
        ("kind", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("fields", ctypes.c_double * 20),
    ]


class Library:
    """The library, whose errors end the program."""

    def __init__(self, path):
        self.functions = ctypes.CDLL(path)

    def call(self, name, *arguments):
        """Calls a function. Returns its result."""
        result = getattr(self.functions, name)(*arguments)
        if result < 0:
            detail = ctypes.create_string_buffer(500)
            self.functions.phaselock_error_detail(detail, ctypes.c_size_t(500))
            sys.exit(f"{name}: {detail.value.decode()}")
        return result


def play(library, client, described, seconds):
    """Plays for some seconds, and until there is enough to see. Returns the last state and the entities
    of the last frame."""
    fields = described["input"]["fields"]
    greatest = [field["min"] + field["greatest"] / 2 ** field["fraction_bits"] for field in fields]
    count = ctypes.c_size_t(len(fields))
    keys, all_entities = (ctypes.c_double * len(fields))(*greatest), (Entity * ENTITIES_MAX)()
    patience = time.monotonic() + 60
    end = None
    while True:
        state = library.call("phaselock_frame", client, keys, count)
        found = library.call("phaselock_entities", client, all_entities, ctypes.c_size_t(ENTITIES_MAX))
        entities = all_entities[: min(found, ENTITIES_MAX)]
        now = time.monotonic()
        if state == PLAYING and end is None:
            end = now + seconds
        has_played = end is not None and now > end and is_enough(state, entities)
        if has_played or state == ENDED or now > patience:
            return state, entities
        time.sleep(0.008)


def is_enough(state, entities):
    """Whether this is a game, with an own entity and others."""
    return state == PLAYING and len(entities) >= 3 and any(entity.flags & OWN for entity in entities)


def main(path, link, description, seconds="4"):
    """Joins, plays and leaves."""
    library = Library(path)
    with open(description, "rb") as file:
        text = file.read()
    described = json.loads(text)
    game, client = ctypes.c_uint64(), ctypes.c_uint64()
    library.call("phaselock_load_game", text, ctypes.c_size_t(len(text)), ctypes.byref(game))
    options = Options(abi=1, game=game.value, server=link.encode(), name=b"Any")
    library.call("phaselock_connect", ctypes.byref(options), ctypes.byref(client))
    state, entities = play(library, client, described, float(seconds))
    kinds = described["kinds"]
    names = sorted({kinds[entity.kind]["name"] for entity in entities})
    own = sum(entity.flags & OWN for entity in entities)
    print(f"{described['game']}: {len(entities)} entities ({', '.join(names)}), {own} of them mine")
    library.call("phaselock_close", client, b"that was enough")
    if not is_enough(state, entities):
        sys.exit(f"it ended in state {state}")
    for entity in entities:
        for field, value in zip(kinds[entity.kind]["fields"], entity.fields):
            least, most = field["min"], field["min"] + 2 ** (field["bits"] - field["fraction_bits"])
            if not least <= value <= most:
                sys.exit(f"{field['name']} is {value}, which is not within {least} to {most}")


main(*sys.argv[1:])
