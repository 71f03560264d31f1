// @ts-check
// The button that hands on what a page without a kernel shows.
import WORDS from "../../facts/words/board.json" with { type: "json" };
import { NOT_COPIED, createCopier } from "../base/clipboard.js";
import { makeButton } from "../base/dom.js";
import { toLink } from "../rules/link.js";
import { sentences } from "../base/words.js";

const say = sentences(WORDS);

/**
 * Make the button "Copy link", and the field for the text when the page may not copy.
 * @param {ReturnType<typeof import("../numbers/model.js").createPageModel>} model
 * @param {(link: string) => string} addressOf the page's address with a link, or empty
 * @param {() => string} lessonLink leads to the step of a lesson that is being read; empty while none is
 */
export function createCopyLink(model, addressOf, lessonLink) {
  const button = makeButton({}, say("copy.link"), async () => {
    copier.close();
    let link = "";
    try {
      link = lessonLink() || toLink(model.settings());
    } catch {
      model.say(say("copy.too_many"), true);
      return;
    }
    const address = addressOf(link);
    const done = await copier.copy(address || link);
    model.say(done ? say(address ? "copy.address" : "copy.alone") : NOT_COPIED, !done);
  });
  const copier = createCopier();
  return { button, box: copier.el };
}
