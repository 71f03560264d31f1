// Drawing on a panel while the pointer is pressed. A stroke is one undo step.

/** @typedef {[number, number]} Place row and column */

/**
 * @param {SVGElement} svg @param {(event: MouseEvent) => Place} placeOf @param {() => boolean} isTaken
 * @param {(cells: Place[], stroke: string) => void} paint
 */
export function followPainting(svg, placeOf, isTaken, paint) {
  /** @type {Place | null} */
  let last = null; // its last place on the grid
  let stroke = "";
  let pointer = 0;

  function end() {
    [last, stroke] = [null, ""];
  }

  /** @param {PointerEvent} event */
  function move(event) {
    const box = svg.getBoundingClientRect();
    const { clientX: x, clientY: y } = event;
    const inside = x >= box.left && x < box.right && y >= box.top && y < box.bottom;
    const at = inside ? placeOf(event) : null;
    if (at && String(at) !== String(last)) paint(last ? lineTo(last, at) : [at], stroke);
    last = at;
  }

  svg.addEventListener("pointerdown", (event) => {
    if (!isTaken() || event.button !== 0 || stroke) return;
    svg.setPointerCapture(event.pointerId); // it goes on outside
    pointer = event.pointerId;
    stroke = `${event.pointerId} ${event.timeStamp}`;
    move(event);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!stroke || event.pointerId !== pointer) return;
    if (isTaken()) move(event);
    else end(); // Esc in the middle of it
  });
  for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
    svg.addEventListener(name, (event) => event.pointerId === pointer && end());
  }
  // Drawing is no click.
  for (const name of ["click", "dblclick"]) {
    svg.addEventListener(name, (event) => isTaken() && event.stopImmediatePropagation(), { capture: true });
  }
}

/** All cells between: a fast pointer skips some. @param {Place} from @param {Place} to @returns {Place[]} */
function lineTo([row, column], to) {
  const [down, right] = [to[0] - row, to[1] - column];
  const steps = Math.max(Math.abs(down), Math.abs(right));
  return Array.from({ length: steps }, (_, index) => {
    const part = (index + 1) / steps;
    return [Math.round(row + part * down), Math.round(column + part * right)];
  });
}
