"""Finds the Chromium that browser tests and benchmarks drive; `python -m tests.chromium` prints its path."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

# The shell is Chromium without the window that nobody sees: with it the browser's tests take three quarters as long.
ON_PATH = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW_TO_INSTALL = (
    "The browser tests need Chromium and none was found. Install it (Debian: `apt-get install chromium`; "
    "elsewhere: `.venv/bin/python -m playwright install chromium`), or set CONVVIZ_CHROMIUM to its path."
)
ASK_PLAYWRIGHT = (
    "from playwright.sync_api import sync_playwright\nwith sync_playwright() as p: print(p.chromium.executable_path)"
)
# A script of a page: its visitor has seen the arrival, and finds the board at rest.
HAS_ARRIVED = 'window[Symbol.for("convviz.arrived")] = true;'


def find_chromium() -> str:
    """Return the path of a Chromium that starts; have Playwright install one where there is none.

    Returns:
        The first that starts of: the variable CONVVIZ_CHROMIUM, a browser on PATH, Playwright's own.

    Raises:
        RuntimeError: CONVVIZ_CHROMIUM names something that does not start, or no Chromium can be had.
    """
    if chosen := os.environ.get("CONVVIZ_CHROMIUM"):
        if starts(chosen):
            return chosen
        raise RuntimeError(
            f"CONVVIZ_CHROMIUM must be the path of a Chromium that starts; `{chosen} --version` failed. "
            "Correct the path, or unset the variable to have one looked for."
        )
    for name in ON_PATH:
        if (path := shutil.which(name)) and starts(path):
            return path
    own = playwright_chromium()
    if not starts(own):
        print("No Chromium on PATH: having Playwright install its own (about 170 MB) …", file=sys.stderr)
        run([sys.executable, "-m", "playwright", "install", "chromium"], timeout=600)
    if starts(own):
        return own
    raise RuntimeError(HOW_TO_INSTALL)


def starts(path: str) -> bool:
    """Return whether `path` is a browser that runs: Ubuntu's chromium-browser is only a pointer to a snap."""
    return Path(path).is_file() and run([path, "--version"], timeout=60) is not None


def playwright_chromium() -> str:
    """Return where Playwright keeps its own Chromium, installed or not."""
    # In a process of its own: Playwright refuses to start twice in one thread, and a test may hold it.
    return run([sys.executable, "-c", ASK_PLAYWRIGHT], timeout=60) or ""


def run(command: list[str], timeout: float) -> str | None:
    """Return what the command printed, or None if it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


if __name__ == "__main__":
    try:
        print(find_chromium())
    except RuntimeError as error:
        sys.exit(str(error))
