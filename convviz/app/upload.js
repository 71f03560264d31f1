// @ts-check
// A file button that looks at the size before it sends anything.

/** @param {{ model: any, el: HTMLElement }} context */
function render({ model, el }) {
  const input = document.createElement("input");
  input.type = "file";
  input.accept = "image/png,image/jpeg";
  const label = document.createElement("label");
  label.className = "cv-upload";
  label.append(`${model.get("label")} `, input);

  /** @param {File | undefined} file */
  async function take(file) {
    if (!file) return;
    if (file.size > model.get("most_bytes")) {
      model.send({ type: "refused", megabytes: Math.ceil(file.size / 1e6) });
      return;
    }
    model.send({ type: "file", name: file.name }, undefined, [await file.arrayBuffer()]);
  }

  input.addEventListener("change", async () => {
    await take(input.files?.[0]);
    input.value = ""; // so that the same file can be chosen again
  });
  label.addEventListener("dragover", (event) => event.preventDefault());
  label.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer?.files[0]);
  });
  el.append(label);
  return () => label.remove();
}

export default { render };
