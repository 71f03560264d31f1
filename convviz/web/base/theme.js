// Light or dark: the visitor's choice, else the notebook's, else the system's. Paper is white.
import { listen } from "./dom.js";
import { followPrinting } from "./printing.js";

/**
 * @param {() => string} chosen @param {(theme: "light" | "dark") => void} apply
 * @returns {{ refresh: () => void, stop: () => void }}
 */
export function followTheme(chosen, apply) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const resolve = () => {
    if (printing) return "light";
    const choice = chosen();
    if (choice === "light" || choice === "dark") return choice;
    const notebook = document.body?.dataset.jpThemeLight;
    if (notebook !== undefined) return notebook === "true" ? "light" : "dark";
    return system.matches ? "dark" : "light";
  };
  const refresh = () => apply(resolve());
  const observer = new MutationObserver(refresh);
  if (document.body) observer.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  const stopFollowing = listen(system, "change", refresh);
  const stopPrinting = followPrinting((now) => {
    printing = now;
    refresh();
  });
  refresh();
  return {
    refresh,
    stop() {
      observer.disconnect();
      stopPrinting();
      stopFollowing();
    },
  };
}
