"""Whose turn it is: fair between clients, then between a client's pages; a page's newest wish wins. Knows no server."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

WAITING_BYTES = 128 << 20  # of all wishes
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


class Turns:
    """A line for quick wishes and one for slow ones, which never have all workers."""

    def __init__(self, workers: int) -> None:
        self._most_slow = max(1, workers - 1)
        self._slow = 0  # at work
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

    def has_room(self, size: int) -> bool:
        """Return whether a wish of so many bytes may wait; small ones always may."""
        clients = [pages for line in self._lines.values() for pages in line.values()] if size >= SMALL else []
        waiting = (wish for pages in clients for wishes in pages.values() for wish in wishes.values())
        return sum(wish.size for wish in waiting) + size <= WAITING_BYTES

    def take(self) -> Wish | None:
        for slow in (not self._last_slow, self._last_slow):  # neither line waits for more than one of the other
            if slow and self._slow >= self._most_slow:
                continue
            if wish := self._next(slow):
                self._last_slow = slow
                self._slow += slow
                self._held.add((wish.page, slow))
                return wish
        return None

    def worked(self, wish: Wish) -> None:
        self._slow -= wish.slow

    def read(self, wish: Wish) -> None:
        self._held.discard((wish.page, wish.slow))

    def leave(self, client: Hashable, page: Hashable) -> None:
        for line in self._lines.values():
            line.get(client, {}).pop(page, None)
            if not line.get(client, True):
                del line[client]

    def _next(self, slow: bool) -> Wish | None:
        line = self._lines[slow]
        for client, pages in list(line.items()):
            for page, wishes in list(pages.items()):
                if wishes and (page, slow) in self._held:
                    continue
                del pages[page]
                wish = wishes.pop(next(iter(wishes))) if wishes else None
                if wishes:
                    pages[page] = wishes  # behind the others
                if not pages:
                    del line[client]
                if wish is not None:
                    if line.pop(client, None):
                        line[client] = pages
                    return wish
        return None
