"""What needs more than torch and NumPy says so in one sentence, where it is not installed."""

import contextlib
from collections.abc import Iterator

PACKAGES = {"PIL": "pillow"}  # where a package has another name than what one imports


class NotInstalled(ImportError):
    """A package is missing that torch and NumPy do not bring; the message says what for, and how to get it."""


@contextlib.contextmanager
def needs(what: str) -> Iterator[None]:
    """Say in one sentence what is missing, if the block imports a package that is not installed."""
    try:
        yield
    except ModuleNotFoundError as missing:
        last = missing.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        package = (missing.name or "").partition(".")[0]
        importer = "" if last is None else str(last.tb_frame.f_globals.get("__name__"))
        if package == "convviz" or importer.partition(".")[0] != "convviz":
            raise  # a file of somebody else's lacks something, or we do
        name = PACKAGES.get(package, package)
        raise NotInstalled(
            f"{what} needs {name}, which is not installed: pip install {name}, or pip install 'convviz[lab]' for all "
            "that it can use"
        ) from None
