// The shown kernel's numbers, for sliders.js.
import { shownKernel } from "../rules/change.js";
import { editCell } from "../rules/edit.js";
import { createValues } from "../base/events.js";

export class KernelModel {
  #values;
  /** @type {Record<string, any>} */
  #moved = {}; // not yet applied
  // Most changes are elsewhere.
  #isNew = ([name, value]) => JSON.stringify(value) !== JSON.stringify(this.#values.get(name));
  #refresh = () => this.#values.put(Object.fromEntries(Object.entries(this.#shown()).filter(this.#isNew)));
  on;
  off;
  #model;

  /** @param {ReturnType<typeof import("../numbers/model.js").createPageModel>} model */
  constructor(model) {
    this.#model = model;
    this.#values = createValues({ reach: 3, step: 0.1, ...this.#shown() });
    [this.on, this.off] = [this.#values.on, this.#values.off];
    model.on("settings", this.#refresh);
  }

  #shown() {
    const settings = this.#model.settings();
    const { spec, plane } = settings;
    const ins = spec.in_channels / spec.groups;
    const label =
      ins * spec.out_channels > 1 ? `weight[${plane.out_channel}, ${plane.in_channel % ins}]` : "weight";
    return { shape: spec.kernel_size, values: shownKernel(settings), label, of: label };
  }

  get = (name) => this.#moved[name] ?? this.#values.get(name);

  /** @param {string} name @param {any} value */
  set = (name, value) => (this.#moved[name] = value);

  save_changes() {
    const wanted = this.#moved.values ?? this.#values.get("values");
    this.#moved = {};
    const columns = this.#values.get("shape")[1];
    const before = this.#values.get("values");
    const cells = wanted.flatMap((value, index) => (value === before[index] ? [] : [index]));
    const { plane } = this.#model.settings();
    const write = (settings, index) => {
      const cell = {
        panel: "weight",
        row: Math.floor(index / columns),
        column: index % columns,
        value: wanted[index],
      };
      return editCell(settings, cell)[0];
    };
    this.#model.change(
      (settings) => [cells.reduce(write, settings), []],
      `weight ${cells} ${JSON.stringify(plane)}`,
    );
    if (this.#model.get("failed")) this.#values.tell("change:values"); // back to what holds
  }

  close = () => this.#model.off("settings", this.#refresh);
}
