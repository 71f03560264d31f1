"""The one error of a race that has begun, and what a layer may do that becomes one."""

FAILURES = (Exception, SystemExit)  # of somebody's own layer: sys.exit in it ends neither the race nor this process


class RaceError(RuntimeError):
    """Why a race ended early: one sentence that names layer and step. What was measured until then is kept."""


def first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "(without a word)")
