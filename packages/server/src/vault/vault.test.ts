import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createId, createSealer, generateVaultKey, parseVaultKeys, systemClock, type VaultKey } from "@svc/core";
import { type Database, openDatabase } from "@svc/db/connect";
import { createProject } from "@svc/db/projects/repo";
import { findVaultRotation } from "@svc/db/vault/rotations";
import { bundled } from "@svc/testing/bundled";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createLogger } from "../logger.ts";
import { checkVault } from "../start/vault-check.ts";
import type { VaultOptions } from "./context.ts";
import { openVault, type Vault } from "./open-vault.ts";
import { plantSealedRows, readPlanted } from "./test-sealed-rows.ts";

const databases: { readonly url: string; drop(): Promise<void> }[] = [];
afterAll(() => Promise.all(databases.map(({ drop }) => drop())));

const silent = await createLogger({ level: "silent", destination: { write: () => {} } });
const quick = { pollMs: 3_600_000, graceMs: 0, pageRows: 50 };
const [oldKey, newKey] = [generateVaultKey(), generateVaultKey()].flatMap((text) => parseVaultKeys(text)) as [
  VaultKey,
  VaultKey,
];

async function createStore(): Promise<Database> {
  const database = await createTestDatabase();
  databases.push(database);
  await checkVault(database.db, createSealer([oldKey]));
  return database.db;
}

async function open(db: Database, keys: readonly VaultKey[], options: Partial<VaultOptions> = {}): Promise<Vault> {
  const vault = await openVault({
    ...{ db, clock: systemClock, logger: silent, isRotating: false, limits: quick },
    nodeId: createId("node", systemClock.now()),
    keys: { read: async () => keys },
    ...options,
  });
  onTestFinished(() => vault.stop());
  return vault;
}

async function finish(vault: Vault, others: readonly Vault[] = []): Promise<void> {
  for (let steps = 0; ; steps++) {
    if (steps > 1_000) throw new Error("the rotation does not end");
    await vault.step();
    for (const other of others) await other.sync();
    if ((await state(vault)) === "done") return;
  }
}

const stores = new WeakMap<Vault, Database>();
const state = async (vault: Vault) => (await findVaultRotation(stores.get(vault) as Database))?.state;

async function openOn(db: Database, keys: readonly VaultKey[], options: Partial<VaultOptions> = {}): Promise<Vault> {
  const vault = await open(db, keys, options);
  stores.set(vault, db);
  return vault;
}

const sealText = (seal: (plaintext: Uint8Array, context: string) => Buffer) => (text: string, context: string) =>
  seal(Buffer.from(text), context);

test("a rotation seals every declared column again, of earlier versions too; then the old vault key opens nothing", async () => {
  const db = await createStore();
  const { id: projectId } = await createProject(db, "rotated", systemClock.now());
  const before = createSealer([oldKey]);
  const vault = await openOn(db, [newKey, oldKey]);
  const other = await openOn(db, [oldKey, newKey]);
  await vault.sealer.ready([projectId]);
  await other.sealer.ready([projectId]);
  const planted = [
    ...(await plantSealedRows(db, { projectId, from: 1, count: 3, seal: sealText(before.seal) })),
    ...(await plantSealedRows(db, { projectId, from: 4, count: 2, seal: sealText(vault.sealer.seal) })),
  ];
  const was = await readPlanted(db, planted);
  expect(was.size).toBe(planted.length);
  for (const { context, text } of planted) {
    expect(other.sealer.open(was.get(context) as Buffer, context).toString()).toBe(text);
  }
  await vault.rotate();
  await finish(vault, [other]);
  const rotation = await findVaultRotation(db);
  expect(rotation).toMatchObject({ problem: "", toKeyId: newKey.id, fromKeyIds: [oldKey.id] });
  // All inserted values were encrypted again, also data that were derived from the old key.
  expect(rotation?.resealed).toBeGreaterThanOrEqual(planted.length);
  const is = await readPlanted(db, planted);
  await other.sync();
  const alone = await openOn(db, [newKey]);
  for (const { context, text } of planted) {
    const value = is.get(context) as Buffer;
    expect(value.equals(was.get(context) as Buffer)).toBe(false);
    for (const { sealer } of [vault, other, alone]) expect(sealer.open(value, context).toString()).toBe(text);
    // Neither the vault keys alone nor an earlier data key can decrypt the value.
    expect(() => createSealer([oldKey, newKey]).open(value, context)).toThrow();
    const [old] = [was.get(context) as Buffer];
    for (const { sealer } of [vault, other, alone]) expect(() => sealer.open(old, context)).toThrow();
  }
  await expect(checkVault(db, createSealer([oldKey]))).rejects.toThrow("SVC_VAULT_KEY");
  await expect(vault.rotate()).rejects.toMatchObject({ details: [{ reason: "VAULT_KEY_UNCHANGED" }] });
  const back = await openOn(db, [oldKey, newKey]);
  await expect(back.rotate()).rejects.toMatchObject({ details: [{ reason: "VAULT_KEY_RETIRED" }] });
});

test("values sealed during a rotation open on every node, and use the new keys at its end", async () => {
  const db = await createStore();
  const { id: projectId } = await createProject(db, "busy", systemClock.now());
  const vault = await openOn(db, [newKey, oldKey]);
  const other = await openOn(db, [newKey, oldKey]);
  let [from, planted] = [
    1,
    await plantSealedRows(db, { projectId, from: 1, count: 1, seal: sealText(vault.sealer.seal) }),
  ];
  await vault.rotate();
  for (let steps = 0; (await state(vault)) !== "done"; steps++) {
    await vault.step();
    const [sealing, reading] = steps % 2 === 0 ? [vault, other] : [other, vault];
    if (steps % 3 === 0 && from < 12) {
      from++;
      await sealing.sealer.ready([projectId]);
      await reading.sealer.ready([projectId]);
      const more = await plantSealedRows(db, { projectId, from, count: 1, seal: sealText(sealing.sealer.seal) });
      const values = await readPlanted(db, [...planted, ...more]);
      for (const { context, text } of more) {
        expect(reading.sealer.open(values.get(context) as Buffer, context).toString()).toBe(text);
      }
      planted = [...planted, ...more];
    }
    await other.sync();
  }
  expect(from).toBeGreaterThan(5);
  const alone = await openOn(db, [newKey]);
  const values = await readPlanted(db, planted);
  for (const { context, text } of planted) {
    expect(alone.sealer.open(values.get(context) as Buffer, context).toString()).toBe(text);
  }
});

test("a rotation waits for a node that has not read the new keys, and is refused while one lacks the vault key", async () => {
  const db = await createStore();
  const vault = await openOn(db, [newKey, oldKey]);
  const without = await openOn(db, [oldKey]);
  await expect(vault.rotate()).rejects.toMatchObject({ details: [{ reason: "VAULT_KEY_MISSING" }] });
  await without.stop();
  const slow = await openOn(db, [oldKey, newKey]);
  const begun = await vault.rotate();
  expect(await vault.rotate()).toMatchObject({ number: begun.number });
  for (let steps = 0; steps < 20; steps++) await vault.step();
  expect(await findVaultRotation(db)).toMatchObject({
    state: "distributing",
    problem: expect.stringContaining("node_"),
  });
  await slow.sync();
  await finish(vault, [slow]);
  expect(await findVaultRotation(db)).toMatchObject({ state: "done", problem: "" });
});

test("a project's key is created once, and data sealed with a destroyed key cannot be opened anywhere", async () => {
  const db = await createStore();
  const pool = openDatabase({ url: databases.at(-1)?.url ?? "" });
  const vault = await openOn(db, [oldKey]);
  const other = await openOn(pool, [oldKey]);
  const { id } = await createProject(db, "one", systemClock.now());
  await Promise.all([vault.sealer.ready([id]), other.sealer.ready([id])]);
  const value = vault.sealer.seal(Buffer.from("x"), `${id}/secrets/a`);
  expect(other.sealer.open(value, `${id}/secrets/a`).toString()).toBe("x");
  expect(other.sealer.entityDigest(id, "ada")).toEqual(vault.sealer.entityDigest(id, "ada"));
  expect(() => vault.sealer.open(value, `${id}/secrets/b`)).toThrow("another place");
  await db.sql.unsafe("delete from data_keys where project_id is not null");
  await vault.sync();
  expect(() => vault.sealer.open(value, `${id}/secrets/a`)).toThrow("not in the database");
  await other.stop();
  await pool.close();
});

const fixture = fileURLToPath(new URL("rotation.fixture.ts", import.meta.url));

for (const [point, nth] of [
  ["keys-made", 1],
  ["page-written", 5],
  ["before-done", 1],
] as const) {
  test(`a rotation whose node is killed at ${point}, while others seal and open, goes on at another and loses nothing`, async () => {
    const db = await createStore();
    const { id: projectId } = await createProject(db, "killed", systemClock.now());
    const limits = { ...quick, goneMs: 0, leaseMs: 0 };
    const vault = await openOn(db, [newKey, oldKey], { limits });
    await vault.sealer.ready([projectId]);
    const planted = await plantSealedRows(db, { projectId, from: 1, count: 2, seal: sealText(vault.sealer.seal) });
    await vault.rotate();
    const given = { databaseUrl: databases.at(-1)?.url, keys: [newKey, oldKey].map(textOf), point, nth };
    const child = fork(await bundled(fixture), [JSON.stringify(given)], { execArgv: [], env: {} });
    const ended = once(child, "exit");
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    for (let from = 3; !isOver; from++) {
      await vault.sync();
      if (from > 6) continue;
      planted.push(...(await plantSealedRows(db, { projectId, from, count: 1, seal: sealText(vault.sealer.seal) })));
    }
    expect(await ended).toEqual([null, "SIGKILL"]);
    await vault.sync();
    const values = await readPlanted(db, planted);
    for (const { context, text } of planted) {
      expect(vault.sealer.open(values.get(context) as Buffer, context).toString()).toBe(text);
    }
    await finish(vault);
    const alone = await openOn(db, [newKey]);
    const after = await readPlanted(db, planted);
    for (const { context, text } of planted) {
      expect(alone.sealer.open(after.get(context) as Buffer, context).toString()).toBe(text);
      expect(() => createSealer([oldKey]).open(after.get(context) as Buffer, context)).toThrow();
    }
    await expect(checkVault(db, createSealer([oldKey]))).rejects.toThrow("SVC_VAULT_KEY");
    expect(await db.sql.unsafe("select 1 from data_keys where use = 'seal' and project_id is not null")).toHaveLength(
      1,
    );
  });
}

function textOf({ id, secret }: VaultKey): string {
  return `${id}:${secret.toString("base64")}`;
}
