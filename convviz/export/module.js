// The end of a widget's module: page, links and geometry are the bundles before it, facts is what they all show.

/** A value as somebody would write it in JSON, not too long. */
const written = (value) => String(JSON.stringify(value)).slice(0, 80);

/** What was written once for height and width, or for both sides of the padding, for each of them. */
function inFull(spec) {
  const pair = (value) => (Array.isArray(value) ? value : [value, value]);
  const full = { ...spec };
  for (const name of ["input_size", "kernel_size", "stride", "dilation"])
    if (name in spec) full[name] = pair(spec[name]);
  if ("padding" in spec) full.padding = pair(spec.padding).map(pair);
  return full;
}

/** Refuse keys that nobody reads: they are slips of the pen. */
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

/** A whole state and what is to be said about it, from a link, from a state or from a part of one. */
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
    throw new Error(
      `no convolution has this geometry: got ${JSON.stringify(given.spec)}; make the kernel smaller or the padding larger`,
    );
  }
  return { state: whole, notices: [] };
}

/** The groups of controls that the widget shows. */
function controlsOf(given) {
  const known = Object.entries(facts.groups).flat(2);
  const chosen = typeof given === "string" ? [given] : given;
  const unknown = chosen.filter((name) => !known.includes(name));
  if (unknown.length)
    throw new Error(`a control is one of ${known.join(", ")}: got ${unknown.map(written).join(", ")}`);
  return chosen;
}

const plotlyOf = () => Uint8Array.from(atob(facts.plotly), (letter) => letter.charCodeAt(0)).buffer;

/** Show the board: model.get("state") is a link or a state, model.get("controls") a list of names; both may be missing. */
function render({ model, el }) {
  const style = document.createElement("style");
  style.textContent = facts.styles;
  const place = document.createElement("div");
  place.className = "cv-app cv-page cv-look";
  el.append(style, place);
  let end = () => {};
  try {
    const { state, notices } = stateOf(model.get("state") ?? facts.state);
    const data = {
      ...facts,
      state: { ...state, device: "cpu", dtype: "float64", tab: "" },
      plotly: plotlyOf,
    };
    data.controls = controlsOf(model.get("controls") ?? facts.controls);
    data.height = 1; // the page around makes room by itself: nobody is told
    for (const notice of notices) {
      const line = document.createElement("p");
      line.className = "cv-notice";
      line.textContent = notice;
      place.append(line);
    }
    end = page.render({ el: place, data }).close;
  } catch (error) {
    place.textContent = `The board could not start: ${error.message}.`;
  }
  return () => {
    end();
    style.remove();
    place.remove();
  };
}

export default { render };
