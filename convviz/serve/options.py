"""What ``convviz serve`` is told: one frozen value, checked once."""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
from dataclasses import dataclass, replace

DEFAULT_HOST = "127.0.0.1"
MADE = ""  # a token of this value is made at the start
SHORTEST_TOKEN = 8
_BASE_URL = re.compile(r"/([A-Za-z0-9._~@-]+/)*")  # JupyterHub's paths hold names such as ann@example.edu
_TOKEN = re.compile(rf"[A-Za-z0-9._~-]{{{SHORTEST_TOKEN},200}}")
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*")
_ORIGIN = re.compile(r"https?://(\*\.)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?")


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
        """Return the same, with a token made where one is wished for."""
        if self.class_size is not None and self.class_size < 1:
            raise ServeError(f"--class must be the number of students, 1 or more, and {self.class_size} is not.")
        if self.workers is not None and self.workers < 1:
            raise ServeError(f"--workers must be the number of processes, 1 or more, and {self.workers} is not.")
        if self.races is not None and self.races < 0:
            raise ServeError(f"--races must be 0, for none, or more, and {self.races} is not.")
        if not _BASE_URL.fullmatch(self.base_url):
            raise ServeError(
                "--base-url must be a path of letters, digits, '.', '_', '~', '@' and '-' that begins and ends with a "
                f"slash, such as /convviz/, and {self.base_url!r} is none."
            )
        for host in self.allow_host:
            if not _HOST.fullmatch(host):
                raise ServeError(
                    "--allow-host must be a name alone, such as course.example.edu, without http:// and port, "
                    f"and {host!r} is none."
                )
        for origin in self.allow_frame:
            if not _ORIGIN.fullmatch(origin):
                raise ServeError(
                    "--allow-frame must be an origin, such as https://course.example.edu or https://*.example.edu, "
                    f"without a path, and {origin!r} is none."
                )
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
