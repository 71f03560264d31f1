// @ts-check
// The PyTorch tab: what torch runs for this setting, why, and what would change it.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element, setText } from "../../base/dom.js";
import { openPane, split } from "../pane.js";
import { pieces, sentences } from "../../base/words.js";

/**
 */

const say = sentences(WORDS);
const sayPieces = pieces(WORDS);
const INDENT = /^ */;

/** A sentence with the names of functions and ops in it set as code. @param {string} sentence */
function withCode(sentence) {
  const name = /(\b(?:aten::|torch\.|F\.)[\w.]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?|\b\w+Backward\d\b)/;
  return sentence.split(name).map((part, place) => (place % 2 ? element("code", {}, part) : part));
}

/**
 * One op of a call tree, indented below its caller.
 * @param {string} line two spaces a level, "× 3" at its end when it ran three times @param {string[]}
 *   convolutions
 */
function opLine(line, convolutions) {
  const depth = (INDENT.exec(line)?.[0].length ?? 0) / 2;
  const [name, times] = line.trim().split(" \u00d7 ");
  const row = element("li", { class: "cv-op", style: `--cv-depth: ${depth}` }, element("code", {}, name));
  if (convolutions.includes(name)) row.classList.add("cv-main");
  if (times) row.append(element("span", { class: "cv-muted" }, ` \u00d7 ${times}`));
  return row;
}

/** @param {string} title */
function section(title) {
  const list = element("ul", { class: "cv-plain" });
  return { list, el: element("section", {}, element("h4", {}, title), list) };
}

/**
 * A table with its heading.
 * @param {string} title none when empty @param {string[]} columns @param {string} kind
 */
function table(title, columns, kind) {
  const rows = element("tbody");
  const head = element("tr", {}, ...columns.map((word) => element("th", { scope: "col" }, word)));
  const heading = title ? [element("h4", {}, title)] : [];
  const el = element(
    "section",
    { class: kind },
    ...heading,
    element("table", {}, element("thead", {}, head), rows),
  );
  return { el, rows };
}

/** @param {...(Node | string)} cells the first says what the row is of */
const row = (first, ...cells) =>
  element("tr", {}, element("th", { scope: "row" }, first), ...cells.map((each) => element("td", {}, each)));

/** @param {string} text */
const code = (text) => element("code", {}, text);

/** What torch would run after another change. */
function createChanges() {
  const { el, rows } = table(
    say("pytorch.changes"),
    [say("pytorch.but"), say("pytorch.backend")],
    "cv-changes",
  );
  return {
    el,
    /** @param {{ changes: string[][], forward: string, backward: string }} data */
    set({ changes, forward, backward }) {
      el.hidden = changes.length === 0;
      rows.replaceChildren(
        ...changes.map(([what, ...names]) => {
          const same = names[0] === names[1];
          const made = row(
            what,
            code(same ? names[0] : say("pytorch.both", { forward: names[0], backward: names[1] })),
          );
          made.dataset.differs = String(names[0] !== forward || names[1] !== backward);
          return made;
        }),
      );
    },
  };
}

/** What torch runs on other devices. */
function createElsewhere() {
  const columns = [say("pytorch.device"), say("pytorch.backend"), say("pytorch.why")];
  const { el, rows } = table(say("pytorch.elsewhere"), columns, "cv-elsewhere");
  const rules = element("p", { class: "cv-rules cv-muted" });
  el.append(rules);
  return {
    el,
    /** @param {{ elsewhere: string[][], rules: string }} data */
    set({ elsewhere, rules: told }) {
      el.hidden = elsewhere.length === 0;
      rows.replaceChildren(
        ...elsewhere.map(([device, backend, why, file]) => {
          const made = row(device, backend ? code(backend) : say("pytorch.none"), "");
          const from = file ? [" ", element("code", { class: "cv-muted" }, file)] : [];
          made.lastElementChild?.append(...withCode(why), ...from);
          return made;
        }),
      );
      rules.replaceChildren(...withCode(told));
    },
  };
}

/** In which files of torch that stands. */
function createFiles() {
  const title = element("summary");
  const { el, rows } = table("", [say("pytorch.ran"), say("pytorch.file")], "cv-files");
  return {
    el: element("details", {}, title, el),
    /** @param {{ read: string, files: string[][] }} data */
    set({ read, files }) {
      setText(title, say("pytorch.files", { version: read }));
      rows.replaceChildren(...files.map(([what, file]) => row(code(what), code(file))));
    },
  };
}

/** What torch called in both passes. */
function createTrees() {
  const trees = {
    forward: section(say("pytorch.forward_ops")),
    backward: section(say("pytorch.backward_ops")),
  };
  for (const [pass, tree] of Object.entries(trees)) tree.list.dataset.tree = pass;
  return {
    el: element("div", { class: "cv-trees" }, trees.forward.el, trees.backward.el),
    /** @param {{ trees: Record<string, string[]>, convolutions: string[] }} data */
    set(data) {
      for (const [pass, { list }] of Object.entries(trees))
        list.replaceChildren(...data.trees[pass].map((line) => opLine(line, data.convolutions)));
    },
  };
}

/** @param {import("../pane.js").PaneTools} _ @param {HTMLElement} body @returns {(data: any) => void} */
function buildPyTorch(_, body) {
  const [forward, backward] = ["forward", "backward"].map((pass) => element("code", { "data-pass": pass }));
  const headline = element("h3", {}, ...sayPieces("pytorch", { forward, backward }));
  const algorithm = element("p", { class: "cv-algorithm" });
  const [call, on, node] = [element("code"), element("span"), element("code")];
  const border = element("p", { class: "cv-border cv-muted" });
  const why = section(say("pytorch.why_this"));
  const notes = section("");
  const machine = section(say("pytorch.machine"));
  const found = element("p", { class: "cv-found cv-muted" });
  const [changes, elsewhere] = [createChanges(), createElsewhere()];
  const [files, trees] = [createFiles(), createTrees()];
  why.list.classList.add("cv-reasons");
  machine.list.classList.add("cv-machine");
  const called = element("p", { class: "cv-call" }, ...sayPieces("pytorch.call", { call, on }));
  const words = [headline, algorithm, called, border, why.el, changes.el, machine.el];
  const details = [
    elsewhere.el,
    trees.el,
    element("p", {}, ...sayPieces("pytorch.node", { name: code("output.grad_fn"), node })),
    files.el,
    element("details", {}, element("summary", {}, say("pytorch.notes")), notes.list),
    found,
  ];
  body.append(split(words, details));
  const items = (sentences) => sentences.map((each) => element("li", {}, ...withCode(each)));

  return (data) => {
    setText(forward, data.forward);
    setText(backward, data.backward);
    const values = { backend: code(data.forward), algorithm: data.algorithm };
    algorithm.replaceChildren(...sayPieces("pytorch.is", values));
    setText(call, data.call);
    setText(on, data.on);
    setText(node, data.grad_fn);
    border.replaceChildren(...withCode(data.border));
    why.list.replaceChildren(...items(data.why));
    for (const part of [trees, changes, elsewhere, files]) part.set(data);
    notes.list.replaceChildren(...items(data.notes));
    machine.list.replaceChildren(
      ...data.machine.map(([name, value]) => element("li", {}, `${name}: ${value}`)),
    );
    found.replaceChildren(...withCode(data.found));
  };
}

/** @param {import("../pane.js").PaneContext} context */
function renderPytorch(context) {
  return openPane(context, "pytorch", buildPyTorch);
}

export default { render: renderPytorch };
