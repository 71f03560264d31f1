// Why numbers are wrong, as a list, and the way to an example that tells mistakes apart.
import { element, setText } from "../../web/base/dom.js";
import { rich } from "../../web/base/rich_text.js";
import { afterwards } from "../../web/numbers/latest_request.js";
import { button } from "../../web/tabs/pane_elements.js";
import { tellingApart } from "./tell_apart.js";
import { nearWords, unnamedWords } from "./verdict_sentences.js";
import { say } from "./sentences.js";

const MAX_SHOWN = 3;
const SOON_MS = 30; // the verdict is painted first

/**
 * @import { Asked, Verdict } from "./explain_numbers.js"
 */

/** @param {(link: string, words: string) => void} open */
export function createReasons(open) {
  const el = element("div.cv-pasted-reasons");
  let stop = () => {};

  function clear() {
    stop();
    el.replaceChildren();
  }

  /** @param {Verdict} verdict @param {Asked} asked */
  function offerExample({ mistakes }, { settings, of }) {
    const words = element("p.cv-muted");
    el.append(words);
    stop = afterwards(() => {
      const found = tellingApart(settings, of, mistakes);
      if (!found) return setText(words, say("apart.none"));
      const label = say(found.parts === mistakes.length ? "apart" : "apart.some");
      words.replaceWith(
        button(label, () => open(found.link, say("apart.opened")), { "data-link": found.link }),
      );
    }, SOON_MS);
  }

  /** @param {Verdict} verdict */
  function listMistakes({ mistakes }) {
    const items = mistakes.map(({ mistake: { id, title, fix } }) => {
      const item = rich("li", say("mistake", { title, fix }));
      item.dataset.mistake = id;
      return item;
    });
    const shown = Math.max(1, Math.min(MAX_SHOWN, mistakes.filter(({ whole }) => whole).length));
    el.append(
      element("p", say("mistakes", { count: mistakes.length })),
      element("ol", ...items.slice(0, shown)),
    );
    const rest = items.slice(shown);
    if (!rest.length) return;
    const list = element("ol", { start: String(shown + 1) }, ...rest);
    el.append(element("details", element("summary", say("more", { count: rest.length })), list));
  }

  return {
    el,
    clear,
    /** @param {Verdict} verdict @param {Asked} asked */
    set(verdict, asked) {
      clear();
      const { transposed } = asked.settings;
      if (verdict.right || verdict.nans) return;
      if (verdict.mistakes.length) listMistakes(verdict);
      if (verdict.mistakes.length > 1) offerExample(verdict, asked);
      if (verdict.mistakes.length) return;
      if (!verdict.near.length) return el.append(rich("p", unnamedWords(verdict, transposed)));
      const items = verdict.near.map((near) => {
        const item = element("li", nearWords(near, transposed));
        item.dataset.near = near.kind;
        return item;
      });
      const head = !transposed && verdict.tried ? [element("p", say("near"))] : [];
      el.append(...head, element("ul", ...items));
    },
  };
}
