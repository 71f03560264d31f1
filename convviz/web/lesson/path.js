// @ts-check
// The quiet list of all lessons, in an order that builds up: which are done is seen, and any can be opened.
import WORDS from "../../facts/words/player.json" with { type: "json" };
import { element, makeButton, setText } from "../base/dom.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/**
 * Make the list; where the page has a single lesson there is nothing to list, and it is hidden.
 * @import { Player } from "./player.js" @param {Player} player @param {(name: string) => void} start
 */
export function createPath(player, start) {
  const summary = element("summary", { title: say("list.title") }, say("list"));
  const items = player.shelf.names().map((name) => {
    const mark = element("span", { class: "cv-path-done" });
    const button = makeButton({}, player.shelf.title(name), () => {
      el.open = false;
      start(name);
    });
    return { name, mark, el: element("li", {}, button, mark) };
  });
  const list = element("ol", {}, ...items.map((item) => item.el));
  const el = element("details", { class: "cv-path" }, summary, list);
  el.hidden = items.length < 2;
  const update = () => {
    for (const { name, mark } of items)
      setText(mark, player.get("finished").includes(name) ? ` ✓ ${say("list.done")}` : "");
  };
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    if (event.key !== "Escape" || !el.open) return;
    el.open = false;
    summary.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  /** @param {FocusEvent} event */
  const onOut = ({ relatedTarget }) => {
    if (relatedTarget && !el.contains(/** @type {Node} */ (relatedTarget))) el.open = false;
  };
  el.addEventListener("keydown", onKey);
  el.addEventListener("focusout", onOut);
  player.on("change:finished", update);
  update();
  return { el, close: () => player.off("change:finished", update) };
}
