import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout. */
export const root: string = dirname(dirname(fileURLToPath(import.meta.url)));

/** One TypeScript file of the repository; `path` is relative to the checkout. */
export type SourceFile = { path: string; text: string };

/** Every TypeScript file below the folders, which are relative to the checkout; build output and dependencies left out. */
export function readSources(...folders: string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    listFiles(folder)
      .filter((path) => /\.tsx?$/.test(path) && !path.endsWith(".d.ts"))
      .map((path) => ({ path, text: readText(path) })),
  );
}

/**
 * Every file below a folder, as paths relative to the checkout, sorted: what git tracks, and what is new and not ignored. Asked of
 * git once, since walking the tree means walking the dependencies of every package.
 */
export function listFiles(folder: string): string[] {
  const prefix = folder === "" ? "" : `${folder}/`;
  checkoutFiles ??= readCheckout();
  return checkoutFiles.filter((path) => path.startsWith(prefix));
}

let checkoutFiles: readonly string[] | undefined;

function readCheckout(): string[] {
  // Whoever owns the checkout: it is only listed.
  const args = ["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const listed = execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  const paths = new Set(listed.split("\0").filter((path) => path !== ""));
  return [...paths].filter((path) => existsSync(join(root, path))).sort();
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
