// @ts-check
// The tab Your code: what is to be checked, and what came of it, in three steps: where, what kind, what to
// change.
import WORDS from "../../../facts/words/yours.json" with { type: "json" };
import { element, makeButton, setText } from "../../base/dom.js";
import { sentences } from "../../base/words.js";
import { Heatmap } from "../../board/heatmap.js";
import { fromLink } from "../../rules/link.js";
import { openPane, split } from "../pane.js";

const say = sentences(WORDS);
const CELL = 34; // pixels: room for a number

/**
 * @typedef {{ id: string, of: string, title: string, evidence: string, fix: string, setting: string }}
 *   Diagnosis
 * @typedef {[number, number]} Cell
 * @typedef {{ of: string, setting: string, total: number, missing: number, extra: number, shown: { missing:
 *   [Cell, Cell, Cell][], extra: [Cell, Cell, Cell][] } }} Products
 * @typedef {{ label: string, case: string, right: (number | null)[][], received: (number | null)[][], wrong:
 *   Cell[], products: Products | null }} ErrorMap
 * @typedef {{ passed: boolean, summary: string, first: { case: string, lines: string[] } | null, diagnoses:
 *   Diagnosis[], map: ErrorMap | null, cases: [string, boolean, string][], not_asked: [string, string][],
 *   assumed: string }} Report as app/tabs/yours.py sends it
 * @typedef {{ failed: string, report: Report | null, tasks?: string[], names: string[] | null,
 *   chosen: { task: string, name: string, code: string } }} YoursData
 */

/** @param {import("../pane.js").PaneContext} context */
function renderYours(context) {
  return openPane(context, "yours", (pane, body) => {
    const form = new Form(pane);
    const refused = element("p", { class: "cv-pane-failure", role: "alert" });
    const result = createResult(pane, (setting, title) => {
      const { tab, mistake, theme, dtype, ...state } = fromLink(setting).state; // these stay as they are
      context.model.goTo(state, say("board.told", { title }));
      pane.root.closest(".cv-app")?.scrollIntoView();
    });
    const told = element("p", {});
    const words = [element("h3", {}, say("yours")), element("p", {}, say("about")), told, form.el, refused];
    body.append(split(words, [result.el]));
    return (data) => {
      setText(told, data.why_not);
      form.el.hidden = Boolean(data.why_not);
      form.set(data);
      setText(refused, data.failed);
      result.set(data.report);
      if (data.report) result.el.scrollIntoView({ block: "start", behavior: "instant" });
      // a refusal is an alert by itself, and takes the old verdict's place
      pane.say(data.report?.summary ?? "");
    };
  });
}

/** The form. */
class Form {
  #task = element("select");
  #name = element("select");
  #code = element("textarea", {
    rows: "8",
    spellcheck: "false",
    autocomplete: "off",
    placeholder: say("code.placeholder"),
    "aria-label": say("code"),
  });
  #check = makeButton({ class: "cv-button", "data-yours": "check" }, say("check"), () => {
    setText(this.#line, say("checking"));
    this.#check.toggleAttribute("disabled", true);
    this.#pane.send({
      type: "check",
      task: this.#task.value,
      name: this.#name.value,
      code: this.#code.value,
    });
  });
  #line = element("span", { role: "status" });
  #named;
  #pasted = element("p", { class: "cv-muted" });
  el;
  #filled = false;
  #pane;

  /** @param {import("../pane.js").PaneTools} pane */
  constructor(pane) {
    this.#pane = pane;
    const look = makeButton({ class: "cv-button" }, say("refresh"), () =>
      this.#pane.send({ type: "refresh" }),
    );
    this.#named = element(
      "div",
      { class: "cv-flow", hidden: "" },
      element("label", {}, say("name"), this.#name),
      look,
    );
    this.el = element(
      "div",
      { class: "cv-yours-form" },
      element("label", {}, say("task"), this.#task),
      this.#named,
      this.#pasted,
      this.#code,
      element("div", { class: "cv-flow" }, this.#check, this.#line),
    );
  }

  /** What a person is about to choose stays. @param {YoursData} data */
  set(data) {
    setText(this.#line, data.failed || data.report?.summary || ""); // beside the button that was pressed
    this.#check.toggleAttribute("disabled", false);
    if (!data.tasks) return;
    const [chosenTask, chosenName] = this.#filled
      ? [this.#task.value, this.#name.value]
      : [data.chosen.task, data.chosen.name];
    fill(this.#task, data.tasks, chosenTask);
    this.#named.hidden = !data.names; // no notebook is behind a served page
    setText(this.#pasted, say(data.names ? "code" : "code.alone"));
    fill(this.#name, ["", ...(data.names ?? [])], chosenName);
    if (!this.#filled) this.#code.value = data.chosen.code;
    this.#filled = true;
  }
}

/** @param {HTMLSelectElement} select @param {string[]} values @param {string} chosen */
function fill(select, values, chosen) {
  select.replaceChildren(...values.map((value) => element("option", { value }, value || say("name.none"))));
  if (values.includes(chosen)) select.value = chosen;
}

/**
 * What came of it.
 * @param {import("../pane.js").PaneTools} pane @param {(setting: string, title: string) => void} open
 */
function createResult(pane, open) {
  const el = element("div", { class: "cv-yours-result", hidden: "" });
  const maps = ["right", "received", "off"].map(() => new Heatmap(pane));
  return {
    el,
    /** @param {Report | null} report */
    set(report) {
      el.hidden = !report;
      if (!report) return;
      const summary = element(
        "p",
        { class: report.passed ? "cv-yours-right" : "cv-yours-wrong" },
        report.summary,
      );
      el.replaceChildren(summary, ...hints(report, maps, open), cases(report));
    },
  };
}

/**
 * Three hints, each opened only when it is wanted.
 * @param {Report} report @param {Heatmap[]} maps
 * @param {(setting: string, title: string) => void} open
 */
function hints({ passed, first, map, diagnoses }, maps, open) {
  if (passed || !first) return [];
  /** @type {HTMLElement[]} */
  const where = [
    element("p", {}, element("b", {}, first.case)),
    ...first.lines.map((text) => element("p", {}, text)),
  ];
  if (map) where.push(...mapped(map, maps));
  const what = diagnoses.flatMap(({ title, evidence, of }) => [
    element("p", {}, element("b", {}, title), ` (${of})`),
    element("p", { class: "cv-muted" }, evidence),
  ]);
  if (!what.length) what.push(element("p", {}, say("nothing.known")));
  const how = diagnoses
    .filter(({ fix }) => fix)
    .map((diagnosis) => element("p", {}, diagnosis.fix, " ", ...boardButton(diagnosis, open)));
  const made = [hint("where", where, true), hint("what", what, false)];
  return how.length ? [...made, hint("how", how, false)] : made;
}

/** @param {"where" | "what" | "how"} name @param {HTMLElement[]} children @param {boolean} isOpen */
function hint(name, children, isOpen) {
  const made = element("details", { "data-hint": name }, element("summary", {}, say(name)), ...children);
  made.toggleAttribute("open", isOpen);
  return made;
}

/** @param {Diagnosis} diagnosis @param {(setting: string, title: string) => void} open */
function boardButton({ setting, title }, open) {
  if (!setting) return [];
  const button = makeButton({ class: "cv-button" }, say("board"), () => open(setting, title));
  return [button];
}

/**
 * The wrong plane beside the right one.
 * @param {ErrorMap} map @param {Heatmap[]} maps
 */
function mapped({ label, case: name, right, received, wrong, products }, maps) {
  const planes = [right, received];
  const fits = wrong.length > 0; // where the shapes differ no cell is wrong by itself
  const isWrong = (/** @type {number} */ i, /** @type {number} */ j) =>
    wrong.some(([row, column]) => row === i && column === j);
  // What rounding does is no difference: 2e-16 beside 8 would look like one.
  if (fits)
    planes.push(
      received.map((row, i) =>
        row.map((value, j) => (isWrong(i, j) ? (value ?? NaN) - (right[i][j] ?? NaN) : 0)),
      ),
    );
  const sizes = [right, received].flat(2).map((value) => Math.abs(value ?? 0));
  const limit = Math.max(...sizes); // one scale for both: the same number has the same colour
  const names = /** @type {const} */ (["right", "received", "off"]);
  planes.forEach((values, index) => {
    const rows = values.map((row) => row.map((value) => value ?? NaN));
    maps[index].set({
      values: rows,
      label: say(names[index]),
      limit: index < 2 ? limit : undefined,
      dtype: "float64",
      cell: CELL,
      numbers: true,
    });
  });
  const row = element("div", { class: "cv-flow" }, ...planes.map((_, index) => maps[index].el));
  return [
    element("p", {}, say("plane", { plane: label, case: name })),
    row,
    ...(products ? productsOf(products) : []),
  ];
}

/** @param {Products} products */
function productsOf({ of, setting, total, missing, extra, shown }) {
  if (!missing && !extra) return [];
  const one = of === "output" ? "input" : "grad_output";
  const other = of === "grad_weight" ? "input" : "weight";
  const lines = /** @type {const} */ (["missing", "extra"]).flatMap((kind) => [
    ...shown[kind].map(([o, k, cell]) => {
      const places = { cell: cell.join(","), o: o.join(","), k: k.join(",") };
      const product = say("product", { result: of, one, other, ...places });
      return element("li", { class: `cv-yours-${kind}` }, `${product} (${say(kind)})`);
    }),
    ...({ missing, extra }[kind] > shown[kind].length
      ? [
          element(
            "li",
            { class: "cv-muted" },
            say("more", { count: { missing, extra }[kind] - shown[kind].length }),
          ),
        ]
      : []),
  ]);
  return [element("p", {}, say("products", { total, setting, missing, extra })), element("ul", {}, ...lines)];
}

/** @param {Report} report */
function cases({ cases: tried, not_asked: left, assumed }) {
  const rows = tried.map(([name, passed, message]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      element("td", {}, passed ? `✓ ${say("right")}` : `✗ ${message}`),
    ),
  );
  const others = left.map(([name, reason]) =>
    element("tr", { class: "cv-muted" }, element("th", { scope: "row" }, name), element("td", {}, reason)),
  );
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, say("case")),
    element("th", { scope: "col" }, say("verdict")),
  );
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows, ...others));
  const how = assumed ? [element("p", { class: "cv-muted" }, say("assumed", { what: assumed }))] : [];
  return element("details", { "data-hint": "cases" }, element("summary", {}, say("cases")), ...how, table);
}

export default { render: renderYours };
