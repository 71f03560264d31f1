// @ts-check
// Eight pictures of numbers as plain SVG, changed in place; a range input for each number of the kernel.
const CELL = 32;

function make(parent, tag, attributes) {
  const node = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

function numbers({ bytes }) {
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

/** Blue, white, orange. */
function color(value, limit) {
  const share = Math.min(1, Math.abs(value) / limit);
  const end = value < 0 ? [23, 83, 143] : [168, 67, 10];
  return `rgb(${end.map((part) => Math.round(255 + share * (part - 255))).join()})`;
}

/** Return a function that draws other numbers of as many cells. */
function createPicture(parent, name, { columns, bytes }) {
  const figure = parent.appendChild(document.createElement("figure"));
  figure.style.margin = "8px";
  figure.append(name);
  const [width, height] = [CELL * columns, (CELL * bytes.byteLength) / 4 / columns];
  const svg = make(figure, "svg", { "data-panel": name, width, height, style: "display: block" });
  const cells = Array.from({ length: bytes.byteLength / 4 }, (_, index) => {
    const [x, y] = [CELL * (index % columns), CELL * Math.floor(index / columns)];
    const rect = make(svg, "rect", { x, y, width: CELL, height: CELL });
    const place = { x: x + CELL / 2, y: y + CELL / 2 + 4 };
    return { rect, text: make(svg, "text", { ...place, "text-anchor": "middle", "font-size": 11 }) };
  });
  return (plane) => {
    const values = numbers(plane);
    const limit = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
    cells.forEach(({ rect, text }, index) => {
      rect.setAttribute("fill", color(values[index], limit));
      rect.dataset.value = String(values[index]);
      text.textContent = values[index].toFixed(2);
    });
  };
}

function render({ model, el }) {
  const root = el.appendChild(document.createElement("div"));
  root.className = "bare-svg";
  const sliders = root.appendChild(document.createElement("div"));
  sliders.style.cssText = "display: grid; grid-template-columns: repeat(3, 1fr)";
  const pictures = root.appendChild(document.createElement("div"));
  pictures.style.cssText = "display: flex; flex-wrap: wrap";
  model.get("weight").forEach((value, index) => {
    const range = sliders.appendChild(document.createElement("input"));
    const reach = model.get("reach");
    Object.assign(range, { type: "range", min: -reach, max: reach, step: model.get("step") });
    range.value = String(value);
    range.addEventListener("input", () => {
      model.set("weight", model.get("weight").with(index, Number(Number(range.value).toFixed(6))));
      model.save_changes();
    });
  });
  const drawn = {};
  let step = 0;
  function draw() {
    for (const [name, plane] of Object.entries(model.get("planes"))) {
      drawn[name] ??= createPicture(pictures, name, plane);
      drawn[name](plane);
    }
    root.dataset.painted = String(++step);
  }
  model.on("change:planes", draw);
  draw();
}

export default { render };
