// From cell to cell by arrows, across the planes of a column.
import { cellAt } from "./layout.js";
import { ARROWS } from "../../web/base/keys.js";

/**
 * Returns the cell that an arrow key leads to, or null where the column ends.
 * @param {import("./column.js").Column} column @param {import("./column.js").Pointed} here @param {string} key
 * @returns {import("./column.js").Pointed | null}
 */
export function cellBeside({ planes, tiling }, here, key) {
  if (!planes || !tiling) return null;
  const [down, right] = ARROWS[key];
  const size = /** @type {Pair} */ ([planes.height, planes.width]);
  const [wide, tall] = [tiling.tile[0] / size[1], tiling.tile[1] / size[0]];
  const [left, top] = tiling.at(here.plane);
  const at = here.at;
  const next = /** @type {Pair} */ ([at[0] + down, at[1] + right]);
  if (next.every((place, axis) => place >= 0 && place < size[axis])) return { ...here, at: next };
  // Over the gap to the next plane.
  let [x, y] = [left + (at[1] + 0.5) * wide, top + (at[0] + 0.5) * tall];
  for (let step = 0; step < 400; step++) {
    [x, y] = [x + right * (step ? 1 : wide / 2), y + down * (step ? 1 : tall / 2)];
    if (x < 0 || y < 0 || x > tiling.width || y > tiling.height) return null;
    const found = cellAt(tiling, size, x, y);
    if (found && found.plane !== here.plane)
      return { ...here, plane: found.plane, at: [found.row, found.column] };
  }
  return null;
}
