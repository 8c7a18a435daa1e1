"""Measures the client in Chromium, in Firefox and in a window, one after another, in the same scenes:

    python3 tests/web/figures.py BIN PAGE [--seconds SECONDS] [--presses COUNT] [--size SIZE]
                                 [CLIENT...]

BIN is the folder with phaselock-server, phaselock-bots and phaselock, PAGE the output of
client/web/build. Each client fills a virtual display, by default of 640 by 360 points, without a
graphics card: Mesa's llvmpipe draws, as fast as the processors allow. The X server presses their
keys, and their pictures are read back from it. Needs Xvfb, libxtst6, chromium and firefox-esr.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import display  # noqa: E402
import firefox  # noqa: E402
import play  # noqa: E402

browser = play.browser
GAMES = ["puck", "skirmish", "platformer"]
CLIENTS = ["window", "chromium", "firefox"]
# Side of a tile in points; a row of tiles shows the effect of a key.
TILE = 16
# Milliseconds after which a key counts as lost.
HEARD_MS_MAX = 1000


class Window:
    """The native client; `status` is its last output."""

    def __init__(self, around, screen, server):
        address = f"phaselock://127.0.0.1:{server.port}#{server.fingerprint()}"
        home = tempfile.mkdtemp(dir=around.folder)
        self.process = subprocess.Popen(
            [around.bin / "phaselock", "join", address, "--name", "Ada", "--mute", "--status",
             "--window", f"{display.WIDTH}x{display.HEIGHT}", "--settings", f"{home}/it.toml"],
            env=screen.environment(HOME=home, XDG_CONFIG_HOME=home), stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.last = {}
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.last = json.loads(line) or {}

    def status(self):
        return self.last

    def close(self):
        self.process.kill()
        self.process.wait()


class Page:
    """The client in a browser."""

    def __init__(self, screen, server, is_chromium):
        if is_chromium:
            flags = ["--use-angle=gl", "--ignore-gpu-blocklist", "--kiosk", "--window-position=0,0",
                     f"--window-size={display.WIDTH},{display.HEIGHT}"]
            self.it = browser.Browser(flags, screen.name)
        else:
            self.it = firefox.Firefox(screen.name)
        self.it.go(server.link(name="Ada"))

    def status(self):
        return self.it.run("window.phaselock ? phaselock.status : null") or {}

    def close(self):
        self.it.close()


def started(around, screen, client, server):
    """A client that plays."""
    it = Window(around, screen, server) if client == "window" else Page(
        screen, server, client == "chromium")
    around.players.append(it)
    end = time.monotonic() + 60
    while not it.status().get("is_playing"):
        assert time.monotonic() < end, f"{client} does not join: {it.status()}"
        time.sleep(0.2)
    time.sleep(4)
    return it


def rates(around, screen, client, game, seconds):
    """A client's rates per second in a game with three bots, and its clock's error."""
    server = play.Server(around, "--game", game, "--bots", "3")
    it = started(around, screen, client, server)
    first, errors = it.status(), []
    while len(errors) < seconds * 4:
        errors.append(abs(it.status()["clock_error_us"]))
        time.sleep(0.25)
    last = it.status()
    it.close()
    around.players.remove(it)
    server.end()
    took = (last["now_us"] - first["now_us"]) / 1e6
    more = lambda name: last[name] - first[name]
    errors.sort()
    return {
        "frames": more("frames") / took, "snapshots": more("snapshots") / took,
        "down": more("bytes_down") / took, "up": more("bytes_up") / took,
        "clock_p50": statistics.median(errors), "clock_max": errors[-1],
        "late": more("late_inputs"), "wrong": more("mispredictions"), "ticks": more("ticks"),
        "round_trip": last["round_trip_us"],
    }


def tiles(before, after):
    """Tiles in which two screens differ."""
    row = display.WIDTH * 4
    apart = set()
    for y in range(display.HEIGHT):
        one, other = before[y * row:(y + 1) * row], after[y * row:(y + 1) * row]
        if one == other:
            continue
        for x in range(0, display.WIDTH, TILE):
            if one[x * 4:(x + TILE) * 4] != other[x * 4:(x + TILE) * 4]:
                apart.add((x // TILE, y // TILE))
    return apart


def still_row(screen):
    """Tiles side by side that are still until a key moves the player, and such keys.

    Of all such rows it is that in which most changes first: its left and upper end, and its width.
    """
    # A wall may be in the way, or the camera may still be moving.
    for keys in ("ws", "ad") * 3:
        moves = set()
        last = screen.pixels()
        for _ in range(30):
            time.sleep(0.05)
            now = screen.pixels()
            moves |= tiles(last, now)
            last = now
        told = []
        for key in keys:
            before, first = screen.pixels(), set()
            end = time.monotonic() + HEARD_MS_MAX / 1000
            screen.key(key, True)
            # The player changes first; the camera follows.
            while not first and time.monotonic() < end:
                first = tiles(before, screen.pixels()) - moves
            screen.key(key, False)
            told.append(first)
            time.sleep(1.2)
        both = told[0] & told[1]
        rows = [(0, 0, 0, 0)]
        for y in range(display.HEIGHT // TILE):
            begin = 0
            for x in range(display.WIDTH // TILE + 1):
                if x == display.WIDTH // TILE or (x, y) in moves:
                    changes = sum((it, y) in both for it in range(begin, x))
                    rows.append((changes, begin, y, x - begin))
                    begin = x + 1
        changes, *row = max(rows)
        if changes:
            return row, keys
    raise AssertionError("no key moves anything that was still")


def presses(around, screen, client, count):
    """Milliseconds from a key to the first picture that shows it, alone in Skirmish."""
    server = play.Server(around, "--game", "skirmish")
    it = started(around, screen, client, server)
    screen.click(display.WIDTH // 2, display.HEIGHT // 2)
    # Ends the lesson and any other card.
    screen.key("BackSpace", True)
    time.sleep(0.1)
    screen.key("BackSpace", False)
    time.sleep(3)
    (x, y, width), keys = still_row(screen)
    look = lambda: screen.pixels(x * TILE, y * TILE, width * TILE, TILE)
    draw = random.Random(1)
    took, disturbed = [], 0
    while len(took) < count and disturbed < count:
        time.sleep(0.9 + draw.random() * 0.1)
        before = look()
        time.sleep(0.1)
        if look() != before:
            disturbed += 1
            continue
        key = keys[len(took) % 2]
        begun = time.perf_counter()
        screen.key(key, True)
        while look() == before and time.perf_counter() - begun < HEARD_MS_MAX / 1000:
            # One look per millisecond leaves the processor to the player.
            time.sleep(0.001)
        ms = (time.perf_counter() - begun) * 1000
        screen.key(key, False)
        if ms < HEARD_MS_MAX:
            took.append(ms)
        else:
            disturbed += 1
    it.close()
    around.players.remove(it)
    server.end()
    # The first one comes before the camera is quite at rest.
    took = sorted(took[1:])
    return took, disturbed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin")
    parser.add_argument("page")
    parser.add_argument("--seconds", type=int, default=20,
                        help="time of each game's rates, 0 for none")
    parser.add_argument("--size", default="640x360", help="points of the display")
    parser.add_argument("--presses", type=int, default=60, help="keys to press")
    parser.add_argument("clients", nargs="*")
    arguments = parser.parse_intermixed_args()
    arguments.python = arguments.pictures = None
    display.WIDTH, display.HEIGHT = map(int, arguments.size.split("x"))
    clients = arguments.clients or CLIENTS
    print("| game | client | frames/s | snapshots/s | down, B/s | up, B/s | clock p50, ms | max "
          "| late | mispredicted | round trip, ms |")
    for game in GAMES if arguments.seconds else []:
        for client in clients:
            around, screen = play.Around(arguments), display.Display()
            try:
                it = rates(around, screen, client, game, arguments.seconds)
            finally:
                around.close()
                screen.close()
            print(f"| {game} | {client} | {it['frames']:.0f} | {it['snapshots']:.1f} "
                  f"| {it['down']:.0f} | {it['up']:.0f} | {it['clock_p50'] / 1000:.3f} "
                  f"| {it['clock_max'] / 1000:.3f} | {it['late']} "
                  f"| {it['wrong']} of {it['ticks']} | {it['round_trip'] / 1000:.1f} |", flush=True)
    print("| client | key to picture p50, ms | p95 | max | presses | left out |")
    for client in clients:
        around, screen = play.Around(arguments), display.Display()
        try:
            took, left_out = presses(around, screen, client, arguments.presses)
        finally:
            around.close()
            screen.close()
        p95 = took[int(len(took) * 0.95)]
        print(f"| {client} | {statistics.median(took):.1f} | {p95:.1f} | {took[-1]:.1f} "
              f"| {len(took)} | {left_out} |", flush=True)


if __name__ == "__main__":
    main()
