// Before the first paint: an address with a link is one of the app, which stood here before; and scripts run, so one
// picture follows the reader and those of the sections are for paper.
(() => {
  const { app } = document.currentScript.dataset;
  const asked = location.search + location.hash;
  if (app && /[#?&](?!lang=)[a-z_]+=/.test(asked)) location.replace(app + asked);
  // A module of a site that lies on a disk is not loaded: the sections keep their own pictures.
  if (!app || location.protocol !== "file:") document.documentElement.dataset.live = "";
})();
