// Which language is wanted, asked before any word is there.

/** ?lang= of the address, the last of several; else empty. */
export const asked = () => new URLSearchParams(location.search).getAll("lang").at(-1) ?? "";

/** Language and script, which a region may imply. @param {string} tag */
function written(tag) {
  const { language: name, script } = new Intl.Locale(tag).maximize();
  return `${name}-${script}`;
}

/**
 * The matching tag, as facts/current_language.py finds it; else empty.
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
    return "";
  }
}
