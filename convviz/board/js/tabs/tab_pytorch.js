// @ts-check
// The PyTorch tab: what torch runs for this setting, why, and what would change it.
import WORDS from "../../../facts/words/tabs.json" with { type: "json" };
import { element, setText } from "../base/dom.js";
import { openPane, split } from "./pane.js";
import { pieces, sentences } from "../base/words.js";

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
 * @param {string} line two spaces a level, "× 3" at its end when it ran three times @param {string[]} convolutions
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

/** A table with its heading. @param {string} title none when empty @param {string[]} columns @param {string} kind */
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

/**
 * @param {import("./pane.js").PaneTools} _ @param {HTMLElement} body
 * @returns {(data: any) => void}
 */
function buildPyTorch(_, body) {
  const [forward, backward] = ["forward", "backward"].map((pass) => element("code", { "data-pass": pass }));
  const headline = element("h3", {}, ...sayPieces("pytorch", { forward, backward }));
  const algorithm = element("p", { class: "cv-algorithm" });
  const call = element("code");
  const on = element("span");
  const border = element("p", { class: "cv-border cv-muted" });
  const why = section(say("pytorch.why_this"));
  const trees = {
    forward: section(say("pytorch.forward_ops")),
    backward: section(say("pytorch.backward_ops")),
  };
  const node = element("code");
  const rows = element("tbody");
  const changes = element(
    "section",
    { class: "cv-changes" },
    element("h4", {}, say("pytorch.changes")),
    element(
      "table",
      {},
      element(
        "thead",
        {},
        element(
          "tr",
          {},
          ...[say("pytorch.but"), say("pytorch.backend")].map((word) =>
            element("th", { scope: "col" }, word),
          ),
        ),
      ),
      rows,
    ),
  );
  const elsewhere = table(
    say("pytorch.elsewhere"),
    [say("pytorch.device"), say("pytorch.backend"), say("pytorch.why")],
    "cv-elsewhere",
  );
  const rules = element("p", { class: "cv-rules cv-muted" });
  elsewhere.el.append(rules);
  const files = table("", [say("pytorch.ran"), say("pytorch.file")], "cv-files");
  const filesTitle = element("summary");
  const source = element("details", {}, filesTitle, files.el);
  const notes = section("");
  const folded = element("details", {}, element("summary", {}, say("pytorch.notes")), notes.list);
  const machine = section(say("pytorch.machine"));
  const found = element("p", { class: "cv-found cv-muted" });
  why.list.classList.add("cv-reasons");
  for (const [pass, tree] of Object.entries(trees)) tree.list.dataset.tree = pass;
  machine.list.classList.add("cv-machine");
  const words = [
    headline,
    algorithm,
    element("p", { class: "cv-call" }, ...sayPieces("pytorch.call", { call, on })),
    border,
    why.el,
    changes,
    machine.el,
  ];
  const details = [
    elsewhere.el,
    element("div", { class: "cv-trees" }, trees.forward.el, trees.backward.el),
    element("p", {}, ...sayPieces("pytorch.node", { name: element("code", {}, "output.grad_fn"), node })),
    source,
    folded,
    found,
  ];
  body.append(split(words, details));

  return (data) => {
    setText(forward, data.forward);
    setText(backward, data.backward);
    algorithm.replaceChildren(
      ...sayPieces("pytorch.is", { backend: element("code", {}, data.forward), algorithm: data.algorithm }),
    );
    setText(call, data.call);
    setText(on, data.on);
    border.replaceChildren(...withCode(data.border));
    why.list.replaceChildren(...data.why.map((sentence) => element("li", {}, ...withCode(sentence))));
    for (const [pass, tree] of Object.entries(trees)) {
      tree.list.replaceChildren(...data.trees[pass].map((line) => opLine(line, data.convolutions)));
    }
    setText(node, data.grad_fn);
    changes.hidden = data.changes.length === 0;
    rows.replaceChildren(
      ...data.changes.map(([what, ...names]) => {
        const differs = names[0] !== data.forward || names[1] !== data.backward;
        const each =
          names[0] === names[1]
            ? [names[0]]
            : [say("pytorch.both", { forward: names[0], backward: names[1] })];
        const cell = element("td", {}, element("code", {}, ...each));
        return element(
          "tr",
          { "data-differs": String(differs) },
          element("th", { scope: "row" }, what),
          cell,
        );
      }),
    );
    elsewhere.el.hidden = data.elsewhere.length === 0;
    elsewhere.rows.replaceChildren(
      ...data.elsewhere.map(([device, backend, why, file]) => {
        const told = element(
          "td",
          {},
          ...withCode(why),
          ...(file ? [" ", element("code", { class: "cv-muted" }, file)] : []),
        );
        return element(
          "tr",
          {},
          element("th", { scope: "row" }, device),
          element("td", {}, backend ? element("code", {}, backend) : say("pytorch.none")),
          told,
        );
      }),
    );
    rules.replaceChildren(...withCode(data.rules));
    setText(filesTitle, say("pytorch.files", { version: data.read }));
    files.rows.replaceChildren(
      ...data.files.map(([what, file]) =>
        element(
          "tr",
          {},
          element("th", { scope: "row" }, element("code", {}, what)),
          element("td", {}, element("code", {}, file)),
        ),
      ),
    );
    notes.list.replaceChildren(...data.notes.map((sentence) => element("li", {}, ...withCode(sentence))));
    machine.list.replaceChildren(
      ...data.machine.map(([name, value]) => element("li", {}, `${name}: ${value}`)),
    );
    found.replaceChildren(...withCode(data.found));
  };
}

/** @param {any} context */
function renderPytorch(context) {
  return openPane(context, "pytorch", buildPyTorch);
}

export default { render: renderPytorch };
