import { createHash, hash } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isObject } from "@svc/core";

/** Cache of parsed YAML texts, kept between starts. Parsing 626 texts is a quarter of the start time. */
export type ParsedDefinitions = {
  /** Returns the parsed value of a YAML text, wrapped in an object. Returns undefined if the text is not in the cache. */
  find(text: string): { readonly value: unknown } | undefined;
  /** Adds the parsed value of a YAML text to the cache. Call it only for texts without errors. */
  note(text: string, value: unknown): void;
  /**
   * Stores the values that were used since the cache was opened, and removes all others. Never rejects: if it fails, the next start parses
   * the texts again.
   */
  save(): Promise<void>;
};

/** Version of the cache format. Increase it when the parser returns another value for the same text. */
const format = 1;

/**
 * Opens the cache for the definitions in these folders. The cache is stored next to Node's compile cache and trusted in the same way. It is
 * empty if Node has no compile cache, or if the file cannot be read.
 */
export async function openParsedDefinitions(
  folders: readonly string[],
  cacheDir = getCompileCacheDir(),
): Promise<ParsedDefinitions> {
  if (cacheDir === undefined) return { find: () => undefined, note: () => {}, save: async () => {} };
  const name = createHash("sha256")
    .update(JSON.stringify([format, ...folders]))
    .digest("hex")
    .slice(0, 32);
  const file = join(cacheDir, `definitions-${name}.json`);
  const kept = await readKept(file);
  const used: Record<string, unknown> = {};
  let isNew = false;
  return {
    find(text) {
      const key = keyOf(text);
      if (!Object.hasOwn(kept, key)) return undefined;
      used[key] = kept[key];
      return { value: kept[key] };
    },
    note(text, value) {
      used[keyOf(text)] = value;
      isNew = true;
    },
    async save() {
      if (isNew) await write(file, used);
    },
  };
}

function keyOf(text: string): string {
  return hash("sha256", text);
}

async function readKept(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const kept: unknown = JSON.parse(await readFile(file, "utf8"));
    return isObject(kept) ? kept : {};
  } catch {
    return {};
  }
}

/** Writes the file under a temporary name first, because two nodes may start at the same time. */
async function write(file: string, used: Readonly<Record<string, unknown>>): Promise<void> {
  // Some YAML numbers (for example `.inf`) would change if they were written as JSON. So values with such numbers are not stored in the
  // cache file.
  const exact = Object.entries(used).filter(([, value]) =>
    isDeepStrictEqual(value, JSON.parse(JSON.stringify(value) ?? "null")),
  );
  try {
    const unfinished = `${file}.${process.pid}`;
    await writeFile(unfinished, JSON.stringify(Object.fromEntries(exact)), { mode: 0o600 });
    await rename(unfinished, file);
  } catch {
    // If the folder is not writable, the cache is not stored, and the next start parses all texts again.
  }
}
