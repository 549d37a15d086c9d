import { rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { generateToken, readTime } from "@svc/core";
import { readIfThere } from "../start/vault-key.ts";

/** The last backup of an embedded database. `endsAtMs`: the time up to which it has everything, in epoch milliseconds. */
type LastBackup = { readonly file: string; readonly endsAtMs: number };

const recordName = "last-backup.json";

/**
 * Records a complete backup in the data folder, in which `svc doctor` finds it. `endsAt`: the end of the backup, RFC 3339. Changes nothing
 * if the data folder cannot be written, because the backup itself is then still good.
 */
export async function noteBackup(dataDir: string, { file, endsAt }: { file: string; endsAt: string }): Promise<void> {
  const unfinished = join(dataDir, `${recordName}.${generateToken()}.part`);
  const text = `${JSON.stringify({ file: resolve(file), endsAt })}\n`;
  try {
    // Root may make the backup, and the account of the service must be able to read the record.
    await writeFile(unfinished, text, { mode: 0o644, flag: "wx" });
    await rename(unfinished, join(dataDir, recordName));
  } catch {
    await rm(unfinished, { force: true }).catch(() => {});
  }
}

/** Returns the last recorded backup of the embedded database in a data folder. Undefined if no readable record exists. */
export async function findLastBackup(dataDir: string): Promise<LastBackup | undefined> {
  const text = await readIfThere(join(dataDir, recordName));
  const [, file, endsAt = ""] = /^\{"file":(".*"),"endsAt":"([^"]*)"\}\n$/.exec(text ?? "") ?? [];
  const endsAtMs = readTime(endsAt);
  return file === undefined || endsAtMs === undefined ? undefined : { file: JSON.parse(file), endsAtMs };
}
