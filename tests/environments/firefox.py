"""Drives Firefox over WebDriver BiDi, which it speaks by itself; `python -m` this module prints its path."""

import contextlib
import json
import os
import queue
import re
import shutil
import subprocess
import threading

import websocket

from tests.browser.server import wait_until

ON_PATH = ("firefox-esr", "firefox")
STARTS_WITHIN_S = 60
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
# Behind what the tests see, a wall: whatever is not on this machine goes to a proxy that is not there. Nothing else of
# the profile matters but that Firefox asks nobody of its own accord.
PREFERENCES = {
    "network.proxy.type": 1,
    **{f"network.proxy.{kind}": "127.0.0.1" for kind in ("http", "ssl")},
    **{f"network.proxy.{kind}_port": 9 for kind in ("http", "ssl")},
    "app.normandy.enabled": False,
    "browser.safebrowsing.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,",
    "toolkit.telemetry.enabled": False,
}
KEYS = {"Enter": "\ue006", "Escape": "\ue00c"}
KEYS |= {"ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}
FOLLOWS_WITHIN_S = 15


def find_firefox():
    """Return the path of a Firefox: the variable CONVVIZ_FIREFOX, or the first on PATH; None where there is none."""
    return os.environ.get("CONVVIZ_FIREFOX") or next(filter(None, map(shutil.which, ON_PATH)), None)


@contextlib.contextmanager
def firefox(path, profile):
    """Start a Firefox with an empty profile and yield a tab; end both.

    Args:
        path: Of the browser.
        profile: An empty folder.
    """
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
    profile.joinpath("user.js").write_text("\n".join(lines), encoding="utf-8")
    command = [path, "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", str(profile)]
    env = {**os.environ, "HOME": str(profile), "MOZ_CRASHREPORTER_DISABLE": "1"}
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said: queue.Queue[str | None] = queue.Queue()
    reader = threading.Thread(target=lambda: [*map(said.put, process.stderr), said.put(None)], daemon=True)
    reader.start()
    try:
        # Without an Origin: Firefox speaks with programs, not with pages.
        connection = websocket.create_connection(
            f"{_address(said)}/session", timeout=STARTS_WITHIN_S, suppress_origin=True
        )
        with contextlib.closing(connection):
            yield Tab(connection)
    finally:
        process.kill()  # its profile goes as well, so there is nothing to save; its children end with it
        process.wait(10)
        reader.join(10)


def _address(said):
    heard = []
    while (line := said.get(timeout=STARTS_WITHIN_S)) is not None:
        if found := LISTENS.search(line):
            return found[1]
        heard.append(line)
    raise AssertionError("Firefox ended before it listened: " + "".join(heard))


class Tab:
    """A tab of a Firefox.

    Attributes:
        requests: The addresses that it has asked for since it was last cleared.
        complaints: Its console's errors, and what no script caught.
    """

    def __init__(self, connection):
        self._connection, self._count = connection, 0
        self.requests, self.complaints = [], []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        # A tab of our own: in the one that Firefox starts with the address bar keeps the focus.
        self.context = self.ask("browsingContext.create", type="tab")["context"]

    def ask(self, method, **parameters):
        """Send a command and return its result; what happened meanwhile is noted."""
        self._count += 1
        self._connection.send(json.dumps({"id": self._count, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._connection.recv())
            if message["type"] == "event":
                self._note(message["method"], message["params"])
            elif message.get("id") == self._count:
                assert message["type"] == "success", f"{method}: {message}"
                return message["result"]

    def _note(self, method, event):
        if method == "network.beforeRequestSent":
            self.requests.append(event["request"]["url"])
        elif method == "log.entryAdded" and event["level"] == "error":
            self.complaints.append(f"{event['text']} {event.get('stackTrace') or ''}")

    def open(self, url, size=(1280, 720)):
        """Open an address in a window of this size, as a visitor does who was not there before."""
        viewport = {"width": size[0], "height": size[1]}
        self.ask("browsingContext.navigate", context=self.context, url="about:blank", wait="complete")
        self.ask("browsingContext.setViewport", context=self.context, viewport=viewport)
        self.ask("browsingContext.navigate", context=self.context, url=url, wait="interactive")

    def evaluate(self, expression):
        """Return the value of an expression in the page, or of its promise: anything that JSON can hold."""
        made = f"Promise.resolve({expression}).then((value) => JSON.stringify(value ?? null))"
        answer = self.ask("script.evaluate", expression=made, target={"context": self.context}, awaitPromise=True)
        assert answer["type"] == "success", f"{expression}: {answer.get('exceptionDetails', answer)}"
        return json.loads(answer["result"]["value"])

    def wait(self, expression, within_s=FOLLOWS_WITHIN_S):
        """Wait until an expression is true in the page; return its value."""
        return wait_until(lambda: self.evaluate(expression), within_s, expression)

    def press(self, *keys):
        """Press keys, one after the other, as a hand does."""
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self._act(type="key", id="keys", actions=actions)

    def click(self, selector):
        """Bring the middle of an element into the window and click there."""
        node = f"document.querySelector({json.dumps(selector)})"
        x, y = self.evaluate(
            f"(({{ left, right, top, bottom }}) => [(left + right) / 2, (top + bottom) / 2].map(Math.round))"
            f"(({node}.scrollIntoView({{ block: 'nearest' }}), {node}.getBoundingClientRect()))"
        )
        button = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        self._act(type="pointer", id="mouse", actions=[{"type": "pointerMove", "x": x, "y": y}, *button])

    def _act(self, **source):
        self.ask("input.performActions", context=self.context, actions=[source])


if __name__ == "__main__":
    print(find_firefox() or "no Firefox, so its tests are SKIPPED")
