// One tab stop for a row of buttons; arrows, Home and End move within it.

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/**
 * @param {HTMLElement} row @param {() => HTMLElement[]} buttons
 * @param {(next: HTMLElement) => void} [reach] before it has the focus
 */
export function walkAlong(row, buttons, reach = () => {}) {
  row.addEventListener("keydown", (event) => {
    const all = buttons().filter((button) => button.checkVisibility());
    const at = all.indexOf(/** @type {HTMLElement} */ (event.target));
    const step = /** @type {Record<string, number>} */ (STEPS)[event.key];
    const to = step ? at + step : event.key === "Home" ? 0 : event.key === "End" ? all.length - 1 : null;
    if (to === null || at < 0) return;
    const next = all[(to + all.length) % all.length];
    reach(next);
    next.focus({ preventScroll: true });
    event.preventDefault();
    event.stopPropagation(); // or a notebook takes the arrow keys
  });
}

/**
 * @template {HTMLElement} Button @param {Button[]} buttons
 * @param {(button: Button, index: number) => boolean} isChecked
 */
export function checkOne(buttons, isChecked) {
  buttons.forEach((button, index) => {
    const on = isChecked(button, index);
    button.setAttribute("aria-checked", String(on));
    button.tabIndex = on ? 0 : -1;
  });
}

/**
 * One stop: the button focused last.
 * @param {HTMLElement} row @param {() => HTMLElement[]} buttons @returns call it when they are others
 */
export function rove(row, buttons) {
  /** @param {EventTarget} current */
  const stopAt = (current) => {
    for (const button of buttons()) button.tabIndex = button === current ? 0 : -1;
  };
  walkAlong(row, buttons);
  row.addEventListener("focusin", ({ target }) => {
    if (target && buttons().some((button) => button === target)) stopAt(target);
  });
  const begin = () => stopAt(buttons()[0]);
  begin();
  return begin;
}
