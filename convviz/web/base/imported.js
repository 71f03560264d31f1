// @ts-check
// Scripts that come after the first one: as text, which a module is made of without eval, as
// anywidget makes its own.

/** @param {ArrayBuffer | DataView<ArrayBuffer>} packed gzipped text */
export async function unpack(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** @param {string} source of a module that imports nothing @returns {Promise<any>} what it exports */
export async function importText(source) {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}
