// @ts-check
// The live page, of a server or of a static host: its board lives at once, before anything else is asked.
import RACE from "../../facts/words/race.json" with { type: "json" };
import WORDS from "../../facts/words/served.json" with { type: "json" };
import { createValues } from "../base/events.js";
import { sentences } from "../base/words.js";
import { createShelf } from "../lesson/lessons.js";
import { Player } from "../lesson/player.js";
import { createPageModel } from "../numbers/model.js";
import { FIRST_STATE } from "../rules/link.js";
import { followAddress } from "./address.js";
import { fetchLesson } from "./bring_lesson.js";
import { fetchFile } from "./fetched.js";
import { createLanguages, goOn, tellUnknown } from "./languages.js";
import { drawLive } from "./live.js";
import { createPanes } from "./panes.js";

/** @import { Model } from "../numbers/model.js" */

const say = sentences(WORDS);
const sayOfRace = sentences(RACE);

/** @param {string} id */
export const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** What the page carries. @returns {any} */
export const dataOfPage = () => JSON.parse(byId("convviz-data").textContent ?? "");

/** @param {string} address of the gzipped bundle */
const fetchPlotly = (address) => fetchFile(address, "arrayBuffer", (why) => say("live.plotly", { why }));

/** What the tab Race shows without a kernel. @param {string} address of the file @returns {Promise<any>} */
const fetchRace = (address) =>
  fetchFile(address, "json", (why) => sayOfRace("recorded.failed", { why })).then(
    (race) => ({ state: "alone", recorded: true, race }),
    ({ message }) => ({ error: message }),
  );

/**
 * Draw it.
 * @param {any} data what the page carries @param {boolean} live whether torch is asked later
 * @param {string[] | undefined} tabs those that the page has, where it is no server's
 * @param {(model: Model, player: Player) => Partial<Parameters<typeof drawLive>[5]>} around see drawLive
 */
export function startPage(data, live, tabs, around) {
  const { colorscales, lessons, languages, plotly, race } = data;
  const model = createPageModel({
    ...data,
    state: FIRST_STATE,
    plotly: () => fetchPlotly(plotly),
    ground: {},
    live,
  });
  const shelf = createShelf({}, (name) => fetchLesson(lessons[name]));
  const player = new Player(model, shelf, tabs);
  const wish = createValues({ present: false });
  followAddress(model, player, wish, !goOn(model, player));
  tellUnknown(languages, model);
  const drawPane = createPanes(model, colorscales, { race: () => fetchRace(race) }, data.tabs);
  const menu = createLanguages(languages, model, player);
  drawLive(byId("convviz-live"), model, drawPane, player, wish, { menu, tabs, ...around(model, player) });
  return model;
}
