"""What kernels share: modules that each of them would import by itself, at its start or when a tab is opened."""

from __future__ import annotations

import contextlib
import importlib
import pkgutil

from convviz.board.module import asking_script, joining_script, tab_script
from convviz.facts import facts
from convviz.facts.choosing import own_names

# ipykernel, IPython and its debugger import the rest of themselves when a kernel starts.
JUPYTER = (
    "IPython.core.completerlib",
    "IPython.core.oinspect",
    "IPython.core.shellapp",
    "IPython.extensions.storemagic",
    "IPython.terminal.pt_inputhooks",
    "encodings.idna",
    "ipykernel.debugger",
    "psutil",
    "tornado.platform.asyncio",
)
PARTS = ("app", "explanation", "export", "ops", "settings", "views")


def load() -> None:
    """Import what the app uses of convviz, torch and Jupyter, and make what all apps send alike."""
    for name in JUPYTER:
        with contextlib.suppress(ImportError):  # what is not installed no kernel imports either
            importlib.import_module(name)
    for part in PARTS:
        package = importlib.import_module(f"convviz.{part}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    own_names()  # reads the catalogue of every language
    asking_script()
    joining_script()
    for tab in facts("names")["tabs"]:
        tab_script(tab)
