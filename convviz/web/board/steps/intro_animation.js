// The arrival: once a visitor, or on request, the 1 walks, and what one pixel receives becomes
// rotated_weight. It lies over the board, changes no setting, and ends at any touch; then its because stands
// in the band's sentence.
import WORDS from "../../../facts/data/words/intro_animation.json" with { type: "json" };
import { element, listen, setText } from "../../base/dom.js";
import { formatNumber } from "../../base/format.js";
import { isCalm } from "../../base/motion.js";
import { noteSeen, wasSeen } from "../../base/seen_once.js";
import { sentences } from "../../base/sentences.js";
import { introOf, conclusionOf, firstPicture, isFirstPicture } from "../../picture/intro_steps.js";
import { replaced } from "../../rules/settings_and_tensors.js";
import { Scene, panelsFor } from "./intro_scene.js";

const say = sentences(WORDS);
const NAME = "arrived";
const TOUCHES = ["pointerdown", "keydown", "wheel"];
const HEARD = { capture: true, passive: true };
const IN_SIGHT = 0.6; // the share of the band that must be in sight

/**
 * @import { Arrival } from "../../picture/intro_steps.js"
 * @import { Band } from "../layout/band_layout.js"
 * @typedef {{ may: () => boolean, forget: () => void, watcher: IntersectionObserver | null }} Waiting
 * @typedef {{ band: () => Band | undefined, stage: () => string, bring: () => void }} Around
 */

const SHOWN = 2; // of many numbers: they show which way they go; the last follows

/** All but looks and device. @param {Settings} settings */
const keyOf = ({ theme, device, dtype, ...settings }) => JSON.stringify(settings);

/** @param {Arrival | null} arrival */
function wordsOf(arrival) {
  if (!arrival) return "";
  const all = arrival.steps.map(({ received }) => formatNumber(received));
  const isCut = all.length > SHOWN + 2;
  const these = (isCut ? all.slice(0, SHOWN) : all).reduce((these, next) => say("numbers", { these, next }));
  const numbers = isCut ? say("numbers.until", { these, last: /** @type {string} */ (all.at(-1)) }) : these;
  return say("because", { ...arrival.pixel, numbers });
}

export class IntroPlayer {
  #board;
  #root;
  #around;
  #because = element("p.cv-arrived", { role: "status" });

  /** @type {Scene | null} */
  #scene = null;
  #sentence = ""; // the explanation that it leaves in the band
  #begun = ""; // the settings in which it plays
  #theme = "";
  #asked = ""; // the settings in which to watch it
  /** @type {{ settings: Settings | undefined, pixel: Place | null }} */
  #concluded = { settings: undefined, pixel: null };
  /** Is set while the intro waits to come into sight; the first touch clears it. @type {Waiting | null} */
  #waiting = null;
  /** For who saw it: until the first picture is painted. @type {(() => boolean) | null} */
  #ended = null;
  #ends;
  /** @type {(() => void)[]} */
  #quiet = [];

  /** @param {Shared} board @param {HTMLElement} root @param {Around} around */
  constructor(board, root, around) {
    [this.#board, this.#root, this.#around] = [board, root, around];
    const { model } = board;
    this.#ends = [
      model.on("settings", this.#onSettings),
      model.on("change:kernel", () => ["lost", "away"].includes(model.get("kernel")) && this.end()),
    ];
  }

  /**
   * Play it once in sight, for a new visitor who touches nothing before; who saw it reads how it ended.
   * @param {HTMLElement} app @param {() => boolean} may
   */
  arrive(app, may) {
    if (wasSeen(NAME)) this.#ended = may;
    else this.#waiting = { may, forget: listen(app, TOUCHES, this.#giveUp, HEARD), watcher: null };
  }

  /** Play it in the present kernel if that shows it, else in the first picture (one undo step). */
  watch = () => {
    const { model } = this.#board;
    this.end();
    this.#giveUp();
    this.#board.stepping?.close(true);
    model.change((settings) => {
      const own = introOf(settings);
      const next = own ? settings : firstPicture(settings);
      return [replaced(next, { input_view: "both", tab: "" }), own ? [] : [say("first")]];
    });
    this.#asked = keyOf(model.settings());
    this.#around.bring();
  };

  see() {
    this.#place();
    if (this.#scene) {
      if (!this.#scene.stands() || this.#root.dataset.theme !== this.#theme) this.end();
    } else if (this.#asked) {
      if (keyOf(this.#board.model.settings()) !== this.#asked) this.#asked = "";
      else this.#begin();
    } else if (this.#root.dataset.painted) {
      if (this.#ended && this.#isUntouched(this.#ended))
        this.#explain(wordsOf(introOf(this.#board.model.settings())));
      this.#ended = null;
      this.#waitForSight();
    }
  }

  /** @param {() => boolean} may */
  #isUntouched(may) {
    const { model } = this.#board;
    return may() && isFirstPicture(model.settings()) && !model.canUndo() && !model.get("selected");
  }

  #place() {
    const place = this.#around.band()?.el.querySelector(".cv-says");
    if (!place || this.#because.parentElement === place) return;
    this.#because.parentElement?.removeAttribute("data-arrived");
    place.append(this.#because);
    place.toggleAttribute("data-arrived", Boolean(this.#sentence));
  }

  end = () => {
    if (!this.#scene) return;
    for (const end of this.#quiet) end();
    this.#scene.remove();
    this.#scene = null;
    this.#root.removeAttribute("data-arriving");
    const settings = this.#board.model.settings();
    if (keyOf(settings) === this.#begun) this.#explain(wordsOf(introOf(settings)));
  };

  /** End it, and say no more of it. */
  leave = () => {
    this.#giveUp();
    this.#asked = "";
    this.end();
    this.#explain("");
  };

  close() {
    this.leave();
    for (const end of this.#ends) end();
  }

  #waitForSight() {
    const [waiting, band] = [this.#waiting, this.#around.band()];
    if (!waiting || waiting.watcher || !band) return;
    waiting.watcher = new IntersectionObserver(
      ([{ intersectionRatio }]) => {
        if (intersectionRatio >= IN_SIGHT) this.#waitForRest(waiting, band);
      },
      { threshold: IN_SIGHT },
    );
    waiting.watcher.observe(band.stage);
  }

  /**
   * A band that still finds its size would end it.
   * @param {Waiting} waiting @param {Band} band @param {string} [before] where its panels were
   */
  #waitForRest(waiting, band, before = "") {
    requestAnimationFrame(() => {
      if (this.#waiting !== waiting) return;
      const now = JSON.stringify([...band.panels.values()].map(({ area }) => area.getBoundingClientRect()));
      if (now !== before) return this.#waitForRest(waiting, band, now);
      this.#giveUp();
      if (this.#isUntouched(waiting.may)) this.#begin();
    });
  }

  #giveUp = () => {
    this.#waiting?.watcher?.disconnect();
    this.#waiting?.forget();
    this.#waiting = null;
  };

  /** What the tray keeps while the 1 is moved, where no lesson asks for it. @returns {Place | null} */
  pixel() {
    const settings = this.#board.model.shown()?.settings;
    if (settings !== this.#concluded.settings) {
      const found = settings ? conclusionOf(settings) : null;
      this.#concluded = { settings, pixel: found && { panel: "grad_input", ...found.pixel } };
    }
    const isQuiet = this.#board.isLecture() || this.#root.closest("[data-lesson]");
    return isQuiet ? null : this.#concluded.pixel;
  }

  /** If the board shows the settings. */
  #begin() {
    const { model, scale } = this.#board;
    const [settings, shown, band] = [model.settings(), model.shown(), this.#around.band()];
    const stage = this.#around.stage();
    const arrival = introOf(settings);
    const panels = band && !band.el.hasAttribute("data-strip") ? panelsFor(band) : null;
    const isDrawn = shown && keyOf(shown.settings) === keyOf(settings) && stage && stage !== "lecture";
    if (!arrival || !panels || !isDrawn) return;
    this.#asked = "";
    noteSeen(NAME);
    this.#explain("");
    if (isCalm() || document.hidden) return this.#explain(wordsOf(arrival));
    this.#begun = keyOf(settings);
    this.#theme = this.#root.dataset.theme ?? "";
    const { limits } = model.get("values");
    const scene = new Scene(/** @type {Band} */ (band), panels, arrival, { scale, limits });
    this.#scene = scene;
    this.#root.setAttribute("data-arriving", "");
    this.#quiet = [
      // a repeated key is the one that began it
      listen(window, TOUCHES, ({ repeat }) => repeat || this.end(), HEARD),
      listen(document, "visibilitychange", this.end),
      // other numbers lie below
      listen(this.#root, "pointermove", (event) => event.stopPropagation(), { capture: true }),
    ];
    scene.play().then((whole) => whole && this.#scene === scene && this.end());
  }

  #onSettings = () => {
    const settings = this.#board.model.settings();
    if (this.#scene && keyOf(settings) !== this.#begun) this.end();
    // where the 1 stands makes no difference
    if (this.#sentence && wordsOf(introOf(settings)) !== this.#sentence) this.#explain("");
  };

  /** @param {string} words */
  #explain(words) {
    this.#sentence = words;
    setText(this.#because, words);
    this.#because.parentElement?.toggleAttribute("data-arrived", Boolean(words));
  }
}
