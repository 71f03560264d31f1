"""What a class may use of a machine: its kernels' limits, whether they fit, and what the command line says of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from convviz.serve import ServeError, care, fits, limits_of, tell_room
from convviz.serve.care import ALONE, CLASS, care_of
from convviz.serve.options import ServeOptions

MIB = 1 << 20
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux counts private memory")


# -- what is wished for


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"class_size": 0}, "--class must be the number of students, 1 or more, and 0 is not"),
        ({"class_size": 30, "kernels": 10}, "--class 30 says already how many"),
        ({"class_size": 30, "notebook": "own.ipynb"}, "--class serves the app"),
        ({"idle_minutes": -1}, "--idle must be 0, for never, or a number of minutes, and -1 is not"),
        ({"idle_minutes": float("nan")}, "--idle must be"),
    ],
)
def test_a_class_that_cannot_be_is_refused_in_a_sentence(wishes, words):
    with pytest.raises(ServeError, match=words):
        ServeOptions(**wishes).checked()


def test_a_class_has_limits_and_who_serves_himself_has_none():
    assert care_of(ServeOptions()) == ALONE
    assert limits_of(ALONE) == {}
    assert care_of(ServeOptions(class_size=30)) == CLASS
    assert care_of(ServeOptions(class_size=30, idle_minutes=0)).idle_s == 0
    assert care_of(ServeOptions(idle_minutes=2.5)).idle_s == 150
    assert limits_of(CLASS) == {"CONVVIZ_MEMORY_MIB": "512", "CONVVIZ_NICE": "5"}
    assert ServeOptions(class_size=30).places == ServeOptions(kernels=30).places == 30


def test_a_page_that_is_gone_without_a_word_has_lost_its_kernel_within_half_a_minute():
    """A connection that misses two pings is found out at the third, and given up by tornado 5 s later."""
    assert 3 * CLASS.ping_s + 5 + CLASS.comes_back_s < 30


def test_as_many_kernels_start_at_a_time_as_there_are_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert care.starts_at_a_time() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert care.starts_at_a_time() == 1


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
        cwd=Path(__file__).parents[1],
    )
    from convviz.app.session import say

    assert say("memory") in done.stdout


# -- whether it fits


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine of files: what it says of its memory, and of the groups around this process."""
    root = tmp_path / "cgroup"
    (root / "class").mkdir(parents=True)
    monkeypatch.setattr(fits, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(fits, "OWN_CGROUP", tmp_path / "self")
    monkeypatch.setattr(fits, "CGROUPS", ((root, *fits.CGROUPS[0][1:]),))
    (tmp_path / "meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {16384 * 1024} kB\n")
    (tmp_path / "self").write_text("0::/class/lecture\n")
    return tmp_path


def limit(machine, group, most, used, files):
    folder = machine / "cgroup" / group
    (folder / "memory.max").write_text(f"{most}\n")
    (folder / "memory.current").write_text(f"{used * MIB}\n")
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {files * MIB}\n")


def test_what_is_free_is_the_least_of_the_machine_and_of_each_group_around(machine):
    assert fits.available_mib() == 16384
    limit(machine, "class", 4096 * MIB, 1096, 96)
    assert fits.available_mib() == 3096, "kept files go when somebody needs the room"
    limit(machine, "class", "max", 1000, 0)
    assert fits.available_mib() == 16384
    (machine / "self").unlink()
    assert fits.available_mib() == 16384


def test_too_many_kernels_are_told_with_what_fits_and_only_none_at_all_is_refused(machine, capsys, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    tell_room(300)
    assert capsys.readouterr().out == ""
    limit(machine, "class", (fits.SERVER_MIB + fits.WARM_MIB + 10 * fits.SHARED_MIB + 1) * MIB, 0, 0)
    tell_room(10)
    assert capsys.readouterr().out == ""
    tell_room(11)
    assert capsys.readouterr().out.endswith(" MiB that are free here: 10 do.\n")
    monkeypatch.setattr(sys, "platform", "darwin")
    tell_room(10)
    assert capsys.readouterr().out.startswith(f"10 kernels of {fits.OWN_MIB} MiB do not fit"), "by themselves"
    limit(machine, "class", fits.SERVER_MIB * MIB, 0, 0)
    with pytest.raises(ServeError, match="not one kernel of"):
        tell_room(1)


def test_machine_that_does_not_tell_its_memory_is_served_on_and_that_is_said(machine, capsys):
    (machine / "meminfo").unlink()
    tell_room(300)
    assert capsys.readouterr().out.startswith("Whether 300 kernels fit this machine cannot be known")
