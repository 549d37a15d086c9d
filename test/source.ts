import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Path of the checkout. */
export const root: string = dirname(dirname(fileURLToPath(import.meta.url)));

/** One TypeScript file of the repository. `path` is relative to the checkout. */
export type SourceFile = { path: string; text: string };

/** Reads every TypeScript file below the folders, which are relative to the checkout. Build output and dependencies are left out. */
export function readSources(...folders: string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    listFiles(folder)
      .filter((path) => /\.tsx?$/.test(path) && !path.endsWith(".d.ts"))
      .map((path) => ({ path, text: readText(path) })),
  );
}

/**
 * Lists every file below a folder, as sorted paths relative to the checkout: tracked files, and new files that are not ignored. Uses git's
 * list and caches it, because a walk through the folders would include all dependencies.
 */
export function listFiles(folder: string): string[] {
  const prefix = folder === "" ? "" : `${folder}/`;
  checkoutFiles ??= readCheckout();
  return checkoutFiles.filter((path) => path.startsWith(prefix));
}

let checkoutFiles: readonly string[] | undefined;

function readCheckout(): string[] {
  // Git must not mind who owns the checkout, because this only lists files.
  const args = ["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const listed = execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  const paths = new Set(listed.split("\0").filter((path) => path !== ""));
  return [...paths].filter((path) => existsSync(join(root, path))).sort();
}

/** Returns the text of a file, whose path is relative to the checkout. */
export function readText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

// Parts of code that may contain any text, in scanning order: comments, strings, templates, regular expressions. A slash begins a regular
// expression only in a place where a value may be.
const opaque =
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?<template>`(?:\\[\s\S]|[^`\\])*`)|(?<=(?:[(,=:[!&|?{};]|=>|return)\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/g;

/** Removes comments, strings and regular expressions from a source. Templates stay, because they may contain code. */
export function codeOf(text: string): string {
  return text.replace(opaque, (...match) => {
    const groups = match.at(-1) as Record<string, string | undefined>;
    return groups["template"] ?? (groups["text"] === undefined ? " " : '""');
  });
}

/** Returns the modules that a file imports by `from "x"`, `import "x"` or `import("x")`, type imports included. */
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
