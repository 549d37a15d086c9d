import { createHash, hash } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isObject } from "@svc/core";

/** Parsed YAML texts, kept between starts: parsing 626 of them is a quarter of a start. */
export type ParsedDefinitions = {
  /** Returns the value of a text, in an object; undefined if it is unknown. */
  find(text: string): { readonly value: unknown } | undefined;
  /** Records the value of a text without faults. */
  note(text: string, value: unknown): void;
  /** Stores the values that were used since opening, and no others. Never rejects: without it, the next start takes as long. */
  save(): Promise<void>;
};

/** Format version. Increase it when the same text is parsed differently. */
const format = 1;

/**
 * Opens the cache of these folders' definitions. It is stored next to Node's compile cache and trusted like it. Empty if Node has no cache
 * or it cannot be read.
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

/** Written under another name first, because two nodes may start at once. */
async function write(file: string, used: Readonly<Record<string, unknown>>): Promise<void> {
  // YAML has numbers that JSON does not have.
  const exact = Object.entries(used).filter(([, value]) =>
    isDeepStrictEqual(value, JSON.parse(JSON.stringify(value) ?? "null")),
  );
  try {
    const unfinished = `${file}.${process.pid}`;
    await writeFile(unfinished, JSON.stringify(Object.fromEntries(exact)), { mode: 0o600 });
    await rename(unfinished, file);
  } catch {
    // If the folder is not writable, everything is parsed again.
  }
}
