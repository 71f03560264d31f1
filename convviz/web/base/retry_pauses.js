// Pauses before a retry: three hundred pages must not come back at once.

const FIRST_MS = 1000;
const MAX_MS = 30_000;

/** Creates pauses that double up to MAX_MS; jitter changes each by up to a half. @param {() => number} [random] */
export function createPauses(random = Math.random) {
  let next = FIRST_MS;
  return {
    next() {
      const pause = next * (0.5 + random());
      next = Math.min(2 * next, MAX_MS);
      return pause;
    },
    reset: () => void (next = FIRST_MS),
  };
}
