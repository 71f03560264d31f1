// The live page on a static host: as the served one, but no kernel is asked for, and none is promised.
import { goToAsked } from "./languages.js";
import { dataOfPage, startPage } from "./hosted_page.js";

export default {
  start() {
    const data = dataOfPage();
    if (!goToAsked(data.languages)) startPage(data, false);
  },
};
