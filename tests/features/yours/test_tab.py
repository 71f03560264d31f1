"""The tab Your code: what test_jupyterlab.py asks of it, in an open JupyterLab; and a server runs nobody's code."""

from tests.browser.app_page import entry_of, wait_notice

# cs231n's style; what is wrong is one letter: the kernel is laid on as it is where the loops gather.
SOURCE = """
import numpy as np
import convviz

def my_backward(dout, cache):
    x, w, b, conv_param = cache
    stride, pad = conv_param["stride"], conv_param["pad"]
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    dx, dw, db = np.zeros_like(padded), np.zeros_like(w), dout.sum((0, 2, 3))
    for n in range(dout.shape[0]):
        for f in range(dout.shape[1]):
            for i in range(dout.shape[2]):
                for j in range(dout.shape[3]):
                    rows = slice(i * stride, i * stride + w.shape[2])
                    columns = slice(j * stride, j * stride + w.shape[3])
                    dw[f] += dout[n, f, i, j] * padded[n, :, rows, columns]
                    dx[n, :, rows, columns] += dout[n, f, i, j] * w[f, :, ::-1, ::-1]
    return dx[:, :, pad : pad + x.shape[2], pad : pad + x.shape[3]], dw, db

app = convviz.App(state={"tab": "yours"})
app
"""
PASTED = """
def my_weight(input, weight_size, grad_output, stride=1, padding=0):
    import torch
    found = torch.nn.grad.conv2d_weight(input, weight_size, grad_output, stride, padding)
    return found / input.shape[0]
"""


def check(page, task, name="", code=""):
    """Have a function checked, and wait for what comes of it."""
    pane = page.locator(".cv-pane-yours")
    pane.locator("select").nth(0).select_option(task)
    names = pane.locator("select").nth(1)
    if names.is_visible():  # not on a served page
        names.select_option(name)
    pane.locator("textarea").fill(code)
    pane.locator("[data-yours=check]").click()
    page.wait_for_function("!document.querySelector('.cv-pane-yours [data-yours=check]').disabled", timeout=60_000)
    return pane


def hint(pane, name):
    return pane.locator(f"details[data-hint={name}]")


def assert_a_wrong_function_of_the_notebook_is_named_in_three_steps(lab):
    pane = check(lab, "conv2d_backward", "my_backward")
    assert "Not right yet" in pane.locator(".cv-yours-wrong").inner_text()
    assert "Furthest off is grad_input[" in hint(pane, "where").inner_text()
    assert pane.locator(".cv-yours-map .cv-panel").count() == 3
    assert not hint(pane, "what").evaluate("details => details.open"), "the second step waits until it is wanted"
    hint(pane, "what").locator("summary").click()
    assert "The kernel lies the wrong way round." in hint(pane, "what").inner_text()
    hint(pane, "how").locator("summary").click()
    assert "180°" in hint(pane, "how").inner_text()
    hint(pane, "how").locator("button").click()
    wait_notice(lab, "The setting where this shows")
    assert pane.locator(".cv-yours-wrong").is_visible(), "what was found stays while the board moves"


def assert_a_pasted_function_is_checked_and_what_cannot_be_is_said(lab):
    pane = check(lab, "conv2d_weight", code=PASTED)
    hint(pane, "what").locator("summary").click()
    assert "divided by the batch size" in hint(pane, "what").inner_text()
    for code, sentence in {"": "Nothing to check yet", "def (": "SyntaxError"}.items():
        pane = check(lab, "conv2d_weight", code=code)
        assert sentence in pane.locator(".cv-pane-failure").last.inner_text(), code
        assert pane.locator("textarea").input_value() == code, "what was typed stays"
        assert not pane.locator(".cv-yours-result").is_visible(), "a verdict on other code goes"
        assert "Not right yet" not in pane.inner_text(), code
        assert "Not right yet" not in pane.locator(".cv-live").text_content(), code
        check(lab, "conv2d_weight", code=PASTED)


def test_a_served_app_runs_nobodys_code(app):
    entry_of(app, "yours").click()
    assert "Your code" not in app.locator(".cv-parts [role=tab]").all_inner_texts(), "it is not offered"
    app.evaluate("void (location.hash = 'v=2&tab=yours')")
    app.wait_for_function("document.querySelector('.cv-pane-yours')?.textContent.includes('shared server')")
    assert not app.locator(".cv-pane-yours textarea").is_visible()
