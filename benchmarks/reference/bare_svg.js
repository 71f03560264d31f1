// @ts-check
// Eight pictures of numbers as plain SVG, changed in place; a range input for each number of the kernel.
const CELL = 32;
const SVG = "http://www.w3.org/2000/svg";

function make(parent, tag, attributes) {
  const node = parent.appendChild(document.createElementNS(SVG, tag));
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

function createPicture(name) {
  const figure = document.createElement("figure");
  figure.style.margin = "8px";
  figure.append(name);
  const svg = make(figure, "svg", { "data-panel": name });
  svg.style.display = "block";
  const cells = [];
  let columns = 0;

  /** Bring the cells to their number and their places; those that are there stay. */
  function fit(count, next) {
    if (count === cells.length && next === columns) return;
    columns = next;
    svg.setAttribute("width", CELL * columns);
    svg.setAttribute("height", (CELL * count) / columns);
    for (const { rect, text } of cells.splice(count)) [rect, text].forEach((node) => node.remove());
    while (cells.length < count) {
      const rect = make(svg, "rect", { width: CELL, height: CELL });
      cells.push({ rect, text: make(svg, "text", { "text-anchor": "middle", "font-size": 11 }) });
    }
    cells.forEach(({ rect, text }, index) => {
      const [x, y] = [CELL * (index % columns), CELL * Math.floor(index / columns)];
      rect.setAttribute("x", x);
      rect.setAttribute("y", y);
      text.setAttribute("x", x + CELL / 2);
      text.setAttribute("y", y + CELL / 2 + 4);
    });
  }

  return {
    figure,
    draw(next) {
      const values = numbers(next);
      fit(values.length, next.columns);
      const limit = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
      cells.forEach(({ rect, text }, index) => {
        rect.setAttribute("fill", color(values[index], limit));
        rect.dataset.value = String(values[index]);
        text.textContent = values[index].toFixed(2);
      });
    },
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
      const weight = [...model.get("weight")];
      weight[index] = Number(Number(range.value).toFixed(6));
      model.set("weight", weight);
      model.save_changes();
    });
  });
  const drawn = new Map();
  let step = 0;
  function draw() {
    for (const [name, plane] of Object.entries(model.get("planes"))) {
      if (!drawn.has(name)) {
        drawn.set(name, createPicture(name));
        pictures.append(drawn.get(name).figure);
      }
      drawn.get(name).draw(plane);
    }
    root.dataset.painted = String(++step);
  }
  model.on("change:planes", draw);
  draw();
}

export default { render };
