// The end of a widget's module: page, links and geometry are the bundles before it,
// facts is what they all show.

const written = (value) => String(JSON.stringify(value)).slice(0, 80);

/** One number stands for both axes, or sides of the padding. */
function inFull(spec) {
  const pair = (value) => (Array.isArray(value) ? value : [value, value]);
  const full = { ...spec };
  for (const name of ["input_size", "kernel_size", "stride", "dilation"])
    if (name in spec) full[name] = pair(spec[name]);
  if ("padding" in spec) full.padding = pair(spec.padding).map(pair);
  return full;
}

/** Unread keys are slips of the pen. */
function checkKeys(what, given, known) {
  if (given === null || typeof given !== "object" || Array.isArray(given)) {
    throw new Error(`${what} is an object as App.state() returns it: got ${written(given)}`);
  }
  if ((given.version ?? 1) !== 1) {
    throw new Error(
      `this module reads ${what} of version 1: got ${written(given.version)}; export the module again`,
    );
  }
  const unknown = Object.keys(given).filter((key) => !Object.hasOwn(known, key));
  if (unknown.length)
    throw new Error(
      `${what} has the keys ${Object.keys(known).join(", ")}: got ${unknown.join(", ")} as well`,
    );
}

/** From a link, a state or a part of one. */
function stateOf(given) {
  if (typeof given === "string") return links.fromLink(given);
  const whole = { ...links.BASE_STATE, ...given }; // as Python fills a state in
  checkKeys("state", given, links.BASE_STATE);
  if (given.spec) {
    checkKeys("spec", given.spec, facts.spec);
    if (!("input_size" in given.spec))
      throw new Error("spec needs input_size, such as 8 or [8, 6]: it is missing");
    whole.spec = { ...facts.spec, ...inFull(given.spec) };
  }
  if (!geometry.isPossible(whole.spec)) {
    const got = JSON.stringify(given.spec);
    throw new Error(
      `no convolution has this geometry: got ${got}; make the kernel smaller or the padding larger`,
    );
  }
  return { state: whole, notices: [] };
}

function controlsOf(given) {
  const known = Object.entries(facts.groups).flat(2);
  const chosen = typeof given === "string" ? [given] : given;
  const unknown = chosen.filter((name) => !known.includes(name));
  if (unknown.length)
    throw new Error(`a control is one of ${known.join(", ")}: got ${unknown.map(written).join(", ")}`);
  return chosen;
}

function lessonOf(name) {
  if (Object.hasOwn(facts.lessons, name)) return facts.lessons[name];
  throw new Error(
    `a lesson of this module is one of ${Object.keys(facts.lessons).join(", ")}: got ${written(name)}`,
  );
}

/** A mark of plotly's own keeps its rules out of the document: no board would see them. */
function loadPlotly() {
  const mark = Object.assign(document.createElement("meta"), {
    id: "plotly.js-style-global",
    className: "no-inline-styles",
  });
  document.head.append(mark);
  try {
    return plotlyCode();
  } finally {
    mark.remove();
  }
}

const onPage = (state) => ({ ...state, device: "cpu", dtype: "float64", tab: "" });

/** In an empty place; state: a link or a state; each may be missing. */
function show(place, { state: given, controls, lesson, part }) {
  const { state, notices } = stateOf(given ?? facts.state);
  if (part) return figures.drawFigure(place, { ...facts, state: onPage(state) }, part);
  const bundles = lesson ? { [lesson]: lessonOf(lesson) } : {};
  const own = lesson ? [...facts.controls, ...(bundles[lesson].lesson.controls ?? [])] : facts.controls;
  const made = page.render({
    el: place,
    data: {
      ...facts,
      state: onPage(state),
      plotly: () => loadPlotly,
      controls: controlsOf(controls ?? own),
      height: 1, // the page around makes room by itself: nobody is notified
      lesson,
      lessons: bundles,
    },
  });
  if (notices.length) made.model.say(links.briefly(notices));
  return made;
}

let rules; // made once for all elements of a page
function sheet() {
  if (!rules) {
    rules = new CSSStyleSheet();
    rules.replaceSync(facts.styles);
  }
  return rules;
}

boards.offerBoardElement({ show, sheet });

/** Called by MyST, with state, controls and lesson in the model. */
function render({ model, el }) {
  const style = document.createElement("style");
  style.textContent = facts.styles;
  const place = document.createElement("div");
  place.className = "cv-app cv-page cv-look";
  place.dataset.grows = ""; // as high as its content, whatever window it is in
  el.append(style, place);
  let end = () => {};
  try {
    const [state, controls, lesson] = ["state", "controls", "lesson"].map((name) => model.get(name));
    end = show(place, { state, controls, lesson }).close;
  } catch (error) {
    place.replaceChildren(boards.failed(error));
  }
  return () => {
    end();
    style.remove();
    place.remove();
  };
}

export default { render };
