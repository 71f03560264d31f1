// @ts-check
// What a lesson looks for in the open tab: the part that it speaks of is brought in sight, and what it asks
// for is seen in the tab's buttons and menus, however it came to be chosen.

/** Attributes that say what a button chooses. */
const BUTTONS = /** @type {const} */ (["mistake", "gradient", "variant"]);
const MENUS = "select[data-set]";
const CHOSEN = /** @type {const} */ (["aria-pressed", "aria-checked"]);
const OWN_MOVES = /** @type {const} */ (["pointerdown", "wheel", "touchmove", "keydown"]); // of a visitor
const ABOVE = 6; // pixels left above a part that is brought in sight

/**
 * Scroll what holds an element, as far out as the tab and no further: the page with the card on it stays.
 * @param {HTMLElement} slot @param {HTMLElement} el
 */
function bringWithin(slot, el) {
  for (let at = el.parentElement; at && slot.contains(at); at = at.parentElement) {
    const [{ top, bottom }, box] = [el.getBoundingClientRect(), at.getBoundingClientRect()];
    if (at.scrollHeight <= at.clientHeight) continue;
    if (top < box.top + ABOVE) at.scrollTop += top - box.top - ABOVE;
    else if (bottom > box.bottom - ABOVE) at.scrollTop += bottom - box.bottom + ABOVE;
  }
}

/**
 * Make what looks into the open tab of one app.
 * @param {() => Element | null | undefined} appOf
 * @param {(chosen: string[]) => void} onChosen called with all that is chosen, whenever something is
 */
export function lookInTab(appOf, onChosen) {
  let choice = ""; // what is to be chosen
  let part = ""; // what is to be in sight
  let key = "";
  /** @type {HTMLElement | null | undefined} */
  let slot = null;

  /** @returns {{ el: HTMLElement, id: string }[]} */
  const buttons = () =>
    BUTTONS.flatMap((name) =>
      [.../** @type {Iterable<HTMLElement>} */ (slot?.querySelectorAll(`[data-${name}]`) ?? [])].map(
        (el) => ({
          el,
          id: el.dataset[name] ?? "",
        }),
      ),
    );
  const menus = () => [.../** @type {Iterable<HTMLSelectElement>} */ (slot?.querySelectorAll(MENUS) ?? [])];
  const isChosen = (/** @type {HTMLElement} */ el) => CHOSEN.some((name) => el.getAttribute(name) === "true");

  function look() {
    if (!slot) return;
    if (choice) {
      const [all, lists] = [buttons(), menus()];
      frame(
        all.find(({ id }) => id === choice)?.el ??
          lists.find(({ options }) => [...options].some(({ value }) => value === choice)),
      );
      onChosen([
        ...all.filter(({ el }) => isChosen(el)).map(({ id }) => id),
        ...lists.map(({ value }) => value),
      ]);
    }
    bring();
  }

  /** Frame what is to be chosen, and bring it in sight. @param {HTMLElement | undefined} wanted */
  function frame(wanted) {
    const old = slot?.querySelector("[data-wanted]");
    if (wanted === old) return;
    old?.removeAttribute("data-wanted");
    wanted?.setAttribute("data-wanted", "");
    if (slot && wanted) bringWithin(slot, wanted);
  }

  /**
   * Scroll the tab, and nothing else, to its part: again when more of it is drawn, until somebody scrolls it.
   */
  function bring() {
    const there = part && slot?.querySelector(`[data-part="${part}"], [data-plot="${part}"]`);
    if (slot && there)
      slot.scrollTop += there.getBoundingClientRect().top - slot.getBoundingClientRect().top - ABOVE;
  }
  const leave = () => void (part = "");

  const watcher = new MutationObserver(look);
  function stop() {
    watcher.disconnect();
    frame(undefined);
    slot?.removeEventListener("change", look);
    for (const move of OWN_MOVES) slot?.removeEventListener(move, leave);
  }
  return {
    stop,
    /**
     * @param {string} wanted what is to be chosen, or nothing
     * @param {string} seen the part that is to be in sight, or nothing
     * @param {string} of another one at every start of a step
     */
    follow(wanted, seen, of) {
      const next = [wanted, seen, of].join(" ");
      if (next === key) return;
      stop();
      [key, choice, part] = [next, wanted, seen];
      slot = wanted || seen ? appOf()?.querySelector(".cv-slot") : null;
      if (!slot) return;
      watcher.observe(slot, {
        subtree: true,
        childList: true,
        attributes: true,
        attributeFilter: [...CHOSEN, "hidden"],
      });
      slot.addEventListener("change", look);
      for (const move of OWN_MOVES) slot.addEventListener(move, leave, { passive: true });
      look();
    },
    /** Choose what is wanted, as a visitor would. */
    press() {
      const wanted = /** @type {HTMLElement | null | undefined} */ (slot?.querySelector("[data-wanted]"));
      if (wanted instanceof HTMLSelectElement) {
        wanted.value = choice;
        wanted.dispatchEvent(new Event("change", { bubbles: true }));
      } else if (wanted && !isChosen(wanted)) wanted.click();
    },
  };
}
