// The end of a page's module: page and tabs are the bundle before it. Until here the page is a still picture.
const still = /** @type {HTMLElement} */ (document.getElementById("convviz-still"));
const live = /** @type {HTMLElement} */ (document.getElementById("convviz-live"));
const textOf = (id) => document.getElementById(id)?.textContent ?? "";
const data = JSON.parse(textOf("convviz-data"));
const packed = document.getElementById("convviz-plotly")?.textContent; // none: the page was made without it
const plotly = () => packed && bytesOf(atob(packed)).buffer;
/** A loop: half a million calls of a function would take a tenth of the start. @param {string} text */
function bytesOf(text) {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
try {
  still.hidden = true; // first: the app measures where it stands
  page.render({ el: live, data: { ...data, plotly, tabs }, own: true });
} catch (error) {
  still.hidden = false;
  live.replaceChildren(page.failed(error));
}
