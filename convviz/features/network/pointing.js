// The cell that is pointed at, or kept: its fields, its numbers in the lens, what is said of it.
import { cellSentence } from "./cell_sentences.js";
import { Fields } from "./fields.js";
import { fromText } from "./send_back.js";
import { nameOf, say } from "./sentences.js";

/**
 * @import { Bars } from "./bars.js"
 * @import { CellLine } from "./cell_line.js"
 * @import { Colours, Pointed, Row } from "./column.js"
 * @import { Field } from "./fields.js"
 * @import { Lens } from "./lens.js"
 * @import { Maps } from "./maps.js"
 * @typedef {{ bars: Bars, maps: Maps, lens: Lens, line: CellLine, markArcs: (operation: number | null) => void,
 *   isCovered: () => boolean }} Parts
 *   isCovered: the maps, by an opened operation
 * @typedef {{ source: NetworkSource, back: NetworkBack, colours: Colours }} Drawn
 */

/** @param {Pointed | null} pointed */
const placeText = (pointed) => pointed && [pointed.operation, pointed.plane, ...pointed.at].join(" ");

export class Pointing {
  #parts;
  /** @type {Drawn | null} */
  #drawn = null;
  fields = new Fields([]);
  /** @type {Pointed | null} */
  #pinned = null;
  /** @type {Pointed | null} */
  #shown = null;
  #marked = "";
  /** The fields of the last cell, where they are drawn. */
  #reached = { key: "", fields: /** @type {Record<Row, Field> | null} */ (null) };

  /** @param {Parts} parts */
  constructor(parts) {
    this.#parts = parts;
  }

  /** @param {Drawn} drawn */
  set(drawn) {
    if (drawn.source !== this.#drawn?.source) {
      this.fields = new Fields(drawn.source.network.operations);
      this.#pinned = null;
    }
    this.#drawn = drawn;
    this.#reached.key = "";
    this.point(null);
  }

  /** Shows the pointed cell; null shows the pinned one again. @param {Pointed | null} pointed */
  point(pointed) {
    const { bars, maps, lens, markArcs } = this.#parts;
    const here = pointed ?? this.#pinned;
    const isPinned = placeText(here) === placeText(this.#pinned);
    const drawn = `${isPinned} ${placeText(here)}`;
    if (pointed && drawn === this.#marked) return; // the pointer moved within one cell
    this.#marked = drawn;
    this.#shown = maps.cursor = here;
    bars.mark(here?.operation ?? null);
    markArcs(here?.operation ?? null);
    maps.mark(here && { pointed: here, fields: this.#fieldsOf(here), pinned: isPinned });
    if (here) this.#look(here);
    else lens.hide();
    this.#describe();
  }

  /** @param {Pointed} pointed @returns {boolean} whether it was kept already */
  pin(pointed) {
    if (placeText(this.#pinned) === placeText(pointed)) return true;
    this.#pinned = pointed;
    this.focus();
    this.point(pointed);
    return false;
  }

  /** @returns {boolean} whether there was one */
  unpin() {
    if (!this.#pinned && !this.#shown) return false;
    this.#pinned = null;
    this.point(null);
    return true;
  }

  /** On the column of the kept cell. */
  focus() {
    if (this.#pinned) this.#parts.maps.column(this.#pinned.operation)?.el.focus({ preventScroll: true });
  }

  pinned = () => this.#pinned;

  kept = () => this.#pinned && this.#placed(this.#pinned);

  /** The kept one, or the one that is pointed at. */
  current() {
    const here = this.#pinned ?? this.#shown;
    return here && this.#placed(here);
  }

  /** @param {Pointed} pointed */
  #placed(pointed) {
    const { operation } = pointed;
    return { operation, cell: this.#parts.maps.column(operation)?.cellOf(pointed) ?? [] };
  }

  /** @param {Pointed} pointed */
  #fieldsOf(pointed) {
    const { operation, cell } = this.#placed(pointed);
    const key = `${operation} ${cell}`;
    const { fields } = this;
    if (this.#reached.key !== key || !this.#reached.fields) {
      const [forward, backward] = [fields.receptive(operation, cell), fields.projective(operation, cell)];
      this.#reached = { key, fields: { forward, backward } };
    }
    return /** @type {Record<Row, Field>} */ (this.#reached.fields);
  }

  /** @param {Pointed} pointed */
  async #look(pointed) {
    const { maps, lens, isCovered } = this.#parts;
    const column = maps.column(pointed.operation);
    if (!this.#drawn || !column?.planes) return;
    const { source, back, colours } = this.#drawn;
    const { cell } = this.#placed(pointed);
    const limits = /** @type {Pair} */ ([column.planes.limit, column.gradients?.limit ?? 1]);
    const draw = (/** @type {NetworkWindow | null | undefined} */ window) => {
      if (this.#shown !== pointed || !column.tiling) return;
      if (window?.exact && source.network.live) this.#describe(); // Python has sent the numbers
      if (!window || cell.length < 2 || isCovered()) return lens.hide();
      lens.draw({ window, limits, colours });
    };
    await source.window?.(pointed.operation, cell, back).then(draw, () => lens.hide());
  }

  #describe() {
    if (!this.#drawn) return;
    const { source, back } = this.#drawn;
    const { network } = source;
    const receptive = this.#reached.fields?.forward;
    const here = this.#shown && this.#placed(this.#shown);
    const { line } = this.#parts;
    if (here && receptive) {
      const seen = { network, back, fields: this.fields };
      line.show(cellSentence(seen, here.operation, here.cell, receptive), true);
    } else line.show(startText(network, back), false);
    line.offer(source, this.kept());
  }
}

/**
 * Says which gradient was sent back, before anybody points at a cell.
 * @param {NetworkData} network @param {NetworkBack} back
 */
function startText(network, back) {
  const [{ from }, { operations }] = [back, network];
  if (from.kind === "cell") return say("start.cell", { cell: `**${fromText(network, from)}**` });
  const sent = say(from.kind === "sum" ? "start.sum" : "start.loss");
  const input = operations.find(({ index, kind }) => kind === "input" && back.planes[index]);
  return input ? `${sent} ${say("start.saliency", { name: nameOf(input) })}` : sent;
}
