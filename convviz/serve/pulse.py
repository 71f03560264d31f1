"""When a kernel rests and when it hangs: what is asked and answered, and when. Knows no server."""

from __future__ import annotations

ARRIVES_WITHIN_S = 120  # the front end of a page, over a slow line: until then its silence means nothing


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
        patience = max(idle_s, ARRIVES_WITHIN_S) if self._answered is None else idle_s
        if idle_s and not busy and self._asked is None and now - self._spoke > patience:
            return "idle"
        return ""
