import { createHash, hash } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { getCompileCacheDir } from "node:module";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isObject } from "@svc/core";

/** What YAML texts say, kept from one start to the next: reading 626 of them is a quarter of a start. */
export type ParsedDefinitions = {
  /** What a text says, in an object; undefined where it is not known. */
  find(text: string): { readonly value: unknown } | undefined;
  /** Notes what a text without a fault says. */
  note(text: string, value: unknown): void;
  /** Keeps what was found and noted since it was opened, and nothing else. Never rejects: without it the next start is as long. */
  save(): Promise<void>;
};

/** To be raised when the same text is to become something else. */
const format = 1;

/**
 * What was kept of the definitions of these folders, beside what Node keeps of the code that it compiled, which is trusted as much.
 * Empty where Node keeps none, or nothing can be read.
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

/** Under another name first: two nodes may start at once. */
async function write(file: string, used: Readonly<Record<string, unknown>>): Promise<void> {
  // YAML has numbers that JSON has not.
  const exact = Object.entries(used).filter(([, value]) =>
    isDeepStrictEqual(value, JSON.parse(JSON.stringify(value) ?? "null")),
  );
  try {
    const unfinished = `${file}.${process.pid}`;
    await writeFile(unfinished, JSON.stringify(Object.fromEntries(exact)), { mode: 0o600 });
    await rename(unfinished, file);
  } catch {
    // The folder may not be written to: everything is read again.
  }
}
