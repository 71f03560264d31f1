// The tab Your code: what is to be checked, and what came of it: where, what kind, what to change.
import WORDS from "./words.json" with { type: "json" };
import { element, setText } from "../../web/base/dom.js";
import { sentences } from "../../web/base/sentences.js";
import { Heatmap } from "../../web/board/grid/tab_heatmap.js";
import { fromLink } from "../../web/rules/settings_link.js";
import { split, tab } from "../../web/tabs/pane.js";
import { fillMenu, limitOf, numbersOf, tableHead, tableRow, button } from "../../web/tabs/pane_elements.js";

const say = sentences(WORDS);
const CELL = 34; // pixels

/**
 * @typedef {{ id: string, of: string, title: string, evidence: string, fix: string, setting: string }}
 *   Diagnosis
 * @typedef {Pair} Cell
 * @typedef {{ of: string, setting: string, total: number, missing: number, extra: number, shown: { missing:
 *   [Cell, Cell, Cell][], extra: [Cell, Cell, Cell][] } }} Products
 * @typedef {{ label: string, case: string, right: (number | null)[][], received: (number | null)[][], wrong:
 *   Cell[], products: Products | null }} ErrorMap
 * @typedef {{ passed: boolean, summary: string, first: { case: string, lines: string[], line: number | null } | null, diagnoses:
 *   Diagnosis[], map: ErrorMap | null, cases: [string, boolean, string][], not_asked: [string, string][],
 *   left_out: string, assumed: string }} Report by data.py
 * @typedef {{ name: string, group: string, part: string, takes: string[], gives: string[] }} Task
 * @typedef {{ failed: string, report: Report | null, tasks?: Task[], seconds: number, names: string[] | null,
 *   chosen: { task: string, name: string, code: string } }} YoursData
 */

// What a task is about, and which part of it, by the words' ids.
const GROUPS = {
  conv2d: "group.conv2d",
  conv_transpose2d: "group.conv_transpose2d",
  conv1d: "group.conv1d",
  conv_transpose1d: "group.conv_transpose1d",
  linear: "group.linear",
  max_pool2d: "group.max_pool2d",
  avg_pool2d: "group.avg_pool2d",
  binary: "group.binary",
};
const PARTS = {
  forward: "part.forward",
  input: "part.input",
  weight: "part.weight",
  bias: "part.bias",
  backward: "part.backward",
  function: "part.function",
  module: "part.module",
};

/** @type {Build} */
function buildYours(pane, body) {
  const form = new Form(pane, () => result.set(null));
  const refused = element("p.cv-pane-failure", { role: "alert" });
  const look = (/** @type {number} */ line) => form.look(line);
  const result = createResult(pane, look, (setting, title) => {
    const { tab: _, mistake, theme, dtype, ...state } = fromLink(setting).state; // these stay as they are
    pane.goTo(state, say("board.told", { title }));
    pane.root.closest(".cv-app")?.scrollIntoView();
  });
  const reason = element("p");
  const words = [element("h3", say("yours")), element("p", say("about")), reason, form.el, refused];
  body.append(split(words, [result.el]));
  return (data) => {
    setText(reason, data.why_not);
    form.el.hidden = Boolean(data.why_not);
    form.set(data);
    setText(refused, data.failed);
    result.set(data.report);
    if (data.report) result.el.firstElementChild?.scrollIntoView({ block: "nearest", behavior: "instant" });
    // A refusal is an alert by itself.
    pane.say(data.report?.summary ?? "");
  };
}

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
  #check = button(say("check"), () => this.#send(), { "data-yours": "check" });
  #line = element("span", { role: "status" });
  #seconds = element("span", { "aria-hidden": "true" });
  #bar = element("progress", { hidden: "", "aria-label": say("checking") });
  #taskLine = element("p.cv-muted", { "data-yours": "task" });
  #tasks = /** @type {Task[]} */ ([]);
  #timer = 0;
  #limit = 0;
  #named;
  #pasted = element("p.cv-muted");
  el;
  #filled = false;
  #pane;

  #forget;

  /** @param {PaneTools} pane @param {() => void} forget the last verdict, which is of another task or code */
  constructor(pane, forget) {
    [this.#pane, this.#forget] = [pane, forget];
    this.#code.addEventListener("keydown", ({ key, ctrlKey, metaKey }) => {
      if (key === "Enter" && (ctrlKey || metaKey) && !this.#check.disabled) this.#send();
    });
    this.#task.addEventListener("change", () => {
      this.#describeTask();
      forget();
    });
    const look = button(say("refresh"), () => pane.send({ type: "refresh" }));
    const name = element("label", say("name"), this.#name);
    this.#named = element("div.cv-flow", { hidden: "" }, name, look);
    this.el = element(
      "div.cv-yours-form",
      element("label", say("task"), this.#task),
      this.#taskLine,
      this.#named,
      // above the code, which may be long: what it says of a check is in sight
      element("div.cv-flow", this.#check, this.#bar, this.#line, this.#seconds),
      this.#pasted,
      this.#code,
    );
  }

  #send() {
    setText(this.#line, say("checking"));
    this.#forget();
    this.#check.disabled = true;
    this.#pane.goTo({}, ""); // what the board says of the last check goes
    const begun = Date.now();
    const count = () => {
      const seconds = Math.round((Date.now() - begun) / 1000);
      setText(this.#seconds, say("seconds", { seconds, limit: this.#limit }));
    };
    this.#timer = window.setInterval(count, 1000);
    this.#bar.hidden = false;
    const [task, name, code] = [this.#task, this.#name, this.#code].map(({ value }) => value);
    this.#pane.send({ type: "check", task, name, code });
  }

  /** Show a line of what was pasted. @param {number} number */
  look(number) {
    const lines = this.#code.value.split("\n");
    const start = lines.slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
    this.#code.focus();
    this.#code.setSelectionRange(start, start + (lines[number - 1] ?? "").length);
    this.#code.scrollTop = (number - 3) * (this.#code.scrollHeight / lines.length);
  }

  /** Say what the chosen task takes and gives. */
  #describeTask() {
    const task = this.#tasks.find(({ name }) => name === this.#task.value);
    if (!task) return setText(this.#taskLine, "");
    const names = { takes: task.takes.join(", "), gives: task.gives.join(", ") };
    setText(this.#taskLine, say(task.part === "module" ? "task.makes" : "task.takes", names));
  }

  /** @param {Task[]} tasks @param {string} chosen */
  #fillTasks(tasks, chosen) {
    this.#tasks = tasks;
    const groups = Object.entries(GROUPS).map(([group, id]) => {
      const label = say(/** @type {keyof typeof WORDS} */ (id));
      const options = tasks
        .filter((each) => each.group === group)
        .map(({ name: value, part }) => element("option", { value }, `${value}: ${partOf(part)}`));
      return element("optgroup", { label }, ...options);
    });
    this.#task.replaceChildren(...groups);
    this.#task.value = chosen;
    this.#describeTask();
  }

  /** What a visitor is choosing stays. @param {YoursData} data */
  set(data) {
    setText(this.#line, ""); // the verdict and a refusal have their own places
    this.#check.disabled = false;
    clearInterval(this.#timer);
    setText(this.#seconds, "");
    this.#bar.hidden = true;
    this.#limit = data.seconds;
    if (!data.tasks) return;
    const name = this.#filled ? this.#name.value : data.chosen.name;
    const choices = (/** @type {string[]} */ values) =>
      values.map((each) => [each, each || say("name.none")]);
    if (!this.#filled) this.#fillTasks(data.tasks, data.chosen.task);
    this.#named.hidden = !data.names; // no notebook is behind a served page
    setText(this.#pasted, say(data.names ? "code" : "code.alone"));
    fillMenu(this.#name, choices(["", ...(data.names ?? [])]), name);
    if (!this.#filled) this.#code.value = data.chosen.code;
    this.#filled = true;
  }
}

/** @param {string} part */
const partOf = (part) =>
  say(/** @type {keyof typeof WORDS} */ (PARTS[/** @type {keyof typeof PARTS} */ (part)]));

/**
 * @param {PaneTools} pane @param {(line: number) => void} look at a line of the code
 * @param {(setting: string, title: string) => void} open
 */
function createResult(pane, look, open) {
  const el = element("div.cv-yours-result", { hidden: "" });
  const maps = ["right", "received", "off"].map(() => new Heatmap(pane));
  return {
    el,
    /** @param {Report | null} report */
    set(report) {
      el.hidden = !report;
      if (!report) return;
      const summary = element(report.passed ? "p.cv-yours-right" : "p.cv-yours-wrong", report.summary);
      const isPasted = Boolean(pane.root.querySelector("textarea")?.value.trim());
      const made = hints(report, maps, isPasted ? look : null, open);
      el.replaceChildren(summary, ...made, cases(report));
    },
  };
}

/**
 * @param {Report} report @param {Heatmap[]} maps @param {((line: number) => void) | null} look
 * @param {(setting: string, title: string) => void} open
 */
function hints({ passed, first, map, diagnoses }, maps, look, open) {
  if (passed || !first) return [];
  /** @type {HTMLElement[]} */
  const where = [element("p", element("b", first.case)), ...first.lines.map((text) => element("p", text))];
  const { line } = first;
  if (line && look) where.push(button(say("line", { line }), () => look(line), { "data-yours": "line" }));
  const what = diagnoses.flatMap(({ title, evidence, of }) => [
    element("p", element("b", title), ` (${of})`),
    element("p.cv-muted", evidence),
  ]);
  if (!what.length) what.push(element("p", say("nothing.known")));
  const how = diagnoses
    .filter(({ fix }) => fix)
    .map(({ fix, setting, title }) =>
      element("p", fix, " ", setting && button(say("board"), () => open(setting, title))),
    );
  /** @type {HTMLElement[]} */
  const made = [hint("where", where, true), hint("what", what, false)];
  if (how.length) made.push(hint("how", how, false));
  // Last: they are taller than a low window.
  if (map) made.push(element("div.cv-yours-map", ...mapped(map, maps)));
  return made;
}

/** @param {"where" | "what" | "how"} name @param {HTMLElement[]} children @param {boolean} isOpen */
function hint(name, children, isOpen) {
  const made = element("details", { "data-hint": name }, element("summary", say(name)), ...children);
  made.toggleAttribute("open", isOpen);
  return made;
}

/** @param {ErrorMap} map @param {Heatmap[]} maps */
function mapped({ label, case: name, right, received, wrong, products }, maps) {
  const planes = [right, received].map(numbersOf);
  const isWrong = (/** @type {number} */ i, /** @type {number} */ j) =>
    wrong.some(([row, column]) => row === i && column === j);
  // Where the shapes differ no cell is wrong by itself. What rounding does is no difference: 2e-16 beside 8
  // would look like one.
  if (wrong.length)
    planes.push(
      planes[1].map((row, i) => row.map((value, j) => (isWrong(i, j) ? value - planes[0][i][j] : 0))),
    );
  const limit = limitOf([right, received].flat(2)); // the same number has the same colour in both
  const names = /** @type {const} */ (["right", "received", "off"]);
  planes.forEach((values, index) =>
    maps[index].set({
      values,
      label: say(names[index]),
      of: label,
      limit: index < 2 ? limit : undefined,
      cell: CELL,
      numbers: true,
    }),
  );
  return [
    element("p", say("plane", { plane: label, case: name })),
    element("div.cv-flow", ...planes.map((_, index) => maps[index].el)),
    ...(products ? productsOf(products) : []),
  ];
}

/** @param {Products} products */
function productsOf({ of, setting, total, missing, extra, shown }) {
  if (!missing && !extra) return [];
  const one = of === "output" ? "input" : "grad_output";
  const other = of === "grad_weight" ? "input" : "weight";
  const counts = { missing, extra };
  const lines = /** @type {const} */ (["missing", "extra"]).flatMap((kind) => {
    const written = shown[kind].map((places) => {
      const [o, k, cell] = places.map((place) => place.join(","));
      const product = say("product", { result: of, one, other, cell, o, k });
      return element(`li.cv-yours-${kind}`, `${product} (${say(kind)})`);
    });
    const count = counts[kind] - shown[kind].length;
    return count > 0 ? [...written, element("li.cv-muted", say("more", { count }))] : written;
  });
  return [element("p", say("products", { total, setting, missing, extra })), element("ul", ...lines)];
}

/** @param {Report} report */
function cases({ cases: tried, not_asked: left, left_out, assumed }) {
  const rows = tried.map(([name, passed, message]) =>
    tableRow([name, passed ? `✓ ${say("right")}` : `✗ ${message}`]),
  );
  const others = left.map((each) => tableRow(each, { class: "cv-muted" }));
  const head = tableHead([say("case"), say("verdict")]);
  const table = element("table", head, element("tbody", ...rows, ...others));
  const how = assumed ? [element("p.cv-muted", say("assumed", { what: assumed }))] : [];
  const rest = left_out ? [element("p.cv-muted", say("left_out", { what: left_out }))] : [];
  return element(
    "details",
    { "data-hint": "cases" },
    element("summary", say("cases")),
    ...rest,
    ...how,
    table,
  );
}

export default tab("yours", buildYours);
