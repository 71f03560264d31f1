"""``convviz doctor``: what a bug report needs, on one screen."""

import argparse
import importlib.metadata
import platform
import sys
from pathlib import Path

from convviz import __version__

PACKAGES = ("torch", "voila", "plotly", "anywidget", "ipywidgets", "jupyter_server", "ipykernel")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare no option: ``convviz doctor`` has none."""


def run(options: argparse.Namespace) -> int:
    """Return 1 where something is missing."""
    rows, healthy = diagnosis()
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")
    return 0 if healthy else 1


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return f"not installed: pip install {package.replace('_', '-')}"


def diagnosis() -> tuple[list[tuple[str, str]], bool]:
    """Return lines, and whether nothing is missing."""
    versions = [(package, version(package)) for package in PACKAGES]
    checks = [_devices(), _labextension(), _template(), _workers()]
    rows = [("convviz", __version__), ("python", f"{platform.python_version()} ({sys.platform})"), *versions]
    rows += [(name, value) for name, value, _ in checks]
    missing = any(value.startswith("not installed") for _, value in versions)
    return rows, not missing and all(good for *_, good in checks)


def _devices() -> tuple[str, str, bool]:
    try:
        from convviz.ops.devices_and_dtypes import available_devices
    except ImportError as missing:
        return "devices", f"unknown, because torch does not load: {missing}", False
    return "devices", ", ".join(available_devices()), True


def _labextension() -> tuple[str, str, bool]:
    """Find the front end of anywidget, without which our pictures stay blank."""
    name = "labextension"
    try:
        from jupyter_core.paths import jupyter_path
    except ImportError:
        return name, "not looked for, because jupyter_core is not installed: pip install voila", False
    for folder in jupyter_path("labextensions"):
        if (Path(folder) / "anywidget" / "package.json").is_file():
            return name, f"anywidget, in {folder}", True
    return name, "anywidget's is not found: pip install --force-reinstall anywidget", False


def _template() -> tuple[str, str, bool]:
    """Find our page template and Voilà's own, from which it takes all that it does not change."""
    from convviz.serve import SHARE, environment, server_environment
    from convviz.serve.options import ServeOptions

    try:
        from voila.paths import collect_template_paths
    except ImportError:
        return "template", "not looked for, because Voilà is not installed: pip install voila", False
    with environment(server_environment(ServeOptions())):
        folders = collect_template_paths(["voila", "nbconvert"], "convviz", prune=True)
    for part in ("convviz", "lab", "base"):
        if not any(folder.endswith(part) for folder in folders):
            return "template", f"{part!r} of Voilà is not found: pip install --force-reinstall voila", False
    return "template", f"convviz, in {SHARE}", True


def _workers() -> tuple[str, str, bool]:
    """Say how many processes compute in ``convviz serve``, and whether they share torch."""
    from convviz.serve.options import cores

    shared = "share torch" if sys.platform.startswith("linux") else "load torch each by itself: only Linux shares it"
    return "workers", f"{cores()}, which {shared}", True
