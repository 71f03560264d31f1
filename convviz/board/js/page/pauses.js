// @ts-check
// How long a page waits before it tries again, and when it gives up: three hundred pages must not come back as one.

const FIRST_MS = 1000;
const MOST_MS = 30_000;

/** Pauses that grow, each a little other than those of the next page. @param {() => number} [random] from 0 to 1 */
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

const MOST_FAILURES = 3;
const STEADY_MS = 10_000;

/** Counts kernels that ended at once: what ended them is sent to the next one, too. */
export function createFailures() {
  let count = 0;
  return {
    /** Another kernel is gone. @param {number} worked milliseconds since its first answer; 0: it gave none @returns {boolean} whether that is enough */
    add(worked) {
      count = worked > STEADY_MS ? 1 : count + 1;
      return count >= MOST_FAILURES;
    },
    reset: () => void (count = 0),
  };
}
