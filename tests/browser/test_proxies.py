"""deploy/nginx.conf and deploy/Caddyfile, run as they stand but for names, ports and paths."""

import itertools
import ssl
import urllib.request

import pytest

from convviz.export.site import site_files, write_site
from convviz.facts.words import sentences
from tests.browser.app_page import fresh_page, open_app, slide, wait_painted
from tests.browser.server import ROOT, voila_server
from tests.programs import caddy, certificate, free_port, missing, nginx

pytestmark = pytest.mark.browser

say = sentences("picture")
BELOW = "/convviz/"
PROXIES = {"nginx": ("deploy/nginx.conf", nginx), "caddy": ("deploy/Caddyfile", caddy)}


@pytest.fixture(scope="module")
def server():
    with voila_server(arguments=["--base-url", BELOW]) as server:
        yield server


def adapted(path, changes):
    """Return a file of the repository with each of these texts, all of which it has, replaced by another."""
    text = (ROOT / path).read_text(encoding="utf-8")
    for old, new in changes.items():
        assert old in text, f"{path} has no {old!r}"
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module", params=PROXIES)
def proxy(request, server, tmp_path_factory):
    """The address of a proxy before the server, and before the files of a site."""
    path, run = PROXIES[request.param]
    if why := missing(request.param, "openssl"):
        pytest.skip(why)
    folder, port = tmp_path_factory.mktemp(request.param), free_port()
    write_site(folder / "site")
    cert, key = certificate(folder)
    changes = {"/srv/convviz": str(folder / "site"), "127.0.0.1:8866": server.url.split("/")[2]}
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
        assert len(sockets) == 2
        assert all(each.startswith(f"wss{proxy.removeprefix('https')}{BELOW}") for each in sockets)
        assert [*page.complaints, *page.outside] == []


def test_a_path_without_its_slash_leads_there_and_keeps_its_query(proxy):
    for path, query in itertools.product(["/convviz", "/conv"], ["", "?v=2&stride=3&token=a%26b"]):
        url, _, body = ask(f"{proxy}{path}{query}")
        assert url.removesuffix("?") == f"{proxy}{path}/{query}"
        assert b"convviz-live" in body, path


def test_the_site_is_there_with_what_caches_need(browser, proxy):
    for name, content in site_files().items():
        _, headers, body = ask(f"{proxy}/conv/{name}")
        assert body == content, name
        kept = "no-cache" if name.endswith(".html") else "public, max-age=31536000, immutable"
        assert headers.get_all("Cache-Control") == [kept], name
        assert headers.get_all("Access-Control-Allow-Origin") == (None if name.endswith(".html") else ["*"]), name
    with fresh_page(browser, ignore_https_errors=True) as page:
        page.goto(f"{proxy}/conv/#v=2&stride=3")
        wait_painted(page)
        assert page.locator(".cv-set-stride input").first.input_value() == "3"
        assert page.locator(".cv-truth").text_content() == say("truth.page")
