// @ts-check
// How long a page waits before it tries again: three hundred pages must not come back as one.

const FIRST_MS = 1000;
const MOST_MS = 30_000;

/**
 * Pauses that grow, each a little other than those of the next page.
 * @param {() => number} [random] from 0 to 1
 */
export function createPauses(random = Math.random) {
  let next = FIRST_MS;
  return {
    /** Milliseconds. */
    next() {
      const pause = next * (0.5 + random());
      next = Math.min(2 * next, MOST_MS);
      return pause;
    },
    reset: () => void (next = FIRST_MS),
  };
}
