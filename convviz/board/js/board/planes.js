// @ts-check
// Where the page has the numbers of a plane: the one that is shown, or another one among the small pictures.

/**
 * The list that holds a plane's numbers and the place where they start; null when the page does not have them,
 * because a large plane's small picture leaves cells out.
 * @param {any} spec of the panel @param {{ planes: any, thumbs: any }} numbers @param {number[]} at the plane's indices
 * @returns {{ values: ArrayLike<number>, start: number } | null}
 */
export function findPlane(spec, numbers, at) {
  const { name, thumbs, rows, columns } = spec;
  if (!thumbs || (spec.at[0] === at[0] && spec.at[1] === at[1])) return { values: numbers.planes[name], start: 0 };
  if (thumbs.rows !== rows.length || thumbs.columns !== columns.length) return null;
  const index = thumbs.planes.findIndex((plane) => plane.at[0] === at[0] && plane.at[1] === at[1]);
  return { values: numbers.thumbs[name], start: index * rows.length * columns.length };
}
