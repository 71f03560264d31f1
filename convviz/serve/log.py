"""What happened, one JSON object a line; nothing of it leads to a visitor: no address, no URL, no state."""

import contextlib
import json
import sys
import time
from pathlib import Path
from typing import TextIO

from convviz.serve.options import ServeError


class Log:
    """Writes events, or nothing at all."""

    def __init__(self, where: str | None) -> None:
        """Open the file for more lines; "-" is standard output, None writes nothing."""
        self._file: TextIO | None = None
        if where == "-":
            self._file = sys.stdout
        elif where is not None:
            try:
                self._file = Path(where).open("a", encoding="utf-8")  # noqa: SIM115 - open as long as the server is
            except OSError as refused:
                raise ServeError(
                    f"--log must be a file that can be written, or -, and {where!r} is not: {refused.strerror}."
                ) from refused

    def write(self, event: str, **more: float | str) -> None:
        """A full disk costs the line, not the server."""
        if self._file is None:
            return
        line: dict[str, float | str] = {"time": round(time.time(), 3), "event": event}
        line.update({name: round(value, 3) if isinstance(value, float) else value for name, value in more.items()})
        with contextlib.suppress(OSError):
            print(json.dumps(line), file=self._file, flush=True)
