// Forward's menu: what is sent back.
import NAMES from "../../../facts/data/names.json" with { type: "json" };
import WORDS from "../../../facts/data/words/grad_output_menu.json" with { type: "json" };
import { element } from "../../base/dom.js";
import { explain } from "../../base/help.js";
import { sentences } from "../../base/sentences.js";
import { GRAD_SOURCES } from "../../rules/grad_output_source.js";

const say = sentences(WORDS);
/** @type {Record<string, string>} */
const LABELS = NAMES.values;

/** @param {Shared} board */
export function createGradMenu(board) {
  // typed numbers cannot be chosen
  const own = element("option", { value: "", hidden: "" }, LABELS.weighted_sum);
  const options = GRAD_SOURCES.map((what) =>
    element("option", { value: what }, what === "single" ? say("single") : (LABELS[what] ?? what)),
  );
  const menu = element("select", own, ...options);
  const word = element("span", say("label"));
  explain(word, "help.sent_back");
  menu.addEventListener("change", () => board.model.send({ type: "send", what: menu.value }));
  const el = element("label.cv-sent-back", { hidden: "" }, word, menu);
  return {
    el,
    /** @param {string | null} what null: hidden */
    set(what) {
      el.hidden = what === null;
      if (menu.value !== (what ?? "")) menu.value = what ?? "";
    },
  };
}
