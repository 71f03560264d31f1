"""Starts JupyterLab and Notebook 7 for a test, with settings of their own, and ends them with all their kernels."""

import contextlib
import json
import os
import shutil
import subprocess
import sys

import psutil

from tests.browser.app_page import APPEARS_WITHIN_MS
from tests.browser.server import APP, QUICK_START, ROOT, STARTS_WITHIN_S, wait_until

FOLDERS = {
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",  # the user's; widgets and kernels are found beside the interpreter
    "JUPYTER_RUNTIME_DIR": "runtime",
    "JUPYTERLAB_SETTINGS_DIR": "settings",
    "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    "IPYTHONDIR": "ipython",
}
OF_OTHER_TESTS = (  # slow to load
    "nbgrader.server_extensions.formgrader",
    "nbgrader.server_extensions.assignment_list",
    "nbgrader.server_extensions.course_list",
    "nbgrader.server_extensions.validate_assignment",
    "jupyterlab_jupytext",
    "jupyter_server_proxy",
)
OPTIONS = [
    "--no-browser",
    "--allow-root",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port=0",  # a free one; the runtime file says which
    "--IdentityProvider.token=",
    # Whatever Lab would ask the world of its own accord; Notebook runs it as an extension.
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
    *(f"--ServerApp.jpserver_extensions={name}=False" for name in OF_OTHER_TESTS),
    # So that a test can ask for the kernel's state: both front ends show it as idle before it is there.
    "--LabApp.expose_app_in_browser=True",
    "--JupyterNotebookApp.expose_app_in_browser=True",
]
# Where each of the two shows a notebook: one server has both.
FRONT_ENDS = {"lab": "lab/tree", "notebook": "notebooks"}


@contextlib.contextmanager
def lab_server(folder, source):
    """Run JupyterLab and Notebook 7 on notebooks of one cell, <front end>.ipynb; yield the server's address.

    Beside them lies the app's own, app.ipynb.

    Args:
        folder: An empty folder for the notebooks, the settings and the log.
        source: The cell's code.
    """
    root = folder / "notebooks"
    root.mkdir()
    for name in FRONT_ENDS:
        _write_notebook(root / f"{name}.ipynb", source)
    shutil.copy(APP, root)
    _decline_the_news(folder / FOLDERS["JUPYTERLAB_SETTINGS_DIR"])
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {name: str(folder / place) for name, place in FOLDERS.items()}
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", QUICK_START, "jupyterlab", *OPTIONS, f"--ServerApp.root_dir={root}"],
            cwd=folder,
            # Our template from the source: Voilà is an extension of the server.
            env=env | {"PYTHONPATH": os.pathsep.join(paths), "JUPYTER_PATH": str(ROOT / "convviz" / "share")},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        port = wait_until(lambda: _port(folder, process), STARTS_WITHIN_S, "JupyterLab reports its address")
        yield f"http://127.0.0.1:{port}/"
    finally:
        _end(process)


def open_notebook(page, url):
    """Open a notebook and wait until its kernel is there."""
    page.goto(url, wait_until="commit", timeout=APPEARS_WITHIN_MS)
    # Until then the cell would not run, whatever the front end's own indicator says.
    kernel = "window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel"
    page.wait_for_function(f"{kernel}?.status === 'idle'", timeout=APPEARS_WITHIN_MS)
    page.page_errors.clear()  # Notebook 7 has one of its own while it starts; ours can only come after this


def _port(folder, process):
    if process.poll() is not None:
        raise AssertionError((folder / "log.txt").read_text())
    for path in (folder / "runtime").glob("jpserver-*.json"):
        with contextlib.suppress(json.JSONDecodeError):  # half written
            return json.loads(path.read_text())["port"]
    return None


def _write_notebook(path, source):
    cell = {"cell_type": "code", "id": "c", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
    kernelspec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": [cell], "metadata": {"kernelspec": kernelspec}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content), encoding="utf-8")


def _decline_the_news(settings):
    """Answer Lab's question for news beforehand: it stands over the notebook until somebody does."""
    path = settings / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}), encoding="utf-8")


def _end(process):
    family = []
    with contextlib.suppress(psutil.NoSuchProcess):
        family = psutil.Process(process.pid).children(recursive=True)
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(20)
    for left in [*family, process]:
        with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
            left.kill()  # psutil compares start times: a new process with an old number is safe
    process.wait(10)
