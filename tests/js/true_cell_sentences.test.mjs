// Every sentence about a cell, over random states, for every cell of every panel: what it counts or excludes is counted
// again by the definition, one product at a time.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { isUnread } from "../../convviz/web/board/grid/grid_marks.js";
import { fromPage } from "../../convviz/web/numbers/compute_in_page.js";
import { createPageModel } from "../../convviz/web/numbers/page_model.js";
import { captionOf } from "../../convviz/web/picture/band_captions.js";
import { roleWords } from "../../convviz/web/picture/role_in_gradients_sentences.js";
import { Links } from "../../convviz/web/picture/find_linked_cells.js";
import { explainCell } from "../../convviz/web/picture/explain_grad_output_cell.js";
import { Pairing, stampLinks } from "../../convviz/web/picture/stamp_and_window_pairs.js";
import { CellProducts } from "../../convviz/web/picture/cell_products.js";
import { becauseWords, topicsOf } from "../../convviz/web/picture/why_topics.js";
import { createResponseMemory } from "../../convviz/web/picture/impulse_response.js";
import { noteOf } from "../../convviz/web/picture/formulas_and_notes.js";
import { fromLink, toLink } from "../../convviz/web/rules/settings_link.js";
import { CLAIMS, dropped, overlap, readsOf, real } from "./sentence_claims.mjs";
import { drawer, randomState, same, truthOf } from "./conv_by_definition.mjs";
import { dataOf } from "./page_model_fixtures.mjs";

// More states, others, and how often each sentence was counted: CONVVIZ_STATES=4000 CONVVIZ_SEED=2 CONVVIZ_TALLY=1.
const STATES = Number(process.env.CONVVIZ_STATES ?? 120);
const SEED = Number(process.env.CONVVIZ_SEED ?? 1);
// The places that were wrong once.
const LINKS = [
  "v=1",
  "v=2&out_channels=3",
  "v=1&batch=2",
  "v=2&padding=1&mode=replicate",
  "v=2&padding=2&mode=circular",
  "v=2&groups=2&in_channels=2&out_channels=2",
  "v=2&transposed=1&size=6&stride=2&padding=1&view=stamps",
  "v=2&kernel=1&mode=reflect",
  "v=2&size=2&padding=3&view=stamps",
  "v=1&size=5&padding=0,1&view=stamps",
  "v=2&loss=cross_entropy", // with a share of 1.6e-45
  "v=1&out_channels=2&padding=3&dilation=2&mode=circular", // whose padded_grad_output is thinned out
];
const SUMS = ["output", "grad_input", "grad_padded_input", "grad_weight"];
const READ = ["padded_input", "grad_padded_input", "grad_input"]; // panels whose cells can be marked as never read

// -- a text is read sentence by sentence, as it is written

const COUNTS = ["count", "channels", "terms", "samples", "row", "column", "out_channels", "in_channels"];

/** A sentence as a pattern, whose groups are its arguments. */
function patternOf(words) {
  const met = new Set();
  return words.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\w+)\}/g, (_, name) => {
    const again = met.has(name);
    met.add(name);
    return again ? `\\k<${name}>` : `(?<${name}>${COUNTS.includes(name) ? "\\d+" : ".+?"})`;
  });
}

const TEXTS = ["picture", "why_buttons"].flatMap((name) =>
  Object.entries(
    JSON.parse(readFileSync(new URL(`../../convviz/facts/data/words/${name}.json`, import.meta.url), "utf8")),
  ),
);
const FORMS = TEXTS.filter(([id]) => id in CLAIMS || /^(cell|pairs|because)\./.test(id)).flatMap(
  ([id, text]) =>
    Object.entries(typeof text === "string" ? { other: text } : text).map(([form, words]) => {
      const pattern = patternOf(words);
      return { id, form, first: new RegExp(`^(?:${pattern})(?: |$)`), anywhere: new RegExp(pattern, "gi") };
    }),
);

/** What a text says; a sentence that nobody checks is an error. */
function readAll(text) {
  const found = [];
  for (let rest = text.trim(); rest; ) {
    const hits = FORMS.map(({ id, form, first }) => ({ id, form, hit: first.exec(rest) })).filter(
      ({ hit }) => hit,
    );
    assert.ok(hits.length, `nobody checks: ${rest}`);
    const { id, form, hit } = hits.reduce((one, other) =>
      other.hit[0].length > one.hit[0].length ? other : one,
    );
    found.push({ id, form, ...hit.groups });
    rest = rest.slice(hit[0].length);
  }
  return found;
}

/** What a text says of what is checked; captions and notes have more to say. */
const readSome = (text) =>
  FORMS.filter(({ id }) => !/^(cell|pairs|because)\./.test(id)).flatMap(({ id, form, anywhere }) =>
    [...text.matchAll(anywhere)].map(({ groups }) => ({ id, form, ...groups })),
  );

// -- all that is said in one state

/** All sentences of one state, each counted again. */
class Recount {
  /** @param {(id: string, said: any, cell: any, right: boolean) => void} notify of each sentence whether it is right */
  constructor(settings, notify) {
    const model = createPageModel(dataOf(settings), fromPage);
    const { equations, geometry } = model.get("structure");
    const panels = new Map(
      equations
        .flatMap(panelsOf)
        .reverse()
        .map((panel) => [panel.name, panel]),
    );
    Object.assign(this, { settings, notify, equations, geometry, panels, numbers: model.get("values") });
    this.truth = truthOf(settings, model.shown().numbers.stages);
    this.links = new Links(geometry);
    this.terms = new CellProducts(this.links, (name) => panels.get(name), this.numbers);
  }

  run() {
    for (const panel of this.panels.values()) {
      for (const cell of ["bias", "grad_bias"].includes(panel.name) ? [] : cellsOf(panel))
        this.checkCell(panel, cell);
    }
    for (const equation of this.equations) this.checkWords(equation);
    if (!this.settings.transposed) this.checkTray();
  }

  hold(said, cell) {
    assert.ok(CLAIMS[said.id], `nobody checks ${said.id}`);
    this.notify(said.id, said, cell, Boolean(CLAIMS[said.id](said, this.truth, cell)));
  }

  valueAt = (name, row, column) =>
    this.numbers.planes[name]?.[row * this.panels.get(name)?.columns.length + column];

  checkCell(panel, cell) {
    const { truth, geometry } = this;
    const { panel: name, row, column, at } = cell;
    const check = (id, right) => this.notify(id, {}, cell, right);
    if (SUMS.includes(name)) this.checkSum(cell, check);
    else this.checkSaid(cell, check);
    if (READ.includes(name))
      check("cell.unread role", isUnread(panel, row, column) === (truth.of(cell).length === 0));
    if (name === "grad_output") {
      const touched = stampLinks(geometry, truth.folds ? "grad_padded_input" : "grad_input", at);
      const stamp = touched.filter((link) => link.panel === "weight");
      const lost = stamp.filter((link) => !link.real);
      check("step.stamps", stamp.length === truth.of(cell).length && lost.length === dropped(truth, cell));
    }
    if (name === "grad_input" || name === "grad_padded_input") this.checkPairs(cell, check);
  }

  checkSaid(cell, check) {
    const { settings, links, terms, valueAt } = this;
    const loss = explainCell(settings.loss, this.geometry, cell, valueAt);
    const back = settings.transposed ? "" : roleWords(links, terms, cell, valueAt);
    const said = [...readAll(loss?.words ?? ""), ...readAll(back)];
    for (const each of said) this.hold(each, cell);
    if (settings.transposed) return;
    const ids = said.map(({ id }) => id);
    this.checkUnsaid(ids, cell, check);
  }

  checkWords(equation) {
    const { settings, geometry } = this;
    const { name, view } = equation;
    const [caption, note] = [captionOf(settings, name, view), noteOf(settings, name, view)];
    for (const each of readSome(`${caption} ${note}`)) this.hold(each, { panel: name });
    for (const topic of topicsOf(name, panelsOf(equation), geometry)) {
      for (const each of readAll(becauseWords(topic, geometry))) this.hold(each, { panel: name });
    }
  }

  /** What is left out must not be missing. */
  checkUnsaid(ids, cell, check) {
    const { truth } = this;
    const none = (...others) => !ids.some((id) => others.includes(id));
    if (cell.panel === "padded_input" && none("cell.unread", "cell.not_zero", "cell.all_zero")) {
      const reads = readsOf(truth, cell);
      check("cell.not_zero unsaid", truth.notZero(reads) === reads.length * truth.outs);
    }
    if (cell.panel === "weight" && none("cell.unread_weight", "cell.in_padding")) {
      check("cell.in_padding unsaid", dropped(truth, cell) === 0);
    }
    if (cell.panel === "grad_output" && none("cell.stamps_nothing", "cell.dropped")) {
      check("cell.dropped unsaid", dropped(truth, cell) === 0);
    }
  }

  /** A sum has as many terms as there are products, and comes to its cell; one without any says why. */
  checkSum(cell, check) {
    const { truth } = this;
    const list = this.terms.of(cell);
    const products = list.filter(([one]) => one.panel !== "bias");
    const planes = { output: truth.ins, grad_weight: truth.spec.batch }[cell.panel] ?? truth.outs;
    const total = list.reduce(
      (sum, factors) => sum + factors.reduce((product, { value }) => product * value, 1),
      0,
    );
    const added = cell.panel === "grad_padded_input" ? truth.of(cell) : real(truth, cell);
    check("sum", products.length === added.length * planes);
    check("sum =", Math.abs(total - truth.value(cell.panel, cell.at)) <= 1e-9 * (1 + Math.abs(total)));
    const why = ["output", "grad_weight"].includes(cell.panel) ? "sum.padding" : "sum.nothing";
    if (!products.length) check(why, truth.of(cell).length > 0 === (why === "sum.padding"));
  }

  checkPairs(cell, check) {
    let reported = "";
    const pairing = new Pairing({ aside: (text) => (reported = text) });
    const drawn = panelsOf(this.equations.find(({ name }) => name === "input")).map((panel) => ({
      spec: () => panel,
      grid: { numbered: () => true },
      veil: { badges() {} },
    }));
    pairing.show(cell, () => drawn, this.links);
    const said = readAll(reported);
    for (const each of said) this.hold(each, cell);
    if (said[0].id.startsWith("pairs.one") && said.length === 1)
      check("pairs.point unsaid", !overlap(this.truth));
  }

  /** The tray, full from the beginning: what a pixel gets from a 1 at each place of grad_output, all else 0. */
  checkTray() {
    const { truth } = this;
    const { stride } = truth.spec;
    for (const cell of cellsOf(this.panels.get("grad_input"))) {
      const memory = createResponseMemory();
      memory.begin(true);
      memory.see(this.geometry, this.numbers, cell)?.rows.forEach((line, down) =>
        line.forEach((value, across) => {
          const place = [down / stride[0], across / stride[1]];
          const met = truth.of(cell).filter(({ o }) => same(o, place));
          const right = met.reduce((sum, { k }) => sum + truth.value("weight", k), 0);
          const isRight = place.every(Number.isInteger)
            ? Math.abs(Number(value) - right) < 1e-9
            : value === "gap";
          this.notify("tray", { place, value }, cell, isRight);
        }),
      );
    }
  }
}

const panelsOf = ({ items }) => items.filter(({ key }) => key);

const cellsOf = ({ name, rows, columns }) =>
  [...rows].flatMap((_, row) =>
    [...columns].map((_, column) => ({ panel: name, row, column, at: [row, column] })),
  );

test("every count, and every only, all and no, that is said of a cell is true", () => {
  const draw = drawer(SEED);
  const drawn = Array.from({ length: STATES }, () => randomState(draw));
  /** @type {Record<string, { states: Set<number>, cells: number, wrong: number, first: string }>} */
  const tally = {};
  [...LINKS.map((link) => fromLink(link).state), ...drawn].forEach((settings, index) => {
    const notify = (id, said, cell, right) => {
      const kept = (tally[id] ??= { states: new Set(), cells: 0, wrong: 0, first: "" });
      kept.states.add(index);
      kept.cells += 1;
      kept.wrong += Number(!right);
      if (!right) kept.first ||= `${toLink(settings)} ${cell.panel}[${cell.at}]: ${JSON.stringify(said)}`;
    };
    new Recount(settings, notify).run();
  });
  const reported = Object.entries(tally)
    .sort()
    .map(([id, { states, ...rest }]) => ({ id, states: states.size, ...rest }));
  if (process.env.CONVVIZ_TALLY) console.table(reported);
  assert.deepEqual(
    reported.filter(({ wrong }) => wrong),
    [],
  );
  assert.deepEqual(
    Object.keys(CLAIMS).filter((id) => !(id in tally)),
    [],
    "each sentence was met",
  );
});
