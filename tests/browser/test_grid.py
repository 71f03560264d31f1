"""A grid that has shown other geometries before is, to the last attribute, one that was made for this one."""

import pytest

from tests.browser.scripts import expose

pytestmark = pytest.mark.browser

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
  const used = createGrid("x", events, 6);
  document.body.append(used.svg);
  const found = [];
  for (let turn = 0; turn < turns; turn++) {
    const size = [1 + draw(9), 1 + draw(9)];
    const spec = { rows: letters(size[0]), columns: letters(size[1]), unread_rows: draw(2) ? [size[0] - 1] : [],
                   unread_columns: [], label: `grid ${turn}`, editable: draw(2) === 1 };
    const values = Array.from({ length: size[0] * size[1] }, () => (draw(4) ? draw(4001) / 100 - 20 : 0));
    const fresh = createGrid("x", events, 6);
    for (const grid of [used, fresh]) {
      grid.setSpec(spec);
      grid.setValues(values, "float64", scale, 20);
      grid.settle();
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
    expose(page, "board/grid.js")
    found = page.evaluate(WALK, 300)
    assert len({tuple(size) for *_, size in found}) > 40
    for turn, (same, stops, held, size) in enumerate(found):
        assert (same, stops, held) == (True, 1, True), (turn, size)


LATER = """() => {
  const events = Object.fromEntries(
    ["onFocus", "onSelect", "onEdit", "onMenu", "onLeave", "onRelease"].map((name) => [name, () => {}]));
  const grid = createGrid("x", events);
  const spec = { unread_rows: [], unread_columns: [], label: "grid", editable: false };
  const scale = [[0, "#0000ff"], [0.5, "#ffffff"], [1, "#ff0000"]];
  const show = (side, first) => {
    grid.setSpec({ ...spec, rows: "d".repeat(side), columns: "d".repeat(side) });
    grid.setValues(Array.from({ length: side * side }, (_, index) => first + index), "float64", scale, 20);
  };
  const seen = () => [
    [...grid.svg.querySelectorAll(".cv-printed text")].map((text) => text.textContent).sort((a, b) => a - b).join(),
    [...grid.svg.querySelectorAll("[data-cell]")].map((cell) => cell.dataset.value).join()];
  const found = [];
  show(2, 1), grid.settle(), found.push(seen());
  show(3, 5), found.push(seen());
  grid.focusCell(2, 2), found.push(seen());
  show(2, 3), grid.hide({ row: 0, column: 1 }), found.push(seen());
  return found;
}"""


def test_numbers_are_drawn_at_once_and_cells_when_they_settle_or_are_asked_for(page):
    page.goto("about:blank")
    expose(page, "board/grid.js")
    assert page.evaluate(LATER) == [
        ["1,2,3,4", "1,2,3,4"],
        ["5,6,7,8,9,10,11,12,13", "1,2,3,4"],
        ["5,6,7,8,9,10,11,12,13"] * 2,
        ["3,?,5,6", "3,,5,6"],  # the cell that hides its number covers its colour
    ]
