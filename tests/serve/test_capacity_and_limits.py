"""What a class may use of a machine: whether it fits, and the limits that are set for it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from convviz.serve import ServeError, capacity, report_capacity, server_environment, temporary_folders, visitor_limits
from convviz.serve.options import ServeOptions

MIB = 1 << 20
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux counts private memory")


def test_a_class_has_limits_and_who_serves_himself_has_none():
    limits = {"CONVVIZ_MEMORY_MIB": "512", "CONVVIZ_NICE": "5"}
    for options in ({"class_size": 3}, {"host": "0.0.0.0"}, {"allow_host": ("a.example",)}):
        assert limits.items() <= server_environment(ServeOptions(**options)).items(), options
    assert not limits.keys() & server_environment(ServeOptions()).keys()


def test_a_class_gets_its_connections_or_a_sentence(monkeypatch):
    monkeypatch.setattr(visitor_limits, "raise_file_limit", lambda: 1000)
    assert visitor_limits.connections_for(None) == 1000
    assert visitor_limits.connections_for(1) == 128, "a teacher's own tabs, too"
    assert visitor_limits.connections_for(100) == 1000
    with pytest.raises(ServeError, match=r"needs 2020 open files, and this system allows 2000: .*ulimit -n"):
        visitor_limits.connections_for(101)


def test_folders_of_processes_that_are_gone_are_removed_and_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(temporary_folders.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(temporary_folders.tempfile, "tempdir", str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    left = [tmp_path / f"convviz-kernels-{gone.pid}-abc", tmp_path / f"convviz-kernels-{10**30}-abc"]
    kept = [tmp_path / name for name in (f"convviz-races-{gone.pid}-x", f"convviz-kernels-{os.getpid()}-x", "voila_x")]
    kept += [tmp_path / "convviz-kernels-none", tmp_path / "convviz-kernels-1-of-somebody-else"]
    for folder in (*left, *kept):
        folder.mkdir()
        (folder / "file").touch()
    made = Path(temporary_folders.make_folder("kernels"))
    assert made.name.startswith(f"convviz-kernels-{os.getpid()}-")
    assert set(tmp_path.iterdir()) == {made, *kept}


# -- what a kernel may use

GREEDY = """
import os, resource, sys
import convviz, torch

app = convviz.App()
most = resource.getrlimit(resource.RLIMIT_DATA)
kept = bytearray(50 << 20)
convviz.App()
assert resource.getrlimit(resource.RLIMIT_DATA) == most, "a second app has no more"
assert os.getpriority(os.PRIO_PROCESS, 0) == max(5, int(sys.argv[1]))
before = app.state()
sentence = app.session.attempt(lambda: torch.zeros(1 << 27))
app.session.set_state({**before, "digit": 7})
print(sentence)
"""


@LINUX
def test_kernel_that_wants_more_memory_than_it_may_have_says_so_and_lives_on():
    limits = {"CONVVIZ_MEMORY_MIB": "200", "CONVVIZ_NICE": "5"}
    nice = str(os.getpriority(os.PRIO_PROCESS, 0))
    done = subprocess.run(
        [sys.executable, "-c", GREEDY, nice],
        env={**os.environ, **limits},
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    from convviz.app.validate_request import say

    assert say("memory") in done.stdout


# -- whether it fits


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine of files: what it says of its memory, and of the groups around this process."""
    root = tmp_path / "cgroup"
    (root / "class").mkdir(parents=True)
    monkeypatch.setattr(capacity, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(capacity, "OWN_CGROUP", tmp_path / "self")
    monkeypatch.setattr(capacity, "CGROUPS", ((root, *capacity.CGROUPS[0][1:]),))
    (tmp_path / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {16384 * 1024} kB\n")
    (tmp_path / "self").write_text("0::/class/lecture\n")
    return tmp_path


def limit(machine, group, most, used, files):
    folder = machine / "cgroup" / group
    (folder / "memory.max").write_text(f"{most}\n")
    (folder / "memory.current").write_text(f"{used * MIB}\n")
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {files * MIB}\n")


def test_what_is_free_is_the_least_of_the_machine_and_of_each_group_around(machine):
    assert capacity.available_mib() == 16384
    limit(machine, "class", 4096 * MIB, 1096, 96)
    assert capacity.available_mib() == 3096, "kept files go when somebody needs the room"
    limit(machine, "class", "max", 1000, 0)
    assert capacity.available_mib() == 16384
    (machine / "self").unlink()
    assert capacity.available_mib() == 16384


def test_a_class_hears_whether_it_fits_and_only_none_at_all_is_refused(machine, capsys):
    report_capacity(300, 2)
    assert capsys.readouterr().out == (
        "A class of 300 needs about 445 MiB with 2 workers, and 16384 MiB are free here: it fits.\n"
    )
    limit(machine, "class", (capacity.SERVER_MIB + capacity.TORCH_MIB + 2 * capacity.WORKER_MIB + 1) * MIB, 0, 0)
    report_capacity(20, 2)
    assert capsys.readouterr().out.endswith("it fits.\n")
    report_capacity(21, 2)
    assert capsys.readouterr().out.endswith(" MiB are free here: 20 students do.\n")
    with pytest.raises(ServeError, match="not even one student does: take fewer --workers"):
        report_capacity(1, 3)


def test_machine_that_does_not_report_its_memory_is_served_on_and_that_is_said(machine, capsys):
    (machine / "meminfo").unlink()
    report_capacity(300, 2)
    assert capsys.readouterr().out.startswith("Whether 300 students fit this machine cannot be known")
