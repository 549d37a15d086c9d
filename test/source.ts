import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout. */
export const root: string = dirname(dirname(fileURLToPath(import.meta.url)));

/** One TypeScript file of the repository; `path` is relative to the checkout. */
export type SourceFile = { path: string; text: string };

/** Every TypeScript file below the folders, which are relative to the checkout; build output and dependencies left out. */
export function readSources(...folders: string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    listFiles(folder)
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
      .map((path) => ({ path, text: readText(path) })),
  );
}

/** Every file below a folder, as paths relative to the checkout, sorted; build output and dependencies left out. */
export function listFiles(folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
    .sort();
}

/** The text of a file, named relative to the checkout. */
export function readText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

// What may hold anything, in the order in which a scanner meets it: comments, strings, templates, regular expressions. A
// slash begins a regular expression only where a value may stand.
const opaque =
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?<template>`(?:\\[\s\S]|[^`\\])*`)|(?<=(?:[(,=:[!&|?{};]|=>|return)\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/g;

/** The text without comments, strings and regular expressions. Templates stay: code may stand in them. */
export function codeOf(text: string): string {
  return text.replace(opaque, (...match) => {
    const groups = match.at(-1) as Record<string, string | undefined>;
    return groups["template"] ?? (groups["text"] === undefined ? " " : '""');
  });
}

/** The modules that a file imports: `from "x"`, `import "x"` and `import("x")`, types included. */
export function importsOf(text: string): string[] {
  const uncommented = text.replace(opaque, (...match) => {
    const groups = match.at(-1) as Record<string, string | undefined>;
    return groups["text"] ?? " ";
  });
  const imports = uncommented.matchAll(
    /^(?:import|export)\b[^;"']*?\bfrom\s*["']([^"']+)["']|^import\s*["']([^"']+)["']|\bimport\s*\(\s*["']([^"']+)["']/gm,
  );
  return [...imports].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
}
