// @ts-check
// The model behind the kernel's sliders in a page: the numbers of the plane that is shown.
import { shownKernel } from "../rules/change.js";
import { editCell } from "../rules/edit.js";
import { createValues } from "../base/events.js";

/**
 * Make the model that sliders.js draws.
 * @param {ReturnType<typeof import("../numbers/model.js").createPageModel>} model of the page
 */
export function createKernelModel(model) {
  const shown = () => {
    const { spec, plane } = model.settings();
    const ins = spec.in_channels / spec.groups;
    const label =
      ins * spec.out_channels > 1 ? `weight[${plane.out_channel}, ${plane.in_channel % ins}]` : "weight";
    return { shape: spec.kernel_size, values: shownKernel(model.settings()), label, of: label };
  };
  const values = createValues({ reach: 3, step: 0.1, ...shown() });
  /** @type {Record<string, any>} */
  let moved = {}; // by the sliders, and not yet taken over
  // Most settings are not the kernel's.
  const isNew = ([name, value]) => JSON.stringify(value) !== JSON.stringify(values.get(name));
  const refresh = () => values.put(Object.fromEntries(Object.entries(shown()).filter(isNew)));
  model.on("settings", refresh);

  return {
    get: (name) => moved[name] ?? values.get(name),
    on: values.on,
    off: values.off,
    /** @param {string} name @param {any} value */
    set: (name, value) => (moved[name] = value),
    save_changes() {
      const wanted = moved.values ?? values.get("values");
      moved = {};
      const columns = values.get("shape")[1];
      const before = values.get("values");
      const cells = wanted.flatMap((value, index) => (value === before[index] ? [] : [index]));
      const { plane } = model.settings();
      const write = (settings, index) => {
        const cell = {
          panel: "weight",
          row: Math.floor(index / columns),
          column: index % columns,
          value: wanted[index],
        };
        return editCell(settings, cell)[0];
      };
      model.change(
        (settings) => [cells.reduce(write, settings), []],
        `weight ${cells} ${JSON.stringify(plane)}`,
      );
      if (model.get("failed")) values.tell("change:values"); // the sliders go back to what holds
    },
    close: () => model.off("settings", refresh),
  };
}
