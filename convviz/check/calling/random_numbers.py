"""The random numbers of Python, NumPy and torch, as they were before code that may draw some."""

from __future__ import annotations

import contextlib
import ctypes
import random
from collections.abc import Iterator

import numpy as np
import torch

MERSENNE_BYTES = 625 * 4  # of NumPy's own generator: 624 words, and which of them comes next


class RandomNumbers:
    """What all three would draw next; a call of students' code begins with the same, however often it is made."""

    def __init__(self) -> None:
        """Keep it."""
        self._python, self._torch = random.getstate(), torch.get_rng_state()
        self._numpy = np.random.get_state(legacy=False)
        self._words = _words()

    def restore(self) -> None:
        """Come back to it; NumPy's takes as long as a small convolution, and is mostly untouched."""
        random.setstate(self._python)
        torch.set_rng_state(self._torch)
        # A second normal number that waits to be drawn is not among the words.
        if not self._words or self._numpy["has_gauss"] or _words() != self._words:
            np.random.set_state(self._numpy)


@contextlib.contextmanager
def random_kept() -> Iterator[None]:
    """Leave the random numbers as they were."""
    numbers = RandomNumbers()
    try:
        yield
    finally:
        numbers.restore()


def _words() -> bytes:
    """Return what NumPy's own generator holds; nothing of one that a user put in its place."""
    generator = np.random.get_bit_generator()  # type: ignore[attr-defined]  # NumPy's stubs lack it
    if not isinstance(generator, np.random.MT19937):
        return b""
    return ctypes.string_at(generator.ctypes.state_address, MERSENNE_BYTES)
