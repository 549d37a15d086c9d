import { open, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateToken } from "@svc/core";
import { dataFolderAt } from "../data-folder.ts";

/** A folder or file of a cluster, by its path below it. */
type ClusterPath = { readonly path: string; readonly isFolder: boolean };

/** Folders whose content PostgreSQL makes anew, or, the log, is copied last. */
const emptied = new Set([
  "pg_wal",
  "pg_replslot",
  "pg_dynshmem",
  "pg_notify",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
]);

/** What belongs to the running server alone, and its settings, which a restore makes anew; pg_control is copied last. */
const skipped =
  /^(?:[\w.-]+\.(?:conf|signal)|postmaster\.(?:pid|opts)|backup_label|tablespace_map|global\/pg_control|current_logfiles.*|\.s\.PGSQL\..*)$|(?:^|\/)(?:pgsql_tmp|pg_internal\.init)/;

/** What a backup copies of a cluster whose server runs, folders before what is in them: all but its log and what is made anew. */
export async function* clusterPaths(cluster: string, below = ""): AsyncGenerator<ClusterPath> {
  for (const entry of await readdir(join(cluster, below), { withFileTypes: true })) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (skipped.test(path)) continue;
    if (entry.isFile()) yield { path, isFolder: false };
    if (!entry.isDirectory()) continue;
    yield { path, isFolder: true };
    if (!emptied.has(path)) yield* clusterPaths(cluster, path);
  }
}

/** The size of a file now and its content; undefined when it was removed meanwhile, which the log tells, too. */
export async function readWhole(
  file: string,
): Promise<{ size: number; chunks: () => AsyncGenerator<Buffer> } | undefined> {
  const handle = await open(file, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  const { size } = await handle.stat();
  return {
    size,
    async *chunks() {
      await using _ = handle;
      for (let at = 0; at < size; ) {
        const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(262_144), 0, 262_144, at);
        if (bytesRead === 0) return;
        at += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    },
  };
}

/** Beside a restored store: by it the first start knows that it was restored. `id` differs with every restore. */
type RestoreMarker = {
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
