// What one chooses in the tab Pooling, in torch's words.
import { element } from "../../web/base/dom.js";
import { createChoice } from "../../web/tabs/pane_elements.js";
import { say } from "./sentences.js";

/**
 * @typedef {import("./pool_plane.js").Pooling & { rule: "+=" | "=" }} Choice
 */

const KINDS = ["max_pool2d", "avg_pool2d"];
const RULES = ["+=", "="];
const FLAGS = /** @type {const} */ (["ceil_mode", "count_include_pad"]);
const SWITCH = ["False", "True"];

/** What a lesson asks to choose. @param {HTMLElement} el */
function nameForLessons(el) {
  for (const each of el.querySelectorAll("button")) each.dataset.variant = each.dataset.value;
}

/** @param {(changes: Partial<Choice>) => void} choose */
export function createChoices(choose) {
  const alike = (/** @type {string[]} */ names) => names.map((name) => [name, name]);
  const kind = createChoice(say("operation"), alike(KINDS), (value) =>
    choose({ kind: /** @type {any} */ (value) }),
  );
  const rule = createChoice(say("rule"), alike(RULES), (value) =>
    choose({ rule: /** @type {any} */ (value) }),
  );
  const flags = FLAGS.map((name) => ({
    name,
    choice: createChoice(say(name), alike(SWITCH), (value) => choose({ [name]: value === "True" })),
  }));
  nameForLessons(kind.el);
  nameForLessons(rule.el);
  return {
    el: element("div.cv-pool-choices", kind.el, ...flags.map(({ choice }) => choice.el), rule.el),
    /** @param {Choice} chosen */
    set(chosen) {
      kind.set(chosen.kind);
      rule.set(chosen.rule);
      for (const { name, choice } of flags) choice.set(chosen[name] ? "True" : "False");
      flags[1].choice.el.hidden = chosen.kind === "max_pool2d"; // max_pool2d has no count_include_pad
    },
  };
}
