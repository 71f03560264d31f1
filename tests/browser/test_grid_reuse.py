"""A grid that has shown other geometries before is, to the last attribute, one that was made for this one."""

from tests.browser.bare_page import expose

# Sizes, roles and numbers at random, one after another in one grid; a fresh one beside it each time.
WALK = """(turns) => {
  let word = 7;
  const draw = (count) => (word = (Math.imul(word, 1664525) + 1013904223) >>> 0, Math.floor((word / 2 ** 32) * count));
  const events = Object.fromEntries(
    ["onFocus", "onSelect", "onEdit", "onMenu", "onLeave", "onRelease"].map((name) => [name, () => {}]));
  const letters = (count) => Array.from({ length: count }, () => "ddpir"[draw(5)]).join("");
  const scale = [[0, [0, 0, 255]], [0.5, [255, 255, 255]], [1, [255, 0, 0]]];
  const write = (grid) => {
    const copy = grid.svg.cloneNode(true);
    const printed = copy.querySelector(".cv-printed"); // none lies over another: their order is nothing that is seen
    printed.replaceChildren(...[...printed.children].toSorted((a, b) => (a.outerHTML < b.outerHTML ? -1 : 1)));
    return copy.outerHTML.replace(/ tabindex="-?\\d"/g, "");
  };
  const used = new Grid("x", events, 6);
  document.body.append(used.svg);
  const found = [];
  for (let turn = 0; turn < turns; turn++) {
    const size = [1 + draw(9), 1 + draw(9)];
    const spec = { rows: letters(size[0]), columns: letters(size[1]), unread_rows: draw(2) ? [size[0] - 1] : [],
                   unread_columns: [], label: `grid ${turn}`, editable: draw(2) === 1 };
    const values = Array.from({ length: size[0] * size[1] }, () => (draw(4) ? draw(4001) / 100 - 20 : 0));
    const fresh = new Grid("x", events, 6);
    for (const grid of [used, fresh]) {
      grid.setSpec(spec);
      grid.setValues(values, "float64", scale, 20);
    }
    const stops = used.svg.querySelectorAll('[data-cell][tabindex="0"]');
    const held = used.svg.contains(document.activeElement);
    // The one cell that stands for all is where the focus was: look at the first one.
    if (!used.numbered()) used.focusCell(0, 0, false);
    found.push([write(used) === write(fresh), stops.length, turn === 0 || held, size]);
    used.focusCell(draw(9), draw(9));
  }
  return found;
}"""


def test_what_was_shown_before_leaves_nothing_behind(page):
    page.goto("about:blank")
    expose(page, "board/grid/grid_overlay.js")
    found = page.evaluate(WALK, 300)
    assert len({tuple(size) for *_, size in found}) > 40
    for turn, (same, stops, held, size) in enumerate(found):
        assert (same, stops, held) == (True, 1, True), (turn, size)
