// Which language is wanted, asked before any word is there.

/** ?lang=, the last of several; or empty. */
export const wantedLanguage = () => new URLSearchParams(location.search).getAll("lang").at(-1) ?? "";

/** A region may imply a script. @param {string} tag */
function written(tag) {
  const { language: name, script } = new Intl.Locale(tag).maximize();
  return `${name}-${script}`;
}

/** As facts/i18n/current_language.py finds it; or empty. @param {string} wanted @param {string[]} tags */
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
