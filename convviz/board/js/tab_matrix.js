// @ts-check
import { element } from "./dom.js";
import { createHeatmap } from "./heatmap.js";
import { openPane } from "./pane.js";

function render(context) {
  return openPane(context, "matrix", (pane, body) => {
    const map = createHeatmap(pane, {
      onPoint: (row, column) => pane.point({ cell: { panel: "weight", row, column } }),
      onLeave: () => pane.point(),
    });
    body.append(element("h3", {}, "Weight"), map.el);
    pane.onPoint(({ cell }) => map.light(cell?.panel === "weight" ? [cell] : []));
    return (data) => map.set({ values: data.values, label: "weight" });
  });
}

export default { render };
