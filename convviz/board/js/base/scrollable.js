// @ts-check
// What scrolls can be scrolled with the keyboard, which needs the focus; what fits is no stop on its way.

/**
 * Make a box a tab stop as long as there is more in it than it shows.
 * @param {HTMLElement} box its children stay the same @param {string} label what it holds
 * @returns {() => void} stop
 */
export function focusWhileScrolling(box, label) {
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", label);
  const watcher = new ResizeObserver(() => {
    if (box.scrollHeight > box.clientHeight + 1) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  });
  for (const each of [box, ...box.children]) watcher.observe(each);
  return () => watcher.disconnect();
}
