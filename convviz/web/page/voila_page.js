// The page around a notebook that Voilà makes with our template: words while it loads, the theme of the
// controls, and a way out when kernel or server is gone. It becomes a classic script: the page streams in,
// and its inline scripts call the functions below while later cells still run.
import { KernelState, watchKernel } from "./kernel_watch.js";
import { say } from "../base/server_sentences.js";

const SLOW_AFTER_MS = 20000;
const WIDGETS_WITHOUT_APP_MS = 3000;
const FRONT_END_EVERY_MS = 100;

/** @param {string} id @returns {HTMLElement | null} */
const byId = (id) => document.getElementById(id);

const base = () => new URL(document.body.dataset.baseUrl ?? "/voila/", location.href);

const endLoading = () => void byId("convviz-loading")?.remove();

/** While the page streams in. */
function start() {
  const state = new KernelState(endLoading);
  let arrived = false;
  showProgress(() => {
    arrived = true;
  });
  document.addEventListener("DOMContentLoaded", () => {
    wireButtons();
    watchForApp(state);
    followTheme();
    if (arrived) waitForFrontEnd(state);
    else state.lose("partial");
  });
  // Voilà's own call works only once its front end runs.
  window.addEventListener("pagehide", () => {
    const facts = byId("jupyter-config-data")?.textContent;
    const kernel = facts && JSON.parse(facts).kernelId;
    if (kernel) navigator.sendBeacon(new URL(`api/shutdown/${kernel}`, base()));
  });
  // Closing a page ends its kernel; a page brought back from the browser's cache has none.
  window.addEventListener("pageshow", (event) => event.persisted && state.lose("ended"));
}

/** Called by Voilà's template; voila_process after each cell. @param {() => void} onArrived */
function showProgress(onArrived) {
  const page = /** @type {any} */ (window);
  let slow = "";
  page.voila_process = (/** @type {number} */ cell, /** @type {number} */ count) => {
    const line = byId("convviz-loading");
    if (line) line.textContent = say(cell < count ? "torch" : "drawing") + slow;
  };
  page.voila_heartbeat = () => {};
  page.voila_finish = onArrived;
  setTimeout(() => {
    const line = byId("convviz-loading");
    slow = ` ${say("slow")}`;
    if (line) line.textContent += slow;
  }, SLOW_AFTER_MS);
}

/** @param {KernelState} state */
function watchForApp(state) {
  const main = byId("convviz-main");
  if (!main) return;
  let timer = 0;
  const done = () => {
    observer.disconnect();
    clearTimeout(timer);
    endLoading();
  };
  const look = () => {
    if (main.querySelector(".cv-board")) {
      done();
    } else if (main.querySelector('[data-mime-type="application/vnd.jupyter.stderr"]')) {
      done();
      state.show("failed");
    } else if (!timer && main.querySelector(".jupyter-widgets, .jupyter-widget")) {
      // Our app brings a board, however long it takes.
      timer = setTimeout(() => main.querySelector(".cv-app") || done(), WIDGETS_WITHOUT_APP_MS);
    }
  };
  const observer = new MutationObserver(look);
  observer.observe(main, { childList: true, subtree: true });
  look();
}

/** Polls: Voilà's front end sets its flag without an event. @param {KernelState} state */
function waitForFrontEnd(state) {
  const app = /** @type {any} */ (window).jupyterapp;
  if (!app) return setTimeout(waitForFrontEnd, FRONT_END_EVERY_MS, state);
  const isBuilding = () => byId("convviz-loading") !== null;
  app.widgetManagerPromise.promise.then((/** @type {any} */ { kernel }) =>
    watchKernel(kernel, new URL(`../api/kernels/${kernel.id}`, base()), state, isBuilding),
  );
}

function wireButtons() {
  byId("convviz-reload")?.addEventListener("click", () => {
    // The board writes its state to sessionStorage before this returns.
    window.dispatchEvent(new CustomEvent("convviz:save"));
    location.reload();
  });
  byId("convviz-restart")?.addEventListener("click", () => {
    history.replaceState(null, "", location.pathname + location.search);
    location.reload();
  });
}

/** Turns JupyterLab's dark colours on and off with the theme, because ipywidgets use them. */
function followTheme() {
  const root = document.documentElement;
  /** @type {Record<string, string>} */
  const media = { dark: "all", light: "not all" };
  const apply = () => {
    const sheet = byId("convviz-dark");
    if (sheet instanceof HTMLLinkElement)
      sheet.media = media[root.dataset.convvizTheme ?? ""] ?? "(prefers-color-scheme: dark)";
  };
  new MutationObserver(apply).observe(root, { attributes: true, attributeFilter: ["data-convviz-theme"] });
  apply();
}

export default { start };
