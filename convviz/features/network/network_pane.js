// The parts of the picture, and what they send each other.
import { element } from "../../web/base/dom.js";
import { rich, setRich } from "../../web/base/rich_text.js";
import { button } from "../../web/tabs/pane_elements.js";
import { Arcs, skipsOf } from "./arcs.js";
import { Bars } from "./bars.js";
import { createImages } from "./images.js";
import { hasMore } from "./layout.js";
import { Lens } from "./lens.js";
import { Maps } from "./maps.js";
import { sameFrom } from "./recorded_source.js";
import { fromText, SendBack } from "./send_back.js";
import { nameOf, saidOf, say } from "./sentences.js";
import { canOpen, CellLine } from "./cell_line.js";
import { readColours } from "./colours.js";
import { NumbersTable } from "./table.js";
import { Pointing } from "./pointing.js";
import { Rule } from "./rule.js";

export class NetworkPane {
  #pane;
  /** @type {NetworkSource | null} */
  #source = null;
  /** @type {NetworkBack | null} */
  #back = null;
  /** @type {import("./column.js").Colours | null} */
  #colours = null;
  #theme = "";
  #asked = 0; // the last question about a gradient
  #arcs = new Arcs();
  #bars = new Bars({
    point: (operation) => {
      this.#maps.light(operation);
      this.#markArcs(operation);
    },
    open: (operation) => this.#openColumn(operation),
  });
  #maps = new Maps({
    point: (pointed) => this.#pointing.point(pointed),
    pin: (pointed) => this.#pointing.pin(pointed) && this.#open(),
    open: () => this.#open(),
    back: () => this.#pointing.unpin(),
    sendBack: () => this.#sendCell(),
    all: (operation) => this.#toggleAll(operation),
  });
  #lens = new Lens();
  #table = new NumbersTable();
  #finding = element("p.cv-network-finding");
  #example = rich("p.cv-network-example.cv-muted", say("example"));
  #notes = element("div.cv-network-notes");
  #send = new SendBack((from) => this.#sendBack(from));
  #images = createImages((index) => this.#setImage(index));
  #every = button(say("columns.all"), () => this.#toggleEvery(), { "aria-pressed": "false" });
  #rule = new Rule(() => {
    this.#line.opened(false);
    this.#pointing.focus();
    this.#pointing.point(null);
  });
  #line;
  #pointing;
  #root;

  /** @param {PaneTools} pane @param {HTMLElement} body */
  constructor(pane, body) {
    this.#pane = pane;
    this.#line = new CellLine(pane, {
      open: () => this.#open(),
      send: () => this.#sendCell(),
      unpin: () => void this.#pointing.unpin(),
    });
    this.#root = element(
      "div.cv-network",
      element("div.cv-network-head", element("h3", say("title")), this.#finding, this.#example),
      this.#arcs.el,
      this.#bars.el,
      element("div.cv-network-choices", this.#images.el, this.#send.el, this.#every),
      element("div.cv-network-stage", this.#maps.el, this.#maps.over.el, this.#rule.el),
      element(
        "div.cv-network-below",
        element("div.cv-network-words", this.#line.el, this.#notes, this.#table.el),
        this.#lens.el,
      ),
    );
    this.#pointing = new Pointing({
      bars: this.#bars,
      maps: this.#maps,
      lens: this.#lens,
      line: this.#line,
      markArcs: (operation) => this.#markArcs(operation),
      isCovered: this.#rule.isOpen,
    });
    body.append(this.#root);
    this.#root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !(this.#rule.close() || this.#pointing.unpin())) return;
      event.preventDefault();
      event.stopPropagation();
    });
    pane.onClose(() => this.#source?.close());
    // Built before it stood in the page, where there were no colours yet.
    new ResizeObserver(() => this.#colours?.card === "" && this.#recolour()).observe(this.#root);
  }

  /** @param {NetworkSource} source */
  set(source) {
    const theme = this.#pane.root.dataset.theme ?? "light";
    if (theme !== this.#theme) this.#recolour();
    this.#theme = theme;
    if (source !== this.#source) {
      this.#source = source;
      this.#back = source.network.backs[0];
      this.#maps.begin(spokenOf(source.network));
      this.#rule.close();
    }
    this.#show();
  }

  #recolour() {
    this.#colours = readColours(this.#pane);
    this.#show();
  }

  /** What is sent back, and the cell that is kept: for `restore`. */
  state = () => ({ from: this.#back?.from, pinned: this.#pointing.pinned() });

  /** As it was before a convolution of it was opened. @param {Partial<ReturnType<NetworkPane["state"]>>} state */
  async restore({ from, pinned }) {
    if (from) await this.#sendBack(from);
    if (pinned) this.#pointing.pin(pinned);
  }

  #show() {
    const [source, back, colours] = [this.#source, this.#back, this.#colours];
    if (!source || !back || !colours) return;
    const { network } = source;
    this.#root.dataset.model = network.model;
    setRich(this.#finding, saidOf(network.finding));
    this.#finding.classList.toggle("cv-elsewhere", back !== network.backs[0]); // of which it does not speak
    this.#example.hidden = !source.inputs; // a visitor's own network has none to choose
    const notes = network.said.map(saidOf).filter(Boolean);
    this.#notes.replaceChildren(...notes.map((text) => rich("p.cv-muted", text)));
    this.#images.set(source);
    this.#send.set(source, back.from);
    this.#every.hidden = !hasMore(network.operations);
    const { length } = network.operations;
    this.#arcs.set(skipsOf(network.operations), (index) => index + 0.5, length);
    const bars = this.#bars.set(network.operations, back);
    this.#table.set(network.operations, bars);
    this.#maps.set(source, back, colours, sentText(network, back), fromText(network, back.from));
    this.#pointing.set({ source, back, colours });
    this.#rule.refresh({ network, back, fields: this.#pointing.fields }, colours);
  }

  /** @param {number | null} operation */
  #markArcs(operation) {
    this.#arcs.mark(operation);
    this.#maps.arcs.mark(operation);
  }

  #open() {
    const [source, back, colours, kept] = [this.#source, this.#back, this.#colours, this.#pointing.kept()];
    if (!source || !back || !colours || !kept) return;
    const { operation, cell } = kept;
    const { network } = source;
    if (!canOpen(source, network.operations[operation])) return;
    if (network.operations[operation].opens === "board") {
      const refused = (/** @type {Error} */ { message }) => this.#send.report(message);
      return void source.open?.(operation, cell, back)?.catch(refused);
    }
    this.#lens.hide();
    this.#line.opened(true);
    this.#rule.open({ network, back, fields: this.#pointing.fields }, colours, operation, cell);
  }

  #sendCell() {
    const here = this.#pointing.current();
    if (here) this.#sendBack({ kind: "cell", ...here });
  }

  /** @param {NetworkFrom} from */
  async #sendBack(from) {
    const source = this.#source;
    if (!source || (this.#back && sameFrom(this.#back.from, from))) return;
    const asked = ++this.#asked;
    this.#root.setAttribute("aria-busy", "true");
    try {
      const back = await source.back(from);
      if (asked !== this.#asked) return;
      this.#back = back;
      this.#send.report("");
      this.#show();
    } catch (reason) {
      if (asked === this.#asked) this.#send.report(/** @type {Error} */ (reason).message);
    } finally {
      if (asked === this.#asked) this.#root.removeAttribute("aria-busy");
    }
  }

  /** @param {number} index */
  async #setImage(index) {
    const source = this.#source;
    if (!source?.input) return;
    const from = this.#back?.from ?? source.network.backs[0].from;
    await source.input(index);
    this.#back = await source.back(from);
    this.#show();
  }

  /** Its maps, made if need be. @param {number} operation */
  #openColumn(operation) {
    if (!this.#maps.column(operation)) {
      this.#maps.choice.more.add(operation);
      this.#maps.build();
    }
    this.#maps.reveal(operation, true);
  }

  /** @param {number} operation */
  async #toggleAll(operation) {
    const { whole } = this.#maps.choice;
    if (!whole.delete(operation)) {
      whole.add(operation);
      await this.#source?.channels?.(operation).catch(() => {});
    }
    this.#maps.build();
    this.#pointing.point(null);
  }

  #toggleEvery() {
    const all = (this.#maps.choice.all = !this.#maps.choice.all);
    this.#every.setAttribute("aria-pressed", String(all));
    this.#maps.build();
    this.#pointing.point(null);
  }
}

/** Returns the operation that the sentence is about, or −1 where there is none. @param {NetworkData} network */
const spokenOf = ({ finding, operations }) =>
  operations.findIndex((each) => [each.label, nameOf(each)].includes(finding?.args.name));

/** What the gradients are those of, in a formula. @param {NetworkData} network @param {NetworkBack} back */
function sentText(network, { from }) {
  if (from.kind === "cell") return fromText(network, from);
  return say(from.kind === "sum" ? "sent.sum" : "sent.loss");
}
