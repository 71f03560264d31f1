"""The command line: what it accepts, what it says, and what a slip costs."""

import importlib.metadata
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from convviz import cli, serve
from convviz.cli import main
from convviz.commands import doctor

ROOT = Path(__file__).parents[2]


@pytest.fixture
def taken_port():
    """A port on which somebody else listens."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


@pytest.fixture
def no_server(monkeypatch):
    """Stand in for Voilà: return what it would have been given instead of serving."""
    from convviz.serve import voila_app

    calls = []

    def run(options, notebook, listener, settings):
        port = listener.getsockname()[1]
        reported = {"path": notebook, "settings": settings, "port": port, "environment": dict(os.environ)}
        calls.append({**vars(options), **reported})

    monkeypatch.setattr(voila_app, "run", run)
    return calls


def one_sentence(capsys):
    """Return what was said on stderr, which must be one line and no traceback."""
    said = capsys.readouterr().err.strip()
    assert said.startswith("convviz: ")
    assert "\n" not in said
    assert "Traceback" not in said
    return said


def test_help_lists_every_command(capsys):
    assert main([]) == 0
    reported = capsys.readouterr().out
    for command in cli.COMMANDS:
        assert command.name in reported
        assert command.summary in re.sub(r"\s+", " ", reported)


def test_version(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert re.fullmatch(r"convviz \d+\.\d+.*\n", capsys.readouterr().out)


def test_serve_hands_everything_on(no_server, monkeypatch, tmp_path):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "4")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    before = dict(os.environ)
    assert main(["serve", "--port", "0", "--device", "cpu", "--open", "--workers", "3", "--no-notebook"]) == 0
    (call,) = no_server
    assert call["path"] == serve.APP_NOTEBOOK
    assert call["settings"] == serve.SHARE
    assert call["open_browser"]
    assert (call["workers"], call["notebook"]) == (3, False)
    assert call["host"] == "127.0.0.1"
    assert call["port"] > 0
    inside = call["environment"]
    assert inside["CONVVIZ_DEVICE"] == "cpu"
    assert inside["JUPYTER_PATH"].split(os.pathsep) == [str(serve.SHARE), str(tmp_path)]
    assert (inside["OMP_NUM_THREADS"], inside["MKL_NUM_THREADS"]) == ("1", "4")
    assert dict(os.environ) == before, "the environment is as it was"


def test_serve_leaves_the_device_to_the_app_by_default(no_server, monkeypatch):
    monkeypatch.setenv("CONVVIZ_DEVICE", "from the user")
    assert main(["serve", "--port", "0"]) == 0
    (call,) = no_server
    assert (call["workers"], call["notebook"]) == (None, None)
    assert not call["open_browser"]
    assert "CONVVIZ_MEMORY_MIB" not in call["environment"], "who serves himself has no limits"
    assert call["environment"]["CONVVIZ_DEVICE"] == "from the user"


def test_taken_port_that_was_asked_for(no_server, taken_port, capsys):
    assert main(["serve", "--port", str(taken_port)]) == 1
    said = one_sentence(capsys)
    assert f"port {taken_port} is taken" in said
    assert "--port" in said
    assert no_server == []


def test_taken_port_that_nobody_asked_for(no_server, taken_port, monkeypatch, capsys):
    monkeypatch.setattr(serve, "DEFAULT_PORT", taken_port)
    assert main(["serve"]) == 0
    (call,) = no_server
    assert taken_port < call["port"] < taken_port + serve.PORTS_TO_TRY
    assert f"Port {taken_port} is taken, so convviz takes {call['port']}." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["--port", "70000"], "between 0 and 65535"),
        (["--host", "no.such.host.invalid"], "--host must be an address of this machine"),
        (["--device", "abacus"], "--device is one of cpu"),
    ],
)
def test_a_slip_costs_one_sentence(no_server, words, rule, capsys):
    assert main(["serve", "--port", "0", *words]) == 1
    said = one_sentence(capsys)
    assert rule in said
    assert words[-1] in said, "the sentence repeats what was received"
    assert no_server == []


ENCODINGS = ("ascii", "latin-1", "utf-8")
SERVE_AND_SAY = f"""
import io, sys
from convviz import serve
from convviz.cli import main
with serve.left_out(serve.SLOW_TO_LOAD):
    from convviz.serve.voila_app import ConvvizVoila
from convviz.serve.metrics import Log, Metrics
from convviz.serve.options import ServeOptions
heavy = {{"torch", "plotly", "ipywidgets", "anywidget", serve.SLOW_TO_LOAD}}
ConvvizVoila.listen = lambda self: print("loaded:", sorted(name for name in heavy if sys.modules.get(name)))
main(["serve", "--port", "0", "--class", "3", "--races", "1", "--notebook", "--device", "cpu"])

class Told:
    ip, port, base_url = "127.0.0.1", 8866, "/"
    _options, metrics = ServeOptions(), Metrics(Log(None))

for encoding in {ENCODINGS}:
    if encoding != sys.stdout.encoding:
        for name in ("stdout", "stderr"):
            setattr(sys, name, io.TextIOWrapper(getattr(sys, name).detach(), encoding=encoding))
    main(["doctor"])
    ConvvizVoila._announce(Told)
    print("Voil\u00e0", sys.stdout.encoding)
"""


@pytest.fixture(scope="module")
def process_that_serves():
    """What a process writes that loads all that serves, and then runs doctor in terminals of several alphabets.

    The first terminal is the one that Python starts with; the others take its place.
    """
    environment = {**os.environ, "PYTHONIOENCODING": ENCODINGS[0], "LC_ALL": "C"}
    command = [sys.executable, "-c", SERVE_AND_SAY]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_process_that_serves_never_loads_torch(process_that_serves):
    assert b"loaded: []\n" in process_that_serves


def test_every_line_can_be_said_in_every_locale(process_that_serves):
    """The address line, and any other: a terminal of another alphabet gets escapes, never a traceback."""
    ends = (b"Voil\\xe0 ascii\n", b"Voil\xe0 latin-1\n", b"Voil\xc3\xa0 utf-8\n")
    rest = process_that_serves
    for encoding, end in zip(ENCODINGS, ends, strict=True):
        said, found, rest = rest.partition(end)
        assert found, (encoding, process_that_serves)
        assert b"convviz is served at http://127.0.0.1:8866/ - stop with Ctrl+C" in said, encoding


def test_a_system_that_allows_too_few_files_names_the_remedy():
    resource = pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-m", "convviz", "serve", "--port", "0"],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "convviz: serving needs 256 open files, and this system allows 64: "
        "raise the limit first, for example with ulimit -n 1024.\n"
    )


def test_missing_voila_names_the_remedy(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "convviz.serve.voila_app", raising=False)
    monkeypatch.setitem(sys.modules, "voila.app", None)
    assert main(["serve", "--port", "0"]) == 1
    assert "pip install voila" in one_sentence(capsys)


def test_doctor_fits_one_screen(capsys):
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    names = [line.split()[0] for line in lines]
    assert {"convviz", "python", *doctor.PACKAGES, "devices", "labextension", "template", "workers"} == set(names)
    assert next(line for line in lines if line.startswith("devices")).split()[1].startswith("cpu")


def test_a_closed_stream_is_written_nothing(monkeypatch):
    """As of ``convviz doctor >&-``: Python has None in its place."""
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["doctor"]) == 0


def test_doctor_names_what_is_missing(monkeypatch, capsys):
    installed = importlib.metadata.version

    def without_voila(package):
        if package == "voila":
            raise importlib.metadata.PackageNotFoundError(package)
        return installed(package)

    monkeypatch.setattr(importlib.metadata, "version", without_voila)
    assert main(["doctor"]) == 1
    assert re.search(r"voila +not installed: pip install voila", capsys.readouterr().out)


def test_the_notebook_at_the_top_is_the_packaged_one():
    packaged = serve.APP_NOTEBOOK.read_bytes()
    assert (ROOT / "app.ipynb").read_bytes() == packaged
    notebook = json.loads(packaged)
    assert len(notebook["cells"]) <= 3
    named = "docs/examples/dashboard"  # which nobody finds else
    assert f"`{named}`" in "".join(notebook["cells"][0]["source"])
    assert (ROOT / named).is_dir()
    assert all(not cell.get("outputs") for cell in notebook["cells"])
    assert notebook["metadata"]["title"] == "convviz · the backward pass of conv2d"
    # Voilà without our configuration, as on Binder, takes the template from here: its own asks CDNs.
    assert notebook["metadata"]["voila"]["template"] == serve.SHARE.joinpath("voila", "templates", "convviz").name


def test_every_setting_is_one_that_voila_knows():
    """Traitlets ignores a misspelt key in silence."""
    from jupyter_client.restarter import KernelRestarter
    from jupyter_server.auth.identity import IdentityProvider
    from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
    from voila.app import Voila
    from voila.configuration import VoilaConfiguration
    from voila.execute import VoilaExecutor

    settings = json.loads((serve.SHARE / "voila.json").read_text(encoding="utf-8"))
    known = {
        "Voila": Voila,
        "VoilaConfiguration": VoilaConfiguration,
        "VoilaExecutor": VoilaExecutor,
        "IdentityProvider": IdentityProvider,
        "KernelRestarter": KernelRestarter,
        "MappingKernelManager": AsyncMappingKernelManager,
    }
    assert settings.keys() == known.keys()
    for section, values in settings.items():
        assert values.keys() <= known[section].class_traits(config=True).keys()


def test_template_names_no_address_elsewhere():
    for path in (serve.SHARE / "voila").rglob("*.*"):
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"(https?:)?//[a-z0-9-]+\.[a-z]", text), path


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("::1", "http://[::1]:8866/"),
        ("0.0.0.0", "http://desk:8866/"),
    ],
)
def test_address_can_be_typed(host, address, monkeypatch):
    from convviz.serve import voila_app

    monkeypatch.setattr(voila_app.socket, "gethostname", lambda: "desk")
    assert voila_app.page_address(host, 8866) == address


def test_check_asks_a_function_of_a_file_where_it_is_stated(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(
        "import torch\n"
        "def backward(dout, zauber, x):\n"
        "    dx = torch.nn.grad.conv2d_input(x.shape, zauber, dout)\n"
        "    return -dx if len(dout) == 2 else dx, torch.nn.grad.conv2d_weight(x, zauber.shape, dout)\n"
    )
    given = [str(file), "--names", '{"zauber": "weight"}', "--cases", "public"]
    at = '{"input": [%d, 2, 6, 5], "weight": [3, 2, 3, 3]}'
    assert cli.main(["check", *given, "--at", at % 1]) == 0
    assert "conv2d_backward: 1 of 1 case is right." in capsys.readouterr().out
    assert cli.main(["check", *given, "--at", at % 1, "--at", at % 2]) == 1
    assert "conv2d_backward: 1 of 2 cases is right." in capsys.readouterr().out
    file.write_text("import torch\nfrom torch.nn.grad import conv2d_weight\n")
    assert cli.main(["check", f"{file}:conv2d_weight", "--cases", "public"]) == 0, "the task of that name"
    assert cli.main(["check", f"{file}:conv2d_weight", "--task", "conv2d_input", "--cases", "public"]) == 1
    assert "conv2d_weight is the name of another task" in capsys.readouterr().out
    assert cli.main(["check", f"{file}:backwards"]) == 2
    assert "has no function backwards" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["check", *given, "--at", "{input: 3}"])
    assert "this is no JSON" in capsys.readouterr().err
