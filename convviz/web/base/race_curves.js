// The curves of a race, by plotly.
import { element } from "./dom.js";

/**
 * @typedef {{ name: string, at: number, first: boolean, x: number[], y: (number | null)[] }} Trace
 *   of one entrant in one run
 * @typedef {{ key: string, title: string, unit: string, x: string, log: boolean, traces: Trace[] }} Plot
 *   as lab/page_data.py makes it
 */

// Okabe and Ito's colours; the first entrant has the ink's.
const COLORS = [
  "#0072b2",
  "#d55e00",
  "#009e73",
  "#cc79a7",
  "#8a6d00",
  "#56b4e9",
  "#e69f00",
  "#7a5195",
  "#5a626d",
];

/**
 * plotly's title would be cut off on a phone.
 * @param {any} plotly @param {HTMLElement} figure @param {Plot} plot
 * @param {{ ink: string, line: string }} colors @returns {Promise<void>}
 */
export function drawCurves(plotly, figure, { key, title, unit, x, log, traces }, { ink, line }) {
  if (!figure.firstChild) figure.append(element("figcaption"), element("div"));
  const [caption, place] = figure.children;
  caption.textContent = title;
  const drawn = traces.map((trace) => ({
    x: trace.x,
    y: trace.y,
    name: trace.name,
    legendgroup: trace.name,
    showlegend: trace.first, // one entry stands for all runs of an entrant
    mode: key === "accuracy" || trace.x.length === 1 ? "lines+markers" : "lines",
    line: { color: trace.at ? COLORS[(trace.at - 1) % COLORS.length] : ink, width: 1.5 },
  }));
  const lowest = Math.min(...traces.flatMap(({ y }) => y.map((value) => value ?? 1)));
  // A single point has no range of its own.
  const range = key === "accuracy" ? [Math.max(0, lowest - 0.05), 1.01] : undefined;
  const grid = { gridcolor: line, zerolinecolor: line, automargin: true };
  const layout = {
    margin: { l: 64, r: 12, t: 10, b: 84 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink, family: "system-ui, sans-serif" },
    xaxis: { ...grid, title: { text: x, standoff: 4 }, rangemode: "tozero" },
    yaxis: { ...grid, title: { text: unit }, type: log ? "log" : "linear", exponentformat: "power", range },
    legend: { orientation: "h", y: -0.27, yanchor: "top" },
  };
  return plotly.react(place, drawn, layout, { responsive: true, displayModeBar: false });
}

/** @param {any} plotly @param {HTMLElement} figure */
export function purgeCurves(plotly, figure) {
  if (figure.lastElementChild) plotly.purge(figure.lastElementChild);
}
