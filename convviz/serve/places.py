"""Who has a place for a kernel, and who waits in line for one; when a kernel rests and when it hangs. Knows no server."""

from __future__ import annotations

from typing import Protocol


class Visitor(Protocol):
    """Somebody who wants a place."""

    def hear(self, place: int) -> None:
        """Hear where one stands in line, whenever that changes; 0: a place is there, and one may start."""


class Places:
    """So many places, given first come, first served; and so many visitors start at a time, because starting is work.

    Who is counted as starting has a place already.
    """

    def __init__(self, most: int, starts: int) -> None:
        """Open the places.

        Args:
            most: How many there are; 0: as many as visitors come.
            starts: How many visitors may start at a time; 0: all.
        """
        self._most = most
        self._starts = starts
        self._line: dict[Visitor, int] = {}  # → the place that was told last
        self._held: set[Visitor] = set()
        self._starting: set[Visitor] = set()

    @property
    def held(self) -> int:
        """How many places are taken."""
        return len(self._held)

    @property
    def waiting(self) -> int:
        """How many visitors stand in line."""
        return len(self._line)

    def wait(self, visitor: Visitor) -> None:
        """Stand in line; who finds room hears at once that it is his turn."""
        self._line[visitor] = 0
        self._advance()

    def enter(self, visitor: Visitor) -> bool:
        """Return whether there is a place for somebody who cannot wait, and nobody who does; it is taken then."""
        if self._line or not self._has_room():
            return False
        self._held.add(visitor)
        self._starting.add(visitor)
        return True

    def started(self, visitor: Visitor) -> None:
        """Hear that a visitor has started: the next one may."""
        self._starting.discard(visitor)
        self._advance()

    def leave(self, visitor: Visitor) -> None:
        """Give back what a visitor has: a place, or his stand in the line."""
        self._line.pop(visitor, None)
        self._held.discard(visitor)
        self.started(visitor)

    def _has_room(self) -> bool:
        return (not self._most or len(self._held) < self._most) and (
            not self._starts or len(self._starting) < self._starts
        )

    def _advance(self) -> None:
        while self._line and self._has_room():
            visitor = next(iter(self._line))
            del self._line[visitor]
            self._held.add(visitor)
            self._starting.add(visitor)
            visitor.hear(0)
        for place, (visitor, told) in enumerate(list(self._line.items()), 1):
            if told != place:
                self._line[visitor] = place
                visitor.hear(place)


class Clock:
    """Seconds in which a server was awake: it goes on by a few at most between two looks at it.

    A machine that slept, or that was too busy to look, has heard nobody meanwhile: nobody is late for that.
    """

    def __init__(self, now: float, most: float) -> None:
        """Start at 0.

        Args:
            now: Seconds of a clock that nobody sets.
            most: Seconds by which this one goes on at a look.
        """
        self._looked = now
        self._most = most
        self.seconds = 0.0

    def look(self, now: float) -> float:
        """Return what the time is.

        Args:
            now: As the other clock has it.
        """
        self.seconds += min(now - self._looked, self._most)
        self._looked = now
        return self.seconds


class Pulse:
    """When a page and its kernel last spoke with each other."""

    def __init__(self, now: float) -> None:
        """Begin with a kernel that has just come.

        Args:
            now: Seconds.
        """
        self._spoke = now
        self._asked: float | None = None  # the first wish since the kernel last said something
        self._answered: float | None = None

    def ask(self, now: float) -> None:
        """Hear that the page says something."""
        self._spoke = now
        if self._asked is None:
            self._asked = now

    def answer(self, now: float) -> None:
        """Hear that the kernel says something, be it that it is busy."""
        self._spoke = self._answered = now
        self._asked = None

    def trouble(self, now: float, *, busy: bool, idle_s: float, hung_s: float) -> str:
        """Return why the kernel should go: ``"idle"`` or ``"hung"``, or nothing.

        Args:
            now: Seconds.
            busy: Whether it has said that it is, and not yet that it is done.
            idle_s: Seconds of silence after which it rests; 0: never.
            hung_s: Seconds without a sign after which nobody waits for it any longer; 0: never.
        """
        since = self._answered if busy else self._asked
        if since is None:
            since = self._asked
        if hung_s and since is not None and now - since > hung_s:
            return "hung"
        if idle_s and not busy and self._asked is None and now - self._spoke > idle_s:
            return "idle"
        return ""
