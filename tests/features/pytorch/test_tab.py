"""The PyTorch tab shows what torch says of the page's setting, and follows it."""

import pytest
import torch

from convviz.ops.detect_torch_backend import which_backend
from tests.browser.app_page import choose, open_tab, see, slide

# The page's own words at one moment, once the pane is no longer waiting for newer data.
READ = """() => {
  const pane = document.querySelector(".cv-pane-pytorch");
  const texts = (selector) => [...pane.querySelectorAll(selector)].map((node) => node.textContent);
  const tree = (pass) => [...pane.querySelectorAll(`[data-tree=${pass}] .cv-op`)].map((row) =>
    "  ".repeat(row.style.getPropertyValue("--cv-depth")) + row.textContent);
  return {
    headline: texts("h3")[0], passes: texts("[data-pass]"), call: texts(".cv-call")[0], border: texts(".cv-border")[0],
    why: texts(".cv-reasons li"), forward: tree("forward"), backward: tree("backward"), bold: texts(".cv-main code"),
    changes: Object.fromEntries([...pane.querySelectorAll(".cv-changes tbody tr")].map((row) => [
      row.querySelector("th").textContent, [row.querySelector("td").textContent, row.dataset.differs]])),
    elsewhere: [...pane.querySelectorAll(".cv-elsewhere tbody tr")].map((row) =>
      [...row.children].map((cell) => cell.textContent)),
    files: Object.fromEntries([...pane.querySelectorAll(".cv-files tbody tr")].map((row) =>
      [...row.children].map((cell) => cell.textContent))),
    rules: texts(".cv-rules")[0],
    all: pane.textContent,
  };
}"""


@pytest.fixture
def app(app):
    open_tab(app, "pytorch")
    return app


def read(page, words):
    """Return what the pane says once it says these words of the present setting."""
    page.wait_for_function(
        """(words) => {
            const pane = document.querySelector(".cv-pane-pytorch");
            const call = pane.querySelector(".cv-call").textContent;
            return pane.getAttribute("aria-busy") === "false" && call.includes(words);
        }""",
        arg=words,
        timeout=15_000,
    )
    return page.evaluate(READ)


def truth(page):
    """Ask torch about the call that torch's layer makes for what the page shows."""
    seen = see(page)
    at, dtype = seen.geometry, getattr(torch, seen.dtype)
    padded, weight = (seen.tensors[name].to(dtype) for name in ("padded_input", "weight"))
    own, padding = padded, 0
    if at["mode"] == "zeros":
        (top, left), (height, width) = at["padding"], at["input_size"]
        own, padding = padded[..., top : top + height, left : left + width].contiguous(), at["padding"]
    return which_backend(own, weight, None, at["stride"], padding, at["dilation"], at["groups"])


def assert_true(page, words):
    shown, expected = read(page, words), truth(page)
    assert shown["passes"] == [expected.forward, expected.backward]
    assert expected.algorithm in shown["all"]
    assert [line.replace("\u00a0", " ") for line in shown["forward"]] == list(expected.forward_tree)
    assert shown["backward"] == list(expected.backward_tree)
    assert set(shown["bold"]) <= set(expected.chain)
    assert expected.grad_fn == "ConvolutionBackward0"
    assert "ConvolutionBackward0" in shown["all"]
    assert all(note in shown["all"] for note in expected.notes)
    for what, (backend, differs) in shown["changes"].items():
        assert (differs == "true") == (backend != expected.forward), what
    return shown


def test_it_shows_what_runs_and_follows_the_setting(app):
    shown = assert_true(app, "F.conv2d(input, weight, stride=2, padding=1) (float32, cpu)")
    assert shown["headline"].startswith("Forward: ")
    assert shown["border"] == ""
    assert torch.__version__ in shown["all"]
    neighbours = shown["changes"]
    assert shown["files"]["aten::convolution"] == "aten/src/ATen/native/Convolution.cpp"
    assert [row[:2] for row in shown["elsewhere"]] == [["cuda", "Cudnn"], ["mps", "Mps"], ["xpu", "Overrideable"]]
    assert "torch did not run there" in shown["rules"]
    choose(app, "dtype", "float64")
    shown = assert_true(app, "padding=1) (float64, cpu)")
    assert shown["passes"][0] == neighbours["float64"][0], "as it was predicted"
    assert shown["why"][0].startswith("oneDNN")
    assert shown["elsewhere"][1] == ["mps", "none", "Apple's devices have no float64."]
    slide(app, "in_channels", 2)
    slide(app, "out_channels", 2)
    choose(app, "groups", "2")
    shown = assert_true(app, "groups=2) (float64, cpu)")
    assert shown["why"][-1] == "It does not support groups: it runs 2 times, and aten::cat joins the results."


def test_a_border_of_copies_is_named_and_the_transposed_call_is_its_own(app):
    choose(app, "padding_mode", "circular")
    shown = assert_true(app, "F.conv2d(padded_input, weight, stride=2")
    assert 'mode="circular"' in shown["border"]
    choose(app, "padding_mode", "zeros")
    read(app, "F.conv2d(input, weight, stride=2, padding=1")
    app.locator(".cv-set-transposed input").press("Space")
    shown = read(app, "F.conv_transpose2d(input, weight, stride=2, padding=1")
    assert "Transpose" in shown["passes"][0]
    assert any("conv_transpose2d" in line for line in shown["forward"])
