// How a lesson is started and steered from outside of its card: buttons, keys, a link.
import { followQuestions, followPredictions } from "../base/question_events.js";
import { element, listen, makeButton, setText } from "../base/dom.js";
import { TYPING, isBare, isUnfocused } from "../base/keys.js";
import { createMenu } from "../base/menu.js";
import { ABOARD } from "./available_lessons.js";
import { answerTo } from "./player.js";
import { say } from "./sentences.js";

/** Hidden while a lesson is played. @param {Player} player @param {() => void} onStart */
export function createLessonButtons(player, onStart) {
  /** @param {string} name */
  const start = (name) => player.play(name)?.then(onStart) ?? onStart();
  const buttons = Object.entries(ABOARD).map(([name, { lesson }]) => {
    return makeButton(
      { class: "cv-lesson-start", title: player.shelf.title(name) },
      say("start", { steps: lesson.steps.length }),
      () => start(name),
    );
  });
  const path = createPath(player, start);
  const el = element("div.cv-lessons", ...buttons, path.el);
  const update = () => void (el.style.visibility = player.get("look") ? "hidden" : "");
  const ends = [path.close, player.on("change:look", update)];
  update();
  return { el, close: () => ends.forEach((end) => end()) };
}

/** Hidden where it would list one. @param {Player} player @param {(name: string) => void} start */
function createPath(player, start) {
  const count = player.shelf.names().length;
  const summary = element("summary", { title: say("list.title") }, say("list", { count }));
  const items = player.shelf.names().map((name) => {
    const mark = element("span.cv-path-done");
    const button = makeButton({}, player.shelf.title(name), () => {
      el.open = false;
      start(name);
    });
    return { name, mark, el: element("li", button, mark) };
  });
  const el = createMenu(
    "cv-path",
    summary,
    items.map((item) => item.el),
    "ol",
  );
  el.hidden = items.length < 2;
  const update = () => {
    for (const { name, mark } of items)
      setText(mark, player.get("finished").includes(name) ? ` ✓ ${say("list.done")}` : "");
  };
  update();
  return { el, close: player.on("change:finished", update) };
}

/** @param {KeyboardEvent} event @returns {number | undefined} */
const wayOf = (event) =>
  event.altKey
    ? { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    : isBare(event)
      ? { n: 1, p: -1 }[event.key.toLowerCase()]
      : undefined;

/**
 * Alt+arrows, N and P; Esc when nothing else takes it. Answers what the board asks.
 * @param {HTMLElement} app @param {Player} player @param {() => boolean} escape lets go on the board
 * @param {boolean} own also unfocused keys, as in a page of our own @returns {() => void}
 */
export function steer(app, player, escape, own) {
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (!player.get("look") || event.defaultPrevented || target.closest(`${TYPING}, select`)) return;
    const way = wayOf(event);
    if (way) player.go(way);
    else if (event.key !== "Escape") return;
    else if (!escape()) player.close();
    event.preventDefault();
    event.stopPropagation();
  };
  const ends = [
    listen(app, "keydown", onKey),
    listen(
      document,
      "keydown",
      (event) => own && isUnfocused(event.target, app) && wayOf(event) && onKey(event),
    ),
    listen(app, "pointerdown", ({ target }) => target.matches("input[type=range]") && player.hold(true)),
    // The pointer may be anywhere by then.
    listen(document, ["pointerup", "pointercancel"], () => player.hold(false)),
    followQuestions(app, (topic) => {
      const answer = answerTo(topic);
      if (answer) player.play(answer.name, answer.at + 1);
    }),
    followPredictions(app, (cell) => {
      player.predict(cell);
      const field = /** @type {HTMLElement | null} */ (app.querySelector(".cv-lesson-answer input"));
      // There its keyboard would cover the question.
      if (!matchMedia("(pointer: coarse)").matches) field?.focus({ preventScroll: true });
    }),
  ];
  return () => ends.forEach((end) => end());
}

/** To the step that is read, with what was moved in it; or empty. @param {Player} player */
export function stepLink(player) {
  const look = player.get("look");
  if (!look?.name) return "";
  const [link, moved] = [`lesson=${encodeURIComponent(look.name)}&step=${look.at}`, player.moved()];
  const finished = player.get("finished").map(encodeURIComponent).join(",");
  return [link, finished && `done=${finished}`, moved].filter(Boolean).join("&");
}
