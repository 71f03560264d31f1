"""deploy/nginx.conf and deploy/Caddyfile, run as they stand but for names, ports and paths."""

import contextlib
import itertools
import json
import ssl
import urllib.request

import pytest
import websocket

from benchmarks.simulated_student import moves, wrong
from convviz.export.site import site_files, write_site
from convviz.facts.words import sentences
from convviz.serve.binary_frames import unpacked
from tests.browser.app_page import fresh_page, open_app, slide, wait_painted
from tests.browser.server import ROOT, voila_server
from tests.environments.reverse_proxies import caddy, certificate, free_port, missing, nginx

pytestmark = pytest.mark.browser

say = sentences("picture")
BELOW = "/convviz/"
PROXIES = {"nginx": ("deploy/nginx.conf", nginx), "caddy": ("deploy/Caddyfile", caddy)}


class Servers:
    """Two servers, one of which a test may end.

    Attributes:
        running: They are, in the order of the ports in deploy/.
    """

    def __init__(self, stack):
        self._stack = stack
        self.running = []

    def up(self):
        """Start those that do not run."""
        alive = [server for server in self.running if server.process.poll() is None]
        arguments = ["--base-url", BELOW, "--workers", "1"]
        new = [self._stack.enter_context(voila_server(arguments=arguments)) for _ in range(2 - len(alive))]
        self.running = [*alive, *new]


@pytest.fixture(scope="module")
def servers():
    with contextlib.ExitStack() as stack:
        yield Servers(stack)


def adapted(path, changes):
    """Return a file of the repository with each of these texts, all of which it has, replaced by another."""
    text = (ROOT / path).read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text, f"{path} has no {old!r}"
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module", params=PROXIES)
def proxy(request, servers, tmp_path_factory):
    """The address of a proxy before the servers, and before the files of a site."""
    path, run = PROXIES[request.param]
    if why := missing(request.param, "openssl"):
        pytest.skip(why)
    folder, port = tmp_path_factory.mktemp(request.param), free_port()
    write_site(folder / "site")
    cert, key = certificate(folder)
    servers.up()
    changes = {"/srv/convviz": str(folder / "site")}
    changes |= {f"127.0.0.1:{8866 + n}": server.url.split("/")[2] for n, server in enumerate(servers.running)}
    if request.param == "nginx":
        changes |= {
            "listen 443": f"listen 127.0.0.1:{port}",
            "server_name course.example.edu": "server_name localhost",
            "/etc/ssl/certs/course.example.edu.pem": str(cert),
            "/etc/ssl/private/course.example.edu.key": str(key),
            "location /convviz/": f"location {BELOW}",
            "301 /convviz/": f"301 {BELOW}",
        }
    else:
        changes |= {
            "course.example.edu {": f"https://localhost:{port} {{\n\tbind 127.0.0.1\n\ttls {cert} {key}",
        }
    with run(adapted(path, changes), port, folder):
        yield f"https://localhost:{port}"


def ask(url):
    """Return status, headers and body of an answer, whoever signed its certificate."""
    with urllib.request.urlopen(url, context=ssl._create_unverified_context(), timeout=20) as answer:
        return answer.url, answer.headers, answer.read()


def test_through_the_proxy_torch_answers_a_slider(browser, proxy):
    with fresh_page(browser, ignore_https_errors=True) as page:
        sockets = []
        page.on("websocket", lambda socket: sockets.append(socket.url))
        open_app(page, f"{proxy}{BELOW}")
        slide(page, "stride", 3)
        assert page.locator(".cv-board").get_attribute("data-from") == "torch"
        assert page.locator(".cv-truth").text_content().startswith("torch, cpu, float32: equals autograd")
        assert len(sockets) == 1
        assert all(each.startswith(f"wss{proxy.removeprefix('https')}{BELOW}") for each in sockets)
        assert [*page.complaints, *page.outside] == []


def test_a_path_without_its_slash_leads_there_and_keeps_its_query(proxy):
    for path, query in itertools.product(["/convviz", "/conv"], ["", "?v=2&stride=3&token=a%26b"]):
        url, _, body = ask(f"{proxy}{path}{query}")
        assert url.removesuffix("?") == f"{proxy}{path}/{query}"
        assert (b"convviz-live" if path == "/convviz" else b"convviz-article") in body, path  # the app, a site's front


def test_the_site_is_there_with_what_caches_need(browser, proxy):
    for name, content in site_files().items():
        _, headers, body = ask(f"{proxy}/conv/{name}")
        assert body == content, name
        kept = "no-cache" if name.endswith(".html") else "public, max-age=31536000, immutable"
        assert headers.get_all("Cache-Control") == [kept], name
        assert headers.get_all("Access-Control-Allow-Origin") == (None if name.endswith(".html") else ["*"]), name
    with fresh_page(browser, plotly=True, ignore_https_errors=True) as page:
        page.goto(f"{proxy}/conv/#v=2&stride=3")
        wait_painted(page)
        assert page.locator(".cv-set-stride input").first.input_value() == "3"
        assert page.locator(".cv-truth").text_content() == say("truth.page")


def asked(connection, move):
    """Ask for a state's numbers over a page's socket; return what is wrong with them."""
    connection.send(json.dumps({"type": "compute", "id": 1, "language": "en", "settings": move.settings}))
    while (answer := unpacked(connection.recv()))[0]["type"] == "facts":
        pass
    return wrong(move, *answer)


def test_when_a_server_is_killed_its_pages_go_on_at_the_other_one(servers, proxy):
    address = f"wss{proxy.removeprefix('https')}{BELOW}live/numbers"
    how = {"origin": proxy, "sslopt": {"cert_reqs": ssl.CERT_NONE}, "timeout": 60}
    first, second = moves(5, 2)
    pages = [websocket.create_connection(address, **how) for _ in range(2)]  # one at each server
    assert [asked(page, first) for page in pages] == ["", ""]
    servers.running[0].kill()
    left = []
    for page in pages:
        try:
            assert asked(page, second) == ""
            left.append(page)
        except (websocket.WebSocketException, OSError):
            page.close()
    assert len(left) == 1, "the other page did not notice"
    with contextlib.closing(websocket.create_connection(address, **how)) as again, contextlib.closing(*left):
        assert asked(again, second) == ""
    _, _, body = ask(f"{proxy}{BELOW}health")
    assert json.loads(body) == {"status": "ok"}
