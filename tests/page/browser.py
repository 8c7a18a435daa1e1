"""A Chromium, driven over the DevTools protocol's pipe: needs nothing but Python."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
FLAGS = ["--no-sandbox", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         "--hide-scrollbars", "--remote-debugging-pipe"]
# Options for pages without drawing and QUIC, and for pages with them, without a graphics card.
PLAIN = ["--disable-gpu", "--disable-quic"]
DRAWN = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
# Longer than anything takes on a busy machine: an answer, and a condition.
ANSWER_S_MAX = 120
PATIENCE_S = 60


def found():
    """The path of a browser, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page. `errors` collects the errors of its scripts, its policy and its network."""

    def __init__(self, flags=PLAIN, display=None):
        """Without the name of an X display it is headless."""
        self.profile = tempfile.mkdtemp(prefix="phaselock-page-")
        to_browser, self.to = os.pipe()
        self.answers, from_browser = os.pipe()

        def as_three_and_four():
            # The two descriptors may have each other's numbers; copies far above them do not.
            high = [os.dup2(to_browser, 100), os.dup2(from_browser, 101)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [found(), *FLAGS, *flags, *([] if display else ["--headless"]),
             f"--user-data-dir={self.profile}", "about:blank"],
            env=dict(os.environ, DISPLAY=display or ""), preexec_fn=as_three_and_four,
            close_fds=False, start_new_session=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.unread, self.last, self.session = b"", 0, None
        self.errors, self.hosts, self.requests, self.dialogs = [], set(), [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        # Including its child processes.
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + ANSWER_S_MAX
        while time.monotonic() < end:
            answer = self.read(0.5)
            if answer and answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
        raise RuntimeError(f"{method}: the browser does not answer")

    def read(self, wait):
        """The next message, or None after this number of seconds; errors are kept."""
        while b"\0" not in self.unread:
            if not select.select([self.answers], [], [], wait)[0]:
                return None
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.unread += more
        raw, _, self.unread = self.unread.partition(b"\0")
        message = json.loads(raw)
        kind, params = message.get("method"), message.get("params", {})
        if kind == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif kind == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.errors.append(f"console: {params['args']}")
        elif kind == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"] + " " + params["entry"].get("url", ""))
        elif kind == "Network.requestWillBeSent":
            self.hosts.add(params["request"]["url"].split("?")[0])
            self.requests.append(params["request"]["url"])
        elif kind == "Page.javascriptDialogOpening":
            # Answer the question whether to leave with yes; nothing waits for the reply.
            self.dialogs.append(params["type"])
            yes = {"id": 1_000_000 + len(self.dialogs), "method": "Page.handleJavaScriptDialog",
                   "params": {"accept": True}, "sessionId": self.session}
            os.write(self.to, json.dumps(yes).encode() + b"\0")
        return message

    def size(self, width, height, scheme="light", phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def go(self, url):
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script):
        """A script's value; raises its exception."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def peek(self, script):
        """A script's value, or None while the page is loading."""
        try:
            return self.run(script)
        except RuntimeError as error:
            if not any(word in str(error) for word in ("navigated", "context")):
                raise
            return None

    def until(self, script, seconds=PATIENCE_S):
        """Waits until a script's value is true, and returns it."""
        end = time.monotonic() + seconds
        while True:
            value = self.peek(script)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {script}; errors: {self.errors}")
            self.read(0.1)

    def click(self, selector):
        """Clicks with the mouse where a person would: in the middle of the visible part."""
        at = self.until(f"""(() => {{
            const it = document.querySelector({json.dumps(selector)});
            if (!it) return null;
            it.scrollIntoView({{block: "center", behavior: "instant"}});
            const box = it.getBoundingClientRect();
            const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
            const top = document.elementFromPoint(x, y);
            return top && (it.contains(top) || top.contains(it)) && box.width ? {{x, y}} : null;
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=at["x"], y=at["y"], button="left",
                      clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def key(self, key, code=None, number=0, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key,
                      windowsVirtualKeyCode=number, text=text if kind == "keyDown" else "")

    def picture(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(data["data"]))
