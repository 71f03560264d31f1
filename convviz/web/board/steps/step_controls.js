// The bar that steps: back, play, forward, seek, speed, close. It knows positions only.
import { element, focusOf, makeButton, setText, svgElement } from "../../base/dom.js";
import { isCalm } from "../../base/motion.js";
import { say } from "../../base/board_sentences.js";

const BEAT_MS = 900;
const CALM_BEAT_MS = 1500; // with reduced motion
const SPEEDS = [0.5, 1, 2, 4, 16];
const ICONS = {
  back: "M3 3h2v10H3zM13 3v10L6 8z",
  forward: "M11 3h2v10h-2zM3 3v10l7-5z",
  play: "M4 2.5v11L13 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  close: "M3.7 2.6 8 6.9l4.3-4.3 1.1 1.1L9.1 8l4.3 4.3-1.1 1.1L8 9.1l-4.3 4.3-1.1-1.1L6.9 8 2.6 3.7z",
};

export class StepControls {
  #hide = () => document.hidden && this.#pause();
  #events;
  #play = iconButton("play", say("transport.play"), () => (this.#timer ? this.#pause() : this.#start()));
  #range = element("input", { type: "range", min: "1", step: "1", "aria-label": say("transport.step") });
  #where = element("span.cv-where");
  #speed = element("select", { "aria-label": say("transport.speed") });
  el;

  #position = 0;
  #count = 1;
  #timer = 0;

  /**
   * @param {string} label
   * @param {{ onMove: (position: number, byHand: boolean) => void, onClose: () => void }} events
   */
  constructor(label, events) {
    this.#events = events;
    const back = iconButton("back", say("transport.back"), () => this.#go(this.#position - 1));
    const forward = iconButton("forward", say("transport.forward"), () => this.#go(this.#position + 1));
    this.#speed.append(
      ...SPEEDS.map((times) => element("option", { value: String(times) }, `${times}\u00d7`)),
    );
    this.#speed.value = "1";
    const close = iconButton("close", say("transport.close"), () => this.#events.onClose());
    this.el = element(
      "div.cv-transport",
      { role: "group", "aria-label": label, hidden: "" },
      back,
      this.#play,
      forward,
      this.#range,
      this.#where,
      this.#speed,
      close,
    );
    this.#range.addEventListener("input", () => this.#go(Number(this.#range.value) - 1));
    this.#speed.addEventListener("change", () => this.#showState());
    this.el.addEventListener("keydown", (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      const moves = {
        ArrowLeft: this.#position - 1,
        ArrowRight: this.#position + 1,
        Home: 0,
        End: this.#count - 1,
      };
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "Escape") this.#events.onClose();
      else if (event.key === " " && target === this.#range) this.#play.click();
      else if (event.key in moves && target !== this.#speed && target !== this.#range)
        this.#go(moves[event.key]);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  beat() {
    return (isCalm() ? CALM_BEAT_MS : BEAT_MS) / Number(this.#speed.value);
  }

  /** @param {number} next */
  #go(next, byHand = true) {
    if (byHand) this.#pause();
    this.#position = Math.min(Math.max(next, 0), this.#count - 1);
    this.#range.value = String(this.#position + 1);
    this.#events.onMove(this.#position, byHand);
  }

  #start() {
    if (this.#position === this.#count - 1) this.#go(0, false);
    this.#tick();
    this.#showState();
  }

  /** Each beat sets the next, so that a change of speed holds at once. */
  #tick() {
    this.#timer = window.setTimeout(() => {
      this.#go(this.#position + 1, false);
      if (this.#position < this.#count - 1) this.#tick();
      else this.#pause();
    }, this.beat());
  }

  #pause() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#showState();
  }

  #showState() {
    const playing = this.#timer !== 0;
    this.#play.title = say(playing ? "transport.pause" : "transport.play");
    this.#play.setAttribute("aria-label", this.#play.title);
    this.#play.querySelector("path")?.setAttribute("d", ICONS[playing ? "pause" : "play"]);
    this.el.dataset.playing = String(playing);
    // The window of the equation slides for one beat.
    const equation = /** @type {HTMLElement | null} */ (this.el.closest(".cv-equation"));
    equation?.style.setProperty("--cv-beat", `${this.beat()}ms`);
    for (const around of [equation, this.el.closest(".cv-app")])
      around?.toggleAttribute("data-plays", playing);
  }

  isOpen() {
    return !this.el.hidden;
  }

  /** @param {number} positions */
  open(positions) {
    this.resize(positions);
    this.el.hidden = false;
    document.addEventListener("visibilitychange", this.#hide);
    this.#go(0);
    this.#range.focus({ preventScroll: true });
  }

  /**
   * Sets the number of positions. Returns the present position, moved back if it lies beyond them.
   * @param {number} positions
   */
  resize(positions) {
    this.#count = positions;
    this.#range.max = String(positions);
    this.#position = Math.min(this.#position, positions - 1);
    return this.#position;
  }

  /** @param {number} by */
  step(by) {
    return this.#go(this.#position + by);
  }

  play() {
    return this.#play.click();
  }

  close() {
    this.#pause();
    document.removeEventListener("visibilitychange", this.#hide);
    this.el.hidden = true;
  }

  /** @param {string} short @param {string} long */
  say(short, long) {
    setText(this.#where, short);
    this.#range.setAttribute("aria-valuetext", long);
  }

  /** The range has the focus and speaks itself. */
  speaks() {
    return focusOf(this.#range) === this.#range;
  }
}

/** @param {keyof typeof ICONS} icon */
const picture = (icon) =>
  svgElement(
    `svg.cv-icon-${icon}`,
    { viewBox: "0 0 16 16", "aria-hidden": "true" },
    svgElement("path", { d: ICONS[icon] }),
  );

/**
 * Blank-separated icons, one a state.
 * @param {string} icons @param {string} label @param {() => void} action
 */
export function iconButton(icons, label, action) {
  const pictures = icons.split(" ").map((icon) => picture(/** @type {"play"} */ (icon)));
  return makeButton({ class: "cv-icon", "aria-label": label, title: label }, pictures, action);
}
