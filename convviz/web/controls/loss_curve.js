// The losses of the steps so far, as a curve of 240 by 56.
import { svgElement } from "../base/dom.js";
import { formatNumber } from "../base/format.js";
import { sayDescent } from "./gradient_descent_sentences.js";

export function createLossCurve() {
  const path = svgElement("polyline.cv-learn-path");
  const now = svgElement("circle.cv-learn-now", { r: 3 });
  const logs = svgElement("text", { x: 236, y: 13 });
  const el = svgElement(
    "svg.cv-learn-curve",
    { viewBox: "0 0 240 56", preserveAspectRatio: "xMinYMid", role: "img" },
    logs,
    path,
    now,
  );
  return {
    el,
    /** @param {number[]} losses */
    show(losses) {
      el.setAttribute(
        "aria-label",
        sayDescent("curve", { losses: losses.slice(-10).map(formatNumber).join(", ") }),
      );
      const wide = Math.min(...losses) > 0 && Math.max(...losses) > 20 * Math.min(...losses);
      logs.textContent = wide ? sayDescent("logs") : "";
      const points = placed(wide ? losses.map(Math.log) : losses);
      path.setAttribute("points", points.map((point) => point.join()).join(" "));
      const [x, y] = points[points.length - 1];
      now.setAttribute("cx", String(x));
      now.setAttribute("cy", String(y));
    },
  };
}

/** @param {number[]} heights @returns {Pair[]} */
function placed(heights) {
  const [low, high] = [Math.min(...heights), Math.max(...heights)];
  return heights.map((height, index) => [
    4 + (232 * index) / Math.max(heights.length - 1, 10),
    high > low ? 52 - (48 * (height - low)) / (high - low) : 28,
  ]);
}
