// @ts-check
// Follow one kernel: is it connected, does it answer, has it ended? Voilà's front end says nothing of it.

/** @import { KernelState } from "./kernel_state.js" */

const PROBE_EVERY_MS = 2000;
const ANSWERS_WITHIN_MS = 5000;

/** Kernel states after which the widgets have nobody to talk to, even if a new kernel process starts. */
const DEAD = new Set(["dead", "restarting", "autorestarting", "terminating"]);

/**
 * Follows one kernel connection. JupyterLab retries seven times at growing intervals (two minutes) without a word,
 * and does not tell a vanished kernel from a vanished server, so the page asks the server itself.
 * @param {any} kernel JupyterLab's KernelConnection
 * @param {URL} address where the server tells whether it is there
 * @param {KernelState} state
 * @param {() => boolean} [isBuilding] whether what is sent now is no move of a person: widgets that are being made
 */
export function watchKernel(kernel, address, state, isBuilding = () => false) {
  /** @param {string} status */
  const onConnection = (status) => {
    if (state.now === "lost") return;
    if (status === "connected") {
      state.enter("ok");
      state.hide();
    } else if (state.now === "ok" || (state.now !== "reconnecting" && status === "disconnected")) {
      state.enter("reconnecting");
      state.show("reconnecting");
      probe(kernel, address, state);
    }
  };
  kernel.statusChanged.connect((/** @type {any} */ _, /** @type {string} */ status) => {
    if (DEAD.has(status)) state.lose("ended");
  });
  kernel.connectionStatusChanged.connect((/** @type {any} */ _, /** @type {string} */ status) => onConnection(status));
  // A kernel that is shut down in an orderly way (culled, or after the page's own unload call when a link turned out
  // to be a download) changes neither status: its farewell message is the only sign.
  kernel.iopubMessage.connect((/** @type {any} */ _, /** @type {any} */ message) => {
    if (message.header.msg_type === "shutdown_reply") state.lose("ended");
  });
  watchAnswers(kernel, state, isBuilding);
  if (DEAD.has(kernel.status)) state.lose("ended");
  else onConnection(kernel.connectionStatus);
}

/**
 * Ask the server again and again, until the connection is back or there is nothing to wait for.
 * @param {any} kernel @param {URL} address @param {KernelState} state
 */
async function probe(kernel, address, state) {
  if (state.now !== "reconnecting") return;
  try {
    const answer = await fetch(address, { cache: "no-store" });
    if (answer.status === 404) return state.lose("ended");
    // What comes of it is heard as a change of the connection's status, and asked for again if nothing does.
    if (answer.ok && kernel.connectionStatus === "disconnected") kernel.reconnect().catch(() => {});
  } catch {
    if (state.now === "reconnecting") state.show("gone");
  }
  setTimeout(() => probe(kernel, address, state), PROBE_EVERY_MS);
}

/**
 * Tells that a move has no answer, until the next answer comes. A kernel that hangs stays connected and "busy".
 * @param {any} kernel @param {KernelState} state @param {() => boolean} isBuilding
 */
function watchAnswers(kernel, state, isBuilding) {
  const moves = new Set();
  let timer = 0;
  let told = false;
  const tell = () => {
    timer = 0;
    if (state.now !== "ok") return; // something worse is told already
    told = true;
    state.show("silent");
  };
  const settle = () => {
    clearTimeout(timer);
    timer = moves.size ? setTimeout(tell, ANSWERS_WITHIN_MS) : 0;
    if (told && state.now === "ok") state.hide();
    told = false;
  };
  kernel.anyMessage.connect((/** @type {any} */ _, /** @type {any} */ { msg, direction }) => {
    if (direction === "send") {
      if (msg.header.msg_type !== "comm_msg" || isBuilding()) return;
      moves.add(msg.header.msg_id);
      if (!timer && !told) timer = setTimeout(tell, ANSWERS_WITHIN_MS);
    } else if (moves.has(msg.parent_header.msg_id)) {
      if (msg.header.msg_type === "status" && msg.content.execution_state === "idle") forgetUpTo(moves, msg.parent_header.msg_id);
      settle();
    }
  });
  kernel.connectionStatusChanged.connect(() => {
    moves.clear(); // what was under way is lost, and told in other words
    settle();
  });
}

/** Answers come in order: a move that is still out before an answered one was lost. @param {Set<string>} moves @param {string} last */
function forgetUpTo(moves, last) {
  for (const move of moves) {
    moves.delete(move);
    if (move === last) break;
  }
}
