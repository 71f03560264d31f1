// @ts-check
// A file beside the page.

/**
 * @template {"arrayBuffer" | "json" | "text"} Kind
 * @param {string} address @param {Kind} kind
 * @param {(why: string) => string} [sentence] says why it is not there
 * @returns {Promise<Awaited<ReturnType<Response[Kind]>>>}
 */
export async function fetchFile(address, kind, sentence = (why) => why) {
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
    return await answer[kind]();
  } catch (error) {
    throw new Error(sentence(/** @type {Error} */ (error).message));
  }
}
