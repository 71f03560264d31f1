"""The stage: everything is on the screen at once, nothing but panels moves under a slider, a band takes the focus."""

from tests.browser.app_page import go_to, repaint, show_all_controls, slider

DESKTOPS = [(1280, 720), (1366, 768), (1920, 1080)]
STATES = {"first": "v=3", "8 x 8": "v=1"}
# A panel, a heading, a primary control, the line with the sum: what of it is not wholly inside the window, and is seen.
OUTSIDE_THE_WINDOW = """() => [...document.querySelectorAll(
  ".cv-equation .cv-panel, .cv-equation h3, .cv-controls .cv-control, .cv-sum, .cv-loss, .cv-truth, " +
  ".cv-tools button"
)].filter((node) => node.checkVisibility()).filter((node) => {
  const { left, top, right, bottom } = node.getBoundingClientRect();
  return left < 0 || top < 0 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5;
}).map((node) => node.dataset.panel ?? node.className ?? node.textContent)"""
# Of each band, the panels that lie over another or leave the band's stage.
OVERLAPS = """() => [...document.querySelectorAll(".cv-equation")].flatMap((band) => {
  const stage = band.querySelector(".cv-stage").getBoundingClientRect();
  const boxes = [...band.querySelectorAll(".cv-panel")].filter((panel) => panel.checkVisibility())
    .map((panel) => [panel.dataset.panel, panel.getBoundingClientRect()]);
  const leaves = ({ left, right, top, bottom }) =>
    left < stage.left - 0.5 || right > stage.right + 0.5 || top < stage.top - 0.5 || bottom > stage.bottom + 0.5;
  const over = (one, other) =>
    one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
  return boxes.filter(([, box], index) => leaves(box) || boxes.slice(index + 1).some(([, other]) => over(box, other)))
    .map(([name]) => name);
})"""
BANDS = "() => document.querySelector('[data-stage]').dataset.bands"
CELLS = """() => Object.fromEntries([...document.querySelectorAll(".cv-panel")]
  .filter((panel) => panel.checkVisibility())
  .map((panel) => [panel, panel.querySelector("[role=grid]").ariaColCount])
  .map(([panel, columns]) => [panel.dataset.panel, panel.querySelector(".cv-area").clientWidth / columns]))"""
LETTERS = """() => [...document.querySelectorAll(".cv-numbered .cv-printed text")].filter((text) =>
  getComputedStyle(text).visibility === "visible" && text.checkVisibility()
  && (text.matches(".cv-zero") || text.textContent.length < 5)
).map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getCTM().a)"""
MOVE = """(input, value) => {
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}"""
# Where things stand. Where there are several bands, a title goes with its own, which takes of the others what it needs.
STANDS = "[data-bands=one] .cv-head :is(h3, .cv-tools-of-band button), .cv-tools button, .cv-block .cv-control, .cv-sum"
STAYS_ON_A_PHONE = ".cv-block .cv-control"  # the page scrolls below its sliders, which stay where the finger is
PLACES = """(selector) => Object.fromEntries([...document.querySelectorAll(selector)].filter((node) =>
  node.checkVisibility()).map((node) => {
  const { left, top } = node.getBoundingClientRect();
  const words = node.querySelector("select") ? "" : node.textContent.slice(0, 20); // a kernel's cells are listed
  return [`${node.className} ${words}`.replace(/[\\d.,\\u2212]+$/, ""), [left, top]];
}))"""


def test_all_bands_the_controls_and_the_sum_are_on_one_screen(opened):
    for size in DESKTOPS:
        for name, link in STATES.items():
            stage, about = opened(link, size), f"{name} at {size}"
            assert stage.evaluate(OUTSIDE_THE_WINDOW) == [], about
            assert stage.evaluate(OVERLAPS) == [], about
            assert stage.evaluate("document.documentElement.scrollHeight <= innerHeight"), about
            shown = stage.evaluate(CELLS)
            assert {"output", "grad_input", "grad_weight"} <= set(shown), about
            assert min(shown.values()) >= (16 if name == "first" else 10), (about, shown)
            letters = stage.evaluate(LETTERS)
            assert name != "first" or letters, about
            assert all(letter >= 9.9 for letter in letters), (about, sorted(set(letters))[:3])


def test_formulas_wait_behind_a_button(opened):
    band = opened().locator("[data-equation=input]")
    assert band.locator(".cv-formula").is_hidden()
    band.get_by_role("button", name="Formula").click()
    reported = band.locator(".cv-formula").get_attribute("aria-label")
    assert reported == "grad_input = Σ_ij grad_output[i, j] · weight laid at (i, j)"


def test_a_word_is_explained_to_pointer_keyboard_and_finger(opened, touched):
    stage = opened()
    help = stage.locator(".cv-help")

    def explain_each(place):
        for word in stage.locator(f"{place} .cv-control [data-help]:visible").all():
            word.hover()
            stage.wait_for_function("!document.querySelector('.cv-help').hidden")
            assert len(help.inner_text()) > len(word.inner_text()) + 12, "it says more than its label"
            stage.mouse.move(700, 2)
            help.wait_for(state="hidden")

    explain_each(".cv-block")
    stage.locator(".cv-more-controls > summary").click()
    stage.locator(".cv-advanced > summary").click()
    explain_each(".cv-more-controls")  # it hangs over some of the others
    assert stage.locator(".cv-set-seed [data-help]").count() == 1
    slider(stage, "stride").focus()
    stage.keyboard.press("Tab")
    help.wait_for()
    focused = "document.activeElement.getAttribute('aria-describedby') === document.querySelector('.cv-help').id"
    assert stage.evaluate(focused)
    stage.keyboard.press("Escape")
    help.wait_for(state="hidden")
    phone = touched(size=(390, 844))
    phone.locator(".cv-set-padding [data-help]").first.tap()
    phone.locator(".cv-help").wait_for()
    assert phone.locator(".cv-sum").inner_text() == "Tap a cell: its sum appears here."


def test_nothing_but_panels_moves_while_a_slider_moves(opened):
    for size, state in (((1280, 720), "v=1"), ((390, 844), "v=1")):
        stage = opened(state, size)
        is_phone = size[0] < 480
        if not is_phone:
            show_all_controls(stage)
        stands = STAYS_ON_A_PHONE if is_phone else STANDS
        start = stage.evaluate(PLACES, stands)
        assert len(start) > 4
        for name in ("kernel_size", "stride", "padding", *(["dilation"] * (not is_phone))):
            control = slider(stage, name)
            before = control.input_value()
            low, high = (int(control.get_attribute(end)) for end in ("min", "max"))
            for value in dict.fromkeys((low, min(high, 4), high, int(before))):
                if int(control.input_value()) == value:
                    continue
                with repaint(stage):
                    control.evaluate(MOVE, str(value))
                now = stage.evaluate(PLACES, stands)  # without the titles where all bands have room again
                moved = {key: (at, now[key]) for key, at in start.items() if now.get(key, at) != at}
                assert moved == {}, f"{name} {value} of {state}"
                assert stage.evaluate(OVERLAPS) == [], f"{name} {value} of {state}"


def test_no_panel_moves_while_a_cell_is_pinned(opened):
    places = """() => [...document.querySelectorAll(".cv-area")].filter((area) => area.checkVisibility()).map((area) =>
      [area.closest("[data-panel]").dataset.panel, area.clientWidth, area.getBoundingClientRect().left,
        area.getBoundingClientRect().top + scrollY])"""
    for size, state in (((1366, 768), "v=1"), ((1366, 768), "v=2"), ((1280, 720), "v=1"), ((390, 844), "v=1")):
        stage = opened(state, size)
        start = stage.evaluate(places)
        for cell in ("0,0", "2,2"):
            stage.locator(f'[data-panel="grad_input"] [data-cell="{cell}"]').click()
            stage.locator(".cv-sum", has_text=f"grad_input[{cell}]").wait_for()
            stage.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            assert stage.evaluate(places) == start, f"[{cell}] of {state} at {size}"


def test_a_picture_that_is_changed_to_is_laid_out_as_one_that_was_loaded(opened, reader):
    """Panels that stay stand among others that come: each has its own size, not its neighbour's."""
    for state in ("v=1&dilation=3", "v=1&transposed=1&padding=0"):
        reader.goto("about:blank")
        stage = opened(state)
        loaded = stage.evaluate(CELLS)
        opened()
        go_to(stage, state)
        assert stage.evaluate(CELLS) == loaded, state
        assert stage.evaluate(OVERLAPS) == [], state


def test_how_many_bands_are_in_sight_follows_from_the_state_and_the_window_alone(opened, reader):
    """Whatever stood there before: a formula that was open, a picture with longer words, a lower window."""
    kernel, one = "v=2&kernel=6&size=12", "v=2&input=digit&size=8&weight=sobel_x&grad=ones"
    longer = "v=2&padding=1&mode=reflect&view=window&in_channels=2&out_channels=2&stride=2"
    ways = [  # the state and the window, what is open before it, and the window before it
        (kernel, (1280, 720), longer, (1366, 768)),
        (kernel, (1280, 720), kernel, (1280, 600)),
        (one, (1090, 640), "v=2&size=14", (1008, 779)),
        (one, (1090, 640), one, (1090, 900)),
    ]
    first = {}  # each as it is when the page is loaded with it
    for link, size in {way[:2]: None for way in ways}:
        reader.goto("about:blank")
        stage = opened(link, size)
        first[link, size] = [stage.evaluate(BANDS), stage.evaluate(CELLS)]
    for link, size, before, window in ways:
        loaded = first[link, size]
        opened(before, window)
        formula = stage.locator(".cv-equation[data-in-use] .cv-symbols-open")
        formula.click()
        formula.click()
        assert [opened(link, size).evaluate(BANDS), stage.evaluate(CELLS)] == loaded, (link, size, before, window)


def test_a_formula_that_is_open_keeps_the_bands_and_their_numbers(opened):
    """The picture grows by what its lines take of the numbers' room, and the page scrolls."""
    numbered = """() => [...document.querySelectorAll("[data-equation=input] .cv-panel:has(.cv-numbered)")]
      .map((panel) => panel.dataset.panel)"""
    stage = opened("v=2&kernel=6&size=12", (1280, 720))
    assert stage.evaluate(BANDS) == "all"
    before = stage.evaluate(numbered)
    assert "grad_input" in before
    stage.locator("[data-equation=input] .cv-symbols-open").click()
    stage.wait_for_function("() => document.documentElement.scrollHeight > innerHeight")
    assert stage.evaluate(BANDS) == "all"
    assert stage.evaluate(numbered) == before


def test_a_band_takes_the_focus_and_gives_it_back(opened):
    stage = opened("v=1", DESKTOPS[0])
    before = stage.evaluate(CELLS)  # of the settled picture: right after Esc the room is dealt out anew
    stage.keyboard.press("3")  # before anything has the focus
    stage.locator("[data-equation=weight][data-focus]").wait_for()
    stage.keyboard.press("Escape")
    stage.locator("[data-equation=weight]:not([data-focus])").wait_for()
    title = stage.locator("[data-equation=weight] .cv-title")
    title.click()
    stage.wait_for_function(
        "document.querySelector('[data-focus] [data-panel=grad_weight] .cv-area').clientWidth >= 78"
    )
    assert stage.locator("[data-strip]").count() == 0, "it has the larger share, and all bands stay"
    assert title.get_attribute("aria-pressed") == "true"
    assert stage.locator("[data-focus] .cv-wordless").count() == 0, "in focus the numbers are printed"
    assert stage.evaluate(OUTSIDE_THE_WINDOW) == []
    stage.keyboard.press("Escape")
    stage.locator("[data-equation=weight]:not([data-focus])").wait_for()
    stage.keyboard.press("2")
    stage.locator("[data-equation=input][data-focus]").wait_for()
    stage.keyboard.press("2")
    stage.wait_for_function(
        "(wide) => document.querySelector('[data-panel=grad_weight] .cv-area').clientWidth === 3 * wide",
        arg=before["grad_weight"],
    )
    assert stage.evaluate(CELLS) == before


def test_esc_lets_a_pin_go_wherever_the_focus_is_and_then_the_band(opened):
    stage = opened()
    stage.locator("[data-equation=forward] .cv-title").click()
    stage.locator("[data-focus] [data-panel=output] [data-cell='1,1']").click()
    stage.locator(".cv-sum[data-terms='9']").wait_for()
    stage.locator(".cv-tools button").last.focus()
    stage.keyboard.press("Escape")
    stage.wait_for_function("!document.querySelector('.cv-sum output')")
    assert stage.locator("[data-focus]").count() == 1
    stage.keyboard.press("Escape")
    stage.wait_for_function("!document.querySelector('[data-focus]')")
