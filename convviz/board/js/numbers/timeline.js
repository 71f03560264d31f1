// @ts-check
// Where one is: the settings, the start that Reset leads to and the way back; and where one
// was when numbers came last.
import { createHistory } from "../rules/history.js";
import { replaced } from "../rules/settings.js";

/**
 * @import { Settings } from "../rules/settings.js"
 * @typedef {{ settings: Settings, initial: Settings, past: Settings[], future: Settings[] }} Kept
 */

/** @param {Settings} start @param {() => number} clock milliseconds */
export function createTimeline(start, clock) {
  const history = createHistory(clock);
  let [settings, initial] = [start, start];
  let held = { settings, initial, steps: history.steps() };

  return {
    settings: () => settings,
    initial: () => initial,
    canUndo: history.canUndo,
    canRedo: history.canRedo,

    /** Go to new settings. @param {Settings} next @param {string} move name of the control, or empty */
    go(next, move) {
      history.remember(settings, next, move);
      settings = next;
    },
    /** Go one step back or forward, if there is one. @param {"undo" | "redo"} way @returns {boolean} */
    turn(way) {
      const there = history.take(way, settings);
      if (there) settings = replaced(there, {}); // the plane that is looked at now may not be there
      return there !== null;
    },
    /** Start anew: Reset leads here, and there is nothing to undo. @param {Settings} next */
    restart(next) {
      [settings, initial] = [next, next];
      history.restore();
    },

    /** The numbers of these settings are there: a refusal leads back to them. */
    hold() {
      held = { settings, initial, steps: history.steps() };
    },
    /**
     * Others have set something that holds from now on, whatever comes of what was asked for here.
     * @param {Settings} there
     */
    holdAt(there) {
      held = { ...held, settings: there };
    },
    /** All that another page needs to go on from here. */
    kept: () => ({ settings, initial, past: history.steps().past, future: history.steps().future }),
    /** Go on from where another page was. @param {Kept} kept @param {Partial<Settings>} ground */
    takeUp(kept, ground) {
      const whole = (/** @type {Settings} */ state) => replaced({ ...state, ...ground }, {});
      const [now, start, past, future] = [
        whole(kept.settings),
        whole(kept.initial),
        kept.past.map(whole),
        kept.future.map(whole),
      ];
      [settings, initial] = [now, start];
      history.restore({ past, future, move: "", when: -Infinity });
    },
    /**
     * Change what is no step of a person's: where torch computes.
     * @param {(settings: Settings) => Settings} change
     */
    amend(change) {
      [settings, initial] = [change(settings), change(initial)];
    },
    /** Go back to what holds. */
    giveUp() {
      ({ settings, initial } = held);
      history.restore(held.steps);
    },
  };
}
