// @ts-check
// The button that hands on what a page without a kernel shows.
import { NOT_COPIED, createCopier } from "../base/clipboard.js";
import { element } from "../base/dom.js";
import { toLink } from "../rules/link.js";

const COPIED = "Copied: whoever opens this address gets this picture.";
const COPIED_ALONE = "Copied without an address, because this page has none of its own: it stands after # in the address of such a page.";

/**
 * Make the button "Copy link", and the field for the text when the page may not copy.
 * @param {ReturnType<typeof import("../numbers/model.js").createPageModel>} model
 * @param {(link: string) => string} addressOf the page's address with a link, or empty
 */
export function createCopyLink(model, addressOf) {
  const button = element("button", { type: "button" }, "Copy link");
  const copier = createCopier();
  button.addEventListener("click", async () => {
    copier.close();
    let link = "";
    try {
      link = toLink(model.settings());
    } catch {
      model.say("There are too many numbers for a link here. Choose an input or a kernel by its name.", true);
      return;
    }
    const address = addressOf(link);
    const done = await copier.copy(address || link);
    model.say(done ? (address ? COPIED : COPIED_ALONE) : NOT_COPIED, !done);
  });
  return { button, box: copier.el };
}
