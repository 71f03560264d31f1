// Learn: there while there is a learning rate.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { sayDescent } from "./gradient_descent_sentences.js";
import { RATES, safeChoice, withLowestPoint } from "../numbers/gradient_step.js";
import { replaced } from "../rules/settings_and_tensors.js";
import { LearnPanel } from "./gradient_descent_panel.js";
import { element } from "../base/dom.js";
import { createPopover } from "../base/menu.js";

/**
 * The loss that a page begins with gives way to one with a lowest point; one that was chosen stays.
 * @param {Settings} settings @returns {Changed}
 */
function begun(settings) {
  const isFirst = settings.loss === SETTINGS.first_picture.loss;
  const made = isFirst ? withLowestPoint(settings) : settings;
  return [replaced(made, { lr: safeChoice(made) ?? RATES[0] }), isFirst ? [sayDescent("chosen")] : []];
}

/**
 * @param {Model} model
 * @param {Follow} follow
 * @returns {{ el: HTMLElement, close: () => void }}
 */
export function createDescent(model, follow) {
  const body = element("div.cv-popover");
  const el = createPopover("cv-hanging.cv-learn", element("summary", sayDescent("title")), body);
  /** @type {LearnPanel | null} */
  let panel = null;

  function close() {
    panel?.close();
    panel?.el.remove();
    panel = null;
  }

  function draw() {
    el.open = model.settings().lr > 0;
    if (!el.open) return close();
    if (!panel) {
      panel = new LearnPanel(model);
      body.append(panel.el);
    }
    panel.draw();
  }

  el.addEventListener("toggle", () => {
    const { lr } = model.settings();
    if (el.open === lr > 0) return;
    if (el.open) model.change(begun);
    else model.set({ lr: 0 });
  });
  follow("change:values", draw);
  follow("settings", draw);
  return { el, close };
}
