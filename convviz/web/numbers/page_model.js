// The model behind the board: settings, undo, notices. Makers give numbers: the page, or torch. The board
// sees an anywidget model.
import { createValues } from "../base/observable_values.js";
import { truthWords } from "../picture/formulas_and_notes.js";
import { seenAs } from "../rules/undo_rules.js";
import { briefly, fromLink } from "../rules/settings_link.js";
import { say } from "../rules/sentences.js";
import { replaced } from "../rules/settings_and_tensors.js";
import { act } from "./actions.js";
import { LatestRequest, afterwards } from "./latest_request.js";
import { beforeKernel, besideKernel, fromPage, withoutKernel } from "./compute_in_page.js";
import { UndoHistory } from "./undo_history.js";
import { createView } from "./board_view_model.js";

/**
 * @import { Colorscales } from "../picture/board_payload.js"
 * @import { Shown } from "./actions.js"
 * @import { MakeNumbers } from "./latest_request.js"
 * @typedef {{ state: Settings, colorscales: Colorscales, plotly: (() => ArrayBuffer | (() => any) |
 *   Promise<ArrayBuffer>) | null, ground?: Partial<Settings>, live?: boolean }} PageData plotly: the gzipped
 *   bundle or its evaluator, asked for once; ground: what links and states never change; live: a kernel is
 *   expected
 */

/** Float64, no tabs. */
const PAGE_GROUND = Object.freeze({ device: "cpu", dtype: "float64", tab: "" });
const REST = 150; // milliseconds without a change, after which torch's numbers are compared with the page's

/** @param {Settings} one @param {Settings} other */
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/**
 * @param {PageData} data @param {MakeNumbers | null} makeNumbers null: a kernel comes next
 * @param {() => number} [clock] @param {Later} [later]
 */
export const createPageModel = (
  data,
  makeNumbers = fromPage,
  clock = () => performance.now(),
  later = afterwards,
) => new PageModel(data, makeNumbers, clock, later);

/**
 * @typedef {InstanceType<typeof PageModel>} Model
 * @typedef {(event: string, listener: () => void) => void} Follow while the view is there
 */

class PageModel {
  #values = createValues({
    structure: {},
    values: {},
    selected: null,
    theme: "auto",
    state: {},
    sources: {},
    notice: "",
    failed: false,
    kernel: "",
    introduction: "",
    brush: null,
    // The visitor knows of these mistakes; one that a link brought is to be found.
    revealed: /** @type {string[]} */ ([]),
  });
  #timeline;
  #view;
  #requests;
  #later;
  #plotly;
  #ground;
  /** @type {Kernel | null} */
  #kernel = null;
  #met = false; // a kernel was there
  /** @type {Shown | null} */
  #shown = null;
  /** Not refused; what is shown may be a preview. @type {Shown | null} */
  #accepted = null;
  /** To who set what was refused. @type {(error: Error) => Error} */
  #explain = (error) => error;
  #stopComparing = () => {};
  /** @type {Record<string, Record<string, any>>} */
  #choices = {};

  /**
   * @param {PageData} data @param {MakeNumbers | null} makeNumbers @param {() => number} clock
   * @param {Later} later
   */
  constructor({ state, colorscales, plotly, ground = PAGE_GROUND, live = false }, makeNumbers, clock, later) {
    this.#timeline = new UndoHistory(replaced(state, {}), clock);
    this.#view = createView(colorscales);
    this.#plotly = plotly;
    this.#ground = ground;
    this.#later = later;
    const listener = {
      onNumbers: this.#accept.bind(this),
      onPreview: this.#showPreview.bind(this),
      onRefused: this.#refuse.bind(this),
      onTimeout: () => this.say(say("late"), true),
    };
    this.#requests = new LatestRequest(live ? beforeKernel : (makeNumbers ?? fromPage), listener, later);
    if (makeNumbers) this.#show();
  }

  // -- what the board sees of an anywidget model
  get = this.#values.get;
  on = this.#values.on;
  /** @param {any} message */
  send(message) {
    this.#attempt(() => act(this, message));
  }
  get widget_manager() {
    return this.#kernel?.widgetManager;
  }

  // -- what the controls see
  settings = () => this.#timeline.settings();
  /** null: no numbers yet. */
  shown = () => this.#shown;
  canUndo = () => this.#timeline.canUndo();
  canRedo = () => this.#timeline.canRedo();
  settled = () => !this.#requests.pending();
  kernel = () => this.#kernel;

  /** @param {string} notice */
  say(notice, failed = false) {
    this.#values.put({ notice, failed });
  }

  /**
   * @param {(settings: Settings) => Changed} change
   * @param {string} [move] quick moves of one name are one step
   */
  change(change, move) {
    this.#attempt(() => this.apply(change(this.settings()), move));
  }

  /** @param {Partial<Settings>} changes */
  set(changes) {
    this.change((settings) => [replaced(settings, changes), []]);
  }

  /** Adjustments are said. @param {Changed} changed */
  apply([next, notices], move = "") {
    if (!same(next, this.settings())) {
      this.#timeline.go(next, move);
      this.#show();
    }
    this.say(notices.join(" "));
  }

  /** @param {"undo" | "redo"} way */
  turn(way) {
    if (!this.#timeline.turn(way)) return;
    this.#show();
    this.say("");
  }

  /** A step that can be undone. */
  reset() {
    const { theme, tab } = this.settings();
    this.apply([{ ...this.#timeline.initial(), theme, tab }, []]);
  }

  /** Reset leads here, and nothing can be undone. @param {string} link */
  open(link) {
    const { state, notices } = fromLink(link);
    /** @param {Error} error */
    const explain = (error) => new Error(say("refused.link", { why: error.message }));
    let start;
    try {
      start = replaced({ ...state, device: this.settings().device, ...this.#ground }, {});
    } catch (error) {
      throw explain(/** @type {Error} */ (error));
    }
    this.#timeline.restart(start);
    this.#show(explain);
    this.say(briefly(notices));
  }

  /** That a reload kept. @param {Settings} state */
  restore(state) {
    this.apply([replaced({ ...state, ...this.#ground }, {}), []]);
  }

  /** For another page. */
  kept = () => ({ ...this.#timeline.kept(), choices: this.#choices });

  /** In a tab. @param {string} tab @returns {Record<string, any>} */
  chosen = (tab) => this.#choices[tab] ?? {};
  /** @param {string} tab @param {Record<string, any>} choices */
  choose(tab, choices) {
    this.#choices = { ...this.#choices, [tab]: choices };
  }

  /**
   * From another page.
   * @param {import("./undo_history.js").Kept & { choices?: Record<string, Record<string, any>> }} kept
   */
  goOnFrom(kept) {
    this.#choices = kept.choices ?? {};
    this.#attempt(() => {
      this.#timeline.goOnFrom(kept, this.#ground);
      this.#show();
    });
  }

  /** @param {Place | null} selected */
  select(selected) {
    this.#values.put({ selected });
  }

  /** Chosen, or asked about. @param {string} mistake */
  reveal(mistake) {
    const revealed = this.get("revealed");
    if (!revealed.includes(mistake)) this.#values.put({ revealed: [...revealed, mistake] });
  }

  /** null: no more. @param {number | null} brush */
  draw(brush) {
    this.#values.put({ brush });
  }

  givePlotly() {
    if (!this.#plotly) {
      this.#kernel?.send({ type: "plotly" });
      return;
    }
    Promise.resolve(this.#plotly()).then(
      (buffer) => this.#values.tell("msg:custom", { type: "plotly" }, [buffer]),
      (error) => this.say(error.message, true), // and the board asks again
    );
  }

  // -- the kernel
  /**
   * Torch computes, the page previews.
   * @param {Kernel} kernel @param {boolean} [follow] take the kernel's settings; else it gets the page's
   */
  connect(kernel, follow = false) {
    const introduction = () => kernel.introduction?.() ?? "";
    if (this.#kernel !== kernel) this.#kernel?.close();
    this.#kernel = kernel;
    this.#ground = {};
    this.#requests.setBackend(kernel.ask, (settings, k) => this.#preview(settings, k));
    kernel.follow({
      moved: this.#follow.bind(this),
      told: (sentence, failed) => this.say(sentence, failed),
      introduced: () => this.#values.put({ introduction: introduction() }),
      replied: (message, buffers) => this.#values.tell("msg:custom", message, buffers),
    });
    const now = kernel.now?.();
    if (follow && now) {
      this.#adopt(now, "");
    } else {
      // The first kernel says where it computes; a later one takes the visitor's choice, if it can.
      const { device } = this.settings();
      const chosen = this.#met && kernel.facts.devices?.includes(device) ? device : null;
      const first = chosen ?? now?.settings.device ?? kernel.facts.device ?? device;
      this.#timeline.amend((settings) => ({ ...settings, device: first }));
      this.#attempt(() => this.#show());
    }
    this.#met = true;
    this.#values.put({ kernel: "ok", introduction: introduction() });
    const [notice, failed] = kernel.notice?.() ?? ["", false];
    if (notice) this.say(notice, failed);
  }

  /** The page computes alone. @param {"away" | "lost"} [as] away: comes back; lost: does not */
  disconnect(as = "lost") {
    if (this.get("kernel") === as) return;
    if (as === "lost") this.#kernel?.close();
    this.#kernel = null;
    this.#requests.setBackend(withoutKernel);
    this.#attempt(() => this.#show());
    this.#values.put({ kernel: as });
  }

  /** The present ones, if only the view changes. @param {Settings} settings @param {number} k */
  #preview(settings, k) {
    const shown = this.#shown;
    if (shown && same(shown.settings, seenAs(settings, shown.settings))) return { ...shown.numbers, k };
    return besideKernel(settings, k);
  }

  /** From Python, or another window. @param {Shown} there */
  #follow(there) {
    if (this.#requests.pending()) {
      // the kernel gets ours next
      this.#accepted = there;
      this.#timeline.acceptElsewhere(there.settings);
    } else if (!same(there.settings, this.settings()) || there.numbers.from !== this.#shown?.numbers.from) {
      this.#adopt(there, "elsewhere");
    }
  }

  /** @param {Shown} there @param {string} move */
  #adopt({ settings, numbers }, move) {
    if (!same(settings, this.settings())) this.#timeline.go(settings, move);
    this.#accept(settings, { ...numbers, k: this.#requests.cancel() });
    this.#tellSettings();
  }

  // -- from settings to the board
  /** Now, or when numbers come. @param {(error: Error) => Error} [explain] see #explain */
  #show(explain = (error) => error) {
    this.#explain = explain;
    if (
      !this.#kernel &&
      this.#requests.pending() &&
      this.#shown &&
      same(this.settings(), this.#shown.settings)
    ) {
      this.#requests.cancel(); // the board shows them already
      this.#timeline.accept();
    } else {
      try {
        this.#requests.ask(this.settings());
      } catch (error) {
        this.#timeline.goBack();
        throw explain(/** @type {Error} */ (error));
      }
    }
    this.#tellSettings();
  }

  /** @param {Settings} settings @param {Numbers} numbers */
  #accept(settings, numbers) {
    this.#put({ settings, numbers });
    this.#accepted = this.#shown;
    this.#timeline.accept();
    if (this.get("notice") === say("late")) this.say("");
    if (numbers.from === "torch") this.#compareAtRest();
  }

  /** @param {Settings} settings @param {Numbers | null} numbers */
  #showPreview(settings, numbers) {
    if (numbers) this.#put({ settings, numbers });
    else
      this.#values.put({
        values: { ...this.get("values"), truth: truthWords("torch_alone"), truth_ok: null },
      });
  }

  /** @param {Shown} shown */
  #put(shown) {
    this.#stopComparing();
    const forBoard = this.#view(shown.settings, shown.numbers);
    this.#shown = shown; // before anybody hears of it
    this.#values.put(forBoard);
  }

  /** Once nobody moves anything. */
  #compareAtRest() {
    const { settings, numbers } = /** @type {Shown} */ (this.#shown);
    this.#stopComparing = this.#later(() => {
      const words = this.#kernel?.differs(settings, numbers);
      if (words) this.#values.put({ values: { ...this.get("values"), truth: words, truth_ok: false } });
    }, REST);
  }

  /** To settings that have numbers. @param {Error} error */
  #refuse(error) {
    this.#timeline.goBack();
    if (this.#accepted && this.#shown !== this.#accepted) {
      this.#put({ ...this.#accepted, numbers: { ...this.#accepted.numbers, k: this.#requests.cancel() } });
      this.#accepted = this.#shown;
    }
    this.#tellSettings();
    this.say(this.#explain(error).message, true);
  }

  /** Controls follow at once; only the board waits for numbers. */
  #tellSettings() {
    const { input, target, grad, ...state } = this.settings();
    this.#values.put({ theme: state.theme, state, sources: { input, target, grad } });
    this.#values.tell("settings");
  }

  /** Errors are said; the settings stay. @param {() => void} action */
  #attempt(action) {
    try {
      action();
    } catch (error) {
      this.say(/** @type {Error} */ (error).message, true);
      this.#values.tell("settings");
    }
  }
}
