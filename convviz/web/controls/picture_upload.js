// A picture of one's own as the input: it goes to the kernel, which reads it.
import SETTINGS from "../../facts/data/settings.json" with { type: "json" };
import { element } from "../base/dom.js";
import { say } from "../base/board_sentences.js";

const MAX_BYTES = SETTINGS.limits.picture.bytes;

/**
 * It checks the size first: a larger file ends the connection.
 * @param {Model} model @returns {import("./control_parts.js").Part}
 */
export function picturePart(model) {
  const input = element("input", { type: "file", accept: "image/png,image/jpeg" });
  const el = element("label.cv-upload", say("upload"), input);
  /** @param {File | undefined} file */
  async function take(file) {
    if (!file) return;
    const most = { most: MAX_BYTES / 1e6, got: Math.ceil(file.size / 1e6) };
    const kernel = model.kernel();
    if (file.size > MAX_BYTES) model.say(say("upload.bytes", most), true);
    else if (kernel) await show(kernel, await file.arrayBuffer());
    else model.say(say("upload.waits"), true); // dropped on a disabled button
  }
  /** @param {Kernel} kernel @param {ArrayBuffer} bytes */
  async function show(kernel, bytes) {
    try {
      const { message } = await kernel.request({ type: "picture" }, [bytes]);
      model.set({ input: message.source });
    } catch (error) {
      model.say(/** @type {Error} */ (error).message, true);
    }
  }
  input.addEventListener("change", async () => {
    await take(input.files?.[0]);
    input.value = ""; // allow the same file again
  });
  el.addEventListener("dragover", (event) => event.preventDefault());
  el.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer?.files[0]);
  });
  return { el, refresh() {} };
}
