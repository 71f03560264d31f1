"""The page behind the door of `convviz serve`: below a path, for who has the token, with no script but its own."""

import signal

import pytest

from convviz.facts.words import sentences
from tests.browser.app_page import OFFERED, open_app, open_tab, slide, slider_value, wait_notice
from tests.browser.server import voila_server
from tests.features.yours.test_tab import PASTED, check, hint

say = sentences("features/race")

# What the page itself may not do either: the browser says so with an event.
TRIES = {
    "script-src-elem": "const s = at.createElement('script'); s.textContent = '1'; at.body.append(s)",
    "script-src": "at.defaultView.setTimeout('1')",
    "script-src-attr": "at.body.insertAdjacentHTML('beforeend', '<b onclick=1></b>'); at.body.lastChild.click()",
    "connect-src": "at.defaultView.fetch('http://localhost:1/').catch(() => {})",
    "base-uri": "const b = at.createElement('base'); b.href = 'http://localhost:1/'; at.head.append(b)",
    "frame-src": "const f = at.createElement('iframe'); f.src = 'http://localhost:1/'; at.body.append(f)",
}


@pytest.fixture(scope="module")
def guarded():
    """A server below a path, for who has the token, that runs no race."""
    with voila_server(arguments=["--base-url", "/a/course/", "--token", "--races", "0"]) as server:
        yield server


def forbidden(page, code):
    """Run code on the page's document; return what the browser forbids."""
    return page.evaluate(f"""() => new Promise((resolve) => {{
        const [at, notify] = [document, (event) => resolve(event.effectiveDirective)];
        at.addEventListener("securitypolicyviolation", notify, {{ once: true }});
        {code};
    }})""")


def test_a_server_for_oneself_alone_checks_pasted_code_in_a_process_of_its_own(page, guarded):
    open_app(page, f"{guarded.url}#v=2&tab=yours")
    page.wait_for_selector(".cv-pane-yours textarea")
    assert not page.get_by_label("Function in this notebook").is_visible(), "there is none"
    pane = check(page, "conv2d_weight", code=PASTED)
    hint(pane, "what").locator("summary").click()
    assert "divided by the batch size" in hint(pane, "what").inner_text()
    reported = pane.locator("[data-yours=task]")
    assert reported.inner_text().startswith("It takes input, weight_size, grad_output, stride")
    option = pane.locator("option[value=conv1d_module]")
    assert option.text_content() == "conv1d_module: a layer, a torch.nn.Module"
    assert option.locator("xpath=..").get_attribute("label") == "Convolution of one axis"
    hint(pane, "how").locator("summary").click()
    hint(pane, "how").locator("button").first.click()
    wait_notice(page, "The setting where this shows")
    pane = check(page, "conv2d_weight", code=PASTED.replace("found / input.shape[0]", "found[99]"))
    assert page.locator(".cv-notice").first.inner_text() == "", "what was said of the code before"
    assert not pane.locator("progress").is_visible()
    pane.locator("[data-yours=line]").click()
    shown = pane.locator("textarea").evaluate("it => it.value.slice(it.selectionStart, it.selectionEnd)")
    assert shown == "    return found[99]"
    pane = check(page, "conv2d_weight", code="import os\nos._exit(3)")
    assert "exited with code 3" in pane.locator(".cv-pane-failure").last.inner_text()
    pane = check(page, "conv2d_weight", code=PASTED.replace(" / input.shape[0]", ""))
    assert pane.locator(".cv-yours-right").inner_text().startswith("Right:")


@pytest.mark.policy
@pytest.mark.plotly
def test_the_page_bears_its_policy_below_a_path_and_comes_back_after_a_restart(page, guarded):
    address = guarded.url.split("?")[0] + "#v=1"
    open_app(page, f"{guarded.url}#v=1")
    assert page.url == address, "the token has left the address"
    for tab in OFFERED:
        open_tab(page, tab)
        if tab == "race":
            assert page.locator(".cv-pane-race .cv-race-note").text_content() == say("alone").replace("`", "")
            assert page.locator(".cv-pane-race [data-race=start]").is_hidden()
            assert page.locator(".cv-pane-race .cv-race-recorded").is_visible()
    assert page.complaints == [], "nothing that the page needs is forbidden"
    for directive, code in TRIES.items():
        assert forbidden(page, code) == directive, code

    slide(page, "stride", 3)
    guarded.process.send_signal(signal.SIGHUP)
    page.locator("body[data-convviz-torch=away]").wait_for(timeout=60_000)
    page.locator("body[data-convviz-torch=ok] .cv-board[data-from=torch]").wait_for(timeout=60_000)
    assert slider_value(page, "stride") == 3
    assert page.url == address
