// What stands in a tab's place until its script is there, which comes when the tab is first opened.
import WORDS from "../../facts/words/pane.json" with { type: "json" };
import { element, makeButton, setText } from "../base/dom.js";
import { nameAfterTab } from "../base/when_attached.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/**
 * @import { PaneContext, PaneModel } from "./pane.js"
 * @typedef {{ default: { render: (context: PaneContext) => () => void }, sheet: string }} TabScript
 * @typedef {{ there: (script: TabScript) => void, failed: (sentence: string) => void }} Waiting
 * @typedef {{ now: (name: string) => TabScript | undefined, ask: (name: string, waiting: Waiting) => () =>
 *   void }} TabScripts now: one that is there; ask: until what is returned is called; it may come after it
 *   failed
 */

/**
 * @param {string} name @param {HTMLElement} el @param {TabScripts} scripts
 * @param {PaneModel} model of its pane @returns {() => void} close it
 */
export function openTab(name, el, scripts, model) {
  const script = scripts.now(name);
  if (script) return draw(script, el, model);
  const words = element("p", { role: "status" });
  const again = makeButton({ class: "cv-button cv-pane-again", hidden: "" }, say("again"), ask);
  const root = element("section", { class: "cv-pane cv-look" }, words, again);
  el.append(root);
  let close = () => root.remove();
  let stopAsking = () => {};
  const stopNaming = nameAfterTab(root, name);

  function ask() {
    stopAsking();
    words.className = "cv-muted";
    setText(words, say("script.asked"));
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
  const style = element("style", {}, sheet);
  el.append(style);
  const close = tab.render({ model, el });
  return () => {
    close();
    style.remove();
  };
}

/** The keyboard goes on where the button was that has gone. @param {HTMLElement} el */
function focusIn(el) {
  const pane = /** @type {HTMLElement | null} */ (el.querySelector(".cv-pane"));
  pane?.setAttribute("tabindex", "-1");
  pane?.focus({ preventScroll: true });
}
