// Below the bands: readout, loss, provenance, legend, tables.
import { element, setAttribute, setLine } from "../../base/dom.js";
import { createLegend } from "../band/band_elements.js";
import { Tables } from "./number_tables.js";

export class Legend {
  el;
  lost = element("p.cv-lost", { role: "alert" });
  #readout;
  #loss = element("p.cv-loss");
  #truth = element("p.cv-truth");
  #legend = createLegend();
  #tables;

  /** @param {import("./readout.js").Readout} readout @param {HTMLElement} sum @param {() => void} onOpen */
  constructor(readout, sum, onOpen) {
    this.#readout = readout;
    this.#tables = new Tables(onOpen);
    const under = element("div.cv-under", readout.el);
    const facts = [this.#loss, this.#truth, this.#legend.el, this.#tables.el];
    const all = [this.lost, sum, under, element("div.cv-facts", ...facts), readout.live];
    this.el = element("div.cv-foot", ...all);
  }

  /** @param {Structure} structure @param {BoardValues} values @param {Record<string, ArrayLike<number>>} planes */
  show(structure, values, planes) {
    this.#legend.set(structure.equations[0]?.scale === "equation" ? Object.values(values.limits)[0] : null);
    this.#tables.show(structure, planes);
    this.#readout.sayAgain();
    setLine(this.#loss, values.loss);
    // not of the broken numbers
    setLine(this.#truth, values.broken?.differs ? "" : values.truth);
    setAttribute(this.#truth, "data-ok", String(values.truth_ok));
  }
}
