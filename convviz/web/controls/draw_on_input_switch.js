// Drawing on the input: on or off, and the number. No setting: neither links nor undo know it.
import NAMES from "../../facts/data/names.json" with { type: "json" };
import { element } from "../base/dom.js";
import { explain } from "../base/help.js";
import { parseNumber } from "../base/format.js";

/**
 * @param {Model} model
 * @param {Follow} follow
 */
export function drawPart(model, follow) {
  const box = element("input", { type: "checkbox" });
  const value = element("input", {
    type: "text",
    inputmode: "decimal",
    value: "1",
    size: "4",
    "aria-label": NAMES.controls.draw_value,
  });
  const words = element("span", NAMES.controls.draw);
  explain(words, "help.draw");
  const el = element("div.cv-control.cv-check.cv-set-draw", element("label", box, words), value);
  const take = () => {
    const number = parseNumber(value.value);
    if (number === null) value.setAttribute("aria-invalid", "true");
    else value.removeAttribute("aria-invalid");
    if (number !== null || !box.checked) model.send({ type: "draw", value: box.checked ? number : null });
    else box.checked = model.get("brush") !== null; // a tick without a number draws nothing
  };
  box.addEventListener("change", take);
  value.addEventListener("input", take);
  follow("change:brush", () => {
    // Esc ends it, too
    box.checked = model.get("brush") !== null;
  });
  return { el, refresh() {} };
}
