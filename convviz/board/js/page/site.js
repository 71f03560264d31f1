// @ts-check
// The live page on a static host: as the served one before its kernel, but no kernel is asked
// for, and none is promised.
import { createValues } from "../base/events.js";
import { createCopyLink } from "../controls/copy_link.js";
import { createShelf } from "../lesson/lessons.js";
import { Player } from "../lesson/player.js";
import { stepLink } from "../lesson/start.js";
import { createPageModel } from "../numbers/model.js";
import { FIRST_STATE } from "../rules/link.js";
import { addressWith, followAddress } from "./address.js";
import { fetchLesson } from "./bring_lesson.js";
import { fetchPlotly } from "./fetched.js";
import { createLanguages, goOn, goToAsked, tellUnknown } from "./languages.js";
import { drawLive } from "./live.js";
import { createPanes } from "./panes.js";
import { fetchRecorded } from "./recorded.js";

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Begin; called once, when the page's document is there. */
function start() {
  const data = JSON.parse(byId("convviz-data").textContent ?? "");
  if (goToAsked(data.languages)) return;
  const model = createPageModel({
    ...data,
    state: FIRST_STATE,
    plotly: () => fetchPlotly(data.plotly),
    ground: {},
  });
  const player = new Player(
    model,
    createShelf({}, (name) => fetchLesson(data.lessons[name])),
    Object.keys(data.tabs),
  );
  const wish = createValues({ present: false });
  followAddress(
    (link) => model.send({ type: "open", link }),
    player,
    () => wish.put({ present: true }),
    !goOn(model, player),
  );
  tellUnknown(data.languages, model);
  const drawPane = createPanes(model, data.colorscales, { race: () => fetchRecorded(data.race) }, data.tabs);
  const share = createCopyLink(model, addressWith, () => stepLink(player));
  drawLive(byId("convviz-live"), model, drawPane, player, wish, {
    tabs: Object.keys(data.tabs),
    share,
    menu: createLanguages(data.languages, model, player),
  });
}

export default { start };
