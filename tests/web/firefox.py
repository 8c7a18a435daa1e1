"""A Firefox on a virtual display, driven over WebDriver BiDi: needs Xvfb, and nothing of Python's.

Without a display it has no WebGL.
"""

import base64
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import time

import display as screen

NAMES = ["firefox", "firefox-esr"]
# WebGL without a graphics card; no requests to other servers.
PREFERENCES = {
    "webgl.force-enabled": True, "webgl.disable-fail-if-major-performance-caveat": True,
    "gfx.webrender.software": True, "app.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False, "toolkit.telemetry.enabled": False,
    "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "browser.safebrowsing.downloads.enabled": False, "browser.shell.checkDefaultBrowser": False,
    "extensions.update.enabled": False, "browser.aboutConfig.showWarning": False,
}
# Longer than it takes on a busy machine to start, and to answer.
BEGIN_S_MAX = 60
ANSWER_S_MAX = 120


def found():
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Socket:
    """A WebSocket to this machine (RFC 6455), for text."""

    def __init__(self, host, port, path):
        self.stream = socket.create_connection((host, port), ANSWER_S_MAX)
        key = base64.b64encode(os.urandom(16)).decode()
        self.stream.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            f"Sec-WebSocket-Version: 13\r\n\r\n".encode())
        self.unread = b""
        while b"\r\n\r\n" not in self.unread:
            self.unread += self.stream.recv(4096)
        head, _, self.unread = self.unread.partition(b"\r\n\r\n")
        assert b" 101 " in head.splitlines()[0], head

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        head = bytes([0x81])
        if len(data) < 126:
            head += bytes([0x80 | len(data)])
        elif len(data) < 1 << 16:
            head += bytes([0x80 | 126]) + struct.pack(">H", len(data))
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", len(data))
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))
        self.stream.sendall(head + mask + masked)

    def exactly(self, count):
        while len(self.unread) < count:
            more = self.stream.recv(1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.unread += more
        taken, self.unread = self.unread[:count], self.unread[count:]
        return taken

    def receive(self):
        text = b""
        while True:
            first, second = self.exactly(2)
            count = second & 0x7f
            if count == 126:
                count = struct.unpack(">H", self.exactly(2))[0]
            elif count == 127:
                count = struct.unpack(">Q", self.exactly(8))[0]
            data = self.exactly(count)
            if first & 0xf in (0, 1):
                text += data
                if first & 0x80:
                    return text.decode()


class Firefox:
    """One page, with those calls of tests/page/browser.py that players need."""

    def __init__(self, display=None):
        """Without the name of an X display it starts its own."""
        self.profile = tempfile.mkdtemp(prefix="phaselock-firefox-")
        with open(os.path.join(self.profile, "user.js"), "w") as file:
            for name, value in PREFERENCES.items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        self.processes = []
        if not display:
            process, display = screen.start(1280, 720)
            self.processes.append(process)
        said = os.path.join(self.profile, "stderr")
        with open(said, "w") as file:
            self.process = subprocess.Popen(
                [found(), "--kiosk", "--no-remote", "--profile", self.profile,
                 "--remote-debugging-port", "0", "about:blank"],
                stdout=subprocess.DEVNULL, stderr=file, start_new_session=True,
                env=dict(os.environ, HOME=self.profile, DISPLAY=display,
                         LIBGL_ALWAYS_SOFTWARE="1", MOZ_DISABLE_AUTO_SAFE_MODE="1"))
        self.processes.insert(0, self.process)
        host, port = self.listens(said)
        self.socket = Socket(host, int(port), "/session")
        self.last, self.errors = 0, []
        self.call("session.new", capabilities={})
        self.context = self.call("browsingContext.getTree")["contexts"][0]["context"]
        self.call("session.subscribe", events=["log.entryAdded"])

    def listens(self, said):
        """Waits until this file states where it listens: host and port."""
        end = time.monotonic() + BEGIN_S_MAX
        while True:
            with open(said) as file:
                found = re.search(r"WebDriver BiDi listening on ws://([^:\s]+):(\d+)\s", file.read())
            if found:
                return found.groups()
            assert self.process.poll() is None, "Firefox has ended"
            assert time.monotonic() < end, "Firefox does not say where it listens"
            time.sleep(0.1)

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **params):
        self.last += 1
        self.socket.send(json.dumps({"id": self.last, "method": method, "params": params}))
        end = time.monotonic() + ANSWER_S_MAX
        while time.monotonic() < end:
            message = json.loads(self.socket.receive())
            if message.get("method") == "log.entryAdded":
                entry = message["params"]
                if entry["level"] == "error":
                    self.errors.append(entry.get("text"))
            if message.get("id") == self.last:
                if message.get("type") == "error":
                    raise RuntimeError(f"{method}: {message['error']}: {message['message']}")
                return message["result"]
        raise RuntimeError(f"{method}: the browser does not answer")

    def size(self, width, height):
        self.call("browsingContext.setViewport", context=self.context,
                  viewport={"width": width, "height": height})

    def go(self, url):
        self.call("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def run(self, script):
        """A script's value, through JSON."""
        result = self.call(
            "script.evaluate", expression=f"(async () => JSON.stringify(await ({script})))()",
            target={"context": self.context}, awaitPromise=True)
        if result["type"] != "success":
            raise RuntimeError(f"{script}: {result['exceptionDetails']['text']}")
        value = result["result"].get("value")
        return None if value is None else json.loads(value)

    def hold(self, key, seconds):
        """Holds a key down, by its WebDriver character."""
        actions = [{"type": "keyDown", "value": key},
                   {"type": "pause", "duration": int(seconds * 1000)},
                   {"type": "keyUp", "value": key}]
        self.call("input.performActions", context=self.context,
                  actions=[{"type": "key", "id": "keys", "actions": actions}])

    def picture(self, path):
        data = self.call("browsingContext.captureScreenshot", context=self.context)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
