"""The tab Race: a race in a process of its own, watched; before the first one, a race that was recorded.

Nothing here loads torch: a server holds the race of each page itself.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from convviz.app.permissions import is_served
from convviz.app.stateful_tab import Send, Tab
from convviz.facts import facts
from convviz.facts.words import sentences
from convviz.features.race.race_process import RaceProcess
from convviz.features.race.race_slots import take_slot, why_no_races
from convviz.settings.state import Settings

if TYPE_CHECKING:
    from convviz.ops.stages import Stages

say = sentences("features/race")
FACTS = facts("race")
# What a visitor chooses first, and the ends of what can be chosen.
FIRST, LIMITS = FACTS["first"], FACTS["ends"]
REFERENCE = "torch"  # it takes part in every race


class RaceTab(Tab):
    """Starts, pauses and ends races; what was measured stays until the next one starts."""

    name = "race"

    def __init__(self, send: Send, device: Callable[[], str]) -> None:
        super().__init__(send, device)
        self.process: RaceProcess | None = None
        self._state = "ready"
        self._chosen: dict[str, Any] = dict(FIRST)
        self._progress: dict[str, Any] = {"done": 0, "total": 0, "left": None}
        self._race: dict[str, Any] | None = None
        self._openings: dict[str, dict[str, Any]] = {}
        self._failed = ""

    def data(self) -> dict[str, Any]:
        return {
            "state": self._state,
            "why_not": why_no_races(),
            "failed": self._failed,
            "names": FACTS["layers"],
            "chosen": self._chosen,
            "limits": LIMITS,
            "dtypes": FACTS["dtypes"],
            "own": not is_served(),  # a visitor's kernel imports no module that a visitor names
            "progress": self._progress,
            "race": self._race,
            "recorded": facts("features/race/recorded") if self._race is None else None,
        }

    def leave(self) -> None:
        if self.process is not None:
            self._end("stopped")
            self.refresh()

    def close(self) -> None:
        super().close()
        self._end("stopped")

    def act(self, message: Mapping[str, Any]) -> None:
        """What cannot be is said in the pane."""
        try:
            self._do(message)
            self._failed = ""
        except ValueError as error:
            self._failed = str(error)
        except OSError as error:  # such as of a full disk; its words have the server's folders
            self._failed = say("no_start", why=error.strerror or type(error).__name__)
        self.refresh()

    def _do(self, message: Mapping[str, Any]) -> None:
        kind = message.get("type")
        if kind == "open":
            self._open(str(message.get("layer")), str(message.get("at")))
        elif kind == "start":
            self._start(message)
        elif self.process is not None and kind == "pause":
            self.process.pause()
            self._state = "pausing"
        elif self.process is not None and kind == "go":
            self.process.go()
            self._state = "running"
        elif kind == "stop":
            self._end("stopped")

    def _start(self, message: Mapping[str, Any]) -> None:
        if why_no_races():
            raise ValueError(why_no_races())
        self._chosen = _chosen(message.get("chosen"))
        self._end("stopped")
        slot = take_slot()
        own = [name.strip() for name in self._chosen["own"].split(",") if name.strip()]
        options = {name: self._chosen[name] for name in ("epochs", "train", "seeds", "dtype")}
        layers = [REFERENCE, *self._chosen["layers"], *own]
        race = {"layers": layers, **options, "device": self._device()}
        self._state, self._progress = "starting", {"done": 0, "total": 0, "left": None}
        loop = asyncio.get_running_loop()
        made: list[RaceProcess] = []

        def notify(content: dict[str, Any]) -> None:
            """Bring a message from the thread that reads to the kernel's loop."""
            try:
                loop.call_soon_threadsafe(functools.partial(self._hear, made, content))
            except RuntimeError:  # the loop has ended, and so does the race
                for process in made:
                    process.end()

        self.process = RaceProcess(race, notify, slot)
        made.append(self.process)

    def _hear(self, sender: list[RaceProcess], message: dict[str, Any]) -> None:
        if self.process is None or self.process not in sender:
            return
        if message["type"] == "openings":
            self._openings = message["openings"]
            return
        if message["type"] == "race":
            self._progress = {name: message[name] for name in ("done", "total", "left")}
            self._race = message["race"]
            if not message["done"]:
                self._openings = {}  # those of the race before
            if message["paused"] or self._state != "pausing":
                self._state = "paused" if message["paused"] else "running"
        else:
            self._failed = message["sentence"]
            self._end("failed" if self._failed else "finished")
        self.refresh()

    def _end(self, state: str) -> None:
        process, self.process = self.process, None
        if process is not None:
            self._state = state
            process.end()

    def _open(self, layer: str, at: str) -> None:
        opening = self._openings.get(layer, {}).get(at)
        if opening is None:
            raise ValueError(say("open.gone", got=f"{layer!r:.40}, {at!r:.40}"))
        if "error" in opening:
            raise ValueError(opening["error"])
        self.reply({"type": "opening", "layer": layer, "at": at, "opening": opening})


def data(settings: Settings, stages: Stages, choices: Mapping[str, Any]) -> dict[str, Any]:
    return RaceTab(lambda message, buffers: None, lambda: settings.device).data()


def _chosen(given: Any) -> dict[str, Any]:
    """Return a stranger's choice: the race checks what is said to it, and this the rest."""
    made = {**FIRST, **(given if isinstance(given, Mapping) else {})}
    for name, (low, high) in LIMITS.items():
        if type(made[name]) is not int or not low <= made[name] <= high:
            raise ValueError(say("choice.number", name=say(name), low=low, high=high, got=f"{made[name]!r:.40}"))
    layers, own = made["layers"], "" if is_served() else str(made["own"])
    known = FACTS["layers"]
    if not isinstance(layers, list) or not all(name in known for name in layers) or not (layers or own.strip()):
        raise ValueError(say("choice.layers", known=", ".join(known), got=f"{layers!r:.80}"))
    return {name: made[name] for name in FIRST} | {"own": own}
