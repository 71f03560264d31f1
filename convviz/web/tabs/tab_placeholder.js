// What stands in a tab's place until its script is there, which comes when the tab is first opened.
import { element, makeButton, setText } from "../base/dom.js";
import { nameAfterTab } from "../base/tab_ids.js";
import { sayPane } from "./pane_sentences.js";

/**
 * @import { PaneContext, PaneModel } from "./pane.js"
 * @typedef {{ default: { render: (context: PaneContext) => () => void }, sheet: string }} TabScript
 * @typedef {{ there: (script: TabScript) => void, failed: (sentence: string) => void }} Waiting
 * @typedef {{ now: (name: string) => TabScript | undefined, ask: (name: string, waiting: Waiting) => () =>
 *   void }} TabScripts ask: until the returned function is called; may succeed after failing
 */

/**
 * @param {string} name @param {HTMLElement} el @param {TabScripts} scripts @param {PaneModel} model
 * @returns {() => void}
 */
export function openTab(name, el, scripts, model) {
  const script = scripts.now(name);
  if (script) return draw(script, el, model);
  const words = element("p", { role: "status" });
  const again = makeButton({ class: "cv-button cv-pane-again", hidden: "" }, sayPane("again"), ask);
  const root = element("section.cv-pane.cv-look", words, again);
  el.append(root);
  let close = () => root.remove();
  let stopAsking = () => {};
  const stopNaming = nameAfterTab(root, name);

  function ask() {
    stopAsking();
    words.className = "cv-muted";
    setText(words, sayPane("script.asked"));
    again.hidden = true;
    root.setAttribute("aria-busy", "true");
    stopAsking = scripts.ask(name, {
      there(found) {
        const focused = again === /** @type {Document} */ (again.getRootNode()).activeElement;
        root.remove();
        close = draw(found, el, model);
        if (focused) focusIn(el);
      },
      failed(sentence) {
        words.className = "cv-pane-failure";
        setText(words, sentence);
        again.hidden = false;
        root.setAttribute("aria-busy", "false");
      },
    });
  }

  ask();
  return () => {
    stopAsking();
    stopNaming();
    close();
  };
}

/** @param {TabScript} script @param {HTMLElement} el @param {PaneModel} model */
function draw({ default: tab, sheet }, el, model) {
  const style = element("style", sheet);
  el.append(style);
  const close = tab.render({ model, el });
  return () => {
    close();
    style.remove();
  };
}

/** In place of the button that has gone. @param {HTMLElement} el */
function focusIn(el) {
  const pane = /** @type {HTMLElement | null} */ (el.querySelector(".cv-pane"));
  pane?.setAttribute("tabindex", "-1");
  pane?.focus({ preventScroll: true });
}
