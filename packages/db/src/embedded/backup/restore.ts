import { chmod, chown, type FileHandle, mkdir, mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { VaultKey } from "@svc/core";
import type { Header } from "tar-stream";
import { type Account, dataFolderAt, prepareDataDir } from "../data-folder.ts";
import { createSettings, settingsFiles, syncFolder, unfinishedPrefix } from "../initialize.ts";
import { startEmbeddedPostgres } from "../postgres.ts";
import type { Backup } from "./back-up.ts";
import { BackupError, backupUnsealed, backupUnusable, folderInUse, foreignObjects, sealKeyMissing } from "./errors.ts";
import { type BackupManifest, endEntry, manifestEntry, readArchive, writeRestoreMarker } from "./files.ts";
import { findForeignObjects } from "./foreign-objects.ts";
import { type BackupSeal, bytesOf, readSeal, sealedBytes } from "./seal.ts";

/** Options of `restoreStore`. */
export type RestoreOptions = {
  readonly file: string;
  /** Data folder to restore into. It is created if it is missing. It must be empty, but may contain the vault key. */
  readonly dataDir: string;
  /** Vault keys. One of these keys must have sealed the backup. */
  readonly keys: readonly VaultKey[];
  /** True to accept a file without a seal. Default: false, so such a file is refused. */
  readonly allowsUnsealed?: boolean;
  /** Called with the number of bytes written up to now. */
  readonly onProgress?: (doneBytes: number) => void;
};

/**
 * Result of a restore. `version`: version of svc that made the backup. `endsAt`: the database contains everything committed before this
 * time. `isSealed`: true if the backup was sealed.
 */
export type RestoredBackup = { readonly version: string; readonly endsAt: string; readonly isSealed: boolean };

/**
 * Restores a backup into an empty data folder, completely or not at all, and returns the result. It checks the seal before it restores. It
 * creates PostgreSQL's settings again. It refuses a database with objects that svc did not create. A service that starts on the restored
 * database finds a marker, and sends nothing until the operator resumes it. Throws BackupError.
 */
export async function restoreStore(options: RestoreOptions): Promise<RestoredBackup> {
  await assertEmpty(options.dataDir);
  try {
    await using file = await open(options.file, "r");
    const content = await openContent(file, options);
    const { dataDir, account } = await prepareDataDir(resolve(options.dataDir));
    const place = await mkdtemp(join(dataDir, unfinishedPrefix));
    try {
      const restored = await build({ ...options, place, account }, content);
      await rename(join(place, "postgres"), join(dataDir, "postgres"));
      await syncFolder(dataDir);
      return { ...restored, isSealed: content.isSealed };
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  } catch (error) {
    if (error instanceof BackupError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw backupUnusable(
      options.file,
      code === "ENOENT" ? "there is no such file" : `it is damaged, cut off or not a backup (${message})`,
    );
  }
}

async function assertEmpty(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch(() => []);
  const [other] = names.filter((name) => name !== "vault-key");
  if (other !== undefined) throw folderInUse(dataDir, other);
}

type BackupContent = { readonly isSealed: boolean; readonly bytes: AsyncIterable<Buffer> };

/** Opens a backup file and returns its content. Checks the seal of all bytes with the vault key of the backup. Throws BackupError. */
async function openContent(
  file: FileHandle,
  { file: path, keys, allowsUnsealed = false }: RestoreOptions,
): Promise<BackupContent> {
  const seal = await readSeal(file);
  if (seal === undefined) {
    if (!allowsUnsealed) throw backupUnsealed(path);
    return { isSealed: false, bytes: bytesOf(file, (await file.stat()).size) };
  }
  const key = keyOfSeal(path, seal, keys);
  for await (const _ of sealedBytes(path, file, seal, key));
  return { isSealed: true, bytes: sealedBytes(path, file, seal, key) };
}

type RestorePlan = RestoreOptions & { readonly place: string; readonly account: Account };

/**
 * Builds the complete database from the backup in a separate folder. Returns the svc version that made the backup, and the time at which
 * the backup ended.
 */
async function build(options: RestorePlan, { bytes }: BackupContent): Promise<Omit<RestoredBackup, "isSealed">> {
  const { file, place, account } = options;
  const mode = account === undefined ? 0o700 : 0o711;
  const store = dataFolderAt(join(place, "postgres"));
  await chmod(place, mode);
  await mkdir(store.root, { mode });
  await chmod(store.root, mode);
  const restored = await unpack(options, bytes, store.root);
  await createSettings(store.cluster, { place, account });
  const { url, stop } = await startEmbeddedPostgres({ dataDir: place, durability: "full" });
  const foreign = await findForeignObjects(url).finally(stop);
  if (foreign.length > 0) throw foreignObjects(file, foreign);
  await writeRestoreMarker(store.root, restored.endsAt);
  await syncFolder(store.root);
  return restored;
}

async function unpack(
  { file, account, onProgress }: RestorePlan,
  bytes: AsyncIterable<Buffer>,
  target: string,
): Promise<Omit<RestoredBackup, "isSealed">> {
  let manifest: BackupManifest | undefined;
  let end: Backup | undefined;
  let doneBytes = 0;
  for await (const { header, content } of readArchive(bytes)) {
    if (manifest === undefined) {
      manifest = readManifest(file, header.name, await text(content));
    } else if (header.name === endEntry) {
      end = JSON.parse(await text(content));
    } else if (settingsFiles.some((name) => header.name === `data/${name}`)) {
      // Skips this entry: it has the settings from a backup of an older version. They are not needed, because a restore creates the
      // settings again.
      for await (const _ of content);
    } else {
      const isFolder = header.type === "directory";
      await write(join(target, checkedName(file, header)), isFolder, content, account);
      doneBytes += header.size ?? 0;
      onProgress?.(doneBytes);
    }
  }
  if (manifest === undefined || end === undefined) throw backupUnusable(file, "it is cut off");
  return { version: manifest.version, endsAt: end.endsAt };
}

function readManifest(file: string, name: string, content: string): BackupManifest {
  if (name !== manifestEntry) throw backupUnusable(file, "it is not a backup of svc");
  const manifest: BackupManifest = JSON.parse(content);
  const machine = `${process.platform}-${process.arch}`;
  if (manifest.format !== 1) throw backupUnusable(file, `a later version, ${manifest.version}, made it`);
  if (manifest.machine !== machine) {
    throw backupUnusable(file, `it comes from a machine of kind ${manifest.machine}, and this one is ${machine}`);
  }
  return manifest;
}

// Matches the content of a cluster, without the files that control its server: settings, signals and access lists do not match.
const clusterFolder =
  "base|global|pg_commit_ts|pg_dynshmem|pg_logical|pg_multixact|pg_notify|pg_replslot|pg_serial|pg_snapshots|pg_stat|pg_stat_tmp|pg_subtrans|pg_tblspc|pg_twophase|pg_wal|pg_xact";
const clusterFile =
  /^data\/(?:PG_VERSION|backup_label|pg_wal\/[0-9A-F]{24}|(?:base|global|pg_commit_ts|pg_logical|pg_multixact|pg_stat|pg_twophase|pg_xact)(?:\/[\w-][\w.-]*)+)$/;
const clusterPath = new RegExp(`^data/(?:${clusterFolder})(?:/[\\w-][\\w.-]*)*/?$`);

/**
 * Returns the name of a backup file's entry if the entry is safe to write. Throws BackupError if the entry would be written outside the
 * data folder or into the folder's settings. A manipulated backup file could contain such an entry.
 */
function checkedName(file: string, { name, type }: Header): string {
  const isOfStore =
    type === "directory" ? clusterPath.test(name) : type === "file" && (name === "password" || clusterFile.test(name));
  if (isOfStore) return name;
  throw backupUnusable(file, `it contains ${JSON.stringify(name)}, a ${type}, which a data folder does not have`);
}

async function write(path: string, isFolder: boolean, content: AsyncIterable<Buffer>, account: Account): Promise<void> {
  // The password file belongs to the service's account, not to the account that runs PostgreSQL.
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

/** Returns the vault key with which a backup was sealed (signed against changes). Throws BackupError if this key is missing. */
function keyOfSeal(path: string, { keyId }: BackupSeal, keys: readonly VaultKey[]): VaultKey {
  const key = keys.find(({ id }) => id === keyId);
  if (key === undefined)
    throw sealKeyMissing(
      path,
      keyId,
      keys.map(({ id }) => id),
    );
  return key;
}
