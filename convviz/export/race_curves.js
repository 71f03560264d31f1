// The curves of a race: unpacks the plotly that the page carries, and draws what the page says.
const textOf = (id) => document.getElementById(id)?.textContent ?? "";
const packed = Uint8Array.from(atob(textOf("convviz-plotly")), (letter) => letter.charCodeAt(0));
const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
const script = document.createElement("script");
script.text = await new Response(stream).text();
document.head.append(script);
const { Plotly } = /** @type {any} */ (globalThis);
for (const plot of JSON.parse(textOf("convviz-data")).plots) {
  const place = document.createElement("figure");
  document.getElementById("plots")?.append(place);
  await curves.drawCurves(Plotly, place, plot, { ink: "#16191d", line: "#d5d9e0" });
}
document.body.dataset.drawn = "true";
