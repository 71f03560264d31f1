"""Answers numbers alone, until app/answers.py is there."""

from typing import Any, NamedTuple

from convviz.app.wire import numbers
from convviz.settings.as_python import as_python
from convviz.settings.compute import compute
from convviz.settings.state import Settings


class Answer(NamedTuple):
    """An answer."""

    message: dict[str, Any]
    buffers: list[bytes]


def answered(request: Any, buffers: Any = (), *, page_maker: Any = None) -> Answer:
    """Return an answer."""
    del buffers
    back = {"id": request.get("id")}
    try:
        settings = Settings.from_dict(request.get("settings"))
        if request["type"] == "compute":
            made = numbers(compute(settings))
            tensors = made.pop("tensors")
            return Answer({"type": "numbers", **made, **back, "tensors": list(tensors)}, list(tensors.values()))
        if request["type"] == "python":
            return Answer({"type": "python", "text": as_python(settings), **back}, [])
        if request["type"] == "page":
            return Answer({"type": "page", "name": "convolution.html", **back}, [page_maker(settings.to_dict())])
        raise ValueError("not yet")
    except ValueError as error:
        return Answer({"type": "refused", **back, "sentence": str(error)}, [])
