"""Levels of load side by side, as lines of text."""

import math

PARTS = (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0))


def percentile(values, part):
    """Return the smallest number that so large a part of the values does not exceed; None of no values."""
    return sorted(values)[max(0, math.ceil(part * len(values)) - 1)] if values else None


def table(levels):
    """Return the levels as columns of text.

    Args:
        levels: {name: Level}.
    """
    lines = [("", *levels)]
    lines += [(name, *(tell(level) for level in levels.values())) for name, tell in ROWS]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    told = []
    for name, *texts in lines:
        columns = (f"  {text:>{width}}" for text, width in zip(texts, widths[1:], strict=True))
        told.append(f"{name:<{widths[0]}}{''.join(columns)}")
    return "\n".join(told)


def _rows_of(name, values):
    """Return the rows of seconds of which there are many."""
    return [
        (f"{name}, {part}", lambda level, share=share: _seconds(percentile(values(level), share)))
        for part, share in PARTS
    ]


def _real(name, value):
    """Return the row of what the real browser saw."""
    return f"real browser: {name}", lambda level: _seconds(value(level.browser) if level.browser else None)


def _seconds(value):
    return "–" if value is None else f"{value:.3f} s" if value < 1 else f"{value:.2f} s"


def _mib(value):
    return "not known" if value is None else f"{value:,.0f} MiB"


def _refused(level):
    return ", ".join(f"{times} ({why})" for why, times in level.refused.items()) or "0"


def _closed(level):
    return "still there" if level.closed_s is None else _seconds(level.closed_s)


def _stopped(level):
    return level.stopped or (level.browser.trouble if level.browser else "") or "–"


ROWS = [
    ("students", lambda level: str(level.students)),
    ("sessions held at the end", lambda level: str(level.held)),
    ("refused a kernel", _refused),
    ("in line at the end", lambda level: str(level.waiting)),
    ("the last place given in line", lambda level: str(level.longest_line or "–")),
    ("errors", lambda level: str(sum(level.errors.values()))),
    ("moves answered, held against autograd", lambda level: str(len(level.answers))),
    *_rows_of("slider → answer", lambda level: level.answers),
    *_rows_of("arrival → live page's last byte", lambda level: level.page_s),
    *_rows_of("kernel wished for → torch's numbers", lambda level: level.kernel_s),
    ("memory of server and kernels", lambda level: _mib(level.memory_mib)),
    ("memory a student", lambda level: _mib(level.student_mib)),
    ("CPU of server and kernels", lambda level: f"{level.cpu_s:.1f} s"),
    ("CPU of the simulated students", lambda level: f"{level.own_cpu:.0%} of a core"),
    ("files a student", lambda level: f"{level.received_mb:.2f} MB"),
    ("first arrival → last drag", lambda level: _seconds(level.took_s)),
    ("all tabs closed → processes as before", _closed),
    _real("first paint", lambda seen: seen.paint_s),
    _real("first heatmaps", lambda seen: seen.coloured_s),
    _real("torch's numbers", lambda seen: seen.kernel_s),
    _real("slider → torch, median", lambda seen: percentile(seen.answers, 0.5)),
    ("lines that the server printed", lambda level: str(len(level.said))),
    ("stopped by", _stopped),
]
