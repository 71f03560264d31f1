// @ts-check
// Which language somebody wants: without a word of any language, for it is asked before
// the first word is there.

/**
 * The language that the address asks for; of several the last, as for a server; empty where it asks for none.
 */
export const asked = () => new URLSearchParams(location.search).getAll("lang").at(-1) ?? "";

/** What is written alike: language and script, which a region may tell. @param {string} tag */
function written(tag) {
  const { language: name, script } = new Intl.Locale(tag).maximize();
  return `${name}-${script}`;
}

/**
 * The tag of the language that somebody wants, as facts/spoken.py finds it; empty where there is none.
 * @param {string} wanted @param {string[]} tags
 */
export function understood(wanted, tags) {
  try {
    const plain = wanted.trim().replaceAll("_", "-").toLowerCase();
    return (
      tags.find((tag) => tag.toLowerCase() === plain) ??
      tags.find((tag) => written(tag) === written(plain)) ??
      ""
    );
  } catch {
    return ""; // no tag of any language
  }
}
