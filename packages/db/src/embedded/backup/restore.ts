import { createReadStream } from "node:fs";
import { chmod, chown, mkdir, mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { Account } from "../account.ts";
import { prepareDataDir } from "../data-folder.ts";
import { syncFolder, unfinishedPrefix } from "../initialize.ts";
import { type BackupManifest, endEntry, manifestEntry, readArchive } from "./archive.ts";
import type { Backup } from "./back-up.ts";
import { BackupError, backupUnusable, folderInUse } from "./errors.ts";
import { writeRestoreMarker } from "./marker.ts";

/** Options of `restoreStore`. */
export type RestoreOptions = {
  readonly file: string;
  /** Made when missing. It must be empty, but for the vault key. */
  readonly dataDir: string;
  /** Bytes written so far. */
  readonly onProgress?: (doneBytes: number) => void;
};

/** Which version took the backup, and up to when: all that was committed before `endsAt` is there. */
export type Restored = { readonly version: string; readonly endsAt: string };

/**
 * Puts a backup into an empty data folder, whole or not at all. The vault key that the store was sealed with must be beside it, or in
 * SVC_VAULT_KEY, before a service starts there; what starts finds a marker, and holds what it would send. Throws BackupError.
 */
export async function restoreStore(options: RestoreOptions): Promise<Restored> {
  await assertEmpty(options.dataDir);
  const { dataDir, account } = await prepareDataDir(resolve(options.dataDir));
  const unfinished = await mkdtemp(join(dataDir, unfinishedPrefix));
  try {
    const restored = await unpack(options, unfinished, account);
    await writeRestoreMarker(unfinished, restored.endsAt);
    await chmod(unfinished, account === undefined ? 0o700 : 0o711);
    await syncFolder(unfinished);
    await rename(unfinished, join(dataDir, "postgres"));
    await syncFolder(dataDir);
    return restored;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (error instanceof BackupError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw backupUnusable(
      options.file,
      code === "ENOENT" ? "there is no such file" : `it is damaged, cut off or no backup (${message})`,
    );
  }
}

async function assertEmpty(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch(() => []);
  const [other] = names.filter((name) => name !== "vault-key");
  if (other !== undefined) throw folderInUse(dataDir, other);
}

async function unpack({ file, onProgress }: RestoreOptions, target: string, account: Account): Promise<Restored> {
  let manifest: BackupManifest | undefined;
  let end: Backup | undefined;
  let doneBytes = 0;
  for await (const { header, content } of readArchive(createReadStream(file))) {
    if (manifest === undefined) {
      manifest = readManifest(file, header.name, await text(content));
    } else if (header.name === endEntry) {
      end = JSON.parse(await text(content));
    } else {
      await write(join(target, checkedName(file, header.name)), header.type === "directory", content, account);
      doneBytes += header.size ?? 0;
      onProgress?.(doneBytes);
    }
  }
  if (manifest === undefined || end === undefined) throw backupUnusable(file, "it is cut off");
  return { version: manifest.version, endsAt: end.endsAt };
}

function readManifest(file: string, name: string, content: string): BackupManifest {
  if (name !== manifestEntry) throw backupUnusable(file, "it is no backup of svc");
  const manifest: BackupManifest = JSON.parse(content);
  const machine = `${process.platform}-${process.arch}`;
  if (manifest.format !== 1) throw backupUnusable(file, `a later version, ${manifest.version}, took it`);
  if (manifest.machine !== machine) {
    throw backupUnusable(file, `it is of a machine of kind ${manifest.machine}, and this is ${machine}`);
  }
  return manifest;
}

/** Nothing is written outside of the folder, whoever made the file. */
function checkedName(file: string, name: string): string {
  if (name === "password" || (/^data(?:\/[\w.-]+)+\/?$/.test(name) && !name.split("/").includes(".."))) return name;
  throw backupUnusable(file, `it holds ${JSON.stringify(name)}, which is not of a store`);
}

async function write(path: string, isFolder: boolean, content: AsyncIterable<Buffer>, account: Account): Promise<void> {
  // The password stays the service's own.
  const owner = path.endsWith("/password") ? undefined : account;
  if (isFolder) await mkdirAs(path, owner);
  else {
    await mkdirAs(dirname(path), owner);
    await using file = await open(path, "wx", 0o600);
    for await (const chunk of content) await file.writeFile(chunk);
    await file.sync();
    if (owner !== undefined) await file.chown(owner.uid, owner.gid);
    return;
  }
  for await (const _ of content);
}

async function mkdirAs(path: string, owner: Account): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined || owner === undefined) return;
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) {
    await chown(folder, owner.uid, owner.gid);
  }
}
