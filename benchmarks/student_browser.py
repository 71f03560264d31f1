"""The real browser among the simulated students: what it loads, when it paints, how soon torch answers its slider."""

import contextlib
import re
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from benchmarks.chromium import PROBE
from benchmarks.ways import APP
from tests.chromium import find_chromium
from tests.conftest import CHROMIUM_ARGS

KERNEL = re.compile(r"/api/kernels/([0-9a-f-]{36})/channels")
FROM_TORCH = APP.torch[0]
SLIDER = '[data-slider="1,1"] input[type=range]'
STEPS = 5
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
# Milliseconds from the key to the frame in which the board says that its numbers, other ones than before, are torch's.
ANSWER = """() => new Promise((resolve) => {
  const { dataset } = document.querySelector(".cv-board");
  const before = dataset.painted;
  window.addEventListener("keydown", ({ timeStamp }) => {
    const look = () => {
      if (dataset.from !== "torch" || dataset.painted === before) return void requestAnimationFrame(look);
      window.took = performance.now() - timeStamp;
    };
    requestAnimationFrame(look);
  }, { capture: true, once: true });
  window.took = null;
  resolve();
})"""


@dataclass
class Visit:
    """What a real browser saw; times in seconds.

    Attributes:
        paint_s: From the navigation to the first thing on the screen.
        coloured_s: To the first heatmaps, of the page's own numbers.
        kernel_s: To torch's numbers on the board.
        answers: From keys on a slider to torch's numbers of them.
        trouble: What went otherwise, or empty.
        paths: Of all files that it asked the server for, in order.
        kernel_id: Its kernel's.
    """

    paint_s: float | None = None
    coloured_s: float | None = None
    kernel_s: float | None = None
    answers: list[float] = field(default_factory=list)
    trouble: str = ""
    paths: list[str] = field(default_factory=list)
    kernel_id: str = ""

    def front_end(self):
        """Return the paths of the files of Voilà's front end: while the kernel starts, and after it."""
        own = [path for path in self.paths if "/static/" in path or path.rpartition("/")[2].startswith("frame-")]
        later = [path for path in self.paths if "/labextensions/" in path]
        return [path for path in own if path not in later], later


@contextlib.asynccontextmanager
async def browser():
    """Start Chromium; yield it."""
    path = find_chromium()
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
        yield started
        await started.close()


@contextlib.asynccontextmanager
async def tab(started, seen):
    """Yield a page with an empty cache, whose requests are noted in a Visit; its tab is closed at the end."""
    context = await started.new_context(viewport={"width": 1400, "height": 900}, service_workers="block")
    await context.add_init_script(path=PROBE)
    page = await context.new_page()
    page.on("request", lambda request: _note(seen, request))
    page.on("websocket", lambda socket: _note_kernel(seen, socket))
    try:
        yield page
    finally:
        await page.close(run_before_unload=True)
        await context.close()


def _note(seen, request):
    parts = urlsplit(request.url)
    if parts.scheme == "http":
        seen.paths.append(f"{parts.path}?{parts.query}" if parts.query else parts.path)


def _note_kernel(seen, socket):
    if found := KERNEL.search(socket.url):
        seen.kernel_id = found[1]


async def look_around(page, address, seen, within_s):
    """Open the app, wait for torch's numbers and move a slider; what is reached is noted as it is reached.

    Args:
        page: Of a tab.
        address: The app's.
        seen: The Visit to fill.
        within_s: How long each wait may take.
    """
    from playwright.async_api import Error

    page.set_default_timeout(within_s * 1000)
    try:
        start = time.perf_counter()
        await page.goto(address, wait_until="commit")
        seen.coloured_s = await page.evaluate("([s, n]) => convvizProbe.first(s, n)", list(APP.first)) / 1000
        seen.paint_s = await page.evaluate(PAINT) / 1000
        await page.wait_for_selector(FROM_TORCH)
        seen.kernel_s = time.perf_counter() - start
        await page.locator(SLIDER).focus()
        for _ in range(STEPS):
            await page.evaluate(ANSWER)
            await page.keyboard.press("ArrowRight")
            await page.wait_for_function("() => window.took")
            seen.answers.append(await page.evaluate("() => window.took") / 1000)
    except Error as error:
        seen.trouble = error.message.splitlines()[0]
