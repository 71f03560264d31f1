// Opens a file, or takes one that is dropped, as text in a field, where undo leads back.
import { element, listen } from "../../web/base/dom.js";
import { button } from "../../web/tabs/pane_elements.js";
import { isNpy, listsOf, readNpy } from "./read_npy.js";
import { say } from "./sentences.js";

/**
 * @param {HTMLElement} place where files may be dropped @param {HTMLTextAreaElement} field
 * @param {() => void} changed @param {(error: unknown) => void} refuse what cannot be read
 */
export function createFileOpener(place, field, changed, refuse) {
  const input = element("input", { type: "file", accept: ".npy,.csv,.tsv,.json,.txt", hidden: "" });

  /** @param {File | undefined} file */
  async function take(file) {
    if (!file) return;
    try {
      const buffer = await file.arrayBuffer();
      const text = isNpy(buffer) ? listsOf(readNpy(buffer)) : new TextDecoder().decode(buffer);
      field.focus();
      field.select();
      if (!document.execCommand("insertText", false, text)) field.value = text;
      changed();
    } catch (error) {
      refuse(error);
    }
  }

  input.addEventListener("change", async () => {
    await take(input.files?.[0]);
    input.value = ""; // so that the same file can be chosen again
  });
  listen(place, "dragover", (event) => event.preventDefault());
  listen(place, "drop", (event) => {
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return; // text goes into the field
    event.preventDefault();
    take(file);
  });
  return [button(say("file"), () => input.click()), input];
}
