"""What a sheet is made of, whatever it is written as."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """A title; level 1 is the sheet's own."""

    level: int
    text: str


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Table:
    """A plane of numbers with a name; the cells in ``marked`` are wrong ones."""

    name: str
    rows: tuple[tuple[str, ...], ...]
    marked: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Lines:
    """Lines that belong together, such as the sums of a result."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Python that can be run."""

    text: str


@dataclass(frozen=True)
class Listing:
    """A table of words, with a heading for each column."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Heading | Words | Table | Lines | Code | Listing
