"""What ``convviz serve`` is given: one frozen value, checked once."""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
from dataclasses import dataclass, replace

from convviz.serve.shares import Proxies

DEFAULT_HOST = "127.0.0.1"
MADE = ""  # a token of this value is made at the start
SHORTEST_TOKEN = 8
_TOKEN = re.compile(rf"[A-Za-z0-9._~-]{{{SHORTEST_TOKEN},200}}")
_FORMS = {
    "base-url": (
        r"/([A-Za-z0-9._~@-]+/)*",  # JupyterHub's paths hold names such as ann@example.edu
        "a path of letters, digits, '.', '_', '~', '@' and '-' that begins and ends with a slash, such as /convviz/",
    ),
    "allow-host": (
        r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*",
        "a name alone, such as course.example.edu, without http:// and port",
    ),
    "allow-frame": (
        r"https?://(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?",
        "an origin, such as https://course.example.edu or https://*.example.edu, without a path",
    ),
}


def is_loopback(host: str) -> bool:
    """Return whether a name or number, without a port, leads to this machine."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ServeError(Exception):
    """A wish that cannot be served; its text is the sentence for the user."""


@dataclass(frozen=True)
class ServeOptions:
    """What to serve, to whom, and where: the options of ``convviz serve``, which say what each of them is.

    None is what they call the default; a port of 0 is any free one, a log of "-" standard output.
    """

    port: int | None = None
    host: str = DEFAULT_HOST
    device: str | None = None
    open_browser: bool = False
    class_size: int | None = None
    workers: int | None = None
    notebook: bool | None = None
    races: int | None = None
    base_url: str = "/"
    token: str | None = None
    allow_host: tuple[str, ...] = ()
    allow_frame: tuple[str, ...] = ()
    trust_proxy: tuple[str, ...] = ()
    log: str | None = None
    lang: str | None = None

    @property
    def has_notebook(self) -> bool:
        """Whether the notebook's page is served: each visit of it starts a kernel."""
        return self.is_for_oneself if self.notebook is None else self.notebook

    @property
    def is_for_oneself(self) -> bool:
        """Whether nobody else comes: behind a name, or with a class, others do."""
        return is_loopback(self.host) and not self.allow_host and self.class_size is None

    @property
    def proxies(self) -> Proxies:
        """The networks of the proxies whose word on a visitor's address counts."""
        return tuple(ipaddress.ip_network(each, strict=False) for each in self.trust_proxy)

    @property
    def checks_code(self) -> bool:
        """Whether pasted code is run: nobody else may send any."""
        return self.is_for_oneself and self.token is not None

    @property
    def most_races(self) -> int:
        """How many races may run: who serves nobody else may use the cores."""
        return int(self.is_for_oneself) if self.races is None else self.races

    @property
    def processes(self) -> int:
        return self.workers or cores()

    def checked(self) -> ServeOptions:
        """Return the same, with a token where one is to be made."""
        for option, number, least, what in (
            ("class", self.class_size, 1, "the number of students, 1 or more"),
            ("workers", self.workers, 1, "the number of processes, 1 or more"),
            ("races", self.races, 0, "0, for none, or more"),
        ):
            if number is not None and number < least:
                raise ServeError(f"--{option} must be {what}, and {number} is not.")
        for option, texts in (
            ("base-url", [self.base_url]),
            ("allow-host", self.allow_host),
            ("allow-frame", self.allow_frame),
        ):
            form, what = _FORMS[option]
            for text in texts:
                if not re.fullmatch(form, text):
                    raise ServeError(f"--{option} must be {what}, and {text!r} is none.")
        for text in self.trust_proxy:
            try:
                ipaddress.ip_network(text, strict=False)
            except ValueError as wrong:
                raise ServeError(
                    "--trust-proxy must be the address of a proxy, such as 127.0.0.1, or of its network, such as "
                    f"172.16.0.0/12, and {text!r} is none."
                ) from wrong
        return replace(self, token=self._checked_token())

    def _checked_token(self) -> str | None:
        if self.token is None:
            return None
        if self.token == MADE:
            return secrets.token_urlsafe(24)
        if not _TOKEN.fullmatch(self.token):
            raise ServeError(
                f"--token must have {SHORTEST_TOKEN} to 200 letters, digits, '.', '_', '~' and '-', "
                f"and {self.token!r} has not: leave its value out and convviz makes one."
            )
        return self.token
