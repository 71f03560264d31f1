"""What the server answers when it serves the app: the live page, and its files."""

from typing import Any, ClassVar

import tornado.web

from convviz.export.live_page import FOLDER
from convviz.facts.i18n.current_language import ENGLISH, match_locale, negotiate_locale
from convviz.serve.first_page import Answer, LivePages
from convviz.serve.handlers import PlainErrors

Route = tuple[Any, ...]
FOR_EVER = "public, max-age=31536000, immutable"  # for an address that names its content


def live_routes(base: str, language: str | None = None) -> list[Route]:
    live = {"live": LivePages()}
    return [(base, Live, {**live, "language": language}), (f"{base}{FOLDER}([^/]+)", LiveFile, live)]


class Nothing(PlainErrors):
    """Answers every address that has nothing."""

    def prepare(self) -> None:
        raise tornado.web.HTTPError(404)


class Ready(PlainErrors):
    """Sends what was made before anybody came; ``varies`` are the headers that choose between answers."""

    varies: ClassVar[tuple[str, ...]] = ()

    def initialize(self, live: LivePages) -> None:
        self.live = live

    def send(self, found: Answer, cache: str) -> None:
        self.set_header("Content-Type", found.kind)
        self.set_header("Cache-Control", cache)
        self.set_header("ETag", f'"{found.tag}"')
        varies = (*self.varies, *([] if found.packed is None else ["Accept-Encoding"]))
        if varies:
            self.set_header("Vary", ", ".join(varies))
        if self.check_etag_header():
            self.set_status(304)
            self.finish()
        elif found.packed is not None and takes_gzip(self.request):
            self.set_header("Content-Encoding", "gzip")
            self.finish(found.packed)
        else:
            self.finish(found.content)


class Live(Ready):
    """The page; asked for at every visit, and sent only when it is another one."""

    varies: ClassVar[tuple[str, ...]] = ("Accept-Language",)

    def initialize(self, live: LivePages, language: str | None = None) -> None:
        super().initialize(live)
        self._default = language

    def get(self) -> None:
        """Take the address's language, else the server's, the browser's, English."""
        # Read here: tornado refuses the whole page for an argument whose letters are none.
        if wanted := self.request.query_arguments.get("lang", [b""])[-1].decode("utf-8", "replace"):
            tag = match_locale(wanted)
        else:
            tag = self._default or negotiate_locale(self.request.headers.get("Accept-Language", ""))
        self.send(self.live.page(tag or ENGLISH), "no-cache")

    head = get


class LiveFile(Ready):
    """A file of the page, whose name is a hash of its content."""

    def get(self, name: str) -> None:
        found = self.live.file(name)
        if found is None:
            raise tornado.web.HTTPError(404)
        # A page in a sandboxed frame, as course platforms make them, has no origin, and loads no script without this.
        # The files are the same for everybody, and no answer that depends on who asks has it.
        self.set_header("Access-Control-Allow-Origin", "*")
        self.send(found, FOR_EVER)

    head = get


def takes_gzip(request: Any) -> bool:
    wanted = [part.split(";") for part in request.headers.get("Accept-Encoding", "").lower().split(",")]
    return any(name.strip() == "gzip" and "q=0" not in "".join(rest).split() for name, *rest in wanted)
