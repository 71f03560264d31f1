"""The one error of a race that has begun."""

from __future__ import annotations


class RaceError(RuntimeError):
    """Why a race ended early: one sentence that names layer and step. What was measured until then is kept."""
