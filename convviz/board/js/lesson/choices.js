// @ts-check
// What is chosen in the open tab, as a lesson asks for it: seen in its buttons and menus, however it came to be chosen.

const BUTTONS = { mistake: "[data-mistake]", gradient: "[data-gradient]", variant: "[data-variant]" };
const MENUS = "select[data-set]";
const CHOSEN = /** @type {const} */ (["aria-pressed", "aria-checked"]);

/** @param {Element} el */
const isChosen = (el) => CHOSEN.some((name) => el.getAttribute(name) === "true");

/**
 * Make what follows the choices of one app's tab.
 * @param {() => Element | null | undefined} appOf @param {(chosen: string[]) => void} onChosen called with all that is chosen, whenever something is
 */
export function createChoices(appOf, onChosen) {
  let wanted = "";
  const slotOf = () => /** @type {HTMLElement | null | undefined} */ (appOf()?.querySelector(".cv-drawer > .cv-slot"));
  const buttonsIn = (/** @type {HTMLElement} */ slot) =>
    Object.entries(BUTTONS).flatMap(([name, selector]) => [...slot.querySelectorAll(selector)].map((el) => ({ el: /** @type {HTMLElement} */ (el), id: /** @type {HTMLElement} */ (el).dataset[name] ?? "" })));
  const menusIn = (/** @type {HTMLElement} */ slot) => /** @type {HTMLSelectElement[]} */ ([...slot.querySelectorAll(MENUS)]);

  function look() {
    const slot = slotOf();
    if (!slot) return;
    const buttons = buttonsIn(slot);
    frame(buttons.find(({ id }) => id === wanted)?.el ?? menusIn(slot).find(({ options }) => [...options].some(({ value }) => value === wanted)), slot);
    onChosen([...buttons.filter(({ el }) => isChosen(el)).map(({ id }) => id), ...menusIn(slot).map(({ value }) => value)]);
  }

  /** Frame what is to be chosen, and bring it in sight. @param {HTMLElement | undefined} part @param {HTMLElement} slot */
  function frame(part, slot) {
    const old = slot.querySelector("[data-wanted]");
    if (part === old) return;
    old?.removeAttribute("data-wanted");
    if (!part) return;
    part.setAttribute("data-wanted", "");
    part.scrollIntoView({ block: "nearest" });
  }

  const watcher = new MutationObserver(look);
  const stop = () => {
    watcher.disconnect();
    slotOf()?.removeEventListener("change", look);
  };
  return {
    stop,
    /** @param {string} id of what is to be chosen; empty: nothing */
    follow(id) {
      if (id === wanted) return;
      stop();
      wanted = id;
      const slot = slotOf();
      if (!slot) return;
      if (!id) return frame(undefined, slot);
      watcher.observe(slot, { subtree: true, childList: true, attributes: true, attributeFilter: [...CHOSEN, "hidden"] });
      slot.addEventListener("change", look);
      look();
    },
    /** Choose what is wanted, as a visitor would. */
    press() {
      const part = /** @type {HTMLElement | null | undefined} */ (slotOf()?.querySelector("[data-wanted]"));
      if (part instanceof HTMLSelectElement) {
        part.value = wanted;
        part.dispatchEvent(new Event("change", { bubbles: true }));
      } else if (part && !isChosen(part)) part.click();
    },
  };
}
