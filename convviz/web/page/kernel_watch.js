// @ts-check
// Follow one kernel: is it connected, does it answer, has it ended? Voilà's front end says nothing of it.
import { createPauses } from "../base/pauses.js";

/** @import { KernelState } from "./kernel_state.js" */

const ANSWERS_WITHIN_MS = 5000;

/** Kernel states after which the widgets have nobody to talk to, even if a new kernel process starts. */
const DEAD = new Set(["dead", "restarting", "autorestarting", "terminating"]);

/**
 * Follows one kernel connection. JupyterLab retries seven times at growing intervals (two minutes) without a
 * word, and does not tell a vanished kernel from a vanished server, so the page asks the server itself.
 * @param {any} kernel JupyterLab's KernelConnection
 * @param {URL} address where the server tells whether it is there
 * @param {KernelState} state
 * @param {() => boolean} [isBuilding] whether what is sent now is no move of a person:
 *   widgets that are being made
 */
export function watchKernel(kernel, address, state, isBuilding = () => false) {
  /** @param {string} status */
  const onConnection = (status) => {
    if (state.over) return;
    if (status === "connected") {
      state.enter("ok");
      state.hide();
    } else if (state.now === "ok" || (state.now !== "reconnecting" && status === "disconnected")) {
      state.enter("reconnecting");
      state.show("reconnecting");
      probe(kernel, address, state, createPauses());
    }
  };
  kernel.statusChanged.connect((/** @type {any} */ _, /** @type {string} */ status) => {
    if (DEAD.has(status)) state.lose("ended");
  });
  kernel.connectionStatusChanged.connect((/** @type {any} */ _, /** @type {string} */ status) =>
    onConnection(status),
  );
  // A kernel that is shut down in an orderly way (culled, or after the page's own unload call when a link
  // turned out to be a download) changes neither status: its farewell message is the only sign.
  kernel.iopubMessage.connect((/** @type {any} */ _, /** @type {any} */ message) => {
    if (message.header.msg_type === "shutdown_reply") state.lose("ended");
  });
  watchAnswers(kernel, address, state, isBuilding);
  if (DEAD.has(kernel.status)) state.lose("ended");
  else onConnection(kernel.connectionStatus);
}

/**
 * Ask the server again and again, until the connection is back or there is nothing to wait for.
 * @param {any} kernel @param {URL} address @param {KernelState} state
 * @param {ReturnType<typeof createPauses>} pauses
 */
async function probe(kernel, address, state, pauses) {
  if (state.now !== "reconnecting") return;
  try {
    // What comes of it is heard as a change of the connection's status, and asked for again if nothing does.
    if ((await isThere(address, state)) && kernel.connectionStatus === "disconnected")
      kernel.reconnect().catch(() => {});
  } catch {
    if (state.now === "reconnecting") state.show("gone");
  }
  setTimeout(() => probe(kernel, address, state, pauses), pauses.next());
}

/**
 * Whether the server has the kernel; where it has none, that is told.
 * @param {URL} address @param {KernelState} state
 */
async function isThere(address, state) {
  const answer = await fetch(address, { cache: "no-store" });
  if (answer.status === 404) state.lose("missing");
  return answer.ok;
}

/**
 * Tells that a move has no answer, until the next answer comes. A kernel that hangs stays connected and
 * "busy". After a sleep its connection may look alive, and lead nowhere: the server is asked, too.
 * @param {any} kernel @param {URL} address @param {KernelState} state @param {() => boolean} isBuilding
 */
function watchAnswers(kernel, address, state, isBuilding) {
  const moves = new Set();
  let timer = 0;
  let told = false;
  /** @param {ReturnType<typeof createPauses>} pauses */
  const look = (pauses) => {
    if (!told || state.now !== "ok") return;
    isThere(address, state).catch(() => {});
    setTimeout(look, pauses.next(), pauses);
  };
  const tell = () => {
    timer = 0;
    if (state.now !== "ok") return; // something worse is told already
    told = true;
    state.show("silent");
    look(createPauses());
  };
  const settle = () => {
    clearTimeout(timer);
    timer = moves.size ? setTimeout(tell, ANSWERS_WITHIN_MS) : 0;
    if (told && state.now === "ok") state.hide();
    told = false;
  };
  /** @param {{ msg_type: string, msg_id: string }} header */
  const sent = ({ msg_type, msg_id }) => {
    if (msg_type !== "comm_msg" || isBuilding()) return;
    moves.add(msg_id);
    if (!timer && !told) timer = setTimeout(tell, ANSWERS_WITHIN_MS);
  };
  kernel.anyMessage.connect((/** @type {any} */ _, /** @type {any} */ { msg, direction }) => {
    if (direction === "send") sent(msg.header);
    else if (moves.has(msg.parent_header.msg_id)) {
      if (msg.content?.execution_state === "idle") forgetUpTo(moves, msg.parent_header.msg_id);
      settle();
    }
  });
  kernel.connectionStatusChanged.connect(() => {
    moves.clear(); // what was under way is lost, and told in other words
    settle();
  });
}

/**
 * Answers come in order: a move that is still out before an answered one was lost.
 * @param {Set<string>} moves @param {string} last
 */
function forgetUpTo(moves, last) {
  for (const move of moves) {
    moves.delete(move);
    if (move === last) break;
  }
}
