// The name of a row of maps, and what its colours mean.
import { element } from "../../web/base/dom.js";
import { cssColor } from "../../web/base/format.js";
import { partsOf } from "./planes.js";
import { say } from "./sentences.js";

const STRONG = 0.8; // of a scale, on each side of 0

/**
 * @param {HTMLElement} el @param {string} name @param {import("./planes.js").Shade} shade
 * @param {[string, string, string]} words of what is above 0, below it, and in a frame
 */
function fill(el, name, shade, [above, below, framed]) {
  const key = (/** @type {string} */ text, /** @type {number} */ share) => {
    const mark = element("i");
    if (share) mark.style.backgroundColor = cssColor(partsOf(shade(share)));
    return element("span", mark, text);
  };
  el.replaceChildren(element("b", name), key(above, STRONG), key(below, -STRONG), key(framed, 0));
}

/** @param {HTMLElement} el @param {import("./planes.js").Shade} shade */
export const nameForward = (el, shade) =>
  fill(el, say("row.forward"), shade, [say("legend.above"), say("legend.below"), say("legend.receptive")]);

/**
 * @param {HTMLElement} el @param {import("./planes.js").Shade} shade
 * @param {string} sent what the gradients are those of, in a formula @param {string} from and in words
 */
export const nameBackward = (el, shade, sent, from) =>
  fill(el, say("row.backward", { sent }), shade, [
    say("legend.raises", { from }),
    say("legend.lowers", { from }),
    say("legend.projective"),
  ]);
