// The article: the one picture shows the state of the section that is read, and of what the reader opens there.
import { setHidden, setText } from "../base/dom.js";
import { fromLink } from "../rules/settings_link.js";
import { drawFigure } from "./bare_figure.js";
import { offerBoardElement } from "./board_element.js";
import { goToAsked } from "./languages.js";

/** The height of the line that is read, of the window: below the middle where the picture lies above the text. */
const READ = { beside: 0.35, above: 0.62 };
const SHOWN = /** @type {const} */ (["band", "cell", "state"]); // the state last: it pins the cell anew

/**
 * @typedef {{ differs?: string, panel?: string, cells?: string[] }} Noticed what shows that a task is done: a key
 *   of the link that is another one, or a selected cell
 */

/** The figure's speaker: an article has bare figures alone. @param {any} facts */
function speak(facts) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(facts.styles);
  offerBoardElement({
    sheet: () => sheet,
    show(place, { state, part }) {
      const shown = { ...fromLink(state ?? "").state, device: "cpu", dtype: "float64", tab: "" };
      return drawFigure(place, { ...facts, state: shown }, part ?? { band: "input", panels: [] });
    },
  });
}

/** @param {HTMLElement} figure @param {...HTMLElement} from the last that says something wins */
function show(figure, ...from) {
  for (const name of SHOWN) {
    const value = from.reduce((said, each) => each.dataset[name] ?? said, "");
    if (figure.getAttribute(name) !== value) figure.setAttribute(name, value);
  }
}

/** What the words about a cell hold for. */
const GEOMETRY = ["size", "kernel", "stride", "padding", "dilation", "in_channels", "out_channels"];

/** @param {Noticed} noticed @param {{ link: string | null, cell: Place | null }} change @param {string} state */
function isDone({ differs, panel, cells }, { link, cell }, state) {
  const [now, before] = [link, state].map((text) => new URLSearchParams(text ?? ""));
  if (differs) return now.get(differs) !== before.get(differs);
  if (!cell || (link && GEOMETRY.some((key) => now.get(key) !== before.get(key)))) return false;
  return panel ? cell.panel === panel : cells?.includes(`${cell.panel} ${cell.row} ${cell.column}`);
}

/** @param {HTMLElement} main */
function follow(main) {
  const figure = /** @type {HTMLElement} */ (main.querySelector("convviz-board"));
  const said = /** @type {HTMLElement} */ (main.querySelector(".said"));
  const sections = /** @type {HTMLElement[]} */ ([...main.querySelectorAll("section[data-state]")]);
  let now = sections[0];

  const enter = () => {
    const isAbove = figure.getBoundingClientRect().width > 0.9 * main.clientWidth;
    const line = window.innerHeight * (isAbove ? READ.above : READ.beside);
    const read = sections.findLast((each) => each.getBoundingClientRect().top <= line) ?? sections[0];
    if (read === now) return;
    now.removeAttribute("data-now");
    now = read;
    now.setAttribute("data-now", "");
    show(figure, now, ...opened(now));
    setText(said, now.dataset.said ?? "");
  };
  now.setAttribute("data-now", "");

  /** @param {HTMLElement} section @returns {HTMLElement[]} */
  const opened = (section) =>
    [...section.querySelectorAll("details[open]")].map((each) => /** @type {any} */ (each));

  main.addEventListener(
    "toggle",
    ({ target }) => now.contains(/** @type {Node} */ (target)) && show(figure, now, ...opened(now)),
    { capture: true },
  );
  figure.addEventListener("convviz-change", (event) => {
    const task = /** @type {HTMLElement | null} */ (now.querySelector("[data-task]"));
    const yes = /** @type {HTMLElement | null} */ (task?.querySelector("[data-yes]"));
    const { detail } = /** @type {CustomEvent} */ (event);
    if (!task || !yes?.hidden) return;
    if (!isDone(JSON.parse(task.dataset.task ?? "{}"), detail, now.dataset.state ?? "")) return;
    setHidden(yes, false);
    setText(said, yes.textContent ?? "");
  });

  // A section enters or leaves a line of the window: which one is read is asked of all, so no way there matters.
  const lines = [READ.beside, READ.above].map(
    (at) =>
      new IntersectionObserver(enter, { rootMargin: `-${100 * at}% 0px -${100 - 100 * at - 0.1}% 0px` }),
  );
  for (const line of lines) for (const each of sections) line.observe(each);
  window.addEventListener("resize", enter);
  enter();
}

export function start() {
  const data = JSON.parse(document.getElementById("convviz-article")?.textContent ?? "{}");
  if (data.languages && goToAsked(data.languages)) return;
  try {
    speak(data);
    follow(/** @type {HTMLElement} */ (document.querySelector("main")));
  } catch (error) {
    delete document.documentElement.dataset.live; // the sections' own pictures stay
    throw error;
  }
}
