import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { appendFile, copyFile, mkdir, open, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import { createTestDataDir } from "@svc/testing/data-dir";
import { createStoredDataDir } from "@svc/testing/stored-data-dir";
import { type Header, pack } from "tar-stream";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../connect.ts";
import { startEmbeddedPostgres } from "../postgres.ts";
import { backUpStore } from "./back-up.ts";
import { endEntry, readArchive } from "./files.ts";
import { type RestoreOptions, restoreStore } from "./restore.ts";
import { readSeal } from "./seal.ts";

const key = { id: "k1", secret: Buffer.alloc(32, 1) };
let folder: string;
let backup: string;

beforeAll(async () => {
  folder = await createTestDataDir();
  backup = join(folder, "store.backup");
  await takeBackup(backup);
  entries = await readEntries();
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs `sql` on a new database, and then takes a backup of it. */
async function takeBackup(file: string, sql?: string): Promise<readonly string[]> {
  const dataDir = await createStoredDataDir();
  const server = await startEmbeddedPostgres({ dataDir, durability: "full" });
  if (sql !== undefined) {
    const db = openDatabase({ url: server.url });
    await db.sql.unsafe(sql);
    await db.close();
  }
  const { foreign } = await backUpStore({ dataDir, file, version: "1", key });
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
  return foreign;
}

async function emptyDir(): Promise<string> {
  const dir = await createTestDataDir();
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return join(dir, "restored");
}

/** Tries to restore a file that must be refused. Checks that nothing was written, and returns the error message. */
async function refusalOf(file: string, options: Partial<RestoreOptions> = {}): Promise<string> {
  const dataDir = await emptyDir();
  const error = await restoreStore({ file, dataDir, keys: [key], ...options }).then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toHaveProperty("name", "BackupError");
  expect(existsSync(dataDir) ? await readdir(dataDir) : []).toEqual([]);
  return (error as Error).message;
}

type Entry = { readonly header: Partial<Header> & { readonly name: string }; readonly content: Buffer };

/** Entries of the backup file that each test changes. */
let entries: Entry[];

async function readEntries(): Promise<Entry[]> {
  const read: Entry[] = [];
  for await (const { header, content } of readArchive(createReadStream(backup))) {
    const { name, type } = header;
    read.push({ header: { name, type }, content: await buffer(content) });
  }
  return read;
}

/** Writes the entries of the backup into a new file without a seal. A person without the vault key can do the same. */
async function repack(file: string, change: (entries: Entry[]) => Entry[]): Promise<void> {
  const archive = pack();
  const written = pipeline(Readable.from(archive), createZstdCompress(), createWriteStream(file));
  for (const { header, content } of change(entries)) {
    await new Promise((resolve) => archive.entry(header, content, resolve));
  }
  archive.finalize();
  await written;
}

/** Adds a file after the first entry, the manifest. */
const withFile = (name: string, text: string) => (all: Entry[]) => [
  ...all.slice(0, 1),
  { header: { name }, content: Buffer.from(text) },
  ...all.slice(1).filter(({ header }) => header.name !== name),
];

test("every change of a backup is refused before anything is written", async () => {
  const { size } = await stat(backup);
  const changes: Record<string, (file: string) => Promise<void>> = {
    "a byte at its beginning": (file) => flip(file, 0),
    "a byte of its middle": (file) => flip(file, Math.floor(size / 2)),
    "a byte of its code": (file) => flip(file, size - 1),
    "bytes behind it": (file) => appendFile(file, "x"),
    "an end cut off": (file) => truncate(file, size - 1),
    "half of it": (file) => truncate(file, Math.floor(size / 2)),
    "another archive before its seal": async (file) => {
      const seal = (await readFile(backup)).subarray(-88);
      await repack(file, withFile("data/standby.signal", ""));
      await appendFile(file, seal);
    },
    "packed again without a seal": (file) => repack(file, (all) => all),
    "its parts in another order": async (file) => {
      const bytes = await readFile(backup);
      const middle = Math.floor(size / 2);
      await writeFile(
        file,
        Buffer.concat([bytes.subarray(middle, -88), bytes.subarray(0, middle), bytes.subarray(-88)]),
      );
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    const file = join(folder, "changed");
    await copyFile(backup, file);
    await change(file);
    expect(await refusalOf(file), what).toMatch(/has no seal|its seal does not match its content/);
    await rm(file);
  }
});

async function flip(file: string, at: number): Promise<void> {
  await using handle = await open(file, "r+");
  const { buffer: bytes } = await handle.read(Buffer.alloc(1), 0, 1, at);
  await handle.write(Buffer.from([(bytes[0] ?? 0) ^ 1]), 0, 1, at);
}

test("a backup that another key sealed is refused, and says which key is needed", async () => {
  expect(await refusalOf(backup, { keys: [{ id: "k2", secret: Buffer.alloc(32, 1) }] })).toContain(
    'it is sealed with the vault key "k1", and the vault keys given are k2',
  );
  expect(await refusalOf(backup, { keys: [] })).toContain("no vault key is given");
  const other = { id: "k1", secret: Buffer.alloc(32, 2) };
  expect(await refusalOf(backup, { keys: [other] })).toContain("its seal does not match its content");
  // A backup with a wrong seal is refused even if unsealed backups are allowed.
  expect(await refusalOf(backup, { keys: [other], allowsUnsealed: true })).toContain("its seal does not match");
});

test("the file is still a zstd archive: its seal is a frame that readers skip", async () => {
  await using file = await open(backup, "r");
  expect(await readSeal(file)).toMatchObject({ keyId: "k1", coveredBytes: (await stat(backup)).size - 88 });
  const names: string[] = [];
  for await (const { header, content } of readArchive(createReadStream(backup))) {
    names.push(header.name);
    for await (const _ of content);
  }
  expect(names.at(-1)).toBe(endEntry);
  expect(names.filter((name) => /\.(?:conf|signal)$/.test(name))).toEqual([]);
});

test("a file without a seal is restored only on request, with new settings", async () => {
  const file = join(folder, "unsealed");
  const planted = "shared_preload_libraries = 'planted'";
  await repack(file, (all) =>
    ["postgresql.conf", "postgresql.auto.conf", "pg_hba.conf", "pg_ident.conf"].reduce(
      (changed, name) => withFile(`data/${name}`, planted)(changed),
      all,
    ),
  );
  expect(await refusalOf(file)).toMatch(/has no seal: .* pass --unsealed. The author of the file/);
  const dataDir = await emptyDir();
  expect(await restoreStore({ file, dataDir, keys: [key], allowsUnsealed: true })).toMatchObject({ isSealed: false });
  const cluster = join(dataDir, "postgres/data");
  const fresh = await emptyDir();
  await mkdir(dirname(fresh), { recursive: true });
  const other = await startEmbeddedPostgres({ dataDir: fresh, durability: "full" });
  await other.stop();
  for (const name of ["postgresql.conf", "postgresql.auto.conf", "pg_hba.conf", "pg_ident.conf"]) {
    expect(await readFile(join(cluster, name), "utf8"), name).toBe(
      await readFile(join(fresh, "postgres/data", name), "utf8"),
    );
  }
  const restored = await startEmbeddedPostgres({ dataDir, durability: "full" });
  onTestFinished(() => restored.stop());
  await rm(file);
});

test("signals, access lists, links and foreign files are refused anywhere in the archive", async () => {
  const names = [
    "data/recovery.signal",
    "data/standby.signal",
    "data/tablespace_map",
    "data/postmaster.pid",
    "data/postmaster.opts",
    "data/conf.d/planted.conf",
    "data/extra.conf",
    "data/pg_tblspc/16999/x",
    "data/pg_replslot/planted/state",
    "data/pg_wal/planted.so",
    "data/base/../../../planted",
    "data/server.key",
    "restored.json",
    "planted",
  ];
  for (const name of names) {
    const file = join(folder, "planted");
    // The restore refuses the backup at this entry, and does not read the entries that follow.
    await repack(file, (all) => withFile(name, "")(all).slice(0, 2));
    expect(await refusalOf(file, { allowsUnsealed: true }), name).toContain("which a data folder does not have");
    await rm(file);
  }
  const linked = join(folder, "linked");
  await repack(linked, (all) => [
    ...all.slice(0, 1),
    { header: { name: "data/base", type: "symlink", linkname: "/etc" }, content: Buffer.alloc(0) },
  ]);
  expect(await refusalOf(linked, { allowsUnsealed: true })).toContain("a symlink, which a data folder does not have");
});

const noted = "language plpgsql as $$ begin perform pg_notify('planted', ''); return; end $$";

test("a database that would run objects svc did not create is reported by the backup, and refused", async () => {
  const file = join(folder, "planting");
  const foreign = await takeBackup(
    file,
    `create function planted() returns event_trigger ${noted};
     create event trigger planted_at_login on login execute function planted();
     create function planted_rows() returns trigger language plpgsql as $$ begin return new; end $$;
     create trigger planted_rows before insert on projects for each row execute function planted_rows();
     create trigger planted_builtin before update on projects for each row execute function suppress_redundant_updates_trigger();
     create rule planted_rule as on delete to projects do also select 1;
     create or replace function refuse_audit_change() returns trigger language plpgsql as $$ begin return new; end $$;
     create role planted_role superuser;
     alter role svc set search_path to public;`,
  );
  const names = [
    "settings of the role svc",
    "the event trigger planted_at_login",
    "the function planted()",
    "the function planted_rows()",
    "the function refuse_audit_change()",
    "the rule planted_rule on projects",
    "the superuser planted_role",
    "the trigger planted_builtin on projects",
  ];
  expect(foreign).toEqual(names);
  expect(await refusalOf(file)).toContain(`its database contains ${names.join(", ")}, which svc did not create`);
}, 60_000);
