// @ts-check
// Light or dark: what the user chose, else what the notebook says, else what the system
// prefers. Paper is white.
import { followPaper } from "./paper.js";

/**
 * Follow the theme.
 * @param {() => string} chosen "light", "dark" or "auto"
 * @param {(theme: "light" | "dark") => void} apply called at once and at every change
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
  system.addEventListener("change", refresh);
  const stopPrinting = followPaper((now) => {
    printing = now;
    refresh();
  });
  refresh();
  return {
    refresh,
    stop() {
      observer.disconnect();
      stopPrinting();
      system.removeEventListener("change", refresh);
    },
  };
}
