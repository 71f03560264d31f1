// @ts-check
// Whether the visitor's hand moves: what is heavy and not asked for waits until it rests.

const RESTS_MS = 250; // a key that is held down repeats sooner
const MOST_MS = 3000;
const MOVES = ["keydown", "pointerdown", "input"]; // a slider that is dragged tells of each step

/**
 * Follow the visitor's hand from now on.
 * @param {EventTarget} [place] where it moves @param {() => number} [now] milliseconds
 */
export function followHand(place = window, now = () => performance.now()) {
  let moved = now();
  for (const type of MOVES) place.addEventListener(type, () => void (moved = now()), { capture: true, passive: true });
  /** Wait until it has rested for a moment from now on, though not for ever. @returns {Promise<void>} */
  async function rests() {
    const from = now();
    for (moved = from; now() - moved < RESTS_MS && now() - from < MOST_MS; ) {
      await new Promise((resolve) => setTimeout(resolve, RESTS_MS - (now() - moved)));
    }
  }
  return rests;
}
