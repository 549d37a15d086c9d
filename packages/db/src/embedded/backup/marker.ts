import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateToken } from "@svc/core";
import { dataFolderAt } from "../data-folder.ts";

/** Beside a restored store: by it the first start knows that it was restored. `id` differs with every restore. */
export type RestoreMarker = {
  readonly id: string;
  /** Of the backup, RFC 3339: all that was committed before it is in the store. */
  readonly endsAt: string;
};

const markerName = "restored.json";

/** Writes the marker into the root of a store that is being restored. */
export async function writeRestoreMarker(root: string, endsAt: string): Promise<void> {
  const marker: RestoreMarker = { id: generateToken(), endsAt };
  await writeFile(join(root, markerName), `${JSON.stringify(marker)}\n`, { mode: 0o600, flag: "wx", flush: true });
}

/** The marker of the store in a data folder; undefined where it was never restored. */
export async function readRestoreMarker(dataDir: string): Promise<RestoreMarker | undefined> {
  const { root } = dataFolderAt(join(dataDir, "postgres"));
  const text = await readFile(join(root, markerName), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : JSON.parse(text);
}
