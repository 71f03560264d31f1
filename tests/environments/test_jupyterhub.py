"""A course on JupyterHub, by deploy/jupyterhub: a real hub, proxy, spawner and browser; the login alone is a dummy."""

import contextlib
import os
import socket
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import yaml
from traitlets.config import Config

from tests.browser.app_page import (
    APPEARS_WITHIN_MS,
    assert_page_equals_autograd,
    fresh_page,
    show_all_controls,
    slide,
    slider_value,
    wait_painted,
)
from tests.browser.server import QUICK_START, ROOT, wait_until

FOLDER = ROOT / "deploy" / "jupyterhub"
CONFIG = FOLDER / "jupyterhub_config.py"
# Another proxy for a run by hand: npm's configurable-http-proxy.
PROXY = os.environ.get("CONVVIZ_HUB_PROXY")
TESTED = """
load_subconfig({config!r})
c = get_config()
c.JupyterHub.bind_url = "http://127.0.0.1:{public}/"
c.JupyterHub.hub_port = {hub}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.ConfigurableHTTPProxy.command = {proxy!r}
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {home!r}
c.JupyterHub.db_url = "sqlite://"
c.Spawner.poll_interval = 1  # a server that was killed is missed at once
# The page of a slow start hears of its progress in a stream, which the proxy's Python port keeps until it has ended.
c.JupyterHub.tornado_settings = {{"slow_spawn_timeout": 60}}
"""


@dataclass
class Hub:
    """A running JupyterHub, and the address that students know."""

    url: str
    process: psutil.Popen

    def door(self, name):
        """Return the process that JupyterHub knows as the server of a student."""
        (found,) = [child for child in self.process.children() if f"/user/{name}/" in environ(child)]
        return found


def environ(process):
    return process.environ().get("JUPYTERHUB_SERVICE_PREFIX", "")


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    public, private, api = free_ports(3)
    proxy = [PROXY] if PROXY else [sys.executable, "-m", "tests.environments.patched_configurable_http_proxy"]
    home = str(folder / "home" / "{username}")
    config = folder / "config.py"
    config.write_text(
        TESTED.format(config=str(CONFIG), public=public, hub=private, api=api, proxy=proxy, home=home), encoding="utf-8"
    )
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    with (folder / "log").open("w+") as log:
        process = psutil.Popen(
            [sys.executable, "-c", QUICK_START, "jupyterhub", "-f", str(config)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            url = f"http://127.0.0.1:{public}/"
            wait_until(lambda: process.poll() is not None or answers(f"{url}hub/login"), what="JupyterHub's login")
            yield Hub(url, process)
        finally:
            left = end(process)
            log.seek(0)
            print(log.read())  # pytest shows it where a test has failed
    assert left == []


def free_ports(count):
    """Return as many ports that are free; JupyterHub takes no open socket."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


def answers(url):
    with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5) as answer:
        return answer.status == 200


def end(process):
    """End JupyterHub, which ends its proxy and all servers; return what is left of them, killed."""
    started = process.children(recursive=True)
    process.terminate()
    return left_of([process, *started])


def left_of(processes):
    """Return the commands of those that do not end, and kill them."""
    _, alive = psutil.wait_procs(processes, timeout=20)
    commands = [" ".join(each.cmdline()) for each in alive]
    for each in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()
    return commands


def log_in(page, hub, name, link):
    """Open an address of the course, which asks who comes; page.complaints lists the console's errors."""
    page.complaints = []
    page.on("console", lambda message: message.type == "error" and page.complaints.append(message.text))
    page.goto(f"{hub.url}hub/{link}")
    page.locator("#username_input").fill(name)
    page.locator("#password_input").fill("any")
    page.locator("#login_submit").click(no_wait_after=True)


def status(page, address, **headers):
    """Return how the server answers to who has logged in on a page."""
    return page.request.get(address, headers=headers).status


def wait_for_torch(page):
    page.locator(".cv-board[data-from=torch]").wait_for(timeout=APPEARS_WITHIN_MS)
    show_all_controls(page)
    wait_painted(page, 0, APPEARS_WITHIN_MS)


def test_kubernetes_starts_the_same_server():
    config = Config()
    exec(CONFIG.read_text(encoding="utf-8"), {"get_config": lambda: config})
    spawner = config.Spawner
    words = [Path(word).name if word.startswith("/") else word for word in (*spawner.cmd, *spawner.args)]
    own = words.index("setpriv")
    del words[own : own + 3]  # a container ends with its first process
    values = yaml.safe_load((FOLDER / "values.yaml").read_text(encoding="utf-8"))
    assert values["singleuser"]["cmd"] == words
    assert values["hub"]["config"]["Authenticator"]["username_pattern"] == config.Authenticator.username_pattern


def test_a_student_slides_and_who_loses_the_server_comes_back_to_what_was_set(browser, hub):
    name = "ben@example.edu"
    with fresh_page(browser) as ben, fresh_page(browser) as ann:
        # One link for the whole course; who follows it logs in on the way. What stood after # would get lost there.
        log_in(ben, hub, name, "user-redirect/?v=1")
        wait_for_torch(ben)
        assert ben.url.startswith(f"{hub.url}user/{name}/"), "everybody has an own server"
        slide(ben, "stride", 3)
        assert_page_equals_autograd(ben)
        log_in(ann, hub, "ann", "home")
        ann.wait_for_url("**/hub/home")
        assert status(ann, f"{hub.url}user/{name}/") == 403, "nobody comes into another's"
        assert status(ben, f"{hub.url}user/{name}/", Host="course.example.edu") == 200
        assert status(ben, f"{hub.url}user/{name}/", Host="elsewhere.example.org") == 403
        assert ben.complaints == []

        door = hub.door(name)
        lost = [door, *door.children(recursive=True)]
        assert len(lost) == 4, "the door, convviz serve, what has loaded torch, the worker that is forked from it"
        door.kill()
        assert left_of(lost) == [], "what stood behind the door goes with it"

        # The open page goes on without it, from where it was.
        slide(ben, "kernel_size", 2)
        ben.locator(".cv-board[data-from=page]").wait_for()

        # In another tab a link that was kept is opened; the hub offers a new server on the way.
        second = ben.context.new_page()
        second.goto(f"{hub.url}user/{name}/#v=1&size=7&stride=3")
        second.locator("#start").click(no_wait_after=True)
        wait_for_torch(second)
        assert (slider_value(second, "input_size"), slider_value(second, "stride")) == (7, 3)
        assert_page_equals_autograd(second)

        # The first page finds torch again by itself, with what was set there before and after the loss.
        wait_for_torch(ben)
        assert (slider_value(ben, "kernel_size"), slider_value(ben, "stride")) == (2, 3)
        assert_page_equals_autograd(ben)
