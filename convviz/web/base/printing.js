// Printing lays the page out anew and waits for no frame.

/** Calls `act` before and after printing; it must draw synchronously. @param {(printing: boolean) => void} act */
export function followPrinting(act) {
  const medium = matchMedia("print");
  let printing = false;
  /** @param {boolean} now */
  const notify = (now) => {
    if (now === printing) return;
    printing = now;
    act(now);
  };
  const end = new AbortController();
  const { signal } = end;
  window.addEventListener("beforeprint", () => notify(true), { signal });
  window.addEventListener("afterprint", () => notify(false), { signal });
  medium.addEventListener("change", () => notify(medium.matches), { signal });
  return () => end.abort();
}
