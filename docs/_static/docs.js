// Of every page of the documentation. The boards in frames are light or dark as the page around them is, also when its button is pressed.
const chosen = () => document.body.dataset.theme;

/** @param {HTMLIFrameElement} frame */
function sendTheme(frame) {
  const body = frame.contentDocument?.body;
  if (!body) return;
  if (chosen() === "auto") delete body.dataset.jpThemeLight;
  else body.dataset.jpThemeLight = String(chosen() === "light"); // where the app looks for a notebook's theme
}

const frames = () => document.querySelectorAll("figure.live iframe");
const sendThemes = () => frames().forEach((frame) => sendTheme(/** @type {HTMLIFrameElement} */ (frame)));
new MutationObserver(sendThemes).observe(document.body, { attributeFilter: ["data-theme"] });
// A load is no event that rises, but it can be caught on its way down.
document.addEventListener(
  "load",
  ({ target }) => target instanceof HTMLIFrameElement && sendTheme(target),
  true,
);
sendThemes();

// What scrolls within the page can be reached by keys.
for (const box of document.querySelectorAll(".table-wrapper, .highlight pre")) {
  if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
}
