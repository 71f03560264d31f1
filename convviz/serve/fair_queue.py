"""Whose turn it is: fair between clients, then between a client's pages; a page's newest wish wins. Knows no server.

Turns are seconds of the workers: next is whoever has had least of them since somebody began to wait.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from convviz.serve.shares import has_share

WAITING_BYTES = 128 << 20  # all waiting wishes together
TURN_S = 0.001  # that each turn counts at least, and before it is known how long it takes
SMALL = 4096


@dataclass(eq=False)
class Wish:
    """What a page waits for, one of each kind, which holds ``size`` bytes."""

    client: Hashable
    page: Hashable
    kind: Hashable
    slow: bool
    task: Any
    size: int = 0


class Had:
    """The seconds that each has had; whoever comes has had as much as who has had least, and no credit for before."""

    def __init__(self) -> None:
        self._had: dict[Hashable, float] = {}
        self._least = 0.0

    def in_order(self, waiting: Mapping[Hashable, Any]) -> list[Hashable]:
        """Return who waits, next first; of equals, who has waited longer."""
        return sorted(waiting, key=self._start)

    def begin(self, who: Hashable) -> None:
        self._least = self._start(who)
        self._had[who] = self._least + TURN_S

    def end(self, who: Hashable, seconds: float) -> None:
        if who in self._had:
            self._had[who] += max(0.0, seconds - TURN_S)

    def forget(self, who: Hashable) -> None:
        self._had.pop(who, None)

    def _start(self, who: Hashable) -> float:
        return max(self._had.get(who, 0.0), self._least)


class Turns:
    """A line for quick wishes and one for slow ones, which never have all workers."""

    def __init__(self, workers: int) -> None:
        self._most_slow = max(1, workers - 1)
        self._slow = 0  # slow wishes at work
        self._at_work = 0
        self._had = _nothing_had()  # line → clients, and client → pages
        self._last_slow = True
        self._held: set[tuple[Hashable, bool]] = set()
        # Line → client → page → kind → wish, each in the order of turns.
        self._lines: dict[bool, dict[Hashable, dict[Hashable, dict[Hashable, Wish]]]] = {False: {}, True: {}}

    def put(self, wish: Wish) -> None:
        other = self._lines[not wish.slow]  # a tab that is quick may follow one that is slow
        other.get(wish.client, {}).get(wish.page, {}).pop(wish.kind, None)
        self._lines[wish.slow].setdefault(wish.client, {}).setdefault(wish.page, {})[wish.kind] = wish

    def waiting(self, client: Hashable, page: Hashable) -> set[Hashable]:
        return {kind for line in self._lines.values() for kind in line.get(client, {}).get(page, {})}

    def has_room(self, client: Hashable, size: int) -> bool:
        """Return whether a wish of so many bytes may wait: its client has a share; small ones always may."""
        if size < SMALL:
            return True
        waiting = {each: self._bytes_of(each) for line in self._lines.values() for each in line}
        return has_share(waiting.get(client, 0), sum(waiting.values()), WAITING_BYTES, size)

    def take(self) -> Wish | None:
        for slow in (not self._last_slow, self._last_slow):  # neither line waits for more than one of the other
            if slow and self._slow >= self._most_slow:
                continue
            if wish := self._next(slow):
                self._last_slow = slow
                self._slow += slow
                self._at_work += 1
                self._held.add((wish.page, slow))
                return wish
        return None

    def worked(self, wish: Wish, seconds: float = 0.0) -> None:
        """Hear that a wish needs no worker any more, which it had for so many seconds."""
        self._slow -= wish.slow
        self._at_work -= 1
        clients, pages = self._had[wish.slow]
        clients.end(wish.client, seconds)
        if wish.client in pages:
            pages[wish.client].end(wish.page, seconds)
        if not self._at_work and not any(self._lines.values()):  # nobody is owed anything
            self._had = _nothing_had()

    def read(self, wish: Wish) -> None:
        self._held.discard((wish.page, wish.slow))

    def leave(self, client: Hashable, page: Hashable) -> None:
        for line in self._lines.values():
            line.get(client, {}).pop(page, None)
            if not line.get(client, True):
                del line[client]
        for _, pages in self._had.values():
            if client in pages:
                pages[client].forget(page)

    def _bytes_of(self, client: Hashable) -> int:
        pages = [page for line in self._lines.values() for page in line.get(client, {}).values()]
        return sum(wish.size for wishes in pages for wish in wishes.values())

    def _next(self, slow: bool) -> Wish | None:
        line, (clients, had) = self._lines[slow], self._had[slow]
        for client in clients.in_order(line):
            pages = line[client]
            of_pages = had.setdefault(client, Had())
            for page in of_pages.in_order(pages):
                wishes = pages[page]
                if wishes and (page, slow) in self._held:
                    continue
                del pages[page]
                wish = wishes.pop(next(iter(wishes))) if wishes else None
                if wishes:
                    pages[page] = wishes  # the page moves behind the others
                if not pages:
                    del line[client]
                if wish is not None:
                    if line.pop(client, None):
                        line[client] = pages
                    clients.begin(client)
                    of_pages.begin(page)
                    return wish
        return None


def _nothing_had() -> dict[bool, tuple[Had, dict[Hashable, Had]]]:
    return {slow: (Had(), {}) for slow in (False, True)}
