"""Opens the pages of the layout sweep, gives them states and sizes, and has every screen judged."""

import contextlib
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from convviz.export.es_module import module_bytes
from convviz.export.site import app_of, site_files
from convviz.facts.i18n.current_language import use_locale
from convviz.facts.words import sentences
from convviz.lessons import lesson
from tests.browser.app_page import fresh_page
from tests.browser.serve_folder import serve
from tests.browser.server import ROOT

HERE = Path(__file__).parent
SCRIPTS = {"web": ROOT / "convviz" / "web", "facts": ROOT / "convviz" / "facts", "judge": HERE}
TYPES = {"js": "text/javascript", "mjs": "text/javascript", "css": "text/css", "json": "application/json"}
ELEMENT = """<!doctype html><html lang="{language}"><meta charset="utf-8"><title>Course</title>
<style>body {{ margin: 16px }}</style><script type="module" src="convviz.{language}.mjs"></script>
<main><convviz-board lang="{language}" state="v=2"></convviz-board></main></html>"""


class Files(BaseHTTPRequestHandler):
    """Serves the site, modules of the element, and the scripts that judge."""

    pages: dict[str, bytes] = {}  # noqa: RUF012

    def do_GET(self):
        """Answer with a file of the site, or of the source."""
        path = self.path.split("?")[0].lstrip("/")
        content = self.pages.get(path)
        folder, _, rest = path.partition("/")
        if content is None and folder in SCRIPTS and (SCRIPTS[folder] / rest).is_file():
            content = (SCRIPTS[folder] / rest).read_bytes()
        self.send_response(200 if content is not None else 404)
        self.send_header("Content-Type", TYPES.get(path.rpartition(".")[2], "text/html") + "; charset=utf-8")
        self.end_headers()
        self.wfile.write(content or b"")

    def log_message(self, *details):
        """Say nothing."""


@contextlib.contextmanager
def pages_server(languages):
    """Serve the static site and a page with the element in each language; yield the address."""
    pages = dict(site_files())
    for language in languages:
        pages[f"convviz.{language}.mjs"] = module_bytes(lang=language)
        pages[f"element.{language}.html"] = ELEMENT.format(language=language).encode()
    handler = type("Pages", (Files,), {"pages": pages})
    with serve(handler) as address:
        yield address


class Screens:
    """One page that stays open: a kind of place (window, touch or element) in one language."""

    def __init__(self, page, address, language, *, is_element=False):
        self.page, self.language, self.is_element = page, language, is_element
        name = f"element.{language}.html" if is_element else f"{app_of(language)}?lang={language}"
        page.goto(address + name)
        page.add_script_tag(url=f"{address}judge/layout_drive.js", type="module")
        page.wait_for_function("window.sweep")
        self.frame = None

    def show(self, state):
        """Open a state, and wait until it is drawn."""
        wanted = {"link": state.link, "introduction": state.introduction, "lesson": state.lesson}
        wanted["watched"] = state.watched
        if state.lesson:
            of = len(lesson(state.lesson)["steps"])
            wanted |= {"step": min(state.step, of), "ended": state.step > of, "done": state.done}
            with use_locale(self.language):
                wanted["count"] = sentences("lesson_player")("count", at=wanted["step"], of=of)
                wanted["title"] = sentences("lesson_titles")(f"{state.lesson}.title")
        return self.page.evaluate("(wanted) => sweep.show(wanted)", wanted)

    def resize(self, size):
        """Give the app the room of a size, and wait until it stands."""
        self.page.set_viewport_size({"width": size.width, "height": size.height})
        if (frame := (size.element, size.notebook)) != self.frame:
            self.page.evaluate("(room) => sweep.place(room)", {"element": size.element, "notebook": size.notebook})
            self.frame = frame
        self.page.evaluate("([width, height]) => sweep.rest(width, height)", [size.width, size.height])

    def judge(self):
        """Return the faults of the screen."""
        return self.page.evaluate("sweep.judge()")


@contextlib.contextmanager
def screens(browser, address, language, *, touch=False, is_element=False):
    """Yield an open page for screens of one kind."""
    with fresh_page(browser, has_touch=touch, locale=language, painted=True) as page:
        yield Screens(page, address, language, is_element=is_element)
