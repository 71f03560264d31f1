// Node reads the folders that the bundle reads as one list, convviz/facts/__init__.py: `node --import` this, then test.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { register } from "node:module";

const PACKAGE = new URL("../../convviz/", import.meta.url);
const read = (/** @type {string} */ path) => JSON.parse(readFileSync(new URL(path, PACKAGE), "utf8"));
const names = (/** @type {string} */ path) => readdirSync(new URL(path, PACKAGE));

const LISTS = {
  "/facts/data/mistakes.json": names("facts/data/mistakes")
    .toSorted()
    .map((name) => read(`facts/data/mistakes/${name}`)),
  "/facts/data/features.json": names("features")
    .filter((name) => existsSync(new URL(`features/${name}/feature.json`, PACKAGE)))
    .map((name) => ({ name, ...read(`features/${name}/feature.json`) }))
    .toSorted((one, other) => one.order - other.order || (one.name < other.name ? -1 : 1)),
};
const URLS = Object.entries(LISTS).map(([name, list]) => [
  name,
  `data:application/json,${encodeURIComponent(JSON.stringify(list))}`,
]);
const HOOK = `export function resolve(name, context, next) {
  const [, url] = ${JSON.stringify(URLS)}.find(([ending]) => name.endsWith(ending)) ?? [];
  return url ? { url, format: "json", shortCircuit: true } : next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(HOOK)}`);
