import { type Backup, type BackupOptions, backUpStore } from "@svc/db";
import { version } from "../version.ts";

/** Copies the embedded store of a data folder into one file, as `backUpStore` does, and notes this version in it. */
export function backUp(options: Omit<BackupOptions, "version">): Promise<Backup> {
  return backUpStore({ ...options, version });
}
