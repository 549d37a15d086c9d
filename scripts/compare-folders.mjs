import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Returns a text that lists the files which differ between two folders, one per line. Empty if the folders are equal. */
export function describeDifferences(present, expected) {
  const names = [...new Set([...filesIn(present), ...filesIn(expected)])].sort();
  return names.flatMap((name) => difference(name, join(present, name), join(expected, name))).join("\n");
}

function difference(name, present, expected) {
  if (!existsSync(present)) return [`missing: ${name}`];
  if (!existsSync(expected)) return [`not expected: ${name}`];
  return readFileSync(present).equals(readFileSync(expected)) ? [] : [`differs: ${name}`];
}

function filesIn(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name).slice(folder.length + 1)] : [],
  );
}
