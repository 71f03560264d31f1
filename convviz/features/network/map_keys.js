// The maps by keys: arrows from cell to cell and on to the next column, Enter keeps a cell and opens it, Escape leaves.
import { cellBeside } from "./cell_steps.js";

/**
 * @import { Column, Pointed, Row } from "./column.js"
 * @import { Maps } from "./maps.js"
 */

/** @param {Column} column @param {Row} [row] @returns {Pointed | null} */
function startOf(column, row = "forward") {
  if (!column.planes) return null;
  const [height, width] = [column.planes.height, column.planes.width];
  const at = /** @type {Pair} */ ([Math.floor((height - 1) / 2), Math.floor((width - 1) / 2)]);
  return { operation: column.operation.index, row, plane: 0, at };
}

/** @param {Maps} maps @param {KeyboardEvent} event @returns {boolean} whether it was for them */
export function pressedInMaps(maps, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const columns = maps.columns();
  const at = columns.findIndex(({ el }) => el === event.target);
  if (at < 0) return false;
  const began = maps.cursor?.operation === columns[at].operation.index;
  const here = began ? maps.cursor : startOf(columns[at]);
  if (!event.key.startsWith("Arrow")) return act(maps, event.key, here);
  const next = here && (began ? cellBeside(columns[at], here, event.key) : here);
  if (next) maps.events.point(next);
  else if (event.key === "ArrowLeft" || event.key === "ArrowRight")
    goTo(maps, columns[at + (event.key === "ArrowRight" ? 1 : -1)], here?.row);
  return true;
}

/** @param {Maps} maps @param {Column | undefined} column @param {Row} [row] */
function goTo(maps, column, row) {
  const start = column && startOf(column, row);
  if (!start) return;
  maps.reveal(start.operation, true);
  maps.events.point(start);
}

/** @param {Maps} maps @param {string} key @param {Pointed | null} here */
function act({ events }, key, here) {
  if (key === "Escape") return events.back();
  if (!here) return false;
  if (key === "Enter" || key === " ") events.pin(here);
  else if (key === "s") events.sendBack();
  else if (key === "o") events.open();
  else return false;
  return true;
}
