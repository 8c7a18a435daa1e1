#!/usr/bin/env python3
"""A mock of a server's administration interface, to show its page without a server.

    tests/page/mock.py [--port 4434] [--players 64] [--rooms 1] [--trouble]

Tokens: admin-token, moderator-token, viewer-token. `--players 0` is an empty server. With
`--trouble` the database fails, the server drains, and the log has lost lines. GET /mock/break ends
all event streams for ?seconds=, by default 6.
"""
import argparse
import hashlib
import json
import math
import pathlib
import queue
import random
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGE = pathlib.Path(__file__).parents[2] / "server/src/admin/page"
FILES = {"/": ("index.html", "text/html; charset=utf-8"),
         "/page.css": ("page.css", "text/css; charset=utf-8"),
         "/page.js": ("page.js", "text/javascript; charset=utf-8")}
POLICY = ("default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
          "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
RANKS = {"viewer": 1, "moderator": 2, "admin": 3}
TOKENS = {"admin-token": ("first", "admin"), "moderator-token": ("night watch", "moderator"),
          "viewer-token": ("screen", "viewer")}
NAMES = ["<img src=x onerror=pwned=1>", "ada", "شهرزاد بنت النيل",
         "W" * 32, "A crowd of many people, one", "A crowd of many people, two", "</td><script>pwned=1</script>", "محمد <b>x</b>", "雪の女王", "\u202eevil\u202c",
         "a", "Zoë Ångström-Müller", "&lt;tag&gt;", "' or 1=1 --"]
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds_of(text):
    """A duration's seconds, or None for ever."""
    return None if text in (None, "", "forever") else int(text[:-1]) * UNITS[text[-1]]


class Mistake(Exception):
    def __init__(self, status, text, **more):
        super().__init__(text)
        self.status, self.more = status, more


class World:
    def __init__(self, args):
        self.lock = threading.RLock()
        self.readers = []
        self.broken_until = 0
        self.trouble = args.trouble
        self.random = random.Random(7)
        self.started = time.time() - 93784
        self.serial = 0
        self.sums = [48211934, 51820033, 3921880221, 13720099121]
        self.games = ["skirmish", "puck", "asteroids", "race", "platformer"]
        self.rooms = [{"code": str(1 + i), "game": self.games[i % 5], "seats": 64, "bots": 4,
                       "open": i < 8, "tick": 5000000 + i, "round": 1 + i, "late_inputs": 17 * i,
                       "panics": 1 if args.trouble and i == 0 else 0} for i in range(args.rooms)]
        self.players = [self.player(i) for i in range(args.players)]
        self.bans, self.mutes, self.audit, self.lines = [], [], [], []
        self.roles = [{"key": self.players[1]["key"], "name": "ada", "role": "moderator",
                       "by": "first", "made": int(self.started)}] if args.players > 1 else []
        self.tokens = [{"name": name, "role": role} for name, role in TOKENS.values()]
        self.draining = {"until": int(time.time()) + 270, "text": "Back in a minute.",
                         "redirect": "two.example.org:4433", "restart": False} if args.trouble else None
        self.next_restart = int(self.started) // 86400 * 86400 + 86400 + 4 * 3600
        self.chat = []
        self.allowed = [{"key": p["key"], "name": p["name"]} for p in self.players[:3]]
        self.filter = "info"
        self.dropped = 0
        if args.players:
            for kind, subject, name, hours in [("network", "192.0.2.0/24", None, 47),
                                               ("key", self.players[0]["key"], NAMES[0], None)]:
                self.bans.append(self.sanction(kind, subject, name, "aimbot, said </b> so himself",
                                               "first", hours and hours * 3600))
        for i in range(60):
            self.line(quiet=True)
        threading.Thread(target=self.run, daemon=True).start()

    def player(self, i):
        r = self.random
        name = NAMES[i] if i < len(NAMES) else r.choice(
            ["kit", "Mo", "fen", "Ines", "grace", "Linus", "Tove", "noor"]) + str(i)
        return {"room": self.rooms[i % len(self.rooms)]["code"], "seat": i // len(self.rooms),
                "name": name, "key": hashlib.sha256(b"%d" % i).hexdigest(),
                "address": None if i == 8 else f"[2001:db8::{i:x}]:{5000 + i}" if i % 3 == 0
                else f"192.0.2.{i % 250}:{50000 + i}",
                "role": {1: "moderator", 4: "admin", 6: "viewer"}.get(i),
                "joined": int(time.time() - r.randrange(7000)), "away": i == 7,
                "idle": r.choice([0, 0, 0, 1, 3, 240]) if i != 7 else 22, "ping": None,
                "jitter": None, "loss": 0.0, "offset": None, "offset_error": None,
                "scores": [{"measure": "points", "value": float(r.randrange(200))}],
                "late_inputs": r.randrange(4), "bytes_out_per_second": 0, "muted":
                {"until": int(time.time()) + 600, "reason": "shouts"} if i == 5 else None,
                "_base": r.lognormvariate(3.6, 0.8), "_clock": r.uniform(-4e3, 4e3) * 10 ** (i % 4)}

    def sanction(self, kind, subject, name, reason, by, seconds):
        self.serial += 1
        now = int(time.time())
        return {"id": self.serial, "kind": kind, "subject": subject, "name": name,
                "reason": reason, "by": by, "made": now,
                "until": now + seconds if seconds else None}

    def move(self):
        r, now = self.random, time.time()
        for i, p in enumerate(self.players):
            if p["away"] or i == 8:
                continue
            bad = i % 9 == 3 and math.sin(now / 15 + i) > 0.6
            p["ping"] = round(max(1, p["_base"] + 6 * math.sin(now / 11 + i) + r.gauss(0, 1.5)
                                  + (90 if bad else 0)), 2)
            p["jitter"] = round(abs(r.gauss(1.2, 0.5)) + p["_base"] / 40 + (14 if bad else 0), 2)
            p["loss"] = round(max(0, r.gauss(0.002, 0.003) + (0.08 if bad else 0)), 4)
            p["offset"] = round(p["_clock"] + 0.8 * math.sin(now / 40 + i) + r.gauss(0, 0.15), 3)
            p["offset_error"] = round(0.4 + p["jitter"] / 5, 2)
            p["late_inputs"] += r.random() < (0.4 if bad else 0.01)
            p["bytes_out_per_second"] = int(5200 + 900 * math.sin(now / 9 + i) + r.gauss(0, 150))
        n = len(self.players)
        for at, per in enumerate([62 * n + 3, 31 * n + 3, 1900 * n + 200, 5300 * n + 300]):
            self.sums[at] += int(per * r.uniform(0.93, 1.07))
        for room in self.rooms:
            room["tick"] += 60
            seated = sum(p["room"] == room["code"] for p in self.players)
            mean = 22 + 1.6 * seated + r.gauss(0, 2)
            p99 = mean * 1.7 + abs(r.gauss(0, 6))
            peak = p99 * (1.1 + (3 if r.random() < 0.04 else r.random() / 3))
            room.update(players=seated, asleep=False, busy=round(mean * 60e-6 * 1.9, 4), tick_micros={
                "mean": round(mean, 1), "p99": round(p99, 1), "max": round(peak, 1)})

    def status(self):
        now = int(time.time())
        return {"name": "Friday <night> at شهرزاد", "version": "0.9.0", "games": self.games,
                "address": ["[::]:4433"], "fingerprint": "sha256:" + "5e" * 32,
                "started": int(self.started), "now": now, "tick_hz": 60, "snapshot_hz": 30,
                "players": len(self.players), "seats": 64 * len(self.rooms),
                "bots": 4 * len(self.rooms), "draining": self.draining,
                "next_restart": self.next_restart,
                "database": "the disk is full: phaselock.db cannot be written, free some space"
                if self.trouble else "ok",
                "clock": "ok",
                "keeping": "room 1 and 3 more cannot be saved (no space is left); after a crash it "
                "resumes from its last saved state" if self.trouble else "ok",
                "agones": None,
                "certificate_expires": now + (5 if self.trouble else 500) * 86400,
                "failed_logins": {"tokens": self.dropped, "passwords": 2},
                "log": {"written": 81234, "dropped": self.dropped, "filter": self.filter},
                "traffic": dict(zip(["packets_in", "packets_out", "bytes_in", "bytes_out"],
                                    self.sums)), "rooms": self.rooms}

    def shown(self):
        return [{k: v for k, v in p.items() if k[0] != "_"} for p in self.players]

    def send(self, name, data):
        if name == "chat":
            self.chat = (self.chat + [{"time": int(time.time() * 1000), **data}])[-200:]
        text = f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
        for reader in list(self.readers):
            reader.put(text)

    def line(self, quiet=False):
        level, target, text = self.random.choice([
            ("INFO", "phaselock_server", "joined player=p3 name=<b>ada</b> version=0.9.0"),
            ("INFO", "phaselock_quic::server", "left player=p9 reason=\"closed\" late=2"),
            ("WARN", "phaselock_quic::server", "the server stalled: 17 ticks late"),
            ("DEBUG", "phaselock_quic::server::packets", "datagram refused " + "x" * 90),
            ("ERROR", "phaselock_server::store", "the database cannot be written: disk full"),
            ("INFO", "phaselock_server::admin", "chat room=1 name=\"<script>pwned=1</script>\"")])
        line = {"time": int(time.time() * 1000), "level": level, "target": target, "text": text}
        self.lines = (self.lines + [line])[-1000:]
        if not quiet:
            self.send("log", line)

    def record(self, by, role, act, whom="", why="", detail=""):
        self.serial += 1
        entry = {"id": self.serial, "time": int(time.time()), "by": by, "role": role, "act": act,
                 "whom": whom, "why": why, "detail": detail}
        self.audit.insert(0, entry)
        self.send("audit", entry)

    def remark(self):
        r = self.random
        if not self.players:
            return
        p = r.choice(self.players)
        who = {"room": p["room"], "seat": p["seat"], "name": p["name"]}
        kind = r.choice(["chat", "chat", "joined", "left", "away", "resumed", "round", "report"])
        self.send(kind, {
            "chat": {**who, "text": r.choice(["gg", "مرحبا بالجميع", "<b>bold</b> & proud",
                                              "who has the flag? " * 4, "brb"])},
            "joined": {**who, "key": p["key"], "address": p["address"]},
            "left": {**who, "reason": "the connection was lost"}, "away": who, "resumed": who,
            "round": {"room": p["room"], "played": 3},
            "report": {**who, "player": p["name"], "value": "1 min 12.340 s"}}[kind])

    def run(self):
        count = 0
        while True:
            with self.lock:
                if self.trouble:
                    self.dropped += 3
                self.move()
                self.send("figures", {"time": int(time.time() * 1000), "status": self.status(),
                                      "players": self.shown()})
                if count % 2 == 0:
                    self.line()
                if count % 3 == 0:
                    self.remark()
            count += 1
            time.sleep(1)

    def find(self, body):
        for p in self.players:
            who = str(body.get("who", ""))
            if who in (p["name"], str(p["seat"]), f"p{p['seat']}") or \
                    len(who) >= 8 and p["key"].startswith(who):
                return p
        raise Mistake(404, f"no player here matches '{body.get('who')}'")

    def answer(self, verb, path, query, body, me):
        by, role = me

        def need(least):
            if RANKS[role] < RANKS[least]:
                raise Mistake(403, f"a {role} may not do this; ask a {least}")

        if verb != "GET":
            need("moderator")
        head, _, rest = path.removeprefix("/v1/").partition("/")
        lists = {"bans": self.bans, "mutes": self.mutes}
        if (verb, head) == ("GET", "me"):
            return {"name": by, "role": role}
        if (verb, head) == ("GET", "status"):
            return self.status()
        if (verb, head) == ("GET", "players"):
            return self.shown()
        if verb == "GET" and head in lists:
            return lists[head]
        if (verb, head) == ("GET", "audit"):
            need("moderator")
            before = int(query.get("before", ["999999999"])[0])
            return [a for a in self.audit if a["id"] < before][:int(query["limit"][0])]
        if (verb, head) == ("GET", "chat"):
            return self.chat
        if (verb, head) == ("GET", "allow-list"):
            return {"file": "/data/allowed", "players": self.allowed}
        if verb in ("POST", "DELETE") and head == "allow-list":
            need("admin")
            key = body.get("key", rest)
            self.allowed = [one for one in self.allowed if one["key"] != key]
            if verb == "POST":
                self.allowed.append({"key": key, "name": body.get("name", "")})
            self.record(by, role, "allow" if verb == "POST" else "disallow", key)
            return {"done": f"{key} may now join"}
        if (verb, head) == ("GET", "log"):
            return self.lines[-int(query.get("lines", ["200"])[0]):]
        if (verb, head) == ("GET", "roles"):
            return self.roles
        if (verb, head) == ("GET", "results"):
            return [{"time": int(time.time()) - 300 * i, "room": "1", "game": "race", "players": [
                {"name": p["name"], "key": p["key"], "value": 12.5 + i, "measure": "seconds"}
                for p in self.players[:3]]} for i in range(6 if self.players else 0)]
        if (verb, head) == ("GET", "records"):
            return [{"game": query["game"][0], "measure": "lap", "name": p["name"],
                     "key": p["key"], "value": 12.3, "time": int(time.time())}
                    for p in self.players[:2]]
        if (verb, head) == ("GET", "config"):
            return [{"setting": s, "value": v, "origin": o} for s, v, o in [
                ("listen", "[::]:4433", "default"), ("game", ",".join(self.games), "flag --game"),
                ("name", self.status()["name"], "/etc/phaselock.toml:3"),
                ("bots", "4", "PHASELOCK_BOTS"), ("tick_hz", "60", "default"),
                ("seed", "0x9e3779b97f4a7c15", "the clock"), ("password", "(set)", "file")]]
        if (verb, head) == ("GET", "tokens"):
            need("admin")
            return self.tokens
        if (verb, head) == ("POST", "kick"):
            p = self.find(body)
            if RANKS.get(p["role"], 0) > RANKS[role]:
                raise Mistake(403, f"{p['name']} is {p['role']}: a {role} may not act on that player")
            self.players.remove(p)
            self.send("left", {"room": p["room"], "seat": p["seat"], "name": p["name"],
                               "reason": "kicked"})
            self.record(by, role, "kick", p["name"], body.get("reason", ""), body.get("for", ""))
            return {"done": f"kicked {p['name']}"}
        if verb == "POST" and head in lists:
            seconds = seconds_of(body.get("for"))
            if head == "bans" and role == "moderator" and (not seconds or seconds > 30 * 86400):
                raise Mistake(403, "a moderator bans for 30 days at most: say \"for\": \"30d\" or less")
            made = []
            if "who" in body:
                p = self.find(body)
                made.append(("key", p["key"], p["name"]))
                if head == "bans" and p["address"]:
                    made.append(("address", p["address"].rpartition(":")[0].strip("[]"), p["name"]))
                if head == "bans":
                    self.players.remove(p)
                else:
                    p["muted"] = {"until": seconds and int(time.time()) + seconds,
                                  "reason": body.get("reason", "")}
            else:
                kind = next(k for k in ("key", "address", "network") if k in body)
                if kind == "network" and "/" not in body[kind]:
                    raise Mistake(422, "a network has a length, as in 192.0.2.0/24")
                made.append((kind, body[kind], None))
            made = [self.sanction(*one, body.get("reason", ""), by, seconds) for one in made]
            lists[head] += made
            self.record(by, role, head[:-1], made[0]["name"] or made[0]["subject"],
                        body.get("reason", ""), body.get("for", "forever"))
            return made
        if verb == "DELETE" and head in lists:
            found = [one for one in lists[head] if one["subject"] in query.get("who", [])
                     or rest and one["id"] == int(rest)]
            if not found:
                raise Mistake(404, "there is no such entry: it was lifted, or is over")
            lists[head].remove(found[0])
            for p in self.players:
                if head == "mutes" and p["key"] == found[0]["subject"]:
                    p["muted"] = None
            self.record(by, role, "un" + head[:-1], found[0]["name"] or found[0]["subject"])
            return {"done": "lifted"}
        if (verb, head) == ("POST", "say"):
            for room in self.rooms:
                if body.get("room") in (None, room["code"]):
                    self.send("chat", {"room": room["code"], "seat": None, "name": None,
                                       "text": body["text"]})
            self.record(by, role, "say", "", "", body["text"])
            return {"done": "said"}
        need("admin")
        if verb == "POST" and head in ("game", "round"):
            for room in self.rooms:
                if body.get("room") in (None, room["code"]):
                    room["game"] = body.get("game", room["game"])
                    self.send("game", {"room": room["code"], "name": room["game"]})
            self.record(by, role, head, "", "", body.get("game", ""))
            return {"done": "gone on"}
        if head == "drain":
            self.draining = None if verb == "DELETE" else {
                "until": int(time.time()) + (seconds_of(body.get("within")) or 30),
                "text": body.get("text", ""), "redirect": body.get("redirect"),
                "restart": False}
            self.record(by, role, "drain" if self.draining else "undrain")
            return {"done": "drain"}
        if (verb, head) == ("DELETE", "restart"):
            self.next_restart += 86400
            self.record(by, role, "skip-restart")
            return {"done": "the restart is skipped"}
        if (verb, head) == ("POST", "reload"):
            if self.trouble:
                raise Mistake(422, "the configuration has 2 mistakes: nothing was changed", mistakes=[
                    "phaselock.toml:4: tick_hz is 10 to 128, not 500",
                    "phaselock.toml:9: there is no setting 'tik_hz': did you mean tick_hz?"])
            return {"changed": [{"setting": "name", "from": "Friday", "to": "Friday <night>"}],
                    "needs_restart": [{"setting": "tick_hz", "from": "60", "to": "128",
                                       "why": "the rate of ticks is fixed when rooms begin"}]}
        if head == "settings":
            self.record(by, role, "set" if verb == "PUT" else "unset", rest, "", "")
            return {"done": f"{rest} is changed"}
        if (verb, head) == ("PUT", "log-level"):
            self.filter = body["filter"]
            self.record(by, role, "log-level", "", "", self.filter)
            return {"done": self.filter}
        if (verb, head) == ("POST", "roles"):
            key = body.get("key") or self.find(body)["key"]
            self.roles.append({"key": key, "name": body.get("who", ""), "role": body["role"],
                               "by": by, "made": int(time.time())})
            self.record(by, role, "role", key[:8], "", body["role"])
            return {"done": "given"}
        if (verb, head) == ("DELETE", "roles"):
            self.roles = [one for one in self.roles if one["key"] != rest]
            return {"done": "taken"}
        if (verb, head) == ("POST", "tokens"):
            self.tokens.append({"name": body["name"], "role": body["role"]})
            self.record(by, role, "token", body["name"], "", body["role"])
            return {"token": "pl_" + hashlib.sha256(body["name"].encode()).hexdigest()[:40]}
        if (verb, head) == ("DELETE", "tokens"):
            self.tokens = [one for one in self.tokens if one["name"] != rest]
            return {"done": "revoked"}
        if (verb, head) == ("GET", "replays"):
            return [{"file": f"2026-11-26-11{35 - i}_1.plr", "game": "race", "bytes": 1234567,
                     "began": int(time.time()) - 300 * (i + 1), "ended": int(time.time()) - 300 * i,
                     "unread": False, "seconds": 300, "players": ["Ann", "Bob"]}
                    for i in range(3 if self.players else 0)]
        if (verb, head) == ("POST", "replays"):
            return {"done": "the last minutes of room 1 will be written within ten seconds, and "
                            "listed after its round ends"}
        if (verb, head) == ("POST", "mark"):
            return {"done": "this moment is marked"}
        if (verb, head) == ("POST", "backup"):
            return {"done": "wrote /data/" + body["file"], "bytes": 1351680}
        raise Mistake(404, "there is nothing at " + path)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    world = None

    def log_message(self, *_):
        pass

    def reply(self, status, body, kind="application/json"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        if kind.startswith("text/html"):
            self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(data)

    def stream(self):
        lines = queue.Queue()
        self.world.readers.append(lines)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.close_connection = True
        self.end_headers()
        try:
            while time.time() >= self.world.broken_until:
                self.wfile.write(lines.get())
                self.wfile.flush()
        except OSError:
            pass
        finally:
            self.world.readers.remove(lines)

    def handle_one(self):
        url = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length)
        query = parse_qs(url.query)
        if url.path in FILES:
            name, kind = FILES[url.path]
            return self.reply(200, (PAGE / name).read_bytes(), kind)
        if url.path == "/mock/break":
            self.world.broken_until = time.time() + float(query.get("seconds", ["6"])[0])
            return self.reply(200, {})
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        me = TOKENS.get(token)
        if not me:
            return self.reply(401, {"error": "the token is not known here: paste another one"})
        if url.path == "/v1/events":
            if time.time() < self.world.broken_until:
                return self.reply(503, {"error": "the server is on its way down"})
            return self.stream()
        try:
            with self.world.lock:
                body = json.loads(raw) if raw else {}
                return self.reply(200, self.world.answer(self.command, url.path, query, body, me))
        except Mistake as mistake:
            return self.reply(mistake.status, {"error": str(mistake), **mistake.more})

    do_GET = do_POST = do_PUT = do_DELETE = handle_one


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=4434)
    parser.add_argument("--players", type=int, default=64)
    parser.add_argument("--rooms", type=int, default=1)
    parser.add_argument("--trouble", action="store_true")
    args = parser.parse_args()
    Handler.world = World(args)
    server = ThreadingHTTPServer(("127.0.0.1", args.port), Handler)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
