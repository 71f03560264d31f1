"""The code tab: what is copied runs and gives what the board shows, and lines and panels light each other up."""

import io
import keyword
import tokenize

import pytest
import torch

from convviz import ConvSpec
from convviz.explanation.snippet_setting import Setting
from convviz.facts.words import sentences
from convviz.features.code.runnable_script import RESULTS, snippet_file
from convviz.features.code.snippets import WAYS, snippets
from tests.browser.app_page import (
    autograd_of_page,
    cell,
    choose,
    entry_of,
    open_tab,
    read_panel,
    show_band,
    slide,
    switch,
)
from tests.browser.bare_page import expose
from tests.browser.call_javascript import Node, find_node
from tests.geometries import EDGE_CASES, random_specs

say = sentences("features/code")

CLIPBOARD = ["clipboard-read", "clipboard-write"]
DENIED = "navigator.clipboard.writeText = () => Promise.reject(new DOMException('no', 'NotAllowedError'));"
MISSING = "Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined });"
KEEP = """() => {
  window.clip = navigator.clipboard;
  window.write = clip.writeText.bind(clip);
  window.clipboardOf = Object.getOwnPropertyDescriptor(Navigator.prototype, "clipboard");
}"""
GIVE_BACK = """() => {
  Object.defineProperty(Navigator.prototype, "clipboard", clipboardOf);
  delete clip.writeText;
  delete document.execCommand;
}"""


@pytest.fixture
def app(app):
    open_tab(app, "code")
    choose_way(app, "rotate")  # the pane keeps what another test has chosen
    yield app
    if app.locator(".cv-numbers input:checked").count():  # what the pane was asked for, it keeps
        app.locator(".cv-numbers input").uncheck()
        wait_code(app, "torch.randn(")


def shown_code(page):
    """Return the code that stands in the pane, the folded part too."""
    lines = page.locator(".cv-code .cv-line").evaluate_all("all => all.map((line) => line.textContent)")
    return "".join(f"{line.rstrip(chr(10))}\n" for line in lines)


def wait_code(page, words):
    page.wait_for_function(
        "(words) => document.querySelector('.cv-code').textContent.includes(words)", arg=words, timeout=15_000
    )


def choose_way(page, name):
    page.locator(f"[data-way={name}]").click()
    assert page.locator("[data-way][aria-checked=true]").get_attribute("data-way") == name


def line_with(page, words):
    return page.locator(".cv-code .cv-line", has_text=words).first


def framed(page):
    return set(page.locator("[data-panel].cv-pointed").evaluate_all("all => all.map(({ dataset }) => dataset.panel)"))


def marked(page):
    return page.locator(".cv-code .cv-marked").evaluate_all("all => all.map((line) => line.textContent)")


def run(text):
    found = {"__name__": "__copied__", "print": lambda *_, sep: None}
    exec(compile(text, "copied", "exec"), found)
    return {name: torch.as_tensor(found[name]).detach() for name in RESULTS if name in found}


# -- the code ----------------------------------------------------------------------------------------------------


def test_each_way_stands_there_as_the_data_say_and_runs(app):
    switch(app, "bias", True)
    choose(app, "dtype", "float64")
    wait_code(app, "dtype=torch.float64")
    spec = ConvSpec((8, 8), stride=2, padding=1)
    for snippet in snippets(Setting(spec, dtype="float64")):
        choose_way(app, snippet.name)
        assert shown_code(app) == snippet_file(snippet).text
        assert app.locator(".cv-pane-code h4").text_content() == say(f"way.title.{snippet.name}")
        assert run(shown_code(app)).keys() == set(RESULTS)
    selected = app.evaluate("""() => {
        document.querySelector(".cv-tensors").open = true;
        getSelection().selectAllChildren(document.querySelector(".cv-code"));
        return getSelection().toString();
    }""")
    assert selected.rstrip("\n") == shown_code(app).rstrip("\n"), "numbers of lines are drawn, not selected"


def test_the_boards_numbers_give_what_the_board_shows_unless_they_are_too_many(app):
    slide(app, "in_channels", 2)
    switch(app, "bias", True)
    app.locator(".cv-numbers input").check()
    wait_code(app, "weight = torch.tensor([")
    expected = autograd_of_page(app)
    for name in WAYS:
        choose_way(app, name)
        found = run(shown_code(app))
        assert found.keys() == set(RESULTS)
        for result, tensor in found.items():
            assert torch.allclose(tensor.double(), expected[result].double(), 2e-5, 2e-5), (name, result)
    choose_way(app, "rotate")
    slide(app, "input_size", 12)
    wait_code(app, "torch.randn(1, 2, 12, 12")
    assert "input has 288" in app.locator(".cv-reason").text_content()
    assert app.locator(".cv-numbers input").is_disabled()
    slide(app, "input_size", 11)
    wait_code(app, "weight = torch.tensor([")
    assert app.locator(".cv-reason").text_content() == ""


def test_a_transposed_convolution_is_written_in_its_own_words(app):
    choose_way(app, "numpy")
    app.locator(".cv-numbers input").check()
    wait_code(app, "weight = np.array([")
    switch(app, "transposed convolution", True)
    wait_code(app, "padded_output = np.zeros(")
    assert app.locator("[data-way]").evaluate_all("all => all.map(({ dataset }) => dataset.way)") == list(WAYS)
    choose_way(app, "rotate")
    found = run(shown_code(app))
    # Named as on the board: a panel keeps the name that it has in the convolution.
    for result, panel in {"output": "grad_input", "grad_input": "output", "grad_weight": "grad_weight"}.items():
        assert torch.allclose(found[result][0, 0].double(), read_panel(app, panel), 2e-5, 2e-5), result
    line_with(app, "output = F.conv2d(padded_input, rotated_weight)").hover()
    assert framed(app) == {"padded_grad_output", "rotated_weight", "grad_input"}
    assert "padded_input, rotated_weight, output" in app.locator(".cv-linktext").text_content()


# -- copying -----------------------------------------------------------------------------------------------------


@pytest.fixture
def copying(app):
    """The app where a test may read the clipboard, and take from the page what writes it."""
    app.context.grant_permissions(CLIPBOARD)
    app.evaluate(KEEP)
    yield app
    app.evaluate(GIVE_BACK)
    app.context.clear_permissions()


def test_copy_gives_exactly_the_file_and_where_nothing_may_copy_the_text_is_selected(copying):
    page = copying
    copy = page.locator(".cv-pane-code").get_by_role("button", name="Copy", exact=True)
    for name, obstacle in (("function", ""), ("numpy", DENIED), ("rotate", MISSING)):
        page.evaluate(f"() => {{ {obstacle} }}")
        page.evaluate("window.write('before')")
        choose_way(page, name)
        page.locator(".cv-copied", has_text="Copied").wait_for(state="detached")
        copy.click()
        page.locator(".cv-copied", has_text="Copied").wait_for()
        copied = page.evaluate("window.clip.readText()")
        assert copied == shown_code(page)
        assert run(copied).keys() == {"output", "grad_input", "grad_weight"}
        assert copy.evaluate("(button) => button === document.activeElement")
        assert page.locator(".cv-pane .cv-copybox").is_hidden()
    page.evaluate("document.execCommand = () => false")
    copy.click()
    page.locator(".cv-copied", has_text="press Ctrl+C").wait_for()
    page.keyboard.press("Control+c")
    assert page.evaluate("window.clip.readText()") == shown_code(page)
    choose_way(page, "numpy")
    assert page.locator(".cv-pane .cv-copybox").is_hidden()


# -- linking -----------------------------------------------------------------------------------------------------


def test_a_line_frames_its_panels_until_the_tab_is_closed(app):
    assert framed(app) == set()
    line_with(app, "input = torch.randn(").hover()
    assert framed(app) == {"padded_input"}, "the board draws the input within its padding"
    line_with(app, "import torch").hover()
    assert framed(app) == set()
    app.mouse.move(2, 2)
    assert "Point at a line" in app.locator(".cv-linktext").text_content()
    line_with(app, "grad_input = F.conv2d(").focus()
    assert framed(app) == {"padded_grad_output", "rotated_weight", "grad_input"}
    assert "padded_grad_output, rotated_weight, grad_input" in app.locator(".cv-linktext").text_content()
    entry_of(app, "code").focus()
    app.keyboard.press("Enter")
    app.locator(".cv-pane-code").wait_for(state="detached")
    assert framed(app) == set()


def test_a_panel_marks_its_lines(app):
    cell(app, "rotated_weight", 1, 1).hover()
    assert marked(app) == [
        "rotated_weight = weight.flip(-2, -1)",
        "grad_input = F.conv2d(padded_grad_output, rotated_weight)",
    ]
    show_band(app, "forward")
    cell(app, "padded_input", 2, 2).hover()
    assert any(line.startswith("input = ") for line in marked(app))
    choose_way(app, "numpy")
    show_band(app, "input")
    cell(app, "rotated_weight", 1, 1).hover()
    assert marked(app) == []
    assert "No line of this version" in app.locator(".cv-linktext").text_content()
    app.mouse.move(2, 2)
    show_band(app, "weight")
    cell(app, "grad_weight", 1, 1).click()
    app.mouse.move(2, 2)
    app.locator(".cv-product").first.wait_for()
    assert any(line.startswith("grad_weight = ") for line in marked(app)), "a pinned cell stays marked"


def test_the_keyboard_alone_chooses_a_way_and_walks_the_lines(app):
    app.locator("[data-way=rotate]").focus()
    app.keyboard.press("ArrowRight")
    assert app.locator("[data-way][aria-checked=true]").get_attribute("data-way") == "aten"
    app.keyboard.press("ArrowLeft")
    stops = app.locator(".cv-code .cv-line[tabindex='0']")
    assert stops.count() == 1
    stops.focus()
    assert framed(app) == {"padded_input", "weight", "output"}
    for key, panels in (
        ("End", {"grad_weight"}),
        ("ArrowUp", {"padded_input", "dilated_grad_output", "grad_output", "grad_weight"}),
        ("Home", {"padded_input"}),
    ):
        app.keyboard.press(key)
        assert framed(app) == panels, key


# -- colours -----------------------------------------------------------------------------------------------------


def python_says(code):
    """Return {(line, column): kind} of the first character of every part that has a colour."""
    kinds = {tokenize.COMMENT: "comment", tokenize.STRING: "string", tokenize.NUMBER: "number"}
    found = {}
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        kind = kinds.get(token.type)
        if token.type == tokenize.NAME and keyword.iskeyword(token.string):
            kind = "keyword"
        if kind:
            found[token.start] = (kind, token.string)
    return found


def test_the_pages_tokens_are_pythons(request):
    path = find_node()
    place = Node(path) if path else request.getfixturevalue("page")
    expose(place, "base/python_tokens.js")
    specs = [*EDGE_CASES.values(), *random_specs(8, 10)]
    settings = (Setting(spec, dtype="float64", device="cuda:1") for spec in specs)
    codes = [snippet_file(each).text for setting in settings for each in snippets(setting)]
    codes.append(f"{' '.join(keyword.kwlist)}\n")
    codes.append('x1 = .5e-3 + 1.e6  # not "a string"\ny = \'it\\\'s\' + "# no comment"\nif_ = notin\n')
    read = place.evaluate("(codes) => codes.map((lines) => lines.map(pythonTokens))", [*map(str.splitlines, codes)])
    place.close()
    for code, lines in zip(codes, read, strict=True):
        found = {}
        for number, parts in enumerate(lines, 1):
            column = 0
            for kind, text in parts:
                if kind:
                    found[number, column] = (kind, text)
                column += len(text)
            assert "".join(text for _, text in parts) == code.splitlines()[number - 1]
        assert found == python_says(code)
