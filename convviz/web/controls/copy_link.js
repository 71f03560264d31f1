// Copy a link, in a page without a kernel.
import { NOT_COPIED, createClipboard } from "../base/clipboard.js";
import { makeButton } from "../base/dom.js";
import { toLink } from "../rules/settings_link.js";
import { say } from "../base/board_sentences.js";

/** Says what a copied address is good for; without an address, only the link was copied. @param {string} address */
function howToOpen(address) {
  if (!address) return say("copy.alone");
  return say(address.startsWith("file:") ? "copy.file" : "copy.address");
}

/**
 * @param {ReturnType<typeof import("../numbers/page_model.js").createPageModel>} model
 * @param {(link: string) => string} addressOf @param {() => string} lessonLink
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
    model.say(done ? howToOpen(address) : NOT_COPIED, !done);
  });
  const copier = createClipboard();
  return { button, box: copier.el };
}
