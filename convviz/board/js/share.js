// @ts-check
// Hand the settings on: as a link, or as Python.
import { createCopier } from "./clipboard.js";
import { element, setText } from "./dom.js";
import { toLink } from "./link.js";
import { howToOpen, whatOpens } from "./share_address.js";
import { askState } from "./share_state.js";

const REFUSED = "The page may not copy. The text is selected: press Ctrl+C.";
const BUTTON = "jupyter-button widget-button"; // as those beside it

/** @param {{ model: any, el: HTMLElement }} context */
function render({ model, el }) {
  const id = `cv-share-${Math.random().toString(36).slice(2, 8)}`;
  const open = element("button", { type: "button", class: BUTTON, "aria-expanded": "false", "aria-controls": id }, "Share");
  const link = element("button", { type: "button", class: BUTTON }, "Copy link");
  const python = element("button", { type: "button", class: BUTTON }, "Copy as Python");
  const outcome = element("p", { class: "cv-share-outcome", role: "status" });
  const copier = createCopier();
  const panel = element("div", { class: "cv-share-panel", id, hidden: "" }, link, python, outcome, copier.el);
  const root = element("div", { class: "cv-share" }, open, panel);
  el.append(root);
  let asked = false; // whether the Python that comes is waited for

  /** @param {string} words @param {boolean} [refused] */
  function tell(words, refused = false) {
    setText(outcome, words);
    outcome.classList.toggle("cv-refused", refused);
  }

  /** @param {string} text @param {string} words */
  async function copy(text, words) {
    const done = await copier.copy(text);
    tell(done ? words : REFUSED, !done);
  }

  function copyLink() {
    const state = askState(root);
    if (!state) return;
    try {
      const left = state.device === "cpu" ? "" : ` It leaves out the device (${state.device}).`;
      copy(whatOpens(toLink(state)), howToOpen() + left);
    } catch (error) {
      copier.close();
      tell(`${sentence(/** @type {Error} */ (error).message)}.`, true);
    }
  }

  open.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    open.setAttribute("aria-expanded", String(!panel.hidden));
    copier.close();
    tell("");
  });
  link.addEventListener("click", copyLink);
  python.addEventListener("click", () => {
    asked = true;
    copier.close();
    tell("Writing \u2026");
    model.send({ type: "python" });
  });
  /** @param {any} reply */
  const onReply = (reply) => {
    if (!asked || reply.type !== "python") return;
    asked = false;
    copy(reply.text, "Copied: paste it into a cell of a notebook.");
  };
  model.on("msg:custom", onReply);
  return () => {
    model.off("msg:custom", onReply);
    root.remove();
  };
}

/** @param {string} text */
const sentence = (text) => text[0].toUpperCase() + text.slice(1);

export default { render };
