"""The app in VS Code's and in Colab's own widget managers, beside a kernel that is this process.

What VS Code and Colab have around them is not tried. The managers are made by others; CONTRIBUTING.md says where they
come from. Without them the tests are skipped.
"""

import base64
import json
import os
from importlib.resources import files
from pathlib import Path

import comm
import pytest
import torch
from comm.base_comm import BaseComm
from ipywidgets.widgets.widget import _instances, _remove_buffers

import convviz
from convviz.app.script_carrier_widget import Script
from tests.browser.app_page import press_tab, read_panel, slide, wait_painted
from tests.browser.app_page.waits import APPEARS_WITHIN_MS

PATHS = {"vscode": "CONVVIZ_VSCODE_WIDGETS", "colab": "CONVVIZ_COLAB_WIDGETS"}
MANAGERS = {name: Path(os.environ[variable]) for name, variable in PATHS.items() if os.environ.get(variable)}
if not MANAGERS:
    named = " and ".join(PATHS.values())
    pytest.skip(f"{named} name no widget manager", allow_module_level=True)  # all at once: one line in the summary

HOME = "http://manager.localhost/"
PAGE = '<!doctype html><meta charset="utf-8"><title>A widget manager</title><main></main>'
SCRIPT = Path(__file__).with_name("widget_managers.js").read_text(encoding="utf-8")


class Kernel:
    """The kernel's side of the comms: what it says waits until the page asks for it."""

    def __init__(self):
        self.said = []

    def comm(self, **given):
        said = self.said

        class PageComm(BaseComm):
            def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **_):
                packed = [pack(buffer) for buffer in buffers or []]
                message = {"type": msg_type, "id": self.comm_id, "data": data, "metadata": metadata or {}}
                said.append(message | {"buffers": packed})

        return PageComm(**given)

    def answer(self, _, text):
        message = json.loads(text)
        if message["type"] == "state":
            state, paths, buffers = _remove_buffers(_instances[message["id"]].get_state())
            return json.dumps({"state": state, "paths": paths, "buffers": [pack(buffer) for buffer in buffers]})
        if message["type"] == "message" and message["id"] in _instances:
            content = {"content": {"data": message["data"]}, "header": {"msg_id": "1"}}
            given = [memoryview(base64.b64decode(buffer)) for buffer in message["buffers"]]
            _instances[message["id"]].comm.handle_msg(content | {"buffers": given})
        answer, self.said[:] = json.dumps(self.said), []
        return answer


def pack(buffer):
    return base64.b64encode(bytes(buffer)).decode()


@pytest.fixture(params=MANAGERS)
def shown(request, page, monkeypatch):
    """(the app, the page in which the manager shows it)."""
    name, kernel = request.param, Kernel()
    monkeypatch.setattr(comm, "create_comm", kernel.comm)
    monkeypatch.setattr(Script, "_shared", None)
    app = convviz.App()
    runtime = files("anywidget").joinpath("nbextension", "index.js").read_text(encoding="utf-8")
    served = {"": PAGE, "manager.js": MANAGERS[name].read_text(encoding="utf-8"), "anywidget.js": runtime}

    def serve(route):
        asked = route.request.url
        known = "anywidget.js" if "/anywidget@" in asked else asked.removeprefix(HOME)  # Colab asks a CDN for it
        if known not in served:
            return route.abort()  # Colab's manager wants the icons of a font, from a CDN
        kind = "text/javascript" if known else "text/html"
        return route.fulfill(body=served[known], content_type=kind, headers={"access-control-allow-origin": "*"})

    page.context.route("**/*", serve)
    page.set_viewport_size({"width": 1366, "height": 900})
    page.expose_binding("toKernel", kernel.answer)
    page.goto(HOME)
    page.evaluate("([id, name]) => Object.assign(window, { MODEL: id, MANAGER: name })", [app.model_id, name])
    page.add_script_tag(content=SCRIPT, type="module")
    page.locator(".cv-board[data-from=torch]").wait_for(timeout=APPEARS_WITHIN_MS)
    wait_painted(page)
    yield app, page
    app.close()


def test_the_app_lives_in_it(shown):
    app, page = shown
    slide(page, "stride", 2)
    page.locator(".cv-board[data-from=torch]").wait_for()
    assert app.stride == 2
    assert torch.equal(read_panel(page, "output"), app.session.result.output[0, 0].double())
    app.stride = 1
    page.wait_for_function("document.querySelector('.cv-set-stride input').value === '1'")
    page.locator(".cv-board[data-from=torch]").wait_for()
    page.locator("[data-panel=weight] [data-cell='0,0']").first.dblclick()
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('[data-panel=output] [data-cell=\"0,1\"]').dataset.value === '135'")
    page.locator(".cv-board[data-from=torch]").wait_for()
    assert app.state()["weight"]["values"][:2] == [7, 2]
    assert torch.equal(read_panel(page, "output"), app.session.result.output[0, 0].double())


def test_each_tab_comes_with_its_numbers(shown):
    _, page = shown
    for tab in ("matrix", "code", "double", "network"):
        press_tab(page, tab)
        page.locator(f'.cv-pane-{tab}[aria-busy=false][data-shown]:not([data-shown=""])').wait_for()
        assert page.locator(f".cv-pane-{tab} > .cv-pane-failure").text_content() == ""
    press_tab(page, "graph")
    page.locator("[data-opens-into]").first.click()
    page.locator(".cv-pane-graph .cv-tensors [data-cell]").first.wait_for()  # its numbers come as bytes
