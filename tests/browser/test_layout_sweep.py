"""The hardest screens of the layout sweep, and its judge on a page whose faults are known.

All of them: `python -m tests.browser.layout_sweep`.
"""

import pytest

from tests.browser.layout_pages import pages_server
from tests.browser.layout_screens import SIZES, states
from tests.browser.layout_sweep import sweep

WORST = (
    "first picture",
    "kernel 7",
    "stride and padding",
    "groups",
    "explain a first layer",
    "lesson linear 1",
    "lesson function 2",
    "lesson weight ended",
)
CORNERS = ("1366x768", "683x384 zoomed", "notebook", "element 560", "360x740", "844x390")


def test_the_hardest_screens_have_no_faults(browser):
    def chosen(language):
        return [state for state in states(language, done=False) if state.name in WORST]

    sizes = [size for size in SIZES if size.name in CORNERS]
    reported = [
        f"{state.name}, {size.name}: {fault}"
        for _, state, size, faults in sweep(browser, chosen, sizes, ("en",))
        for fault in faults
    ]
    assert reported == [], "\n".join(reported)


# Parts of a page with the faults that they have; the window is 400 x 300.
ONE_LINE, OVER = "width: 60px; white-space: nowrap", "position: relative; top: -20px; height: 24px; background: white"
FAULTY = (
    (f'<p style="{ONE_LINE}; overflow: hidden">a sentence that is long</p>', {"cut"}),
    (f'<p style="{ONE_LINE}; overflow: auto; scrollbar-width: none">a sentence that is long</p>', {"no cue"}),
    ('<div style="height: 40px; overflow: auto">one<br>two<br>three<br>four<br>five</div>', {"cut"}),
    ('<div style="height: 20px; overflow: hidden"><p style="margin: 40px 0 0">out of it</p></div>', {"left out"}),
    ('<div style="height: 0; overflow: hidden"><button>gone</button></div>', {"unreachable"}),
    ('<button style="position: fixed; top: 290px; height: 40px">below the window</button>', {"unreachable"}),
    (f'<button>under</button><div style="{OVER}"></div>', {"unreachable", "overlap"}),
    (f'<p style="margin: 0">one</p><div style="{OVER}"></div>', {"overlap"}),
    ('<p style="margin: 0">one</p><p style="margin: -14px 0 0">other</p>', {"overlap"}),
    ('<select style="width: 40px"><option>a long word</option></select>', {"cut"}),
    ('<main class="cv-lesson"><p class="cv-lesson-text" style="font-size: 12px">small</p></main>', {"card text"}),
    (
        '<main class="cv-lesson"><p class="cv-lesson-text" style="height: 30px; overflow: auto">1<br>2<br>3</p></main>',
        {"card"},
    ),
)
SOUND = (
    '<p style="width: 60px">a sentence that is long, and wraps</p><button>Press</button>',
    '<div style="height: 200px; overflow: auto"><p style="margin-top: 300px"><button>scrolled to</button></p></div>',
    '<p style="margin-top: 900px">The page goes on. <a href="#">A link</a></p>',
    '<label>name <input type="text" value="1"></label>',
    '<div style="overflow: hidden; height: 9px"><p style="position: absolute; margin: 0">not clipped by it</p></div>',
    '<button style="opacity: 0">seen on demand</button><p class="cv-live">spoken alone</p>',
)


@pytest.fixture(scope="module")
def bare(browser):
    """A page without the app, and the judge in it."""
    with pages_server([]) as address:
        page = browser.new_page(viewport={"width": 400, "height": 300})
        page.goto(f"{address}empty")
        page.evaluate("async () => { window.judge = (await import('/judge/layout_judge.js')).judge; }")
        yield page
        page.close()


def test_the_judge_sees_what_is_wrong_and_nothing_else(bare):
    look = """(part) => {
      document.body.innerHTML = `<main>${part}</main>`;
      return judge(document.querySelector("main"), innerHeight);
    }"""
    for part, kinds in [*FAULTY, *((part, set()) for part in SOUND)]:
        faults = bare.evaluate(look, part)
        assert {fault["kind"] for fault in faults} == kinds, (part, faults)
