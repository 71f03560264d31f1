"""Make the README's picture: the app as a first visitor sees it. Run from the repository: python docs/screenshot.py"""

from __future__ import annotations

from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser.server import voila_server
from tests.chromium import find_chromium

PICTURE = Path(__file__).with_name("app.png")


def main() -> None:
    """Serve the app, wait until torch has answered, and keep a picture of the page."""
    with voila_server() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 860})
        page.goto(server.url)
        page.wait_for_selector(".cv-board[data-from=torch]", timeout=60_000)
        page.screenshot(path=PICTURE)
        browser.close()
    with Image.open(PICTURE) as image:  # 256 colours are enough, and half the size
        image.quantize(256).save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
