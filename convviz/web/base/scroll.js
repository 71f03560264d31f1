// Scrolling one box, and nothing around it: scrollIntoView would move the page as well.

/** If the part is out of sight. @param {HTMLElement} box @param {HTMLElement} part */
export function scrollWithin(box, part) {
  const [room, at] = [box.getBoundingClientRect(), part.getBoundingClientRect()];
  if (at.top < room.top || at.bottom > room.bottom) box.scrollTop += at.top - room.top;
}
