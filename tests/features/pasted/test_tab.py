"""The tab My numbers: the example is copied, what any program prints is read, and what is said is autograd's truth."""

import contextlib
import io
import json

import numpy as np
import pytest
import torch

from convviz.settings.compute import compute
from convviz.settings.link import from_link, to_link
from tests.browser.app_page import messages_sent, open_tab, press_tab
from tests.browser.axe import TAGS, assert_accessible

PANE = ".cv-pane-pasted"
FIELD = f"{PANE} .cv-pasted-field"
LINK = "v=2"
DROP = """([name, bytes]) => {
  const data = new DataTransfer();
  data.items.add(new File([new Uint8Array(bytes)], name));
  const field = document.querySelector(".cv-pasted-field");
  field.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
}"""


def right(link=LINK, name="grad_input"):
    """Return a result of a link's example, by autograd in float64."""
    return getattr(compute(from_link(f"{link}&dtype=float64")[0], compare=False), name)


def paste(page, text):
    page.locator(FIELD).fill(text)


def says(page, words):
    page.locator(f"{PANE} .cv-pasted-verdict", has_text=words).wait_for()


def open_pane(page):
    press_tab(page, "pasted")
    page.locator(FIELD).wait_for()
    paste(page, "")
    page.locator(f"{PANE} [data-of=grad_input]").click()
    return page


@pytest.fixture
def pane(opened):
    return open_pane(opened(LINK))


def test_what_numpy_and_torch_print_is_right_and_flipped_it_is_named(pane):
    truth = right()
    printed = [str(truth), repr(truth.numpy()), str(truth.numpy()), json.dumps(truth.tolist()), str(truth.float())]
    for text in printed:
        paste(pane, text)
        says(pane, "Right: all 25 numbers of grad_input agree.")
    grad_output, weight = right(name="grad_output"), from_link(LINK)[0]
    kernel = compute(weight, compare=False).weight.double().flip(2, 3)
    paste(pane, str(torch.nn.functional.conv_transpose2d(grad_output, kernel)))
    says(pane, "8 wrong, 17 right: grad_input has 25 numbers.")
    assert pane.locator(f"{PANE} [data-mistake]").first.get_attribute("data-mistake") == "I01"
    framed = pane.locator(f"{PANE} .cv-lit")
    framed.wait_for()
    assert framed.get_attribute("d").count("M") == 8


def test_the_copied_example_runs_and_what_it_prints_is_right(opened):
    """The text for PyTorch is a program: with the call under it, it prints the right numbers."""
    link = "v=2&in_channels=2&size=6x5&stride=2x1&padding=1&bias=1&input=random&weight=random&grad=random"
    pane = open_pane(opened(link))
    pane.locator(f"{PANE} select").select_option("torch")
    pane.wait_for_function("document.querySelector('.cv-pasted-example').value.includes('bias = torch')")
    pane.context.grant_permissions(["clipboard-read", "clipboard-write"])
    pane.locator(f"{PANE} [data-copy]").click()
    pane.get_by_text("Copied.", exact=True).first.wait_for()
    text = pane.evaluate("navigator.clipboard.readText()")
    assert text == pane.locator(".cv-pasted-example").input_value()
    call = (
        "for each in (input, weight, bias): each.requires_grad_()\n"
        "out = torch.nn.functional.conv2d(input, weight, bias, stride, padding, dilation, groups)\n"
        "out.backward(grad_output)\n"
    )
    program = {"__name__": "__main__"}  # nothing else is there
    exec(compile(f"{text}{call}", "copied", "exec"), program)
    for name, expression in {"grad_weight": "weight.grad", "output": "out", "grad_bias": "bias.grad"}.items():
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(f"print({expression})", program)
        pane.locator(f"{PANE} [data-of={name}]").click()
        paste(pane, printed.getvalue())
        says(pane, f"numbers of {name} agree" if name != "grad_bias" else "the only number of grad_bias agrees")


def test_what_does_not_parse_is_said_with_its_place_and_nothing_is_lost(pane):
    text = "[[1, 2, 3],\n [4, oops, 6]]"
    paste(pane, text)
    says(pane, "Line 2, column 6: \u201coops\u201d is not a number.")
    pane.get_by_role("button", name="Go to this place").click()
    assert pane.evaluate("[document.activeElement.selectionStart, document.activeElement.value]") == [17, text]
    pane.get_by_role("button", name="Close Check").click()
    pane.locator(PANE).wait_for(state="detached")
    pane.locator("[data-entry=check]").click()
    says(pane, "Line 2, column 6")
    assert pane.locator(FIELD).input_value() == text
    pane.context.grant_permissions(["clipboard-read", "clipboard-write"])
    pane.get_by_role("button", name="Copy link").click()
    pane.locator(".cv-notice").wait_for()
    link = pane.evaluate("navigator.clipboard.readText()")
    assert link.endswith("#v=2&dtype=float64&tab=pasted"), "a link keeps the example, not the numbers"


def test_a_npy_file_is_dropped_and_undo_brings_back_what_was_there(pane, tmp_path):
    paste(pane, "[1, 2]")
    says(pane, "Wrong shape: you pasted [2], grad_input is [1, 1, 5, 5].")
    path = tmp_path / "mine.npy"
    np.save(path, np.asfortranarray(right().numpy()[0, 0].T))
    pane.evaluate(DROP, ["mine.npy", list(path.read_bytes())])
    pane.locator(f"{PANE} [data-mistake=I05]").wait_for()
    pane.locator(FIELD).press("Control+z")
    says(pane, "Wrong shape: you pasted [2]")
    np.save(path, right().numpy().astype(np.complex64))
    pane.evaluate(DROP, ["mine.npy", list(path.read_bytes())])
    says(pane, "This file cannot be read: its type is c8.")
    assert pane.locator(FIELD).input_value() == "[1, 2]"


def test_an_example_tells_mistakes_apart_and_undo_leads_back(pane):
    kernel = compute(from_link(LINK)[0], compare=False).weight.double()
    paste(pane, str(torch.nn.functional.conv_transpose2d(right(name="grad_output"), kernel.flip(2, 3))))
    offered = pane.get_by_role("button", name="Open an example that tells them apart")
    offered.wait_for()
    settings = from_link(offered.get_attribute("data-link"))[0]
    offered.press("Enter")
    says(pane, "You pasted these numbers before the example changed.")
    pane.wait_for_function(
        "(shape) => document.querySelector('.cv-pane-pasted').textContent.includes(shape)",
        arg=str(list(right(to_link(settings)).shape)),
    )
    pane.locator(".cv-tools button").first.click()
    says(pane, "8 wrong, 17 right")
    assert pane.get_by_text("before the example changed").count() == 0


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)], ids=["wide", "phone"])
def test_it_can_be_read_and_used_by_keys_on_every_screen(opened, size):
    page = open_pane(opened(LINK, size))
    paste(page, str(right().flip(2)))
    page.locator(f"{PANE} .cv-lit").first.wait_for()
    for scheme, rules in (("dark", ["color-contrast"]), ("light", TAGS)):  # colours alone are others in the dark
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.locator(f"{PANE}[data-theme={scheme}]").wait_for()
        assert_accessible(page, f"{scheme} {size}", PANE, rules=rules)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.locator(f"{PANE} select").focus()
    stops = []
    for _ in range(5):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.className.split(' ')[0] || document.activeElement.tagName"))
    assert stops == ["cv-button", "cv-pasted-example", "cv-button", "cv-pasted-field", "cv-button"]
    page.locator(f"{PANE} [data-of=grad_input]").focus()
    page.keyboard.press("ArrowRight")
    says(page, "Wrong shape: you pasted [1, 1, 5, 5], grad_weight is [1, 1, 3, 3].")
    page.keyboard.press("ArrowLeft")
    says(page, "grad_input has 25 numbers")


def test_with_torch_behind_the_page_it_asks_nobody(app):
    """In the app, too, the page computes it: no request, and the example is float64 whatever torch computes in."""
    open_tab(app, "pasted")
    sent = messages_sent(app)
    paste(app, "[[1, 2], [3, 4]]")
    says(app, "Wrong shape")
    assert sent() == 0
