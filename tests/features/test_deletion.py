"""The core lives without any feature, and finds a new one: each folder goes in turn, then all, then one comes."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from convviz.facts.features import FEATURES, OF_A_NOTEBOOK
from convviz.facts.i18n.current_language import ENGLISH, READY, catalogue, languages
from tests.browser.app_page import fresh_page
from tests.browser.serve_folder import serve_folder

ROOT = Path(__file__).parents[2]
SKIPPED = shutil.ignore_patterns("__pycache__", "node_modules")
# Sweeps over random numbers and geometries, which reach no tab: most of the seconds.
SWEEPS = ("gradient_descent", "break_it_sentences", "diagnose_number", "what_hides_mistake", "true_cell_sentences")
SWEEPS += ("linked_cells", "window_reads", "window_positions", "both_readings")
LONG = {f"{name}.test.mjs" for name in SWEEPS}
SMALL = "v=2&size=2&kernel=1"  # the least to draw
# Writes the page that a server answers with, and its files; what is packed for the way nobody asks for here.
BUILD = """
import gzip, sys
from pathlib import Path
gzip.compress = lambda content, *_, **__: content
import convviz.export.live_page
convviz.export.live_page.packed_plotly = bytes
from convviz.serve.first_page import live_page
made, folder = live_page(), Path(sys.argv[1])
folder.joinpath("convviz").mkdir(parents=True)
folder.joinpath("index.html").write_bytes(made.page.content)
for name, file in made.files.items():
    folder.joinpath("convviz", name).write_bytes(file.content)
"""
WITHOUT_ANY = """
import sys
import convviz
from convviz.app.page_requests import TABS, answer
assert TABS == []
app = convviz.App(link="v=2&tab=linear&stride=2")
assert app.state()["tab"] == "" and app.state()["spec"]["stride"] == [2, 2]
assert answer({"type": "compute", "settings": app.state()}).message["type"] == "numbers"
convviz.export_html(app.state(), sys.argv[1])
convviz.App(lesson="why_rotated")
dir(convviz), convviz.check, convviz.nn, convviz.lab, convviz.explain
"""
ADDED = {
    "words.json": json.dumps({"title": "Hello, {name}"}),
    "tab.css": ".cv-pane-hello h3 { color: colour(light ink); }",
    "tab.js": """import WORDS from "./words.json" with { type: "json" };
import { element } from "../../web/base/dom.js";
import { sentences } from "../../web/base/sentences.js";
import { tab } from "../../web/tabs/pane.js";

const say = sentences(WORDS);

export default tab("hello", (pane, body) => {
  const title = element("h3");
  body.append(title);
  return () => title.replaceChildren(say("title", { name: "conv2d" }));
});
""",
    "data.py": "def data(settings, stages, choices):\n    return {'stride': settings.spec.stride}\n",
}
LINKED = """
from convviz.app.page_requests import answer
from convviz.facts.i18n.translatable_texts import all_texts
from convviz.settings.link import from_link
for name, data in (("hello", {"state": "alone"}), ("greeted", {"stride": (2, 2)})):
    settings, notices = from_link(f"v=2&stride=2&tab={name}")
    assert settings.tab == name and not notices
    made = answer({"type": "tab", "tab": name, "settings": settings.to_dict()}).message
    assert made["data"] == data, made
assert {"features/hello/words:title", "features/hello/feature:label"} <= all_texts().keys()
"""


class Copy:
    """A copy of the package, whose features come and go."""

    def __init__(self, root):
        self.root, self.features = root, root / "convviz" / "features"
        shutil.copytree(ROOT / "convviz", root / "convviz", ignore=SKIPPED)
        for tag in set(languages()) - {ENGLISH}:  # as a wheel has them: to read them anew takes each process longest
            text = json.dumps(catalogue(tag), ensure_ascii=False)
            root.joinpath("convviz", "facts", "i18n", "languages", f"{tag}{READY}").write_text(text, encoding="utf-8")
        self.out = root / "pages"
        self.out.mkdir()

    def run(self, code, *arguments):
        environment = {**os.environ, "PYTHONPATH": str(self.root)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # the next process need not compile what this one has
        command = [sys.executable, "-c", code, *map(str, arguments)]
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]

    @contextlib.contextmanager
    def without(self, *names):
        """Keep these features away meanwhile."""
        away = self.root / "away"
        away.mkdir(exist_ok=True)
        for name in names:
            self.features.joinpath(name).rename(away / name)
        try:
            yield
        finally:
            for name in names:
                away.joinpath(name).rename(self.features / name)

    def build(self, name):
        self.run(BUILD, self.out / name)

    def add(self, name, **says):
        folder = self.features / name
        folder.mkdir()
        feature = {"label": name.title(), "entry": name, **says}
        for file, text in {**ADDED, "feature.json": json.dumps(feature)}.items():
            folder.joinpath(file).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return Copy(tmp_path_factory.mktemp("features"))


@pytest.fixture(scope="module")
def kept_page(browser):
    """A page that opens one build after another."""
    with fresh_page(browser) as page:
        yield page


@pytest.fixture
def visit(kept_page, copy):
    """Return a function that opens a page of the copy and waits for its board; what breaks there fails the test."""
    with serve_folder(copy.out) as address:

        def go(name, link="v=2"):
            kept_page.goto(f"{address}{name}/#{link}")
            kept_page.locator("[data-settled*=page]").first.wait_for()
            return kept_page

        yield go
    broken, kept_page.page_errors[:] = [error.stack or error.message for error in kept_page.page_errors], []
    assert broken == []


def entries(page):
    return page.locator("[data-entry]").evaluate_all("(all) => all.map(({ dataset }) => dataset.entry)")


def entries_of(names):
    return list(dict.fromkeys(FEATURES[name]["entry"] for name in names))


def test_without_a_feature_its_entry_is_gone_and_the_rest_works(copy, visit):
    for gone in FEATURES:
        with copy.without(gone):
            copy.build(gone)
        left = [name for name in FEATURES if name != gone]
        page = visit(gone, f"{SMALL}&tab={gone}")
        assert entries(page) == entries_of(left), gone
        assert page.locator(".cv-pane").count() == 0, f"a link to {gone} opens no tab"
        entry = FEATURES[gone]["entry"]
        if parts := [name for name in left if FEATURES[name]["entry"] == entry and name not in OF_A_NOTEBOOK]:
            page.locator(f"[data-entry={entry}]").click()
            shown = page.locator(".cv-parts [data-tab]").evaluate_all("(all) => all.map(({ dataset }) => dataset.tab)")
            assert shown == (parts if len(parts) > 1 else shown), gone
            assert gone not in shown
        other = next(name for name in left if FEATURES[name]["works"] == "page")
        page.evaluate("(link) => { location.hash = link; }", f"{SMALL}&tab={other}")
        page.locator(f".cv-pane-{other}[data-shown]:not([data-shown=''])").wait_for()


def test_without_all_of_them_the_core_is_whole(copy, visit, tmp_path):
    with copy.without(*FEATURES):
        copy.run(WITHOUT_ANY, tmp_path / "page.html")
        copy.build("none")
    page = visit("none", "v=2&tab=linear")
    assert entries(page) == []
    assert page.locator(".cv-drawer-body").is_hidden()


@pytest.mark.skipif(not shutil.which("node"), reason="the JavaScript tests need node")
def test_without_all_of_them_the_cores_javascript_is_right(copy):
    for folder in ("js", "views"):
        shutil.copytree(ROOT / "tests" / folder, copy.root / "tests" / folder, ignore=SKIPPED)
    tests = sorted(path for path in copy.root.joinpath("tests", "js").glob("*.test.mjs") if path.name not in LONG)
    assert tests
    with copy.without(*FEATURES):
        # In one process: to start one for each and read the board again takes half of the seconds.
        every = copy.root / "tests" / "js" / "every.mjs"
        every.write_text("".join(f'import "./{path.name}";\n' for path in tests), encoding="utf-8")
        command = ["node", "--import", "./tests/js/read_folders.mjs", str(every)]
        done = subprocess.run(command, cwd=copy.root, capture_output=True, text=True)
    failed = [line for line in done.stdout.splitlines() if line.strip().startswith("not ok")]
    assert (done.returncode, failed) == (0, []), done.stdout[-3000:] + done.stderr[-3000:]


def test_a_folder_that_comes_is_a_tab_of_pages_links_and_catalogues(copy, visit):
    copy.add("hello", order=5, works="page")
    copy.add("greeted", order=1000, works="torch")
    copy.run(LINKED)
    copy.build("added")
    for name in ("hello", "greeted"):
        shutil.rmtree(copy.features / name)
    page = visit("added", "v=2&tab=hello")
    assert entries(page) == ["hello", *entries_of(FEATURES), "greeted"]
    assert page.locator(".cv-pane-hello h3").inner_text() == "Hello, conv2d"
    assert page.locator("[data-entry=hello]").inner_text() == "Hello"
