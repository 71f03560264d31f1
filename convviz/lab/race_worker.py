"""A race in a process of its own, as seen from within: orders come line by line, and so do the messages that it sends.

The orders: first the race as JSON, then ``pause`` or ``go``. Where they end, the process ends as well.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Any

import torch

from convviz.facts.i18n.current_language import ENGLISH, use_locale
from convviz.facts.words import sentences
from convviz.lab.race_error import RaceError
from convviz.lab.run_race import Race, Step
from convviz.lab.tab_data import openings, picture
from convviz.process_limits import limit_memory

say = sentences("race")
Notify = Callable[[dict[str, Any]], None]

EVERY_S = 1.0  # between two pictures of a race that runs
LOOKS_S = 1.0  # between two looks whether the parent is still there, while the race is paused
RACE_MIB = 1024  # that a race may take beyond torch where others have the machine, too
POINTS = 120  # of a curve: each picture is sent whole
REFUSED = (ValueError, TypeError, ImportError, OSError, RaceError)


class Orders:
    """What the parent wants: whether the race may go on. The process ends with the parent."""

    def __init__(self, lines: IO[bytes]) -> None:
        self._lines = lines
        self._going = threading.Event()
        self._going.set()
        self._parent = os.getppid()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def paused(self) -> bool:
        return not self._going.is_set()

    def wait(self) -> None:
        self._look()
        while not self._going.wait(LOOKS_S):
            self._look()

    def _look(self) -> None:
        # The lines do not end where another child of the parent holds their other end open.
        if os.getppid() != self._parent:
            os._exit(0)

    def _listen(self) -> None:
        for line in self._lines:
            if line.strip() == b"pause":
                self._going.clear()
            else:
                self._going.set()
        os._exit(0)


class Racer:
    """Takes the steps of one race, and reports how it looks, at most once in EVERY_S."""

    def __init__(self, race: Race, orders: Orders, notify: Notify) -> None:
        self.race, self._orders, self._notify = race, orders, notify
        self._seconds = 0.0  # of all steps until now; pauses are none
        self._notified = -EVERY_S

    def run(self) -> None:
        """Take all steps; an error ends the race with a sentence and what was measured."""
        self._picture()
        sentence = ""
        try:
            began = time.monotonic()
            for step in self.race:
                self._seconds += time.monotonic() - began
                self._after(step)
                began = time.monotonic()
        except REFUSED as error:
            sentence = str(error)
        except Exception as error:  # whatever a layer of somebody's own made of it: nobody else would hear of it
            sentence = say("failed", step=self.race.done + 1, kind=type(error).__name__, why=error)
        self._picture()
        self._notify({"type": "ended", "sentence": sentence})

    def _after(self, step: Step) -> None:
        if step.accuracy is not None:
            self._notify({"type": "openings", "openings": openings(self.race)})
        if step.accuracy is not None or time.monotonic() - self._notified >= EVERY_S:
            self._picture()
        if self._orders.paused:
            self._picture()
            self._orders.wait()
        elif step.step % 8 == 0:
            self._orders.wait()  # a look at the parent

    def _picture(self) -> None:
        self._notified = time.monotonic()
        done, total = self.race.done, self.race.total
        left = self._seconds / done * (total - done) if done else None
        progress = {"done": done, "total": total, "left": left, "paused": self._orders.paused}
        self._notify({"type": "race", **progress, "race": picture(self.race, POINTS)})


def main() -> None:
    """Run the race of the first line of stdin; messages go to stdout."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal, or an interrupt of the kernel, is not for us
    lines = sys.stdin.buffer
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a layer prints is no message

    def notify(message: dict[str, Any]) -> None:
        out.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        out.flush()

    given = json.loads(lines.readline())
    with use_locale(given.pop("language", ENGLISH)):
        _race(given, lines, notify)
    out.close()
    sys.stderr.flush()
    os._exit(0)  # a thread still reads: Python would wait for its lock


def _race(given: dict[str, Any], lines: IO[bytes], notify: Notify) -> None:
    orders = Orders(lines)
    torch.set_num_threads(1)
    if given.pop("limited", False):
        limit_memory(RACE_MIB)
    try:
        race = Race(**given)
    except REFUSED as error:
        notify({"type": "ended", "sentence": str(error)})
        return
    Racer(race, orders, notify).run()


if __name__ == "__main__":
    main()
