// The parts of the picture, and what they tell each other.
import { element } from "../../web/base/dom.js";
import { rich, setRich } from "../../web/base/rich_text.js";
import { button } from "../../web/tabs/pane_elements.js";
import { Bars } from "./bars.js";
import { Fields } from "./fields.js";
import { createImages } from "./images.js";
import { hasMore } from "./layout.js";
import { Lens } from "./lens.js";
import { Maps } from "./maps.js";
import { sameFrom } from "./recorded_source.js";
import { fromText, SendBack } from "./send_back.js";
import { saidOf, say } from "./sentences.js";
import { canOpen, CellLine } from "./cell_line.js";
import { readColours } from "./colours.js";
import { cellSentence } from "./cell_sentences.js";
import { NumbersTable } from "./table.js";
import { Rule } from "./rule.js";

/**
 * @import { Colours, Pointed } from "./column.js"
 * @import { Field } from "./fields.js"
 */

export class NetworkPane {
  #pane;
  /** @type {NetworkSource | null} */
  #source = null;
  /** @type {NetworkBack | null} */
  #back = null;
  #fields = new Fields([]);
  /** @type {Colours | null} */
  #colours = null;
  #theme = "";
  #asked = 0; // the last question about a gradient
  /** @type {Pointed | null} */
  #pinned = null;
  /** @type {Pointed | null} */
  #shown = null;
  #reached = {
    key: "",
    receptive: /** @type {Field | null} */ (null),
    projective: /** @type {Field | null} */ (null),
  };
  #bars = new Bars({
    point: (operation) => operation !== null && this.#maps.column(operation) && this.#maps.reveal(operation),
    open: (operation) => this.#openColumn(operation),
  });
  #maps = new Maps({
    point: (pointed) => this.#point(pointed),
    pin: (pointed) => this.#pin(pointed),
    open: () => this.#open(),
    back: () => this.#unpin(),
    sendBack: () => this.#sendCell(),
    all: (operation) => this.#toggleAll(operation),
  });
  #lens = new Lens();
  #table = new NumbersTable();
  #finding = element("p.cv-network-finding");
  #notes = element("div.cv-network-notes");
  #send = new SendBack((from) => this.#sendBack(from));
  #images = createImages((index) => this.#setImage(index));
  #every = button(say("columns.all"), () => this.#toggleEvery(), { "aria-pressed": "false" });
  #line;
  #rule = new Rule(() => this.#closeRule());
  #root;

  /** @param {PaneTools} pane @param {HTMLElement} body */
  constructor(pane, body) {
    this.#pane = pane;
    this.#line = new CellLine(pane, {
      open: () => this.#open(),
      send: () => this.#sendCell(),
      unpin: () => void this.#unpin(),
    });
    this.#root = element(
      "div.cv-network",
      element("div.cv-network-head", element("h3", say("title")), this.#finding),
      this.#bars.el,
      element("div.cv-network-choices", this.#images.el, this.#send.el, this.#every),
      element("div.cv-network-stage", this.#maps.el, this.#rule.el),
      this.#line.el,
      element("div.cv-network-more-lines", this.#notes, this.#table.el),
      this.#lens.el,
    );
    body.append(this.#root);
    this.#root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !(this.#rule.close() || this.#unpin())) return;
      event.preventDefault();
      event.stopPropagation();
    });
    pane.onClose(() => this.#source?.close());
  }

  /** @param {NetworkSource} source */
  set(source) {
    const isNew = source !== this.#source;
    const theme = this.#pane.root.dataset.theme ?? "light";
    if (theme !== this.#theme) this.#colours = readColours(this.#pane);
    this.#theme = theme;
    if (isNew) {
      this.#source = source;
      this.#fields = new Fields(source.network.operations);
      this.#back = source.network.backs[0];
      this.#maps.choice = { all: false, more: new Set(), whole: new Set() };
      [this.#pinned, this.#shown] = [null, null];
      this.#rule.close();
    }
    this.#show();
  }

  #show() {
    const [source, back, colours] = [this.#source, this.#back, this.#colours];
    if (!source || !back || !colours) return;
    const { network } = source;
    this.#root.dataset.model = network.model;
    setRich(this.#finding, saidOf(network.finding));
    this.#notes.replaceChildren(
      ...network.said
        .map(saidOf)
        .filter(Boolean)
        .map((text) => rich("p.cv-muted", text)),
    );
    this.#images.set(source);
    this.#send.set(source, back.from);
    this.#every.hidden = !hasMore(network.operations);
    const bars = this.#bars.set(network.operations, back);
    this.#table.set(network.operations, bars);
    this.#maps.set(source, back, colours, this.#sent());
    this.#reached.key = "";
    this.#point(this.#pinned);
    this.#rule.refresh({ network, back, fields: this.#fields }, colours);
  }

  /** What the gradients are those of, in a formula. */
  #sent() {
    const { from } = /** @type {NetworkBack} */ (this.#back);
    if (from.kind !== "cell") return say(from.kind === "sum" ? "sent.sum" : "sent.loss");
    return fromText(/** @type {NetworkSource} */ (this.#source).network, from);
  }

  /** @param {Pointed | null} pointed */
  #point(pointed) {
    const here = pointed ?? this.#pinned;
    this.#shown = here;
    this.#maps.cursor = here;
    this.#bars.mark(here?.operation ?? null);
    if (!here) {
      this.#maps.mark(null, null, false);
      this.#lens.hide();
      this.#tell();
      return;
    }
    const fields = this.#fieldsOf(here);
    this.#maps.mark(here, fields, here === this.#pinned);
    this.#look(here);
    this.#tell();
  }

  /** @param {Pointed} pointed */
  #fieldsOf(pointed) {
    const cell = this.#cellOf(pointed);
    const key = `${pointed.operation} ${cell}`;
    if (this.#reached.key !== key)
      this.#reached = {
        key,
        receptive: this.#fields.receptive(pointed.operation, cell),
        projective: this.#fields.projective(pointed.operation, cell),
      };
    const { receptive, projective } = this.#reached;
    return receptive && projective && { receptive, projective };
  }

  /** @param {Pointed} pointed */
  #cellOf(pointed) {
    return this.#maps.column(pointed.operation)?.cellOf(pointed) ?? [];
  }

  /** @param {Pointed} pointed */
  async #look(pointed) {
    const [source, back, colours] = [this.#source, this.#back, this.#colours];
    const column = this.#maps.column(pointed.operation);
    if (!source || !back || !colours || !column?.planes) return;
    const cell = this.#cellOf(pointed);
    const limits = /** @type {Pair} */ ([column.planes.limit, column.gradients?.limit ?? 1]);
    const draw = (/** @type {NetworkWindow | null | undefined} */ window) => {
      if (this.#shown !== pointed || !column.tiling) return;
      if (window?.exact) this.#tell();
      if (!window || cell.length < 2 || this.#rule.isOpen()) return this.#lens.hide();
      this.#lens.draw({ window, limits, colours }, this.#maps.narrow);
      const boxes = [column.el, column.maps.forward.el, column.maps.backward.el].map((el) =>
        el.getBoundingClientRect(),
      );
      this.#lens.place(boxes[0], boxes[1], boxes[2], this.#root);
    };
    await source.window?.(pointed.operation, cell, back).then(draw, () => this.#lens.hide());
  }

  #tell() {
    const [source, back] = [this.#source, this.#back];
    if (!source || !back) return;
    const here = this.#shown;
    const { network } = source;
    const start =
      back.from.kind === "cell" ? "start.cell" : back.from.kind === "sum" ? "start.sum" : "start.loss";
    const { receptive } = this.#reached;
    const words =
      here && receptive
        ? cellSentence({ network, back, fields: this.#fields }, here.operation, this.#cellOf(here), receptive)
        : say(start, { cell: `**${fromText(network, back.from)}**` });
    this.#line.tell(words, Boolean(here));
    const pinned = this.#pinned;
    this.#line.offer(source, pinned && { operation: pinned.operation, cell: this.#cellOf(pinned) });
  }

  /** @param {Pointed} pointed */
  #pin(pointed) {
    const same = this.#pinned && samePlace(this.#pinned, pointed);
    if (same) return this.#open();
    this.#pinned = pointed;
    this.#maps.column(pointed.operation)?.el.focus({ preventScroll: true });
    this.#point(pointed);
  }

  #unpin() {
    if (!this.#pinned && !this.#shown) return false;
    this.#pinned = null;
    this.#point(null);
    return true;
  }

  #open() {
    const [source, back, colours, pinned] = [this.#source, this.#back, this.#colours, this.#pinned];
    if (!source || !back || !colours || !pinned) return;
    const operation = source.network.operations[pinned.operation];
    const cell = this.#cellOf(pinned);
    if (!canOpen(source, operation)) return;
    if (operation.opens === "board") return source.open?.(pinned.operation, cell);
    this.#lens.hide();
    this.#rule.open({ network: source.network, back, fields: this.#fields }, colours, pinned.operation, cell);
  }

  #closeRule() {
    if (this.#pinned) this.#maps.column(this.#pinned.operation)?.el.focus({ preventScroll: true });
    this.#point(this.#pinned);
  }

  #sendCell() {
    const here = this.#pinned ?? this.#shown;
    if (here) this.#sendBack({ kind: "cell", operation: here.operation, cell: this.#cellOf(here) });
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
      this.#send.tell("");
      this.#show();
    } catch (reason) {
      if (asked === this.#asked) this.#send.tell(/** @type {Error} */ (reason).message);
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
    this.#point(this.#pinned);
  }

  #toggleEvery() {
    const all = (this.#maps.choice.all = !this.#maps.choice.all);
    this.#every.setAttribute("aria-pressed", String(all));
    this.#maps.build();
    this.#point(this.#pinned);
  }
}

/** @param {Pointed} a @param {Pointed} b */
const samePlace = (a, b) =>
  a.operation === b.operation && a.plane === b.plane && String(a.at) === String(b.at);
