// Printing lays the page out anew and waits for no frame.

/**
 * Hear when printing begins and ends; `act` must draw synchronously.
 * @param {(printing: boolean) => void} act
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
