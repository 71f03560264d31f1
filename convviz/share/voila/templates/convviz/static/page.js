// @ts-check
/*
 * The page around the app, in Voilà: words while it loads, the theme of the controls, and a message with a way
 * out when the kernel or the server is gone. A classic script on purpose: the page streams in, and its inline
 * scripts call the functions below while later cells still run.
 */
(() => {
  "use strict";

  const SLOW_AFTER_MS = 20000;
  const PROBE_EVERY_MS = 2000;
  const WIDGETS_WITHOUT_APP_MS = 3000;
  const ANSWERS_WITHIN_MS = 5000;

  const WORDS = {
    torch: "Loading torch …",
    drawing: "Drawing …",
    slow: " Still working: the first start on a machine can take a minute.",
    reconnecting: "The connection to the server is lost. Trying to reconnect …",
    ended: "The kernel behind this page has ended: what you see stays, but the controls no longer answer.",
    silent: "The kernel has not answered for 5 seconds: it is busy, or it hangs. What you do now waits until it answers.",
    gone: "The server no longer answers, so the controls are dead. Reload once it runs again.",
    partial: "Only a part of this page arrived, because the server stopped while sending it.",
    failed: "The app could not start. The reason stands below.",
  };

  /** Kernel states after which the widgets have nobody to talk to, even if a new kernel process starts. */
  const DEAD = new Set(["dead", "restarting", "autorestarting", "terminating"]);

  /** @param {string} id @returns {HTMLElement | null} */
  const byId = (id) => document.getElementById(id);

  /** Where Voilà's own addresses begin. */
  const base = () => new URL(document.body.dataset.baseUrl ?? "/voila/", location.href);

  // ---- words while loading ------------------------------------------------------------------------------------

  let slow = "";

  /** @param {string} words */
  function say(words) {
    const line = byId("convviz-loading");
    if (line) line.textContent = words + slow;
  }

  function endLoading() {
    byId("convviz-loading")?.remove();
  }

  // Voilà's template calls these three; the names are its own. A cell's script arrives after that cell has run.
  let arrived = false;
  window.voila_process = (/** @type {number} */ cell, /** @type {number} */ count) =>
    say(cell < count ? WORDS.torch : WORDS.drawing);
  window.voila_heartbeat = () => {};
  window.voila_finish = () => {
    arrived = true;
  };

  setTimeout(() => {
    const line = byId("convviz-loading");
    slow = WORDS.slow;
    if (line) line.textContent += slow;
  }, SLOW_AFTER_MS);

  /** Removes the loading words once the app is really drawn. */
  function watchForApp() {
    const main = byId("convviz-main");
    if (!main) return;
    let timer = 0;
    const observer = new MutationObserver(look);
    observer.observe(main, { childList: true, subtree: true });
    look();

    function done() {
      observer.disconnect();
      clearTimeout(timer);
      endLoading();
    }

    function look() {
      if (main.querySelector(".cv-board")) {
        done();
      } else if (main.querySelector('[data-mime-type="application/vnd.jupyter.stderr"]')) {
        done();
        show(WORDS.failed);
      } else if (!timer && main.querySelector(".jupyter-widgets, .jupyter-widget")) {
        // Widgets alone are complete; our app brings a board, however long a busy machine takes.
        timer = setTimeout(() => main.querySelector(".cv-app") || done(), WIDGETS_WITHOUT_APP_MS);
      }
    }
  }

  // ---- the kernel or the server is gone -----------------------------------------------------------------------

  /** "": not connected yet; "ok": answers; "reconnecting": may come back; "lost": nothing but a reload helps. */
  let state = "";

  /** @param {"ok" | "reconnecting" | "lost"} next */
  function enter(next) {
    state = next;
    document.body.dataset.convvizKernel = next; // for style sheets and tests
  }

  /** @param {string} words */
  function show(words) {
    const banner = byId("convviz-lost");
    const text = byId("convviz-lost-text");
    if (!banner || !text) return;
    banner.hidden = false;
    // Filled after it is visible: screen readers announce a change inside an alert, not its appearance.
    text.textContent = words;
  }

  function hide() {
    const banner = byId("convviz-lost");
    if (banner) banner.hidden = true;
  }

  /** @param {string} words */
  function lose(words) {
    if (state === "lost") return;
    enter("lost");
    endLoading();
    show(words);
  }

  /**
   * Follows one kernel connection. JupyterLab retries seven times at growing intervals (two minutes) without a word,
   * and does not tell a vanished kernel from a vanished server, so the page asks the server itself.
   * @param {any} kernel JupyterLab's KernelConnection
   */
  function watchKernel(kernel) {
    const address = new URL(`../api/kernels/${kernel.id}`, base());

    async function probe() {
      if (state !== "reconnecting") return;
      try {
        const answer = await fetch(address, { cache: "no-store" });
        if (answer.status === 404) return lose(WORDS.ended);
        if (answer.ok && kernel.connectionStatus === "disconnected") kernel.reconnect().catch(() => {});
      } catch {
        if (kernel.connectionStatus === "disconnected") show(WORDS.gone);
      }
      setTimeout(probe, PROBE_EVERY_MS);
    }

    /** @param {string} status */
    function onConnection(status) {
      if (state === "lost") return;
      if (status === "connected") {
        enter("ok");
        hide();
      } else if (state === "ok" || (state === "" && status === "disconnected")) {
        enter("reconnecting");
        show(WORDS.reconnecting);
        probe();
      }
    }

    kernel.statusChanged.connect((/** @type {any} */ _, /** @type {string} */ status) => {
      if (DEAD.has(status)) lose(WORDS.ended);
    });
    kernel.connectionStatusChanged.connect((/** @type {any} */ _, /** @type {string} */ status) => {
      onConnection(status);
    });
    // A kernel that is shut down in an orderly way (through the server's API; in plain Voilà also after the page's own
    // unload call when a link turned out to be a download) changes neither status: its farewell message is the only sign.
    kernel.iopubMessage.connect((/** @type {any} */ _, /** @type {any} */ message) => {
      if (message.header.msg_type === "shutdown_reply") lose(WORDS.ended);
    });
    watchAnswers(kernel);
    if (DEAD.has(kernel.status)) lose(WORDS.ended);
    else onConnection(kernel.connectionStatus);
  }

  /**
   * Tells that a move has no answer, until the next answer comes. A kernel that hangs stays connected and "busy".
   * @param {any} kernel JupyterLab's KernelConnection
   */
  function watchAnswers(kernel) {
    const moves = new Set();
    let timer = 0;
    let told = false;

    function tell() {
      timer = 0;
      if (state !== "ok") return; // something worse is told already
      told = true;
      show(WORDS.silent);
    }

    function settle() {
      clearTimeout(timer);
      timer = moves.size ? setTimeout(tell, ANSWERS_WITHIN_MS) : 0;
      if (told && state === "ok") hide();
      told = false;
    }

    kernel.anyMessage.connect((/** @type {any} */ _, /** @type {any} */ { msg, direction }) => {
      if (direction === "send") {
        // What widgets send while they are built is no move of a person.
        if (msg.header.msg_type !== "comm_msg" || byId("convviz-loading")) return;
        moves.add(msg.header.msg_id);
        if (!timer && !told) timer = setTimeout(tell, ANSWERS_WITHIN_MS);
      } else if (moves.has(msg.parent_header.msg_id)) {
        if (msg.header.msg_type === "status" && msg.content.execution_state === "idle") {
          for (const move of moves) {
            moves.delete(move); // answers come in order: one that is still out before this one was lost
            if (move === msg.parent_header.msg_id) break;
          }
        }
        settle();
      }
    });
    kernel.connectionStatusChanged.connect(() => {
      moves.clear(); // what was under way is lost, and told in other words
      settle();
    });
  }

  /** Voilà sets window.jupyterapp without an event, once its front end runs. */
  function waitForFrontEnd() {
    const app = window.jupyterapp;
    if (!app) return setTimeout(waitForFrontEnd, 100);
    app.widgetManagerPromise.promise.then((/** @type {any} */ manager) => watchKernel(manager.kernel));
  }

  function wireButtons() {
    byId("convviz-reload")?.addEventListener("click", () => {
      // The board listens and writes its state to sessionStorage before this call returns.
      window.dispatchEvent(new CustomEvent("convviz:save"));
      location.reload();
    });
    byId("convviz-restart")?.addEventListener("click", () => {
      history.replaceState(null, "", location.pathname + location.search);
      location.reload();
    });
  }

  // ---- the theme of the controls ------------------------------------------------------------------------------

  /** ipywidgets take their colours from JupyterLab's variables, so their dark sheet follows the page's theme. */
  function followTheme() {
    const root = document.documentElement;
    const apply = () => {
      const sheet = byId("convviz-dark");
      const media = { dark: "all", light: "not all" }[root.dataset.convvizTheme ?? ""];
      if (sheet instanceof HTMLLinkElement) sheet.media = media ?? "(prefers-color-scheme: dark)";
    };
    new MutationObserver(apply).observe(root, { attributes: true, attributeFilter: ["data-convviz-theme"] });
    apply();
  }

  document.addEventListener("DOMContentLoaded", () => {
    wireButtons();
    watchForApp();
    followTheme();
    if (arrived) waitForFrontEnd();
    else lose(WORDS.partial);
  });
  // Voilà's own call at the page's end works once its front end runs; this one from the moment that the kernel is known.
  window.addEventListener("pagehide", () => {
    const facts = byId("jupyter-config-data")?.textContent;
    const kernel = facts && JSON.parse(facts).kernelId;
    if (kernel) navigator.sendBeacon(new URL(`api/shutdown/${kernel}`, base()));
  });
  // Closing a page ends its kernel; a page brought back from the browser's cache has none.
  window.addEventListener("pageshow", (event) => event.persisted && lose(WORDS.ended));
})();
