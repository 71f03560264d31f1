// @ts-check
// A grid of sliders with number fields. The browser's own range inputs: they send what a person moved and nothing
// else, whereas ipywidgets' slider rounds every value to its step and sends that back, so that 1/9 becomes 0.1.
import { element } from "./dom.js";
import { formatNumber, parseNumber } from "./format.js";

/** @param {{ model: any, el: HTMLElement }} context */
function render({ model, el }) {
  const grid = element("div", { class: "cv-sliders", role: "group" });
  /** @type {{ range: HTMLInputElement, field: HTMLInputElement }[]} */
  let cells = [];
  el.append(grid);

  /** @param {number} index @param {number} value */
  function change(index, value) {
    const values = [...model.get("values")];
    if (values[index] === value) return;
    values[index] = value;
    model.set("values", values);
    model.save_changes(); // while one message is under way the next ones become one: the last value always arrives
  }

  /** @param {number} index @param {string} name */
  function makeCell(index, name) {
    const range = /** @type {HTMLInputElement} */ (
      element("input", { type: "range", step: String(model.get("step")), "aria-label": `${name}, slider` })
    );
    const field = /** @type {HTMLInputElement} */ (
      element("input", { type: "text", inputmode: "decimal", "aria-label": name })
    );
    range.addEventListener("input", () => {
      // The range's steps start at its minimum: -3 + 0.1 * 33 is 0.30000000000000027, and 0.3 is meant.
      change(index, Number(Number(range.value).toFixed(6)));
      show(index);
    });
    const commit = () => {
      const value = parseNumber(field.value);
      field.setAttribute("aria-invalid", String(value === null));
      if (value === null) return;
      change(index, value);
      show(index);
    };
    field.addEventListener("change", commit);
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") commit();
      if (event.key === "Escape") show(index);
      event.stopPropagation();
    });
    field.addEventListener("focus", () => field.select());
    field.addEventListener("blur", () => show(index)); // what is no number goes back to what holds
    return { range, field };
  }

  /** @param {number} index */
  function show(index) {
    const value = model.get("values")[index];
    const { range, field } = cells[index];
    const reach = String(Math.max(model.get("reach"), Math.abs(value)));
    if (range.max !== reach) Object.assign(range, { min: `-${reach}`, max: reach });
    if (Number(range.value) !== value) range.value = String(value);
    field.value = formatNumber(value);
    field.title = String(value);
    field.removeAttribute("aria-invalid");
  }

  function update() {
    const [rows, columns] = model.get("shape");
    if (model.get("values").length !== rows * columns) return; // half of an update: the other half follows
    if (grid.dataset.shape !== `${rows},${columns}`) {
      grid.dataset.shape = `${rows},${columns}`;
      grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
      cells = Array.from({ length: rows * columns }, (_, index) =>
        makeCell(index, `${model.get("label")}, row ${Math.floor(index / columns)}, column ${index % columns}`),
      );
      grid.replaceChildren(
        ...cells.map(({ range, field }, index) => {
          const place = `${Math.floor(index / columns)},${index % columns}`;
          return element("div", { class: "cv-slider", "data-slider": place }, field, range);
        }),
      );
    }
    grid.setAttribute("aria-label", model.get("label"));
    const typing = /** @type {Document | ShadowRoot} */ (grid.getRootNode()).activeElement;
    cells.forEach(({ field }, index) => field !== typing && show(index));
  }

  for (const name of ["shape", "values", "label"]) model.on(`change:${name}`, update);
  update();
  return () => {
    for (const name of ["shape", "values", "label"]) model.off(`change:${name}`, update);
    grid.remove();
  };
}

export default { render };
