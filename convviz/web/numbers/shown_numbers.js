// The numbers of the settings: asked of the page or of torch, previewed, accepted or refused, shown on the board.
import { truthWords } from "../picture/formulas_and_notes.js";
import { seenAs } from "../rules/undo_rules.js";
import { say } from "../rules/sentences.js";
import { besideKernel, withoutKernel } from "./compute_in_page.js";
import { LatestRequest } from "./latest_request.js";

const REST = 150; // milliseconds without a change, after which torch's numbers are compared with the page's

/**
 * @import { Shown } from "./actions.js"
 * @import { MakeNumbers } from "./latest_request.js"
 * @import { Notices, Values } from "./notices.js"
 * @typedef {{ values: Values, notices: Notices, timeline: import("./undo_history.js").UndoHistory, view:
 *   ReturnType<typeof import("./board_view_model.js").createView>, later: Later }} Parts of the model; view:
 *   what the board draws of numbers
 */

/** @param {Settings} one @param {Settings} other */
export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

export class ShownNumbers {
  #values;
  #notices;
  #timeline;
  #view;
  #later;
  #requests;
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

  /** @param {Parts} parts @param {MakeNumbers} makeNumbers */
  constructor({ values, notices, timeline, view, later }, makeNumbers) {
    this.#values = values;
    this.#notices = notices;
    this.#timeline = timeline;
    this.#view = view;
    this.#later = later;
    const listener = {
      onNumbers: this.#accept.bind(this),
      onPreview: this.#showPreview.bind(this),
      onRefused: this.#refuse.bind(this),
      onTimeout: () => notices.say(say("late"), true),
    };
    this.#requests = new LatestRequest(makeNumbers, listener, later);
  }

  /** Returns null before the first numbers arrive. */
  shown = () => this.#shown;
  kernel = () => this.#kernel;
  pending = () => this.#requests.pending();

  /**
   * Asks for the numbers of the settings and shows them, at once or when they come.
   * @param {(error: Error) => Error} [explain] see #explain
   */
  show(explain = (error) => error) {
    this.#explain = explain;
    if (
      !this.#kernel &&
      this.#requests.pending() &&
      this.#shown &&
      same(this.#timeline.settings(), this.#shown.settings)
    ) {
      this.#requests.cancel(); // the board shows them already
      this.#timeline.accept();
    } else {
      try {
        this.#requests.ask(this.#timeline.settings());
      } catch (error) {
        this.#timeline.goBack();
        throw explain(/** @type {Error} */ (error));
      }
    }
    this.#emitSettings();
  }

  /** @param {Settings} settings @param {Numbers} numbers */
  #accept(settings, numbers) {
    this.#put({ settings, numbers });
    this.#accepted = this.#shown;
    this.#timeline.accept();
    if (this.#values.get("notice") === say("late")) this.#notices.say("");
    if (numbers.from === "torch") this.#compareAtRest();
  }

  /** @param {Settings} settings @param {Numbers | null} numbers */
  #showPreview(settings, numbers) {
    if (numbers) this.#put({ settings, numbers });
    else
      this.#values.put({
        values: { ...this.#values.get("values"), truth: truthWords("torch_alone"), truth_ok: null },
      });
  }

  /** @param {Shown} shown */
  #put(shown) {
    this.#stopComparing();
    const forBoard = this.#view(shown.settings, shown.numbers);
    this.#shown = shown; // before anybody hears of it
    this.#values.put(forBoard);
  }

  /** Compares torch's numbers with the page's once nobody moves anything. */
  #compareAtRest() {
    const { settings, numbers } = /** @type {Shown} */ (this.#shown);
    this.#stopComparing = this.#later(() => {
      const words = this.#kernel?.differs(settings, numbers);
      if (words)
        this.#values.put({ values: { ...this.#values.get("values"), truth: words, truth_ok: false } });
    }, REST);
  }

  /** Goes back to the last settings that have numbers. @param {Error} error */
  #refuse(error) {
    this.#timeline.goBack();
    if (this.#accepted && this.#shown !== this.#accepted) {
      this.#put({ ...this.#accepted, numbers: { ...this.#accepted.numbers, k: this.#requests.cancel() } });
      this.#accepted = this.#shown;
    }
    this.#emitSettings();
    this.#notices.say(this.#explain(error).message, true);
  }

  /** Controls follow at once; only the board waits for numbers. */
  #emitSettings() {
    const { input, target, grad, ...state } = this.#timeline.settings();
    this.#values.put({ theme: state.theme, state, sources: { input, target, grad } });
    this.#values.emit("settings");
  }

  /**
   * Torch computes, the page previews.
   * @param {Kernel} kernel @param {boolean} [follow] take the kernel's settings; else it gets the page's
   */
  connect(kernel, follow = false) {
    const introduction = () => kernel.introduction?.() ?? "";
    if (this.#kernel !== kernel) this.#kernel?.close();
    this.#kernel = kernel;
    this.#requests.setBackend(kernel.ask, (settings, k) => this.#preview(settings, k));
    kernel.follow({
      moved: this.#follow.bind(this),
      showNotice: (sentence, failed) => this.#notices.say(sentence, failed),
      introduced: () => this.#values.put({ introduction: introduction() }),
      replied: (message, buffers) => this.#values.emit("msg:custom", message, buffers),
    });
    const now = kernel.now?.();
    if (follow && now) {
      this.#adopt(now, "");
    } else {
      // The first kernel says where it computes; a later one takes the visitor's choice, if it can.
      const { device } = this.#timeline.settings();
      const chosen = this.#met && kernel.facts.devices?.includes(device) ? device : null;
      const first = chosen ?? now?.settings.device ?? kernel.facts.device ?? device;
      this.#timeline.amend((settings) => ({ ...settings, device: first }));
      this.#notices.attempt(() => this.show());
    }
    this.#met = true;
    this.#values.put({ kernel: "ok", introduction: introduction() });
    const [notice, failed] = kernel.notice?.() ?? ["", false];
    if (notice) this.#notices.say(notice, failed);
  }

  /** The kernel is gone: the page computes alone. @param {"away" | "lost"} [as] away: comes back; lost: does not */
  disconnect(as = "lost") {
    if (this.#values.get("kernel") === as) return;
    if (as === "lost") this.#kernel?.close();
    this.#kernel = null;
    this.#requests.setBackend(withoutKernel);
    this.#notices.attempt(() => this.show());
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
    } else if (
      !same(there.settings, this.#timeline.settings()) ||
      there.numbers.from !== this.#shown?.numbers.from
    ) {
      this.#adopt(there, "elsewhere");
    }
  }

  /** @param {Shown} there @param {string} move */
  #adopt({ settings, numbers }, move) {
    if (!same(settings, this.#timeline.settings())) this.#timeline.go(settings, move);
    this.#accept(settings, { ...numbers, k: this.#requests.cancel() });
    this.#emitSettings();
  }
}
