// @ts-check
// The model behind the board: settings, the way back and what is said. Where the numbers come from is the
// maker's business: the page itself, or torch once a kernel is connected. The board sees the
// interface of an anywidget model.
import { createValues } from "../base/events.js";
import { torchAloneWords } from "../picture/words.js";
import { seenAs } from "../rules/history.js";
import { briefly, fromLink } from "../rules/link.js";
import { say } from "../rules/say.js";
import { replaced } from "../rules/settings.js";
import { act } from "./actions.js";
import { Asking, afterwards } from "./latest_request.js";
import { beforeKernel, besideKernel, fromPage, withoutKernel } from "./from_page.js";
import { Timeline } from "./timeline.js";
import { createView } from "./view.js";

/**
 * @import { Colorscales } from "../picture/payload.js"
 * @import { Changed } from "../rules/change.js"
 * @import { Settings } from "../rules/settings.js"
 * @import { Place, Shown } from "./actions.js"
 * @import { Later, MakeNumbers, Numbers } from "./latest_request.js"
 * @import { Kernel } from "./from_kernel.js"
 * @typedef {{ state: Settings, colorscales: Colorscales,
 *   plotly: (() => ArrayBuffer | (() => any) | Promise<ArrayBuffer>) | null, ground?: Partial<Settings>,
 *   live?: boolean }} PageData state as App.state() returns it; plotly: the gzipped bundle, or what evaluates
 *   it, asked for once; ground: what no link or state changes here;
 *   live: whether a kernel is expected
 */

/** What a page without a kernel cannot change: it computes in float64, and has no tabs. */
const PAGE_GROUND = Object.freeze({ device: "cpu", dtype: "float64", tab: "" });
const REST = 150; // milliseconds without a step, after which torch's numbers are held against the page's own

/** @param {Settings} one @param {Settings} other */
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
/** Whether two settings differ in what is looked at only. @param {Settings} one @param {Settings} other */
const sameNumbers = (one, other) => same(one, seenAs(other, one));

/**
 * @param {PageData} data
 * @param {MakeNumbers | null} makeNumbers null: those of a kernel that is connected next
 * @param {() => number} [clock] milliseconds @param {Later} [later]
 */
export const createPageModel = (
  data,
  makeNumbers = fromPage,
  clock = () => performance.now(),
  later = afterwards,
) => new PageModel(data, makeNumbers, clock, later);

/** @typedef {InstanceType<typeof PageModel>} Model */

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
    // mistakes whose names may be said: of one that a link brought it is a riddle
    told: /** @type {string[]} */ ([]),
  });
  #timeline;
  #view;
  #asking;
  #later;
  #plotly;
  #ground;
  /** @type {Kernel | null} */
  #kernel = null;
  #met = false; // whether there has been a kernel
  /** What is on the board. @type {Shown | null} */
  #shown = null;
  /** Where a refusal leads back to. @type {Shown | null} */
  #held = null;
  /** What is said when there are no numbers of the newest settings. @type {(error: Error) => Error} */
  #explain = (error) => error;
  #stopComparing = () => {};
  /** @type {Record<string, Record<string, any>>} */
  #choices = {};

  /**
   * @param {PageData} data @param {MakeNumbers | null} makeNumbers @param {() => number} clock
   * @param {Later} later
   */
  constructor({ state, colorscales, plotly, ground = PAGE_GROUND, live = false }, makeNumbers, clock, later) {
    this.#timeline = new Timeline(replaced(state, {}), clock);
    this.#view = createView(colorscales);
    this.#plotly = plotly;
    this.#ground = ground;
    this.#later = later;
    const listener = {
      taken: this.#take.bind(this),
      shown: this.#showMeanwhile.bind(this),
      refused: this.#refuse.bind(this),
      late: () => this.say(say("late"), true),
    };
    this.#asking = new Asking(live ? beforeKernel : (makeNumbers ?? fromPage), listener, later);
    if (makeNumbers) this.#show();
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
  /** Jupyter's front end behind the kernel, which knows when that ends. */
  get widget_manager() {
    return this.#kernel?.widgetManager;
  }

  // -- what the controls see
  /** What was set last. */
  settings = () => this.#timeline.settings();
  /** The numbers on the board, and what they follow from; null before the first. */
  shown = () => this.#shown;
  canUndo = () => this.#timeline.canUndo();
  canRedo = () => this.#timeline.canRedo();
  /** Whether every number that was asked for is on the board. */
  settled = () => !this.#asking.pending();
  kernel = () => this.#kernel;

  /** @param {string} notice @param {boolean} [failed] */
  say(notice, failed = false) {
    this.#values.put({ notice, failed });
  }

  /**
   * A control moved.
   * @param {(settings: Settings) => Changed} change
   * @param {string} [move] name of the control: quick moves are one step
   */
  change(change, move) {
    this.#attempt(() => this.apply(change(this.settings()), move));
  }

  /**
   * Go to new settings; what was moved is said.
   * @param {Changed} changed @param {string} [move] name of the control
   */
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
    const { theme, tab } = this.settings();
    this.apply([{ ...this.#timeline.initial(), theme, tab }, []]);
  }

  /**
   * Start from a link: Reset leads back to it, and there is nothing to undo. What it could not say is told.
   * @param {string} link
   */
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

  /** Go to the settings that a page kept before it was loaded again. @param {Settings} state */
  restore(state) {
    this.apply([replaced({ ...state, ...this.#ground }, {}), []]);
  }

  /** All that another page needs to go on from here. */
  kept = () => ({ ...this.#timeline.kept(), choices: this.#choices });

  /** What was chosen in the tabs, by their names. @param {string} tab @returns {Record<string, any>} */
  chosen = (tab) => this.#choices[tab] ?? {};
  /** @param {string} tab @param {Record<string, any>} choices */
  choose(tab, choices) {
    this.#choices = { ...this.#choices, [tab]: choices };
  }

  /**
   * Go on from where another page was.
   * @param {import("./timeline.js").Kept & { choices?: Record<string, Record<string, any>> }} kept
   */
  takeUp(kept) {
    this.#choices = kept.choices ?? {};
    this.#attempt(() => {
      this.#timeline.takeUp(kept, this.#ground);
      this.#show();
    });
  }

  /** @param {Place | null} selected */
  select(selected) {
    this.#values.put({ selected });
  }

  /** The name of a mistake may be said: it was chosen here, or asked for. @param {string} mistake */
  reveal(mistake) {
    const told = this.get("told");
    if (!told.includes(mistake)) this.#values.put({ told: [...told, mistake] });
  }

  /**
   * Draw this number where the pointer is pressed on the input, or stop drawing.
   * @param {number | null} brush
   */
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
   * From now on torch computes, and the page only until torch has answered.
   * @param {Kernel} kernel
   * @param {boolean} [follow] take the settings that the kernel has; otherwise it gets the page's
   */
  connect(kernel, follow = false) {
    if (this.#kernel !== kernel) this.#kernel?.close();
    this.#kernel = kernel;
    this.#ground = {};
    this.#asking.turnTo(kernel.ask, (settings, k) => this.#meanwhile(settings, k));
    kernel.follow({
      moved: this.#follow.bind(this),
      told: (sentence, failed) => this.say(sentence, failed),
      introduced: () => this.#values.put({ introduction: kernel.introduction() }),
      replied: (message, buffers) => this.#values.tell("msg:custom", message, buffers),
    });
    const now = kernel.now();
    if (follow && now) {
      this.#adopt(now, "");
    } else {
      // At first torch computes where it was told to; later where it was asked to, if it still can.
      const { device } = this.settings();
      const chosen = this.#met && kernel.facts.devices?.includes(device) ? device : null;
      const first = chosen ?? now?.settings.device ?? kernel.facts.device ?? device;
      this.#timeline.amend((settings) => ({ ...settings, device: first }));
      this.#attempt(() => this.#show());
    }
    this.#met = true;
    this.#values.put({ kernel: "ok", introduction: kernel.introduction() });
    if (kernel.notice()[0]) this.say(...kernel.notice());
  }

  /**
   * The page computes by itself.
   * @param {"away" | "lost"} [as] away: what was connected comes back; lost: nobody does
   */
  disconnect(as = "lost") {
    if (this.get("kernel") === as) return;
    if (as === "lost") this.#kernel?.close();
    this.#kernel = null;
    this.#asking.turnTo(withoutKernel);
    this.#attempt(() => this.#show());
    this.#values.put({ kernel: as });
  }

  /**
   * The page's numbers, until torch's come; those that are there stay where only the view changes.
   * @param {Settings} settings @param {number} k
   */
  #meanwhile(settings, k) {
    if (this.#shown && sameNumbers(this.#shown.settings, settings)) return { ...this.#shown.numbers, k };
    return besideKernel(settings, k);
  }

  /** Somebody else has set something, in Python or in another window. @param {Shown} there */
  #follow(there) {
    if (this.#asking.pending()) {
      // the kernel gets what was done here after that, and it holds then
      this.#held = there;
      this.#timeline.holdAt(there.settings);
    } else if (!same(there.settings, this.settings()) || there.numbers.from !== this.#shown?.numbers.from) {
      this.#adopt(there, "elsewhere");
    }
  }

  /** @param {Shown} there @param {string} move */
  #adopt({ settings, numbers }, move) {
    if (!same(settings, this.settings())) this.#timeline.go(settings, move);
    this.#take(settings, { ...numbers, k: this.#asking.skip() });
    this.#tellSettings();
  }

  // -- from settings to the board
  /**
   * Bring the board to where the timeline is now: at once, or when its numbers come.
   * @param {(error: Error) => Error} [explain] what is said if there are none
   */
  #show(explain = (error) => error) {
    this.#explain = explain;
    if (
      !this.#kernel &&
      this.#asking.pending() &&
      this.#shown &&
      same(this.settings(), this.#shown.settings)
    ) {
      this.#asking.skip(); // back to what the board shows
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
    this.#put({ settings, numbers });
    this.#held = this.#shown;
    this.#timeline.hold();
    if (this.get("notice") === say("late")) this.say("");
    if (numbers.from === "torch") this.#compareAtRest();
  }

  /** @param {Settings} settings @param {Numbers | null} numbers */
  #showMeanwhile(settings, numbers) {
    if (numbers) this.#put({ settings, numbers });
    else this.#values.put({ values: { ...this.get("values"), truth: torchAloneWords(), truth_ok: null } });
  }

  /** @param {Shown} shown */
  #put(shown) {
    this.#stopComparing();
    const told = this.#view(shown.settings, shown.numbers);
    this.#shown = shown; // before anybody is told of it
    this.#values.put(told);
  }

  /** Hold torch's numbers against the page's own, once nothing moves any more. */
  #compareAtRest() {
    const { settings, numbers } = /** @type {Shown} */ (this.#shown);
    this.#stopComparing = this.#later(() => {
      const words = this.#kernel?.differs(settings, numbers);
      if (words) this.#values.put({ values: { ...this.get("values"), truth: words, truth_ok: false } });
    }, REST);
  }

  /** There are no numbers: what holds comes back, and the controls with it. @param {Error} error */
  #refuse(error) {
    this.#timeline.giveUp();
    if (this.#held && this.#shown !== this.#held) {
      this.#put({ ...this.#held, numbers: { ...this.#held.numbers, k: this.#asking.skip() } });
      this.#held = this.#shown;
    }
    this.#tellSettings();
    this.say(this.#explain(error).message, true);
  }

  /** The settings go their own way: a control, a link or the theme waits for no numbers. */
  #tellSettings() {
    const { input, target, grad, ...state } = this.settings();
    this.#values.put({ theme: state.theme, state, sources: { input, target, grad } });
    this.#values.tell("settings");
  }

  /**
   * Run an action of the user; what goes wrong is said in a sentence, and the settings stay.
   * @param {() => void} action
   */
  #attempt(action) {
    try {
      action();
    } catch (error) {
      this.say(/** @type {Error} */ (error).message, true);
      this.#values.tell("settings");
    }
  }
}
