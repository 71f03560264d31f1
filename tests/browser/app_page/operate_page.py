"""What a person does on the page of the app, with keys and menus."""

from convviz.facts.features import FEATURES, OF_A_NOTEBOOK, TABS
from tests.browser.app_page.waits import APPEARS_WITHIN_MS, repaint, settle

OFFERED = [name for name in TABS if name not in OF_A_NOTEBOOK]  # on a served page
ENTRY_OF = {tab: feature["entry"] for tab, feature in FEATURES.items()}


def slider(page, name, axis=0):
    """Return a slider; axis 1 is that of the width."""
    return page.locator(f".cv-app .cv-set-{name} input[type=range]").nth(axis)


def weight_slider(page, row, column):
    """Choose a weight of the shown kernel, and return the slider that moves it."""
    if not page.locator(".cv-app .cv-which").inner_text().endswith(f"{row},{column}]"):
        cells = page.locator(f".cv-app [data-panel=weight] [data-cell='{row},{column}']")
        cells.filter(visible=True).first.click()
    return page.locator(".cv-app .cv-set-weight input[type=range]")


def slider_value(page, name, axis=0):
    """Return where a slider stands; the width's is hidden while it goes with the height."""
    here = slider(page, name, axis)
    return int((here if here.is_visible() else slider(page, name)).input_value())


def slide(page, name, value, axis=0):
    """Move a slider to a value with the arrow keys, waiting for the board after each step."""
    slider(page, name, axis).focus()
    start = slider_value(page, name, axis)
    for _ in range(abs(value - start)):
        with repaint(page):
            page.keyboard.press("ArrowRight" if value > start else "ArrowLeft")
    assert slider_value(page, name, axis) == value


def choose(page, name, words):
    """Choose an entry of a menu, named as in its class cv-set-<name>, else by the words before it."""
    menu = page.locator(f".cv-app .cv-set-{name} select")
    menu = menu if menu.count() else page.locator(".cv-app .cv-controls").get_by_role("combobox", name=name, exact=True)
    entries = menu.evaluate("(menu) => [...menu.options].map(({ text }) => text)")
    if menu.evaluate("(menu) => menu.selectedIndex") != entries.index(words):
        with repaint(page):
            menu.select_option(index=entries.index(words))


def switch(page, label, on):
    """Set a checkbox with the keyboard."""
    box = page.locator(".cv-app .cv-controls").get_by_role("checkbox", name=label, exact=True)
    if box.is_checked() != on:
        with repaint(page):
            box.press("Space")
    assert box.is_checked() == on


def cell(page, panel, row, column):
    """Return a cell of the first panel of that name."""
    return page.locator(f'[data-panel="{panel}"]').first.locator(f'[data-cell="{row},{column}"]')


def entry_of(place, name):
    """Return the button of the entry that a tab is a part of."""
    return place.locator(f".cv-tab[data-entry={ENTRY_OF[name]}]").first


def press_tab(place, name):
    """Press what leads to a tab: its entry, then its part; where it is open, its entry, which closes it."""
    parts = place.locator(f".cv-drawer-body:not([hidden]) .cv-parts [data-tab={name}]")
    if parts.count() == 0 or parts.first.get_attribute("aria-selected") == "true":
        entry_of(place, name).click()
    if parts.count() and parts.first.get_attribute("aria-selected") == "false":
        parts.first.click()


def open_tab(page, name):
    """Open a tab and wait until its pane shows what belongs to the settings of now."""
    press_tab(page, name)
    page.locator(f'.cv-pane-{name}[aria-busy=false][data-shown]:not([data-shown=""])').wait_for(
        timeout=APPEARS_WITHIN_MS
    )
    settle(page)  # the board draws once more: the tab is a part of the state


def settle_pane(page, name):
    """Wait until the pane of a tab shows what the kernel has sent so far, and what it asked for in turn."""
    settle(page)
    page.locator(f".cv-pane-{name}[aria-busy=false]").wait_for()


def pane_follows(page, name, action):
    """Do something and wait until the pane of a tab shows all that follows."""
    pane = f".cv-pane-{name}"
    before = int(page.locator(pane).get_attribute("data-shown"))
    action()
    settle(page)
    page.wait_for_function(
        """([pane, before]) => {
            const { dataset, ariaBusy } = document.querySelector(pane);
            return ariaBusy === "false" && Number(dataset.shown) > before;
        }""",
        arg=[pane, before],
    )


def show_band(page, name):
    """Have a band in sight beside a drawer, by its title."""
    title = page.locator(f"[data-equation={name}]:not([data-focus]) .cv-title")
    if title.count():
        title.click()
        page.locator(f"[data-equation={name}][data-focus]").wait_for()
        settle(page)


def show_plane(page, axis, index):
    """Choose a plane with the selector of the forward equation: axis is n, o or c."""
    words = {"n": "sample n", "o": "output channel o", "c": "input channel c"}[axis]
    menu = page.locator(f'[data-equation=forward] .cv-choices select[aria-label="{words}"]')
    if menu.count() and menu.input_value() != str(index):
        with repaint(page):  # also where a drawer has folded the band that the menu belongs to
            menu.evaluate(
                "(menu, value) => Object.assign(menu, { value }).dispatchEvent(new Event('change', { bubbles: true }))",
                str(index),
            )


def shown_plane(page):
    """Return {axis: index} of the plane that the forward equation's selectors show."""
    menus = page.locator("[data-equation=forward] .cv-choices select")
    return dict(menus.evaluate_all("menus => menus.map((menu) => [menu.ariaLabel.match(/ ([noc])$/)[1], menu.value])"))
