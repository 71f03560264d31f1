// @ts-check
// A lesson that the page does not have yet: from the kernel, or as a file beside the page.
import WORDS from "../../facts/words/player.json" with { type: "json" };
import { sentences } from "../base/words.js";
import { fetchFile } from "./fetched.js";
import { askKernel } from "./tab_scripts.js";

const say = sentences(WORDS);

/**
 * @import { Model } from "../numbers/model.js"
 * @import { Told } from "../lesson/lessons.js"
 */

/** @param {string} address @returns {Promise<Told>} */
export const fetchLesson = (address) => fetchFile(address, "json");

/** @param {Model} model @param {string} name @returns {Promise<Told>} */
export const lessonFromKernel = (model, name) =>
  new Promise((resolve, reject) => {
    /** @param {Promise<import("./tab_scripts.js").Reply>} coming */
    const take = (coming) => coming.then(({ message }) => resolve(message.told), reject);
    askKernel(model, { type: "lesson", lesson: name }, take, {
      lost: say("brought.lost"),
      late: say("brought.late"),
    });
  });
