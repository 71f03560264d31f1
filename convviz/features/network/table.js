// The bars as a table, for who hears them and for who wants to copy them.
import { element } from "../../web/base/dom.js";
import { tableHead, tableRow } from "../../web/tabs/pane_elements.js";
import { sizeText } from "./bars.js";
import { nameOf, percentText, say, shapeText } from "./sentences.js";

export class NumbersTable {
  #table = element("table");
  el = element("details.cv-network-table", element("summary", say("table")), element("div", this.#table));
  /** @type {() => void} */
  #build = () => {};

  constructor() {
    this.el.addEventListener("toggle", () => this.el.open && this.#build());
  }

  /** Built when it is opened. @param {NetworkOperation[]} operations @param {import("./bars_data.js").Bar[]} bars */
  set(operations, bars) {
    this.#build = () => {
      const heads = ["operation", "kind", "shape", "value_zeros", "size", "zeros", "ratio"];
      const words = heads.map((head) => say(/** @type {"table.kind"} */ (`table.${head}`)));
      const rows = operations.map((operation, at) => {
        const { kind, shape, weight } = operation;
        const { size, zeros, ratio } = bars[at];
        const cells = [
          kind,
          shapeText(shape),
          percentText(operation.zeros),
          sizeText(size),
          percentText(zeros),
          weight ? sizeText(ratio) : "",
        ];
        return tableRow([nameOf(operation), ...cells]);
      });
      this.#table.replaceChildren(
        element("caption", say("bars")),
        tableHead(words),
        element("tbody", ...rows),
      );
    };
    if (this.el.open) this.#build();
  }
}
