"""Record a tour of what the app explains: a picture for each thing, and a moving one of the steps.

Run from the repository: python docs/tour.py [folder]. `app.md` explains what the pictures show.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from convviz.facts.features import OF_A_NOTEBOOK, TABS
from tests.browser.app_page import cell, open_app, press_tab, repaint, switch
from tests.browser.server import APP, voila_server
from tests.chromium import HAS_ARRIVED, find_chromium

SIZE = {"width": 1500, "height": 1000}
FRAMES = 16
# A layer of a user's own model, as an eighth of a notebook.
MODEL = """import torch, convviz
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(4, 2, 3, stride=2))
convviz.explain(model, torch.randn(1, 1, 9, 9), layer="2")"""


def pin(page, panel, row, column):
    """Pin a cell, and wait for its sum."""
    cell(page, panel, row, column).click()
    page.locator(".cv-product").first.wait_for()


def links(page):
    pin(page, "grad_input", 3, 3)


def stamps(page):
    with repaint(page):
        page.locator("[data-view=stamps]").click()
    row = page.locator("[data-equation=input]")
    row.scroll_into_view_if_needed()
    row.locator('[data-panel=grad_input] [data-cell="3,3"]').click()


def remainder(page):
    page.locator("[data-equation=forward] .cv-symbols-open").click()
    page.locator("[data-size='7,7']").hover()


def transposed(page):
    switch(page, "transposed convolution", True)


def tab(name):
    def open_tab(page):
        press_tab(page, name)
        page.locator(f'.cv-pane-{name}[data-shown]:not([data-shown=""])').wait_for()

    return open_tab


def inside_the_box(page):
    tab("graph")(page)
    page.locator("[data-opens-into]").click()
    page.get_by_role("button", name="Open the box").click()


PICTURES = {"links": links, "stamps": stamps, "remainder": remainder}
PICTURES |= {name: tab(name) for name in TABS if name not in OF_A_NOTEBOOK}
PICTURES |= {
    "inside_the_box": inside_the_box,
    "transposed": transposed,
}


def take_pictures(browser, url, folder):
    """Take one picture each of a fresh page."""
    for name, prepare in PICTURES.items():
        page = browser.new_page(viewport=SIZE)
        page.add_init_script(HAS_ARRIVED)
        open_app(page, url)
        prepare(page)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        page.screenshot(path=folder / f"{name}.png")
        page.close(run_before_unload=True)
        print(folder / f"{name}.png", flush=True)


def record_steps(browser, url, folder):
    """Step through the stamps, a frame a step."""
    page = browser.new_page(viewport=SIZE)
    page.add_init_script(HAS_ARRIVED)
    open_app(page, url)
    stamps(page)
    row = page.locator("[data-equation=input]")
    row.locator(".cv-step").click()
    frames = []
    for _ in range(FRAMES):
        frames.append(Image.open(io.BytesIO(row.screenshot())).convert("P", palette=Image.Palette.ADAPTIVE))
        row.get_by_role("button", name="Step forward").click()
    page.close(run_before_unload=True)
    path = folder / "steps.gif"
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=700, loop=0)
    print(path, flush=True)


def show_own_layer(browser, folder):
    """Serve a notebook that explains a layer of a model, and take its picture."""
    code = {"cell_type": "code", "id": "c", "metadata": {}, "outputs": [], "execution_count": None, "source": MODEL}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": [code], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "own_layer.ipynb"
        path.write_text(json.dumps(notebook), encoding="utf-8")
        with voila_server(path) as server:
            page = browser.new_page(viewport=SIZE)
            page.add_init_script(HAS_ARRIVED)
            open_app(page, server.url)
            page.screenshot(path=folder / "explain.png")
            page.close(run_before_unload=True)
    print(folder / "explain.png", flush=True)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "tour")
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        with voila_server(APP) as server:
            take_pictures(browser, server.url, folder)
            record_steps(browser, server.url, folder)
        show_own_layer(browser, folder)
        browser.close()


if __name__ == "__main__":
    main()
