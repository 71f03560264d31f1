// A file for the visitor.
import { element } from "./dom.js";

/** @param {BlobPart} content @param {string} name @param {string} type */
export function saveFile(content, name, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the browser still reads it
}
