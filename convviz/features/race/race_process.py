"""A race in a process of its own, as seen from outside: started, paused, ended at once."""

import contextlib
import contextvars
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from typing import IO, Any

from convviz.facts.i18n.current_language import language
from convviz.facts.words import sentences

say = sentences("features/race")
NICE = 10  # how much every other process goes before it
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}  # sliders shall find a core


class RaceProcess:
    """A process that races; it ends with this one, whatever happens to either."""

    def __init__(
        self, race: Mapping[str, Any], notify: Callable[[dict[str, Any]], None], slot: IO[bytes] | None = None
    ) -> None:
        """Start a race of these arguments of ``Race``; ``notify`` takes the messages of ``lab/race_worker.py``.

        The last message is ``ended``, with a ``sentence`` where the race did not come to its end. A race with a
        ``slot`` leaves room for others' and holds it until ``end``.
        """
        self._notify, self._slot = notify, slot
        self._over = False
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        paths = os.pathsep.join(path for path in sys.path if path)  # a layer of the user's is found there, too
        self._process = subprocess.Popen(
            [sys.executable, "-m", "convviz.lab.race_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={**os.environ, **ENVIRONMENT, "PYTHONPATH": paths},
        )
        self.pid = self._process.pid
        if hasattr(os, "setpriority"):  # not on Windows
            os.setpriority(os.PRIO_PROCESS, self.pid, NICE)
        self._order(json.dumps({**race, "language": language(), "limited": slot is not None}))
        # A thread has no context of its own to speak in.
        threading.Thread(target=contextvars.copy_context().run, args=(self._read,), daemon=True).start()

    def pause(self) -> None:
        self._order("pause")

    def go(self) -> None:
        self._order("go")

    def end(self) -> None:
        """End it now: it has nothing to save."""
        self._over = True
        self._process.kill()
        self._process.wait()
        if self._slot is not None:
            self._slot.close()

    def _order(self, line: str) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(OSError):  # it has ended: whoever reads reports how
            stdin.write(f"{line}\n".encode())
            stdin.flush()

    def _read(self) -> None:
        """Hand on every message; where the last word is missing, say how the process ended."""
        stdout = self._process.stdout
        assert stdout is not None
        ended = False
        for line in stdout:
            message = json.loads(line)
            ended = message["type"] == "ended"
            if not self._over:
                self._notify(message)
        code = self._process.wait()
        if not ended and not self._over:
            self._notify({"type": "ended", "sentence": say("died", code=code, why=self._last_line())})
        for file in (stdout, self._process.stdin, self._said):
            with contextlib.suppress(OSError):  # an order that nobody took
                if file is not None:
                    file.close()

    def _last_line(self) -> str:
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), say("silent"))
