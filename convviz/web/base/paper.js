// @ts-check
// Paper: the browser lays the page out anew for it, narrower than the screen, and does not
// wait for the next frame.

/**
 * Hear when the page is printed, and when that is over.
 * @param {(printing: boolean) => void} act what is to be on the paper must be in the page when it returns
 * @returns {() => void} stop
 */
export function followPaper(act) {
  const medium = matchMedia("print");
  let printing = false;
  /** @param {boolean} now */
  const tell = (now) => {
    if (now === printing) return;
    printing = now;
    act(now);
  };
  const [before, after, change] = [() => tell(true), () => tell(false), () => tell(medium.matches)];
  window.addEventListener("beforeprint", before);
  window.addEventListener("afterprint", after);
  medium.addEventListener("change", change);
  return () => {
    window.removeEventListener("beforeprint", before);
    window.removeEventListener("afterprint", after);
    medium.removeEventListener("change", change);
  };
}
