// Sets the page of the layout sweep to a state and a size, by the page's own ways, and waits until it stands.
import { judge } from "./layout_judge.js";

const PATIENCE = 600; // frames
const CODE = 84; // pixels of a notebook above what a cell shows, with the code that made it
const LOOK = ".cv-panel .cv-area, .cv-equation, .cv-controls, .cv-lesson, .cv-drawer-body";

const frame = () => new Promise(requestAnimationFrame);
const element = () => document.querySelector("convviz-board");
const home = () => element()?.shadowRoot ?? document;
/** @param {string} selector @returns {HTMLElement | null} */
const find = (selector) => home().querySelector(selector);
const app = () => /** @type {HTMLElement} */ (find(".cv-page"));

/** @param {() => unknown} isSo @param {string} what */
async function until(isSo, what) {
  for (let left = PATIENCE; left; left--) {
    if (isSo()) return;
    await frame();
  }
  throw new Error(`not seen: ${what}`);
}

/** Two frames in a row look alike, and the numbers are painted. */
async function stands() {
  const settled = () => {
    const { painted, from } = find(".cv-board")?.dataset ?? {};
    return painted && find(".cv-picture")?.dataset.settled === `${painted} ${from}`;
  };
  let before = "";
  await frame();
  await until(() => {
    const boxes = [...home().querySelectorAll(LOOK)].map((node) => {
      const { left, top, width, height } = node.getBoundingClientRect();
      return [left, top, width, height].join();
    });
    const now = boxes.join(" ");
    const isSame = now === before;
    before = now;
    return isSame && settled();
  }, "a board that stands");
}

/** As in a page just opened. */
function tidy() {
  /** @type {HTMLElement | null} */ (document.activeElement)?.blur();
  find(".cv-lesson:not([hidden]) .cv-lesson-close")?.click();
  find(".cv-lesson-gone:not([hidden]) footer > :last-child")?.click();
  find(".cv-tab[aria-selected=true]")?.click();
  find(".cv-sum")?.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  for (const details of home().querySelectorAll("details[open]")) details.removeAttribute("open");
}

/** Where all bands are not shown, to the input is in sight. */
async function firstBand() {
  await frame();
  await frame();
  find("[data-bands=all] .cv-title[aria-pressed=true]")?.click();
  find("[data-bands=one] [data-equation=input][data-strip] .cv-title")?.click();
}

/** @param {string} hash */
async function go(hash) {
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  const heard = new Promise((done) => addEventListener("hashchange", done, { once: true }));
  location.hash = hash;
  await heard;
}

/** @param {string} link */
async function open(link) {
  if (!element()) return go(link);
  element()?.removeAttribute("lesson");
  element()?.setAttribute("state", link);
}

/** @param {any} wanted a State of layout_screens.py */
async function show(wanted) {
  tidy();
  if (wanted.lesson) await play(wanted);
  else {
    await open(wanted.link);
    await firstBand();
    if (wanted.watched) await watch();
  }
  const words = find(".cv-sentence");
  reported ||= words?.textContent ?? "";
  if (words) words.textContent = wanted.introduction || reported;
  dispatchEvent(new Event("resize"));
  await stands();
}
let reported = ""; // the board's own sentence

/** The page is calm: what the walk ends with stands at once. An element has no such button. */
async function watch() {
  const button = find(".cv-watch");
  if (!button) return;
  await stands();
  button.click();
  await until(() => find(".cv-arrived")?.textContent, "what was watched");
}

/** @param {any} wanted */
async function play({ lesson, step, count, title, ended, done }) {
  if (element()) {
    element()?.setAttribute("state", "v=2"); // else a lesson that was left would not begin anew
    element()?.removeAttribute("lesson");
    element()?.setAttribute("lesson", lesson);
  } else await go(`lesson=${lesson}&step=${step}`);
  const at = () => find(".cv-lesson-count")?.textContent;
  await until(() => find(".cv-lesson-name")?.textContent === title && !find(".cv-lesson")?.hidden, title);
  for (let left = 20; left && at() !== count; left--) find(".cv-lesson-next")?.click();
  await until(() => at() === count, `${title}, ${count}`);
  await stands();
  if (done) await doAll();
  if (ended) find(".cv-lesson-next")?.click();
}

/** As a visitor who has each task done, and the answer shown. */
async function doAll() {
  const act = () => find(".cv-lesson-act:not([hidden])");
  for (let left = 24; left && act(); left--) {
    act()?.click();
    await stands();
  }
  const shows = find(
    ".cv-lesson-question:not([hidden]) .cv-lesson-show, .cv-lesson-question:not([hidden]) button:last-of-type",
  );
  shows?.click();
}

/** @param {{ element: number, notebook: [number, number] | null }} room */
async function place({ element: wide, notebook }) {
  const cell = document.querySelector("[data-of-a-notebook]");
  if (cell) cell.replaceWith(app());
  if (wide) /** @type {HTMLElement} */ (element()).style.width = `${wide}px`;
  if (!notebook) return;
  const made = document.createElement("div");
  made.dataset.ofANotebook = "";
  made.style.cssText = `width: ${notebook[0]}px; height: ${notebook[1]}px; overflow: auto`;
  const code = document.createElement("div"); // the cell that made it
  code.style.height = `${CODE}px`;
  const page = app();
  page.before(made);
  made.append(code, page);
}

/** @param {number} width @param {number} height of the window */
async function rest(width, height) {
  await until(() => innerWidth === width && innerHeight === height, "the window's size");
  for (const note of home().querySelectorAll(".cv-why-same:not([hidden])")) {
    /** @type {HTMLElement} */ (note).hidden = true; // said for a moment, where there was room for it
    note.closest(".cv-noted")?.classList.remove("cv-noted");
  }
  dispatchEvent(new Event("resize"));
  await frame();
  await stands();
}

/** Judged as at first sight: nothing is scrolled. */
function judgeNow() {
  scrollTo(0, 0);
  const cell = document.querySelector("[data-of-a-notebook]");
  cell?.scrollTo(0, 0);
  const end = cell ? cell.getBoundingClientRect().bottom : innerHeight;
  return judge(app(), end);
}

Object.assign(globalThis, { sweep: { show, place, rest, judge: judgeNow } });
