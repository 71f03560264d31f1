// Make every frame as high as the page in it reports.
addEventListener("message", (event) => {
  if (event.data?.type !== "convviz:resize") return;
  for (const frame of document.querySelectorAll("iframe")) {
    if (frame.contentWindow === event.source) frame.style.height = `${Number(event.data.height)}px`;
  }
});
