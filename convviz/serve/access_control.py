"""Checks host, token and path of every request, a websocket's too, before a handler sees it."""

import hashlib
import hmac
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from urllib.parse import unquote_plus

import tornado.routing
import tornado.web
from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest, split_host_and_port

from convviz.facts.words import sentences
from convviz.serve.options import ServeOptions, is_loopback
from convviz.serve.shares import forwarded_client
from convviz.serve.visitor_limits import VisitorStream

HEALTH, METRICS = "health", "metrics"  # below the server's path
ADDED_BY_PROXIES = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via")
say = sentences("access_control")

# What the live page needs, tried in a browser: its scripts are files of this server, or text that it made a module of
# (blob:). The board sets styles on elements.
LIVE_POLICY = (
    "default-src 'none'; script-src 'self' blob:; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
)


@dataclass(frozen=True)
class Verdict:
    """An answer that is given at the door."""

    status: int
    sentence: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    closes: VisitorStream | None = None  # a connection that its visitor has no share of


def is_over_tls(request: HTTPServerRequest) -> bool:
    """Return whether a proxy says that the visitor came over TLS."""
    return request.headers.get("X-Forwarded-Proto") == "https"


def content_policy(options: ServeOptions, *, notebook: bool = False) -> str:
    policy = LIVE_POLICY.replace("script-src 'self'", "script-src 'self' 'unsafe-inline'") if notebook else LIVE_POLICY
    return policy + " ".join(["frame-ancestors 'self'", *options.allow_frame])


class Gate(tornado.routing.Router):
    """Lets a request through to the application, or answers it."""

    def __init__(self, inside: tornado.web.Application, options: ServeOptions, refused: Callable[[str], None]) -> None:
        """Stand before an application; ``refused`` hears "connections", "host", "token" or "metrics"."""
        self._inside = inside
        self._base = options.base_url
        self._token = (options.token or "").encode()
        only_loopback = is_loopback(options.host)
        self._names = {_plain(name) for name in options.allow_host}
        self._any_name = not only_loopback and not self._names
        self._proxies = options.proxies
        self._refused = refused
        self._under_way: weakref.WeakSet[HTTPServerRequest] = weakref.WeakSet()

    def find_handler(self, request: HTTPServerRequest, **kwargs: object) -> HTTPMessageDelegate | None:
        if "Upgrade" not in request.headers:
            self._under_way.add(request)
        forwarded = ",".join(request.headers.get_list("X-Forwarded-For"))
        request.remote_ip = forwarded_client(request.remote_ip or "", forwarded, self._proxies)
        if verdict := self._judge(request):
            return self._inside.get_handler_delegate(request, Refused, {"verdict": verdict})
        return self._inside.find_handler(request, **kwargs)

    def answered(self, handler: tornado.web.RequestHandler) -> None:
        """Hear that a request has been answered; tornado's ``log_function``."""
        self._under_way.discard(handler.request)

    def is_answering(self) -> bool:
        return bool(self._under_way)

    def _judge(self, request: HTTPServerRequest) -> Verdict | None:
        """Return the answer to who may not come in, or came to a wrong door, else None."""
        below = request.path.removeprefix(self._base)
        stream = getattr(request.connection, "stream", None)
        if isinstance(stream, VisitorStream) and not stream.may_ask(request) and below != HEALTH:
            return replace(self._refuse("connections"), status=503, closes=stream)
        name = _plain(split_host_and_port(request.host)[0])
        if not (self._any_name or is_loopback(name) or name in self._names):
            return self._refuse("host", host=name[:100])
        if request.path + "/" == self._base:
            return Verdict(302, headers={"Location": self._base + (f"?{request.query}" if request.query else "")})
        shown = self._take_token(request)
        known = shown or self._has_cookie(request)
        if below == METRICS and not known and not _is_local(request, name):
            return self._refuse("metrics")
        if not self._token or below in (HEALTH, METRICS):
            return None
        if not known:
            return self._refuse("token")
        if shown and not below and request.method == "GET":  # the token leaves the address, for a cookie
            return Verdict(302, headers={"Location": request.uri or self._base, "Set-Cookie": self._cookie(request)})
        return None

    def _refuse(self, why: str, **named: str) -> Verdict:
        self._refused(why)
        return Verdict(403, say(why, **named))

    def _take_token(self, request: HTTPServerRequest) -> bool:
        """Return whether the address holds the token, which nobody inside then sees."""
        if not self._token or "token" not in request.query_arguments:
            return False
        (*_, given) = request.query_arguments.pop("token")
        request.arguments.pop("token", None)
        pairs = [pair for pair in request.query.split("&") if unquote_plus(pair.partition("=")[0]) != "token"]
        request.query = "&".join(pairs)
        request.uri = request.path + (f"?{request.query}" if request.query else "")
        return hmac.compare_digest(given, self._token)

    def _has_cookie(self, request: HTTPServerRequest) -> bool:
        given = request.cookies.get(self._cookie_name())
        if not self._token or given is None:
            return False
        return hmac.compare_digest(given.value.encode(errors="replace"), self._cookie_value().encode())

    def _cookie_name(self) -> str:
        # Browsers do not tell the ports of a machine apart: each server's cookie has a name of its own.
        return f"convviz-{self._digest('name')[:12]}"

    def _cookie_value(self) -> str:
        return self._digest("value")

    def _digest(self, of: str) -> str:
        return hmac.new(self._token, of.encode(), hashlib.sha256).hexdigest()

    def _cookie(self, request: HTTPServerRequest) -> str:
        secure = "; Secure" if is_over_tls(request) else ""
        return f"{self._cookie_name()}={self._cookie_value()}; Path={self._base}; HttpOnly; SameSite=Lax{secure}"


class Refused(tornado.web.RequestHandler):
    """Gives the answer of the door, whatever was asked for."""

    def initialize(self, verdict: Verdict) -> None:
        self._verdict = verdict

    async def prepare(self) -> None:
        self.set_status(self._verdict.status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        for name, value in self._verdict.headers.items():
            self.set_header(name, value)
        stream = self._verdict.closes
        await self.finish(f"{self._verdict.sentence}\n" if self._verdict.sentence else b"")
        if stream:
            stream.close()


def _plain(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()


def _is_local(request: HTTPServerRequest, name: str) -> bool:
    """Return whether somebody on this machine asks, and no proxy for somebody elsewhere."""
    peer = is_loopback(request.remote_ip or "")
    return peer and is_loopback(name) and not any(header in request.headers for header in ADDED_BY_PROXIES)
