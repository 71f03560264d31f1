// Follow one kernel: is it connected, does it answer, has it ended? Voilà's front end says nothing of it.
import { DEAD } from "../base/lost_kernel.js";
import { createPauses } from "../base/retry_pauses.js";
import { say } from "../base/server_sentences.js";

const ANSWERS_WITHIN_MS = 5000;
const banner = () => document.getElementById("convviz-lost");

/**
 * "": not connected yet; "lost": only a new page helps.
 * @typedef {"" | "ok" | "reconnecting" | "lost"} State
 * @typedef {"reconnecting" | "silent" | "gone" | "failed"} Passing no connection, no answer, no server, the
 *   app did not start
 * @typedef {"ended" | "partial"} Fatal the kernel ended; half a page came
 */

/** At the body for sheets and tests, in a banner in words. */
export class KernelState {
  /** @type {State} */
  #state = "";
  #onLost;

  /** @param {() => void} onLost */
  constructor(onLost) {
    this.#onLost = onLost;
  }

  get now() {
    return this.#state;
  }

  get over() {
    return this.#state === "lost";
  }

  /** @param {State} next */
  enter(next) {
    if (this.over) return;
    this.#state = next;
    document.body.dataset.convvizKernel = next;
  }

  /** @param {Passing | Fatal} trouble */
  show(trouble) {
    const [box, text] = [banner(), document.getElementById("convviz-lost-text")];
    if (!box || !text || this.over) return;
    box.hidden = false;
    // Screen readers announce a change inside an alert, not its appearance.
    text.textContent = say(trouble);
  }

  hide() {
    const box = banner();
    if (box && !this.over) box.hidden = true;
  }

  /** @param {Fatal} trouble */
  lose(trouble) {
    if (this.over) return;
    this.show(trouble);
    this.enter("lost");
    this.#onLost();
  }
}

/**
 * JupyterLab retries silently for two minutes, and does not distinguish a vanished kernel from a vanished server:
 * the page asks the server.
 * @param {any} kernel JupyterLab's KernelConnection @param {URL} address of the kernel, at the server
 * @param {KernelState} state @param {() => boolean} [isBuilding] what is sent now makes widgets
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
  // An orderly shutdown changes neither status.
  kernel.iopubMessage.connect((/** @type {any} */ _, /** @type {any} */ message) => {
    if (message.header.msg_type === "shutdown_reply") state.lose("ended");
  });
  watchAnswers(kernel, address, state, isBuilding);
  if (DEAD.has(kernel.status)) state.lose("ended");
  else onConnection(kernel.connectionStatus);
}

/**
 * Until the connection is back or the kernel is gone.
 * @param {any} kernel @param {URL} address @param {KernelState} state
 * @param {ReturnType<typeof createPauses>} pauses
 */
async function probe(kernel, address, state, pauses) {
  if (state.now !== "reconnecting") return;
  try {
    if ((await isThere(address, state)) && kernel.connectionStatus === "disconnected")
      kernel.reconnect().catch(() => {});
  } catch {
    if (state.now === "reconnecting") state.show("gone");
  }
  setTimeout(() => probe(kernel, address, state, pauses), pauses.next());
}

/** A missing kernel is reported. @param {URL} address @param {KernelState} state */
async function isThere(address, state) {
  const answer = await fetch(address, { cache: "no-store" });
  if (answer.status === 404) state.lose("ended");
  return answer.ok;
}

/**
 * Until the next answer: a kernel that hangs stays connected. After sleep a connection may look alive: the
 * server is asked, too.
 * @param {any} kernel @param {URL} address @param {KernelState} state @param {() => boolean} isBuilding
 */
function watchAnswers(kernel, address, state, isBuilding) {
  const moves = new Set();
  let timer = 0;
  let isShown = false;
  /** @param {ReturnType<typeof createPauses>} pauses */
  const look = (pauses) => {
    if (!isShown || state.now !== "ok") return;
    isThere(address, state).catch(() => {});
    setTimeout(look, pauses.next(), pauses);
  };
  const report = () => {
    timer = 0;
    if (state.now !== "ok") return; // something worse is shown
    isShown = true;
    state.show("silent");
    look(createPauses());
  };
  const settle = () => {
    clearTimeout(timer);
    timer = moves.size ? setTimeout(report, ANSWERS_WITHIN_MS) : 0;
    if (isShown && state.now === "ok") state.hide();
    isShown = false;
  };
  /** @param {{ msg_type: string, msg_id: string }} header */
  const sent = ({ msg_type, msg_id }) => {
    if (msg_type !== "comm_msg" || isBuilding()) return;
    moves.add(msg_id);
    if (!timer && !isShown) timer = setTimeout(report, ANSWERS_WITHIN_MS);
  };
  kernel.anyMessage.connect((/** @type {any} */ _, /** @type {any} */ { msg, direction }) => {
    if (direction === "send") sent(msg.header);
    else if (moves.has(msg.parent_header.msg_id)) {
      if (msg.content?.execution_state === "idle") forgetUpTo(moves, msg.parent_header.msg_id);
      settle();
    }
  });
  kernel.connectionStatusChanged.connect(() => {
    moves.clear(); // said in other words
    settle();
  });
}

/** Answers come in order: earlier moves were lost. @param {Set<string>} moves @param {string} last */
function forgetUpTo(moves, last) {
  for (const move of moves) {
    moves.delete(move);
    if (move === last) break;
  }
}
