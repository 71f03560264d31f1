"""Who has a place for a kernel, and who waits in line for one. Knows no server."""

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
        self._open = True
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
        """Return whether there is a place for somebody who cannot wait, and nobody who does; it is taken then.

        Starts are not limited for him: he could but be sent away.
        """
        if self._line or not self._has_place():
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

    def close(self) -> None:
        """Give nobody a place any more: the server ends."""
        self._open = False

    def _has_place(self) -> bool:
        return self._open and (not self._most or len(self._held) < self._most)

    def _has_room(self) -> bool:
        return self._has_place() and (not self._starts or len(self._starting) < self._starts)

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
