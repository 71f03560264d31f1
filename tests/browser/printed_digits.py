"""Where numbers are printed: a plane's zeros are one element, with a place for each."""

# (text) → for each of its numbers the middle of its cell in units of the grid, and its box on the screen.
PLACES_OF = """(text) => [...text.x.baseVal].map((x, index) => {
  const letters = text.matches(".cv-zero") ? text.getExtentOfChar(index) : text.getBBox();
  const [from, to] = [[letters.x, letters.y], [letters.x + letters.width, letters.y + letters.height]].map(([x, y]) =>
    new DOMPoint(x, y).matrixTransform(text.getScreenCTM()));
  const box = { left: from.x, top: from.y, right: to.x, bottom: to.y };
  return { x: x.value, y: text.y.baseVal[index].value, box };
})"""
