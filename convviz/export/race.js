// The curves of a race: unpacks the plotly that the page carries, and draws what the page says.
const textOf = (id) => document.getElementById(id)?.textContent ?? "";
const packed = Uint8Array.from(atob(textOf("convviz-plotly")), (letter) => letter.charCodeAt(0));
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const script = document.createElement("script");
script.text = await new Response(stream).text();
document.head.append(script);
const { Plotly } = /** @type {any} */ (globalThis);
for (const { title, unit, log, traces } of JSON.parse(textOf("convviz-data")).plots) {
  const place = document.createElement("div");
  document.getElementById("plots")?.append(place);
  const layout = {
    title: { text: title, font: { size: 15 }, x: 0, xref: "paper" },
    margin: { l: 64, r: 12, t: 40, b: 44 },
    xaxis: { title: { text: "step" } },
    yaxis: { title: { text: unit }, type: log ? "log" : "linear", exponentformat: "power" },
    legend: { orientation: "h", y: -0.22 },
  };
  await Plotly.newPlot(place, traces, layout, { responsive: true, displayModeBar: false });
}
document.body.dataset.drawn = "true";
