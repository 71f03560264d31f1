// @ts-check
// The bar that steps through something: back, play, forward, seek, speed, close. It knows positions, not what they are.
import WORDS from "../../../facts/words/board.json" with { type: "json" };
import { element, focusOf, setText, svgElement } from "../base/dom.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);
const BEAT_MS = 900;
const CALM_BEAT_MS = 1500; // where a person asked for less motion
const SPEEDS = [0.5, 1, 2, 4, 16];
const ICONS = {
  back: "M3 3h2v10H3zM13 3v10L6 8z",
  forward: "M11 3h2v10h-2zM3 3v10l7-5z",
  play: "M4 2.5v11L13 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  close: "M3.7 2.6 8 6.9l4.3-4.3 1.1 1.1L9.1 8l4.3 4.3-1.1 1.1L8 9.1l-4.3 4.3-1.1-1.1L6.9 8 2.6 3.7z",
};

/**
 * Make the bar.
 * @param {string} label what is stepped through
 * @param {{ onMove: (position: number, byHand: boolean) => void, onClose: () => void }} events
 */
export function createTransport(label, events) {
  const back = iconButton("back", say("transport.back"), () => go(position - 1));
  const play = iconButton("play", say("transport.play"), () => (timer ? pause() : start()));
  const forward = iconButton("forward", say("transport.forward"), () => go(position + 1));
  const range = /** @type {HTMLInputElement} */ (
    element("input", { type: "range", min: "1", step: "1", "aria-label": say("transport.step") })
  );
  const where = element("span", { class: "cv-where" });
  const speed = /** @type {HTMLSelectElement} */ (
    element("select", { "aria-label": say("transport.speed") })
  );
  speed.append(...SPEEDS.map((times) => element("option", { value: String(times) }, `${times}\u00d7`)));
  speed.value = "1";
  const close = iconButton("close", say("transport.close"), () => events.onClose());
  const el = element(
    "div",
    { class: "cv-transport", role: "group", "aria-label": label, hidden: "" },
    back,
    play,
    forward,
    range,
    where,
    speed,
    close,
  );
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let [position, count, timer] = [0, 1, 0];

  const beat = () => (calm.matches ? CALM_BEAT_MS : BEAT_MS) / Number(speed.value);

  /** @param {number} next @param {boolean} [byHand] */
  function go(next, byHand = true) {
    if (byHand) pause();
    position = Math.min(Math.max(next, 0), count - 1);
    range.value = String(position + 1);
    events.onMove(position, byHand);
  }

  function start() {
    if (position === count - 1) go(0, false);
    tick();
    showState();
  }

  /** One beat after the other; each sets the next, so that a change of speed holds at once. */
  function tick() {
    timer = window.setTimeout(() => {
      go(position + 1, false);
      if (position < count - 1) tick();
      else pause();
    }, beat());
  }

  function pause() {
    clearTimeout(timer);
    timer = 0;
    showState();
  }

  function showState() {
    const playing = timer !== 0;
    play.title = say(playing ? "transport.pause" : "transport.play");
    play.setAttribute("aria-label", play.title);
    play.querySelector("path")?.setAttribute("d", ICONS[playing ? "pause" : "play"]);
    el.dataset.playing = String(playing);
    const equation = /** @type {HTMLElement | null} */ (el.closest(".cv-equation")); // whose window slides
    equation?.style.setProperty("--cv-beat", `${beat()}ms`);
    for (const around of [equation, el.closest(".cv-app")]) around?.toggleAttribute("data-plays", playing);
  }

  const hide = () => document.hidden && pause();
  range.addEventListener("input", () => go(Number(range.value) - 1));
  speed.addEventListener("change", showState);
  el.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const moves = { ArrowLeft: position - 1, ArrowRight: position + 1, Home: 0, End: count - 1 };
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") events.onClose();
    else if (event.key === " " && target === range) play.click();
    else if (event.key in moves && target !== speed && target !== range) go(moves[event.key]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    el,
    isOpen: () => !el.hidden,

    /** Show the bar at the first of so many positions. @param {number} positions */
    open(positions) {
      count = positions;
      range.max = String(positions);
      el.hidden = false;
      document.addEventListener("visibilitychange", hide);
      go(0);
      range.focus({ preventScroll: true });
    },

    /** @param {number} by positions */
    step: (by) => go(position + by),
    play: () => play.click(),
    beat,

    /** Hide the bar; nothing of it runs on. */
    close() {
      pause();
      document.removeEventListener("visibilitychange", hide);
      el.hidden = true;
    },

    /** Say where one is. @param {string} short beside the range @param {string} long for those who do not see the rest */
    say(short, long) {
      setText(where, short);
      range.setAttribute("aria-valuetext", long);
    },

    /** Whether the range itself has the focus: it then speaks by itself. */
    speaks: () => focusOf(range) === range,
  };
}

/** @param {keyof typeof ICONS} icon */
const picture = (icon) =>
  svgElement(
    "svg",
    { viewBox: "0 0 16 16", "aria-hidden": "true", class: `cv-icon-${icon}` },
    svgElement("path", { d: ICONS[icon] }),
  );

/** A button with a picture, or with one for each of its states. @param {string} icons with blanks between @param {string} label @param {() => void} action */
export function iconButton(icons, label, action) {
  const pictures = icons.split(" ").map((icon) => picture(/** @type {"play"} */ (icon)));
  const button = /** @type {HTMLButtonElement} */ (
    element("button", { type: "button", class: "cv-icon", "aria-label": label, title: label }, ...pictures)
  );
  button.addEventListener("click", action);
  return button;
}
