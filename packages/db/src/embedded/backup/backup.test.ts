import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTestDataDir } from "@svc/testing/data-dir";
import { createStoredDataDir } from "@svc/testing/stored-data-dir";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../connect.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../postgres.ts";
import { backUpStore } from "./back-up.ts";
import { readRestoreMarker } from "./files.ts";
import { restoreStore } from "./restore.ts";

const key = { id: "k1", secret: Buffer.alloc(32, 1) };
let server: EmbeddedPostgres;
let folder: string;
let backup: string;
/** Number of commits that the server acknowledged before the backup ended. */
let acknowledged = 0;

beforeAll(async () => {
  folder = await createTestDataDir();
  backup = join(folder, "store.backup");
  server = await startEmbeddedPostgres({ dataDir: await createStoredDataDir(), durability: "full" });
  const db = openDatabase({ url: server.url });
  await db.sql`create table written (n int4 primary key, text text)`;
  let isWriting = true;
  const times: number[] = [];
  const writing = (async () => {
    for (let n = 1; isWriting; n++) {
      await db.sql`insert into written values (${n}, ${"x".repeat(500)})`;
      times.push(Date.now());
      // Makes PostgreSQL move the table to other files while the backup copies files.
      if (n % 50 === 0) await db.sql`vacuum full written`;
    }
  })();
  const seen: number[] = [];
  const { readBytes, endsAt } = await backUpStore({
    ...{ dataDir: server.dataDir, file: backup, version: "1.2.3", key },
    onProgress: (done, total) => seen.push(done / total),
  });
  isWriting = false;
  await writing;
  await db.close();
  acknowledged = times.filter((time) => time < Date.parse(endsAt)).length;
  expect(readBytes).toBeGreaterThan(10_000_000);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
}, 60_000);

afterAll(async () => {
  await server.stop();
  for (const dir of [server.dataDir, folder]) await rm(dir, { recursive: true, force: true });
});

async function emptyDir(): Promise<string> {
  const dir = await createTestDataDir();
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return join(dir, "restored");
}

test("what was committed before the end of a backup is in it, of a server that wrote meanwhile", async () => {
  const dataDir = await emptyDir();
  // The data folder may already contain a vault key, because a restore must accept such a folder.
  await mkdir(dataDir, { mode: 0o711 });
  await writeFile(join(dataDir, "vault-key"), "k");
  const { version, endsAt } = await restoreStore({ file: backup, dataDir, keys: [key] });
  expect(version).toBe("1.2.3");
  expect((await readdir(dataDir)).sort()).toEqual(["postgres", "vault-key"]);
  expect(await readRestoreMarker(dataDir)).toEqual({ id: expect.stringMatching(/^[\w-]{43}$/), endsAt });
  expect(await readRestoreMarker(server.dataDir)).toBeUndefined();
  const restored = await startEmbeddedPostgres({ dataDir, durability: "full" });
  onTestFinished(() => restored.stop());
  const { sql, close } = openDatabase({ url: restored.url });
  const [row] = await sql`select count(*)::int4 as count, max(n) as last from written`;
  const [schema] = await sql`select count(*)::int4 as count from deliveries`;
  await close();
  expect(acknowledged).toBeGreaterThan(50);
  expect(row?.["last"]).toBe(row?.["count"]);
  expect(row?.["count"]).toBeGreaterThanOrEqual(acknowledged);
  expect(schema).toEqual({ count: 0 });
});

test("a backup is readable by its owner alone, and leaves nothing else in its folder nor in the server", async () => {
  expect((await stat(backup)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(["store.backup"]);
  const { sql, close } = openDatabase({ url: server.url });
  expect(await sql`select slot_name from pg_replication_slots`).toEqual([]);
  await close();
});

test("a file that exists is not written over", async () => {
  const file = join(folder, "notes");
  await writeFile(file, "mine");
  await expect(backUpStore({ dataDir: server.dataDir, file, version: "1", key })).rejects.toThrow("exists already");
  expect(await readFile(file, "utf8")).toBe("mine");
  await rm(file);
});

test("a backup that is given up leaves nothing", async () => {
  const given = new AbortController();
  const taken = backUpStore({
    ...{ dataDir: server.dataDir, file: join(folder, "given-up"), version: "1", key, signal: given.signal },
    onProgress: () => given.abort(),
  });
  await expect(taken).rejects.toThrow("aborted");
  expect(await readdir(folder)).toEqual(["store.backup"]);
});

test("a folder without a store is named", async () => {
  const dataDir = await emptyDir();
  await expect(backUpStore({ dataDir, file: join(folder, "none"), version: "1", key })).rejects.toThrow(
    `${dataDir} holds no embedded database`,
  );
});

test("a folder in use is refused", async () => {
  await expect(restoreStore({ file: backup, dataDir: server.dataDir, keys: [key] })).rejects.toThrow(
    "is not empty, it contains postgres",
  );
});

test("what is cut off, damaged or no backup is refused, and nothing is left of it", async () => {
  const { size } = await stat(backup);
  const damaged = async (spoil: (file: string) => Promise<void>) => {
    const file = join(folder, "damaged");
    await copyFile(backup, file);
    await spoil(file);
    const dataDir = await emptyDir();
    await expect(restoreStore({ file, dataDir, keys: [key] })).rejects.toThrow(`${file} cannot be restored: `);
    expect(existsSync(dataDir)).toBe(false);
    await rm(file);
  };
  await damaged((file) => truncate(file, Math.floor(size / 8)));
  await damaged((file) => truncate(file, 0));
  await damaged((file) => writeFile(file, "no backup"));
  await damaged(async (file) => {
    const bytes = await readFile(file);
    const at = Math.floor(size / 8);
    bytes[at] = (bytes[at] ?? 0) ^ 0xff;
    await writeFile(file, bytes);
  });
  await expect(restoreStore({ file: join(folder, "away"), dataDir: await emptyDir(), keys: [key] })).rejects.toThrow(
    "there is no such file",
  );
});
