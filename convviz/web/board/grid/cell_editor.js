// Typing into a cell: a field keeps what was typed until it is a number.
import { element } from "../../base/dom.js";
import { parseNumber } from "../../base/format.js";
import { say } from "../../base/board_sentences.js";

/**
 * @param {HTMLElement} area @param {{ row: number, column: number, rows: number, columns: number }} cell
 * @param {string} label @param {string} text
 * @param {boolean} typed by the visitor; else it is the cell's number, and leaving it changes nothing
 * @param {(value: number) => void} commit @param {(sentence: string) => void} complain
 * @param {() => void} closed
 */
export function openEditor(area, cell, label, text, typed, commit, complain, closed) {
  const input = element("input.cv-editor", { type: "text", inputmode: "decimal", "aria-label": label });
  input.value = text;
  Object.assign(input.style, {
    left: `${(100 * (cell.column + 0.5)) / cell.columns}%`,
    top: `${(100 * (cell.row + 0.5)) / cell.rows}%`,
  });
  let done = false;
  const close = (refocus) => {
    if (done) return;
    done = true;
    input.remove();
    if (refocus) closed();
  };
  const finish = (refocus) => {
    if (done) return;
    if (!typed && input.value === text) return close(refocus);
    const value = parseNumber(input.value);
    if (value === null) {
      input.setAttribute("aria-invalid", "true");
      complain(say("cell.no_number", { typed: input.value.slice(0, 20) }));
      return;
    }
    close(refocus);
    commit(value);
  };
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") finish(true);
    else if (event.key === "Escape") close(true);
    else return;
    event.preventDefault();
  });
  // Leaving takes a number and drops all else: nobody is trapped. Enter and Esc blur it, too: done by then.
  input.addEventListener("blur", () => {
    if (done) return;
    if (parseNumber(input.value) === null) close(false);
    else finish(false);
  });
  area.append(input);
  input.focus();
  if (!typed) input.select();
}
