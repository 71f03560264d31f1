// The one line of words under the controls: what was adjusted, or why something was refused.

/**
 * @typedef {ReturnType<typeof import("../base/observable_values.js").createValues>} Values
 * @typedef {ReturnType<typeof createNotices>} Notices
 */

/** @param {Values} values */
export function createNotices(values) {
  const say = (/** @type {string} */ notice, failed = false) => values.put({ notice, failed });

  /** Runs an action; an error is shown, and the settings stay as they are. @param {() => void} action */
  function attempt(action) {
    try {
      action();
    } catch (error) {
      say(/** @type {Error} */ (error).message, true);
      values.emit("settings");
    }
  }

  return { say, attempt };
}
