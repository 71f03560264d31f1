"""The site for a static host: its names, its bytes, and the folder that it is written to."""

import errno
import hashlib
import os
import re

import pytest

from convviz.cli import main
from convviz.export.page_assets import SHOWN
from convviz.export.site import INDEX, site_files, write_site
from convviz.lessons import names

FRONTS = [INDEX, "zh-Hans.html", "zh-Hant.html"]
APPS = ["app.html", "app-zh-Hans.html", "app-zh-Hant.html"]
ARTICLE = {"article", "article_head", "article_styles"}
TABS = {f"tab-{tab}" for tab in SHOWN}
PARTS = {"styles", "script", "plotly", "recorded-race", *TABS, *(f"lesson-{name}" for name in names())}


def snapshot(folder):
    """Return path → bytes of all files below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def named_in(page):
    """Return the names of the files that a page names."""
    return {*re.findall(r'"(convviz/[^"]+)"', page.decode())}


def test_every_file_but_the_pages_is_named_after_what_it_holds_and_named_in_a_page():
    files = site_files()
    pages = {name: content for name, content in files.items() if name.endswith(".html")}
    assert {*pages} == {*FRONTS, *APPS}
    for name, content in files.items():
        if name not in pages:
            tag = re.fullmatch(r"convviz/[a-z_-]+-([0-9a-f]{16})\.[a-z]+", name)[1]
            assert tag == hashlib.sha256(content).hexdigest()[:16], name
    for name, page in pages.items():
        named = named_in(page)
        assert named <= set(files)
        parts = {name.removeprefix("convviz/").rpartition("-")[0] for name in named}
        assert parts == (PARTS if name in APPS else ARTICLE)
    assert {name for page in pages.values() for name in named_in(page)} == set(files) - set(pages)


def test_the_page_asks_for_no_kernel_and_for_nothing_outside_its_folder():
    for name in (*FRONTS, *APPS):
        addresses = re.findall(r'(?:href|src)="([^"]*)"', site_files()[name].decode())
        own = ("convviz/", "#", "data:", *FRONTS, *APPS)
        assert [each for each in addresses if not each.startswith(own)] == []
    assert "kernel" not in site_files()["app.html"].decode().lower()


def test_written_twice_it_has_the_same_bytes_and_nothing_is_written_anew(tmp_path, capsys):
    folder = tmp_path / "new" / "site"
    assert main(["site", "-o", str(folder)]) == 0
    size = sum(map(len, site_files().values())) / 1e6
    assert (
        capsys.readouterr().out
        == f"wrote {folder}: index.html and {len(site_files()) - 1} files beside it, {size:.1f} MB\n"
    )
    first, times = snapshot(folder), {path: path.stat().st_mtime_ns for path in folder.rglob("*.*")}
    assert first == site_files()
    assert main(["site", "-o", str(folder)]) == 0
    assert snapshot(folder) == first
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.*")} == times


def test_an_older_site_is_renewed_and_its_files_go(tmp_path):
    write_site(tmp_path)
    old = b"of an older version"
    stale = tmp_path / "convviz" / f"script-{hashlib.sha256(old).hexdigest()[:16]}.js"
    stale.write_bytes(old)
    (tmp_path / INDEX).write_bytes(b"<body data-convviz-site> of an older version")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".nojekyll").touch()
    write_site(tmp_path)
    assert not stale.exists()
    assert snapshot(tmp_path) == {**site_files(), ".nojekyll": b""}
    assert (tmp_path / ".git").is_dir()


def no_hash(folder):
    (folder / "convviz").mkdir()
    (folder / "convviz" / "app.js").touch()
    return "convviz/app.js"


def edited(folder):
    write_site(folder)
    path = next(folder.glob("convviz/styles-*.css"))
    path.write_bytes(path.read_bytes() + b"h1 { color: red }")
    return path.relative_to(folder).as_posix()


def file_of_that_name(folder):
    (folder / "convviz").touch()
    return "convviz"


def page_of_somebody(folder):
    (folder / INDEX).write_text("<h1>My course</h1>")
    return INDEX


def other_file(folder):
    write_site(folder)
    (folder / "syllabus.pdf").touch()
    return "syllabus.pdf"


def folder_in_it(folder):
    (folder / "convviz" / "old").mkdir(parents=True)
    return "convviz/old"


def link(folder):
    write_site(folder)
    path = folder / INDEX
    path.replace(folder.parent / "elsewhere.html")
    path.symlink_to(folder.parent / "elsewhere.html")
    return INDEX


@pytest.mark.parametrize("make", [no_hash, edited, file_of_that_name, page_of_somebody, other_file, folder_in_it, link])
def test_a_folder_with_what_is_not_ours_is_refused_and_stays_as_it_was(make, tmp_path, capsys):
    folder = tmp_path / "site"
    folder.mkdir()
    name = make(folder)
    before = snapshot(folder)
    assert main(["site", "-o", str(folder)]) == 1
    reported = capsys.readouterr().err
    assert reported == (
        f"convviz: the folder of a site holds nothing else, and {folder} has {name}, which is not of a site that "
        "convviz wrote: choose a new or an empty folder, or one with a site to renew\n"
    )
    assert snapshot(folder) == before


def test_a_full_disk_leaves_no_half_of_a_site(tmp_path, monkeypatch, capsys):
    def write(path, content, what):
        if path.name == "zh-Hans.html":
            raise OSError(errno.ENOSPC, "No space left on device")
        path.write_bytes(content)

    (tmp_path / ".git").write_bytes(b"of somebody")
    before = snapshot(tmp_path)
    monkeypatch.setattr("convviz.export.site.write", write)
    assert main(["site", "-o", str(tmp_path)]) == 1
    assert "No space left on device" in capsys.readouterr().err
    assert snapshot(tmp_path) == before


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path, capsys):
    path = tmp_path / "site"
    path.write_text("mine")
    assert main(["site", "-o", str(path)]) == 1
    assert capsys.readouterr().err == f"convviz: a site is a folder, and {path} is a file: choose another name\n"
    assert path.read_text() == "mine"


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder in which nobody can make one")
def test_a_folder_that_cannot_be_made_is_reported(capsys):
    assert main(["site", "-o", "/proc/self/site"]) == 1
    reported = capsys.readouterr().err
    assert (
        reported
        == "convviz: the folder /proc/self/site cannot be made: No such file or directory; choose another one\n"
    )


def test_the_new_page_comes_after_its_files_and_before_the_old_ones_go(tmp_path, monkeypatch):
    write_site(tmp_path)
    old = b"of an older version"
    stale = tmp_path / "convviz" / f"script-{hashlib.sha256(old).hexdigest()[:16]}.js"
    stale.write_bytes(old)
    for path in tmp_path.glob("convviz/s*"):
        if path != stale:
            path.unlink()
    (tmp_path / INDEX).write_bytes(b"<body data-convviz-site>")
    for page in (*FRONTS[1:], *APPS):
        (tmp_path / page).unlink()
    written = []
    monkeypatch.setattr(
        "convviz.export.site.write", lambda path, content, what: written.append((path.name, stale.exists()))
    )
    write_site(tmp_path)
    pages = [name for both in zip(APPS, FRONTS, strict=True) for name in both]
    kinds = [name if name in pages else name.split("-")[0] for name, _ in written]
    assert kinds == ["styles", "script", "script", "script", *pages]
    assert all(there for _, there in written)
    assert not stale.exists()
