"""Writing a file: what is there is kept, replaced or refused, and what a path can be."""

import json
import os
import re
import socket
import stat
import sys
from pathlib import Path

import pytest

from convviz import file_io
from convviz.cli import main
from convviz.export.es_module import export_module
from convviz.export.page import export_html
from convviz.export.picture import export_picture
from convviz.file_io import write

ROOT = Path(__file__).parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="this system has neither pipes in folders nor modes")
EXPORTS = ((export_html, "x.html"), (export_picture, "x.svg"), (lambda _, path: export_module(path), "x.mjs"))


def mode_of(path):
    return stat.S_IMODE(path.lstat().st_mode)


def bind(path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


# What may stand at a path, and what is said about it.
THERE = (
    (lambda path: os.mkfifo(path), "no plain file"),
    (bind, "no plain file"),
    (lambda path: path.mkdir(), "a folder"),
    (lambda path: path.symlink_to(path.with_name("kept")), "a link to .*kept"),
    (lambda path: path.symlink_to(path.with_name("nowhere")), "a link to .*nowhere"),
    (lambda path: path.symlink_to("/dev/null"), "a link to /dev/null"),
)


@posix
def test_what_is_no_plain_file_stays_what_it_is(tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("kept")
    for export, name in EXPORTS:
        path = tmp_path / name
        for make, said in THERE:
            make(path)
            before = path.lstat()
            with pytest.raises(OSError, match=f"cannot be written to .*{said}.*; choose another path"):
                export(None, path)
            after = path.lstat()
            assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode), f"{name}: {said}"
            path.rmdir() if stat.S_ISDIR(after.st_mode) else path.unlink()
        assert sorted(each.name for each in tmp_path.iterdir()) == ["kept"], "nothing is left aside"
    assert kept.read_text() == "kept"


@posix
def test_who_may_read_a_file_may_afterwards_and_nobody_else(tmp_path, monkeypatch):
    path = tmp_path / "page"
    before = os.umask(0o022)
    try:
        write(path, b"first", "page")
        assert mode_of(path) == 0o644, "a new file is as every other"
        for mode in (0o600, 0o640, 0o666, 0o755, 0o444):
            path.chmod(mode)
            write(path, b"next", "page")
            assert mode_of(path) == mode
        path.chmod(0o600)
        seen, real = [], os.open
        monkeypatch.setattr(file_io.os, "open", lambda name, flags, mode: seen.append(mode) or real(name, flags, mode))
        write(path, b"secret", "page")
        assert seen == [0o600], "not for a moment is it there for others"
    finally:
        os.umask(before)


@posix
def test_a_link_that_was_planted_is_not_followed(tmp_path, monkeypatch):
    victim, path = tmp_path / "victim", tmp_path / "page"
    victim.write_text("mine")
    # As an earlier version named it, and as it is named when its chance is known.
    (tmp_path / f".page.{os.getpid()}").symlink_to(victim)
    write(path, b"page", "page")
    assert (victim.read_text(), path.read_bytes()) == ("mine", b"page")
    monkeypatch.setattr(file_io.secrets, "token_hex", lambda count: "0" * 2 * count)
    (tmp_path / f".convviz-{'0' * 16}").symlink_to(victim)
    with pytest.raises(FileExistsError, match="the page cannot be written to"):
        write(path, b"other", "page")
    assert (victim.read_text(), path.read_bytes()) == ("mine", b"page")


def test_a_path_that_no_file_can_have_gets_the_sentence_of_every_bad_path(tmp_path, capsys):
    for name in ("a\0b", "a\ud800b", "n" * 256, "none/a", "n" * 5000, ""):
        path = f"{tmp_path}/{name}"
        for words in ([], ["--module"], ["--svg"]):
            assert main(["export", *words, "-o", path]) == 1, repr(name)
            said = capsys.readouterr().err
            assert re.fullmatch("convviz: the (page|module|picture) cannot .*; choose another path\n", said), repr(name)
            assert said.isascii()
            assert "\0" not in said
    assert list(tmp_path.iterdir()) == []


def test_half_a_character_in_a_page_gets_an_error_in_a_sentence(tmp_path):
    path, lesson = tmp_path / "page.html", tmp_path / "lesson.json"
    own = json.loads((ROOT / "docs/examples/edge.json").read_text(encoding="utf-8"))
    own["title"] += "\ud800"
    lesson.write_text(json.dumps(own))
    for given in ({"title": "a\ud800"}, {"intro": "a *\udfff*"}, {"lesson": str(lesson)}):
        with pytest.raises(ValueError, match=r"^the page holds whole characters only: got half of one, '\\ud[8f]"):
            export_html(None, path, **given)
        assert not path.exists(), given
    for name in ("title", "intro"):
        with pytest.raises(ValueError, match=f"^{name} is a text: got 5; write it between quotes$"):
            export_html(None, path, **{name: 5})


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("n" * (255 - len(".html")) + ".html")
    assert write(path, b"page", "page").read_bytes() == b"page"
    assert list(tmp_path.iterdir()) == [path]


def test_a_dash_writes_the_same_bytes_to_stdout_and_no_word_beside(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    for words, name in (([], "x.html"), (["--module"], "x.mjs"), (["--png", "--panel", "output"], "x.png")):
        assert main(["export", *words, "-o", name]) == 0
        capfdbinary.readouterr()
        assert main(["export", *words, "-o", "-"]) == 0
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        assert (out, err) == ((tmp_path / name).read_bytes(), b"")
    assert not (tmp_path / "-").exists()
