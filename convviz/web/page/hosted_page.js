// The live page, of a server or of a static host: its board lives at once, before anything else is asked.
import { createValues } from "../base/observable_values.js";
import { createCopyLink } from "../controls/copy_link.js";
import { createLessons } from "../lesson/available_lessons.js";
import { Player } from "../lesson/player.js";
import { stepLink } from "../lesson/lesson_controls.js";
import { createPageModel } from "../numbers/page_model.js";
import { FIRST_STATE } from "../rules/settings_link.js";
import { addressWith, followAddress } from "./static_page_address.js";
import { loadFile } from "./load_on_demand.js";
import { createLanguages, goOn, warnOfUnknownLanguage } from "./languages.js";
import { drawLive } from "./live_app_view.js";
import { createPanes } from "./tab_panes.js";
import { say } from "../base/server_sentences.js";
import { sayPane } from "../tabs/pane_sentences.js";

/** @param {string} id */
export const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @returns {any} */
export const dataOfPage = () => JSON.parse(byId("convviz-data").textContent ?? "");

/** @param {string} address @returns {Promise<any>} */
const fetchRecorded = (address) =>
  loadFile(address, "json", (why) => sayPane("recorded.failed", { why })).then(
    (recorded) => ({ state: "alone", recorded }),
    ({ message }) => ({ error: message }),
  );

/**
 * @param {any} data carried by the page @param {boolean} live torch is asked later
 * @param {string[]} [without] tabs
 */
export function startPage(data, live, without) {
  const { colorscales, lessons, languages, plotly } = data;
  const tabs = live ? undefined : Object.keys(data.tabs);
  const model = createPageModel({
    ...data,
    state: FIRST_STATE,
    plotly: () => loadFile(plotly, "arrayBuffer", (why) => say("live.plotly", { why })),
    ground: {},
    live,
  });
  const shelf = createLessons({}, (name) => loadFile(lessons[name], "json"));
  const player = new Player(model, shelf, tabs);
  const wish = createValues({ present: false });
  followAddress(model, player, wish, !goOn(model, player));
  warnOfUnknownLanguage(languages, model);
  /** @type {[string, string][]} */
  const recorded = Object.entries(data.recorded);
  const alone = Object.fromEntries(recorded.map(([tab, address]) => [tab, () => fetchRecorded(address)]));
  const drawPane = createPanes(model, colorscales, alone, data.tabs);
  const menu = createLanguages(languages, model, player);
  const share = live ? undefined : createCopyLink(model, addressWith, () => stepLink(player));
  drawLive(byId("convviz-live"), model, player, { drawPane, wish, menu, tabs, without, share });
  return model;
}
