"""Make the pictures of the app: README's, as a first visitor sees it, docs/app.md's, with every part numbered, and
docs/race.md's.

Run from the repository after a visible change: python docs/screenshot.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.server import voila_server
from tests.chromium import HAS_ARRIVED, find_chromium

APP, FIRST, LAST, RACE = (Path(__file__).with_name(f"{name}.png") for name in ("app", "parts", "pinned", "race"))
# What docs/app.md names, in its order, and where it stands in the page: at first sight, and around a pinned cell.
FIRST_SIGHT = {
    "The question": ".cv-question",
    "Lessons": ".cv-lesson-start",
    "Entries": ".cv-tab[data-entry=mistakes]",
    "Language": ".cv-languages summary",
    "Lecture": ".cv-present",
    "The kernel": ".cv-set-weight",
    "Geometry": ".cv-set-kernel_size",
    "Undo, Redo, Reset, Share": ".cv-tools",
    "More": ".cv-more-controls > summary",
    "Train": ".cv-learn > summary",
    "Forward": "[data-equation=forward] .cv-title",
    "Send back": ".cv-sent-back select",
    "The loss between": "[data-equation=forward] .cv-term:last-child .cv-sign",
    "Backward, to the weight": "[data-equation=weight] .cv-title",
    "Backward, to the input": "[data-equation=input] .cv-title",
    "What a band does": "[data-equation=input] .cv-says",
    "Why": "[data-equation=input] .cv-whys",
    "Break it": "[data-equation=input] .cv-break-open",
    "both, stamps, window": ".cv-views",
    "Step through": "[data-equation=input] .cv-step",
    "Formula": "[data-equation=input] .cv-symbols-open",
    "A panel": "[data-equation=input] [data-panel=grad_input] .cv-name",
    "The 1": "[data-equation=input] [data-panel=grad_output] .cv-handle",
    "The line of truth": ".cv-truth",
    "The loss": ".cv-facts .cv-loss",
    "Colours": ".cv-scale",
    "Numbers as tables": ".cv-tables summary",
}
PINNED = {
    "A pinned cell": "[data-equation=input] [data-panel=grad_input] [data-cell='2,2']",
    "The tray": ".cv-tray",
    "Factor pairs": "[data-equation=input] .cv-key",
    "The sum": ".cv-sum",
    "A panel's menu": "[data-equation=input] [data-panel=grad_input] .cv-menu",
}
PARTS = {**FIRST_SIGHT, **PINNED}
NUMBER = """([selectors, first]) => selectors.forEach((selector, index) => {
  const found = [...document.querySelectorAll(selector)].find((one) => one.checkVisibility());
  if (!found) throw new Error(`${selector} is not to be seen`);
  const { left, top } = found.getBoundingClientRect();
  const badge = document.createElement("div");
  badge.textContent = index + first;
  badge.className = "badge";
  badge.style.cssText = `position: absolute; z-index: 99; min-width: 18px; border-radius: 3px; text-align: center;
    left: ${Math.max(0, left - 13)}px; top: ${Math.max(0, top - 11)}px;
    font: bold 13px/18px system-ui; color: #fff; background: #1b1f27`;
  document.body.append(badge);
})"""


def save(page: Page, path: Path, **options: Any) -> None:
    """Keep a picture of the page in 256 colours, which are enough, and half the size."""
    page.screenshot(path=path, **options)
    with Image.open(path) as image:
        image.quantize(256).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size // 1000} kB")


def main() -> None:
    """Serve the app, wait until torch has answered, and keep the pictures."""
    with voila_server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 860})
        page.add_init_script(HAS_ARRIVED)
        page.goto(server.url)
        page.wait_for_selector(".cv-board[data-from=torch]", timeout=60_000)
        save(page, APP)
        page.locator("[data-equation=input] .cv-title").hover()  # what a band offers is seen then
        page.evaluate(NUMBER, [list(FIRST_SIGHT.values()), 1])
        save(page, FIRST)
        page.evaluate("document.querySelectorAll('.badge').forEach((badge) => badge.remove())")
        page.locator(PINNED["A pinned cell"]).click()
        page.locator(".cv-product").first.wait_for()
        page.evaluate(NUMBER, [list(PINNED.values()), len(FIRST_SIGHT) + 1])
        top = page.locator("[data-equation=input]").evaluate("(band) => band.getBoundingClientRect().top") - 14
        save(page, LAST, clip={"x": 0, "y": top, "width": 1400, "height": 860 - top})
        page.set_viewport_size({"width": 1400, "height": 2000})
        page.goto(f"{server.url}#v=2&tab=race")
        page.reload()
        page.locator(".cv-pane-race .scatterlayer .js-line").first.wait_for(timeout=60_000)
        curves = page.locator(".cv-race-plots").bounding_box()
        save(page, RACE, clip={**curves, "width": curves["width"] + 14, "height": 296})  # the first row
        browser.close()


if __name__ == "__main__":
    main()
