"""Waits for what an action changes: until torch's numbers of the newest settings are painted."""

import contextlib

# A first start reads torch from a cold disk.
APPEARS_WITHIN_MS = 120_000
FOLLOWS_WITHIN_MS = 15_000

# The page shows numbers of its own at once, and then torch's in their place. Once these are there, or where no kernel
# is, settled has the step and who computed it: both are painted a frame later.
SETTLED = """(after) => {
  const { painted, from } = document.querySelector(".cv-board")?.dataset ?? {};
  const settled = document.querySelector(".cv-picture")?.dataset.settled;
  return settled === `${painted} ${from}` && Number(painted) > after;
}"""


def wait_painted(page, after=0, timeout=FOLLOWS_WITHIN_MS):
    """Wait until the board shows a later step than `after`, with the last numbers of all that was set."""
    page.wait_for_function(SETTLED, arg=after, timeout=timeout)


def settle(page):
    """Wait until the page shows all that torch has sent so far: nothing is drawn any more."""
    wait_painted(page)
    # A notebook's page has a kernel, which answers in order.
    page.evaluate(
        """async () => {
            const { kernel } = (await window.jupyterapp?.widgetManagerPromise?.promise) ?? {};
            await kernel?.requestKernelInfo();
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        }"""
    )


def painted(page):
    """Return the step that the board shows."""
    return int(page.locator(".cv-board").get_attribute("data-painted"))


@contextlib.contextmanager
def repaint(page):
    """Wait at the end until the board shows what the action inside changed."""
    before = painted(page)
    yield
    wait_painted(page, before)


def wait_value(page, panel, row, column, value):
    """Wait until a cell holds a value, up to the rounding of float32, and all others are of its step."""
    page.wait_for_function(
        """([panel, place, value]) => {
            const cell = document.querySelector(`[data-panel="${panel}"] [data-cell="${place}"]`);
            return Math.abs(Number(cell?.dataset.value ?? NaN) - value) <= 1e-6 * Math.max(1, Math.abs(value));
        }""",
        arg=[panel, f"{row},{column}", value],
        timeout=FOLLOWS_WITHIN_MS,
    )
    wait_painted(page)


def wait_notice(page, words):
    """Wait until the line of notices contains these words; return the whole line."""
    line = page.locator("p.cv-notice", has_text=words)
    line.wait_for(timeout=FOLLOWS_WITHIN_MS)
    return line.text_content()
