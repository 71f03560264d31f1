// The model behind the board: settings with undo, notices, and what a visitor chose and selected. What numbers the
// settings have is the work of shown_numbers.js. The board sees an anywidget model.
import { createValues } from "../base/observable_values.js";
import { briefly, fromLink } from "../rules/settings_link.js";
import { say } from "../rules/sentences.js";
import { replaced } from "../rules/settings_and_tensors.js";
import { act } from "./actions.js";
import { createView } from "./board_view_model.js";
import { beforeKernel, fromPage } from "./compute_in_page.js";
import { afterwards } from "./latest_request.js";
import { createNotices } from "./notices.js";
import { ShownNumbers, same } from "./shown_numbers.js";
import { UndoHistory } from "./undo_history.js";

/**
 * @import { Colorscales } from "../picture/board_payload.js"
 * @import { MakeNumbers } from "./latest_request.js"
 * @typedef {{ state: Settings, colorscales: Colorscales, plotly: (() => ArrayBuffer | (() => any) |
 *   Promise<ArrayBuffer>) | null, ground?: Partial<Settings>, live?: boolean }} PageData plotly: the gzipped
 *   bundle or its evaluator, asked for once; ground: what links and states never change; live: a kernel is
 *   expected
 */

/** What links and states cannot change in a page without a kernel: float64 on the cpu, no tabs. */
const PAGE_GROUND = Object.freeze({ device: "cpu", dtype: "float64", tab: "" });

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
  #notices = createNotices(this.#values);
  #timeline;
  #numbers;
  #plotly;
  #ground;
  /** Stores what a visitor chose in each tab, by its name. @type {Record<string, Record<string, any>>} */
  #choices = {};

  /**
   * @param {PageData} data @param {MakeNumbers | null} makeNumbers @param {() => number} clock
   * @param {Later} later
   */
  constructor({ state, colorscales, plotly, ground = PAGE_GROUND, live = false }, makeNumbers, clock, later) {
    this.#timeline = new UndoHistory(replaced(state, {}), clock);
    this.#plotly = plotly;
    this.#ground = ground;
    const view = createView(colorscales);
    const parts = { values: this.#values, notices: this.#notices, timeline: this.#timeline, view, later };
    this.#numbers = new ShownNumbers(parts, live ? beforeKernel : (makeNumbers ?? fromPage));
    if (makeNumbers) this.#numbers.show();
  }

  // -- what the board sees of an anywidget model
  get = this.#values.get;
  on = this.#values.on;
  /** @param {any} message */
  send(message) {
    this.#notices.attempt(() => act(this, message));
  }
  get widget_manager() {
    return this.kernel()?.widgetManager;
  }

  // -- what the controls see
  settings = () => this.#timeline.settings();
  /** Returns null before the first numbers arrive. */
  shown = () => this.#numbers.shown();
  canUndo = () => this.#timeline.canUndo();
  canRedo = () => this.#timeline.canRedo();
  settled = () => !this.#numbers.pending();
  kernel = () => this.#numbers.kernel();
  say = this.#notices.say;

  /**
   * @param {(settings: Settings) => Changed} change
   * @param {string} [move] quick moves of one name are one step
   */
  change(change, move) {
    this.#notices.attempt(() => this.apply(change(this.settings()), move));
  }

  /** @param {Partial<Settings>} changes */
  set(changes) {
    this.change((settings) => [replaced(settings, changes), []]);
  }

  /** Goes to settings; what had to be adjusted for them is shown as a notice. @param {Changed} changed */
  apply([next, notices], move = "") {
    if (!same(next, this.settings())) {
      this.#timeline.go(next, move);
      this.#numbers.show();
    }
    this.say(notices.join(" "));
  }

  /** @param {"undo" | "redo"} way */
  turn(way) {
    if (!this.#timeline.turn(way)) return;
    this.#numbers.show();
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
    this.#numbers.show(explain);
    this.say(briefly(notices));
  }

  /** Goes to the settings that the page had before it was reloaded. @param {Settings} state */
  restore(state) {
    this.apply([replaced({ ...state, ...this.#ground }, {}), []]);
  }

  /** What another page needs to go on from here, as in another language. */
  kept = () => ({ ...this.#timeline.kept(), choices: this.#choices });

  /** What a visitor chose in a tab. @param {string} tab @returns {Record<string, any>} */
  chosen = (tab) => this.#choices[tab] ?? {};
  /** @param {string} tab @param {Record<string, any>} choices */
  choose(tab, choices) {
    this.#choices = { ...this.#choices, [tab]: choices };
  }

  /**
   * Goes on from what another page kept.
   * @param {import("./undo_history.js").Kept & { choices?: Record<string, Record<string, any>> }} kept
   */
  goOnFrom(kept) {
    this.#choices = kept.choices ?? {};
    this.#notices.attempt(() => {
      this.#timeline.goOnFrom(kept, this.#ground);
      this.#numbers.show();
    });
  }

  /** @param {Place | null} selected */
  select(selected) {
    this.#values.put({ selected });
  }

  /** A visitor chose a mistake or asked about it: it is named from now on. @param {string} mistake */
  reveal(mistake) {
    const revealed = this.get("revealed");
    if (!revealed.includes(mistake)) this.#values.put({ revealed: [...revealed, mistake] });
  }

  /** The value that a click draws into the input; null ends drawing. @param {number | null} brush */
  draw(brush) {
    this.#values.put({ brush });
  }

  givePlotly() {
    if (!this.#plotly) {
      this.kernel()?.send({ type: "plotly" });
      return;
    }
    Promise.resolve(this.#plotly()).then(
      (buffer) => this.#values.emit("msg:custom", { type: "plotly" }, [buffer]),
      (error) => this.say(error.message, true), // and the board asks again
    );
  }

  /**
   * Torch computes, the page previews.
   * @param {Kernel} kernel @param {boolean} [follow] take the kernel's settings; else it gets the page's
   */
  connect(kernel, follow) {
    this.#ground = {};
    this.#numbers.connect(kernel, follow);
  }

  /** The kernel is gone: the page computes alone. @param {"away" | "lost"} [as] away: comes back; lost: does not */
  disconnect(as) {
    this.#numbers.disconnect(as);
  }
}
