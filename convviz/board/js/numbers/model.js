// @ts-check
// The model behind the board in a page: settings, the way back and what is said, as app/model.py and app/app.py do it.
// Where the numbers come from is the maker's business. The board sees the interface of an anywidget model.
import { createValues } from "../base/events.js";
import { briefly, fromLink } from "../rules/link.js";
import { say } from "../rules/say.js";
import { replaced } from "../rules/settings.js";
import { act } from "./actions.js";
import { Asking, afterwards } from "./asking.js";
import { createTimeline } from "./timeline.js";
import { createView } from "./view.js";

/**
 * @import { Colorscales } from "../picture/payload.js"
 * @import { Changed } from "../rules/change.js"
 * @import { Settings } from "../rules/settings.js"
 * @import { Place, Shown } from "./actions.js"
 * @import { Later, MakeNumbers, Numbers } from "./asking.js"
 * @typedef {{ state: Settings, colorscales: Colorscales, plotly: (() => ArrayBuffer | Promise<ArrayBuffer>) | null }} PageData
 *   state as App.state() returns it; plotly: the gzipped bundle, asked for once
 */

/** @param {Settings} one @param {Settings} other */
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/**
 * Make the model of one page.
 * @param {PageData} data @param {MakeNumbers} makeNumbers @param {() => number} [clock] milliseconds @param {Later} [later]
 */
export const createPageModel = (data, makeNumbers, clock = () => performance.now(), later = afterwards) =>
  new PageModel(data, makeNumbers, clock, later);

class PageModel {
  #values = createValues({ structure: {}, values: {}, selected: null, theme: "auto", state: {}, sources: {}, notice: "", failed: false });
  #timeline;
  #view;
  #asking;
  #plotly;
  /** @type {Shown | null} */
  #shown = null;
  /** What is said when there are no numbers of the newest settings. @type {(error: Error) => Error} */
  #explain = (error) => error;

  /** @param {PageData} data @param {MakeNumbers} makeNumbers @param {() => number} clock @param {Later} later */
  constructor({ state, colorscales, plotly }, makeNumbers, clock, later) {
    this.#timeline = createTimeline(replaced(state, {}), clock);
    this.#view = createView(colorscales);
    this.#plotly = plotly;
    const listener = {
      taken: this.#take.bind(this),
      refused: this.#refuse.bind(this),
      late: () => this.say(say("late"), true),
    };
    this.#asking = new Asking(makeNumbers, listener, later);
    this.#show();
  }

  // -- what the board sees of an anywidget model
  get = this.#values.get;
  on = this.#values.on;
  off = this.#values.off;
  set() {} // the board sets nothing by itself: it sends what was asked for
  save_changes() {}
  /** @param {any} message */
  send(message) {
    this.#attempt(() => act(this, message));
  }

  // -- what the controls see
  /** What was set last. */
  settings = () => this.#timeline.settings();
  /** The numbers on the board, and what they follow from; null before the first. */
  shown = () => this.#shown;
  canUndo = () => this.#timeline.canUndo();
  canRedo = () => this.#timeline.canRedo();

  /** @param {string} notice @param {boolean} [failed] */
  say(notice, failed = false) {
    this.#values.put({ notice, failed });
  }

  /**
   * A control moved.
   * @param {(settings: Settings) => Changed} change @param {string} [move] name of the control: quick moves are one step
   */
  change(change, move) {
    this.#attempt(() => this.apply(change(this.settings()), move));
  }

  /** Go to new settings; what was moved is said. @param {Changed} changed @param {string} [move] name of the control */
  apply([next, notices], move = "") {
    if (!same(next, this.settings())) {
      this.#timeline.go(next, move);
      this.#show();
    }
    this.say(notices.join(" "));
  }

  /** Go one step back or forward. @param {"undo" | "redo"} way */
  turn(way) {
    if (!this.#timeline.turn(way)) return;
    this.#show();
    this.say("");
  }

  /** Go back to the start; undo brings the others back. */
  reset() {
    this.apply([{ ...this.#timeline.initial(), theme: this.settings().theme }, []]);
  }

  /** Start from a link: Reset leads back to it, and there is nothing to undo. What it could not say is told. @param {string} link */
  open(link) {
    const { state, notices } = fromLink(link);
    /** @param {Error} error */
    const explain = (error) => new Error(say("refused.link", { why: error.message }));
    let start;
    try {
      // As export/page.py brings a state into a page: computed in float64, without the tabs.
      start = replaced({ ...state, device: "cpu", dtype: "float64", tab: "" }, {});
    } catch (error) {
      throw explain(/** @type {Error} */ (error));
    }
    this.#timeline.restart(start);
    this.#show(explain);
    this.say(briefly(notices));
  }

  /** @param {Place | null} selected */
  select(selected) {
    this.#values.put({ selected });
  }

  givePlotly() {
    if (!this.#plotly) return;
    Promise.resolve(this.#plotly()).then(
      (buffer) => this.#values.tell("msg:custom", { type: "plotly" }, [buffer]),
      (error) => this.say(error.message, true), // and the board asks again
    );
  }

  /**
   * Bring the board to where the timeline is now: at once, or when its numbers come.
   * @param {(error: Error) => Error} [explain] what is said if there are none
   */
  #show(explain = (error) => error) {
    this.#explain = explain;
    if (this.#asking.pending() && this.#shown && same(this.settings(), this.#shown.settings)) {
      this.#asking.forget(); // back to what the board shows
      this.#timeline.hold();
    } else {
      try {
        this.#asking.ask(this.settings());
      } catch (error) {
        this.#timeline.giveUp();
        throw explain(/** @type {Error} */ (error));
      }
    }
    this.#tellSettings();
  }

  /** @param {Settings} settings @param {Numbers} numbers */
  #take(settings, numbers) {
    this.#values.put(this.#view(settings, numbers));
    this.#shown = { settings, numbers };
    this.#timeline.hold();
    if (this.get("notice") === say("late")) this.say("");
  }

  /** There are no numbers: what holds comes back, and the controls with it. @param {Error} error */
  #refuse(error) {
    this.#timeline.giveUp();
    this.#tellSettings();
    this.say(this.#explain(error).message, true);
  }

  /** The settings go their own way: a control, a link or the theme waits for no numbers. */
  #tellSettings() {
    const { input, target, grad, ...state } = this.settings();
    this.#values.put({ theme: state.theme, state, sources: { input, target, grad } });
    this.#values.tell("settings");
  }

  /** Run an action of the user; what goes wrong is said in a sentence, and the settings stay. @param {() => void} action */
  #attempt(action) {
    try {
      action();
    } catch (error) {
      this.say(/** @type {Error} */ (error).message, true);
      this.#values.tell("settings");
    }
  }
}
