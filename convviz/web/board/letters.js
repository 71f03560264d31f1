// Measures the page's own digits: system faces differ by a fifth.
import { svgElement } from "../base/dom.js";
import { useFace } from "./digits.js";

const MEASURED_AT = 100;
let known = "";

/** Once the board is placed. @param {HTMLElement} root */
export function measureFace(root) {
  const text = svgElement("text", {});
  const probe = svgElement("svg", { class: "cv-printed", style: "display: none" }, text);
  root.append(probe);
  const { fontWeight, fontFamily } = getComputedStyle(text);
  probe.remove();
  const pen = document.createElement("canvas").getContext("2d");
  const font = `${fontWeight} ${MEASURED_AT}px ${fontFamily}`;
  if (!pen || font === known) return;
  known = pen.font = font;
  /** @param {string} letters @returns {number} */
  const widest = (letters) =>
    Math.max(...[...letters].map((letter) => pen.measureText(letter).width)) / MEASURED_AT;
  useFace({ digit: widest("0123456789e"), minus: widest("\u2212"), point: widest(".") });
}
