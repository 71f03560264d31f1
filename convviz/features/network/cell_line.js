// The line below the maps: what is said of the cell, and what can be done with the one that is kept.
import { element, focusOf, setText } from "../../web/base/dom.js";
import { plainText, setRich } from "../../web/base/rich_text.js";
import { button } from "../../web/tabs/pane_elements.js";
import { nameOf, say } from "./sentences.js";

export class CellLine {
  #sentence = element("p.cv-network-sentence");
  #open;
  #send;
  #actions;
  #pane;
  el;

  /** @param {PaneTools} pane @param {{ open: () => void, send: () => void, unpin: () => void }} events */
  constructor(pane, { open, send, unpin }) {
    this.#pane = pane;
    this.#open = button("", open, { "data-variant": "open", "aria-pressed": "false" }); // as lessons call it
    this.#send = button(say("send.this"), send);
    this.#actions = element(
      "div.cv-buttons.cv-network-actions",
      this.#open,
      this.#send,
      button(say("unpin"), unpin),
    );
    this.el = element("div.cv-network-foot-line", this.#sentence, this.#actions);
  }

  /** @param {string} words @param {boolean} isCell */
  show(words, isCell) {
    setRich(this.#sentence, words);
    // Who came by keys hears it.
    if (isCell && focusOf(this.el)?.closest(".cv-network-maps"))
      this.#pane.say(plainText(words).replaceAll("**", ""));
  }

  /** @param {boolean} now the rule of the cell is in sight */
  opened(now) {
    this.#open.setAttribute("aria-pressed", String(now));
  }

  /** @param {NetworkSource} source @param {{ operation: number, cell: number[] } | null} pinned */
  offer(source, pinned) {
    this.#actions.hidden = !pinned;
    if (!pinned) return;
    const operation = source.network.operations[pinned.operation];
    this.#open.hidden = !canOpen(source, operation);
    const id = operation.opens === "board" ? "open.board" : "open.rule";
    setText(this.#open, say(id, { name: nameOf(operation) }));
    this.#send.hidden = !source.canSend({ kind: "cell", ...pinned });
  }
}

/** @param {NetworkSource} source @param {NetworkOperation} operation */
export const canOpen = ({ open }, { opens }) => opens === "rule" || (opens === "board" && Boolean(open));
