// The PyTorch tab: what torch runs for this setting, why, and what would change it.
import { element, setText } from "../../web/base/dom.js";
import { split, tab } from "../../web/tabs/pane.js";
import { code, tableHead, tableRow } from "../../web/tabs/pane_elements.js";
import WORDS from "./words.json" with { type: "json" };
import { pieces, sentences } from "../../web/base/sentences.js";

const say = sentences(WORDS);
const sayPieces = pieces(WORDS);

/**
 * @typedef {{ forward: string, backward: string, algorithm: string, call: string, on: string, grad_fn:
 *   string, border: string, why: string[], notes: string[], machine: string[][], found: string, changes:
 *   string[][], elsewhere: string[][], rules: string, read: string, files: string[][], convolutions:
 *   string[], trees: Record<string, string[]> }} PyTorchData by data.py
 * @typedef {{ el: HTMLElement, set: (data: PyTorchData) => void }} Section
 */

const INDENT = /^ */;
const NAME = /(\b(?:aten::|torch\.|F\.)[\w.]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?|\b\w+Backward\d\b)/;

/** @param {string} sentence */
const withCode = (sentence) => sentence.split(NAME).map((part, place) => (place % 2 ? code(part) : part));

/** @param {string[]} sentences */
const items = (sentences) => sentences.map((each) => element("li", ...withCode(each)));

/** @param {string} line two spaces a level, "× 3" if it ran three times @param {string[]} convolutions */
function opLine(line, convolutions) {
  const depth = (INDENT.exec(line)?.[0].length ?? 0) / 2;
  const [name, times] = line.trim().split(" \u00d7 ");
  const row = element("li.cv-op", { style: `--cv-depth: ${depth}` }, code(name));
  if (convolutions.includes(name)) row.classList.add("cv-main");
  if (times) row.append(element("span.cv-muted", ` \u00d7 ${times}`));
  return row;
}

/** @param {string} title @param {string} [kind] @param {Record<string, string>} [data] */
function listOf(title, kind = "", data = {}) {
  const list = element("ul", { class: `cv-plain ${kind}`.trim(), ...data });
  return { list, el: element("section", element("h4", title), list) };
}

/** @param {string} title or empty @param {string[]} columns @param {string} kind */
function tableOf(title, columns, kind) {
  const rows = element("tbody");
  const heading = title ? [element("h4", title)] : [];
  const table = element("table", tableHead(columns), rows);
  return { el: element("section", { class: kind }, ...heading, table), rows };
}

/** @returns {Section} */
function createChanges() {
  const columns = [say("but"), say("backend")];
  const { el, rows } = tableOf(say("changes"), columns, "cv-changes");
  return {
    el,
    set({ changes, forward, backward }) {
      el.hidden = changes.length === 0;
      rows.replaceChildren(
        ...changes.map(([what, ...names]) => {
          const both = { forward: names[0], backward: names[1] };
          const differs = String(names[0] !== forward || names[1] !== backward);
          const run = names[0] === names[1] ? names[0] : say("both", both);
          return tableRow([what, code(run)], { "data-differs": differs });
        }),
      );
    },
  };
}

/** @returns {Section} */
function createElsewhere() {
  const columns = [say("device"), say("backend"), say("why")];
  const { el, rows } = tableOf(say("elsewhere"), columns, "cv-elsewhere");
  const rules = element("p.cv-rules.cv-muted");
  el.append(rules);
  return {
    el,
    set({ elsewhere, rules: lines }) {
      el.hidden = elsewhere.length === 0;
      rows.replaceChildren(
        ...elsewhere.map(([device, backend, why, file]) => {
          const row = tableRow([device, backend ? code(backend) : say("none"), ""]);
          const from = file ? [" ", element("code.cv-muted", file)] : [];
          row.lastElementChild?.append(...withCode(why), ...from);
          return row;
        }),
      );
      rules.replaceChildren(...withCode(lines));
    },
  };
}

/** @returns {Section} */
function createFiles() {
  const title = element("summary");
  const { el, rows } = tableOf("", [say("ran"), say("file")], "cv-files");
  return {
    el: element("details", title, el),
    set({ read, files }) {
      setText(title, say("files", { version: read }));
      rows.replaceChildren(...files.map(([what, file]) => tableRow([code(what), code(file)])));
    },
  };
}

/** @returns {Section} */
function createTrees() {
  const passes = /** @type {const} */ (["forward", "backward"]);
  const trees = passes.map((pass) => listOf(say(`${pass}_ops`), "", { "data-tree": pass }));
  return {
    el: element("div.cv-trees", ...trees.map(({ el }) => el)),
    set(data) {
      trees.forEach(({ list }, index) =>
        list.replaceChildren(...data.trees[passes[index]].map((line) => opLine(line, data.convolutions))),
      );
    },
  };
}

/** @type {Build} */
function buildPyTorch(_, body) {
  const [forward, backward] = ["forward", "backward"].map((pass) => element("code", { "data-pass": pass }));
  const algorithm = element("p.cv-algorithm");
  const [call, on, node] = [element("code"), element("span"), element("code")];
  const border = element("p.cv-border.cv-muted");
  const why = listOf(say("why_this"), "cv-reasons");
  const notes = listOf("");
  const machine = listOf(say("machine"), "cv-machine");
  const found = element("p.cv-found.cv-muted");
  const [changes, elsewhere, files, trees] = [
    createChanges(),
    createElsewhere(),
    createFiles(),
    createTrees(),
  ];
  const headline = element("h3", ...sayPieces("title", { forward, backward }));
  const called = element("p.cv-call", ...sayPieces("call", { call, on }));
  const words = [headline, algorithm, called, border, why.el, changes.el, machine.el];
  const details = [
    elsewhere.el,
    trees.el,
    element("p", ...sayPieces("node", { name: code("output.grad_fn"), node })),
    files.el,
    element("details", element("summary", say("notes")), notes.list),
    found,
  ];
  body.append(split(words, details));

  return (/** @type {PyTorchData} */ data) => {
    setText(forward, data.forward);
    setText(backward, data.backward);
    const values = { backend: code(data.forward), algorithm: data.algorithm };
    algorithm.replaceChildren(...sayPieces("is", values));
    setText(call, data.call);
    setText(on, data.on);
    setText(node, data.grad_fn);
    border.replaceChildren(...withCode(data.border));
    why.list.replaceChildren(...items(data.why));
    for (const part of [trees, changes, elsewhere, files]) part.set(data);
    notes.list.replaceChildren(...items(data.notes));
    machine.list.replaceChildren(...data.machine.map((line) => element("li", line.join(": "))));
    found.replaceChildren(...withCode(data.found));
  };
}

export default tab("pytorch", buildPyTorch);
