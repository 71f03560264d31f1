"""Make the pictures of the app: README's, as a first visitor sees it, and docs/app.md's, with every part numbered.

Run from the repository after a visible change: python docs/screenshot.py
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.browser.server import voila_server
from tests.chromium import HAS_ARRIVED, find_chromium

APP, PARTS_PICTURE = (Path(__file__).with_name(name) for name in ("app.png", "parts.png"))
# What docs/app.md names, in its order, and where it stands in the page.
PARTS = {
    "Lessons": ".cv-lesson-start",
    "Language": ".cv-languages summary",
    "Lecture": ".cv-present",
    "Undo, Redo, Reset, Share": ".cv-tools",
    "example, kernel": ".cv-set-example",
    "The kernel's numbers": ".cv-sliders",
    "Geometry": ".cv-set-kernel_size",
    "loss, grad_output": ".cv-set-loss_kind",
    "More": ".cv-more-controls",
    "Learn": ".cv-learn",
    "Forward": "[data-equation=forward] .cv-title",
    "Backward, to the input": "[data-equation=input] .cv-title",
    "Backward, to the weight": "[data-equation=weight] .cv-title",
    "A panel": "[data-equation=forward] [data-panel=output] .cv-name",
    "A panel's menu": "[data-equation=input] [data-panel=grad_input] .cv-menu",
    "The loss between": "[data-equation=forward] .cv-term:last-child .cv-sign",
    "Step through": "[data-equation=forward] .cv-step",
    "window, stamps": ".cv-views",
    "Colours": "[data-equation=forward] .cv-scale",
    "What a band does": "[data-equation=weight] .cv-caption",
    "Formula": "[data-equation=weight] .cv-symbols-open",
    "A pinned cell": "[data-panel=grad_input] [data-cell='2,2']",
    "The tray": ".cv-tray",
    "Factor pairs": "[data-equation=input] .cv-key",
    "The sum": ".cv-sum",
    "The loss": ".cv-facts .cv-loss",
    "The line of truth": ".cv-truth",
    "Numbers as tables": ".cv-tables summary",
    "Other views": ".cv-tab[data-entry=mistakes]",
}
NUMBER = """(selectors) => selectors.forEach((selector, index) => {
  const found = [...document.querySelectorAll(selector)].find((one) => one.checkVisibility());
  if (!found) throw new Error(`${selector} is not to be seen`);
  const { left, top } = found.getBoundingClientRect();
  const badge = document.createElement("div");
  badge.textContent = index + 1;
  badge.style.cssText = `position: absolute; z-index: 99; min-width: 18px; border-radius: 3px; text-align: center;
    left: ${Math.max(0, left - 13)}px; top: ${Math.max(0, top - 11)}px;
    font: bold 13px/18px system-ui; color: #fff; background: #1b1f27`;
  document.body.append(badge);
})"""


def save(page: Page, path: Path) -> None:
    """Keep a picture of the page in 256 colours, which are enough, and half the size."""
    page.screenshot(path=path)
    with Image.open(path) as image:
        image.quantize(256).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size // 1000} kB")


def main() -> None:
    """Serve the app, wait until torch has answered, and keep both pictures."""
    with voila_server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 860})
        page.add_init_script(HAS_ARRIVED)
        page.goto(server.url)
        page.wait_for_selector(".cv-board[data-from=torch]", timeout=60_000)
        save(page, APP)
        page.locator("[data-panel=grad_input] [data-cell='2,2']").first.click()
        page.locator(".cv-product").first.wait_for()
        page.mouse.move(0, 0)
        page.evaluate(NUMBER, list(PARTS.values()))
        save(page, PARTS_PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
