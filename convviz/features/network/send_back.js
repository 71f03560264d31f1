// What is sent back: the loss, a score, or a 1 from the cell that was chosen last.
import { element, setText } from "../../web/base/dom.js";
import { walkAlong } from "../../web/base/roving_tabindex.js";
import { fillMenu } from "../../web/tabs/pane_elements.js";
import { scoresIndex } from "./layout.js";
import { sameFrom } from "./recorded_source.js";
import { cellText, say } from "./sentences.js";

const MAX_BUTTONS = 12;

/** @typedef {{ from: NetworkFrom, words: string, short: string }} Choice */

/** @param {NetworkData} network @param {NetworkFrom} from */
export function fromText(network, from) {
  if (from.kind !== "cell") return say(from.kind === "sum" ? "send.sum" : "send.loss");
  return cellText(network.operations[from.operation ?? 0], from.cell ?? []);
}

/** The scores, if there are any. @param {NetworkData} network @returns {Choice[]} */
function scoresOf({ operations, labels }) {
  const last = scoresIndex(operations);
  if (last < 0) return [];
  const { shape } = operations[last];
  return Array.from({ length: shape[0] }, (_, at) => {
    const label = labels?.[at] ?? String(at);
    return {
      from: { kind: "cell", operation: last, cell: [at] },
      words: say("send.score", { label }),
      short: label,
    };
  });
}

export class SendBack {
  #row = element("div.cv-seg", { role: "radiogroup", "aria-label": say("send") });
  #menu = element("select", { "aria-label": say("send") });
  #why = element("p.cv-muted.cv-network-why", { role: "status" });
  el = element(
    "div.cv-network-send",
    element("span.cv-network-label", say("send")),
    this.#row,
    this.#menu,
    this.#why,
  );
  /** @type {Choice[]} */
  #choices = [];
  #send;
  /** @type {NetworkSource | null} */
  #source = null;

  /** @param {(from: NetworkFrom) => void} send */
  constructor(send) {
    this.#send = send;
    walkAlong(
      this.#row,
      () => /** @type {HTMLElement[]} */ ([...this.#row.children]),
      (next) => this.#choose(Number(next.dataset.at)),
    );
    this.#row.addEventListener("click", ({ target }) => {
      const button = /** @type {Element} */ (target).closest("button");
      if (button) this.#choose(Number(button.dataset.at));
    });
    this.#menu.addEventListener("change", () => this.#choose(Number(this.#menu.value)));
  }

  /** @param {number} at */
  #choose(at) {
    const choice = this.#choices[at];
    if (choice && this.#source?.canSend(choice.from)) this.#send(choice.from);
    else this.report(say("send.recorded"));
  }

  /** Shows why the gradient could not be sent back; an empty text removes this. @param {string} words */
  report(words) {
    setText(this.#why, words);
  }

  /** @param {NetworkSource} source @param {NetworkFrom} chosen */
  set(source, chosen) {
    this.#source = source;
    const { network } = source;
    const asked = network.backs[0]?.from ?? { kind: "loss" };
    const words = fromText(network, asked);
    const all = [
      { from: asked, words, short: words },
      ...scoresOf(network).filter(({ from }) => !sameFrom(from, asked) && source.canSend(from)),
    ];
    if (!all.some(({ from }) => sameFrom(from, chosen))) {
      const cell = fromText(network, chosen);
      all.push({ from: chosen, words: cell, short: cell });
    }
    this.#choices = all;
    const at = all.findIndex(({ from }) => sameFrom(from, chosen));
    const isLong = all.length > MAX_BUTTONS;
    this.#menu.hidden = !isLong;
    this.#row.hidden = isLong;
    if (isLong)
      fillMenu(
        this.#menu,
        all.map((each, index) => [String(index), each.words]),
        String(at),
      );
    else this.#draw(at);
  }

  /** @param {number} chosen */
  #draw(chosen) {
    const held = this.#row.contains(document.activeElement);
    this.#row.replaceChildren(
      ...this.#choices.map(({ from, words, short }, at) => {
        const on = at === chosen;
        const attributes = {
          type: "button",
          role: "radio",
          "data-at": String(at),
          "data-variant": from.kind === "cell" ? `score_${from.cell}` : from.kind, // as lessons call it
          "aria-checked": String(on),
          "aria-label": words,
          title: words,
          tabindex: on ? "0" : "-1",
        };
        const button = element("button", attributes, short);
        if (!this.#source?.canSend(from)) {
          button.setAttribute("aria-disabled", "true");
          button.title = say("send.recorded");
        }
        return button;
      }),
    );
    if (held) /** @type {HTMLElement} */ (this.#row.children[chosen]).focus({ preventScroll: true });
  }
}
