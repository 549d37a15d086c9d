import { createId, createKeyring, generateVaultKey, type ProjectId, parseVaultKeys, systemClock } from "@svc/core";
import { deploymentProject, listAuditEvents } from "@svc/db/audit/list";
import { type Database, openDatabase } from "@svc/db/connect";
import { createProject } from "@svc/db/projects/repo";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createLogger } from "../logger.ts";
import { checkVault } from "../start/vault-check.ts";
import { openVault, type Vault } from "../vault/open-vault.ts";
import { createAuditLog } from "./log.ts";
import { placeEvents } from "./place-events.ts";
import { verifyPart, verifyStart } from "./verify.ts";

// Tests with the audit log of a separate database. Rows are changed as an attacker would do it who has SQL access and does not have the
// vault key.

const drops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const drop of drops.reverse()) await drop();
});

let db: Database;
let url: string;
let vault: Vault;
let projectId: ProjectId;
const keys = parseVaultKeys(generateVaultKey());

beforeAll(async () => {
  const database = await createTestDatabase();
  drops.push(() => database.drop());
  ({ db, url } = database);
  await checkVault(
    db,
    createKeyring(keys, () => undefined),
  );
  const logger = await createLogger({ level: "silent", destination: { write: () => {} } });
  const nodeId = createId("node", systemClock.now());
  vault = await openVault({
    db,
    clock: systemClock,
    logger,
    nodeId,
    keys: { read: async () => keys },
    isRotating: false,
  });
  drops.push(() => vault.stop());
});

beforeEach(async () => {
  for (const table of ["audit_events", "audit_chains"]) {
    await db.sql.unsafe(`alter table ${table} disable trigger user`);
    await db.sql.unsafe(`truncate ${table}`);
    await db.sql.unsafe(`alter table ${table} enable trigger user`);
  }
  await db.sql.unsafe("alter table audit_events enable trigger user");
  projectId = (await createProject(db, createId("aud", systemClock.now()), systemClock.now())).id;
  await vault.sealer.ready([projectId]);
  broken = new Set();
});

let broken = new Set<ProjectId>();
const place = () => placeEvents({ db, clock: systemClock, sealer: vault.sealer, broken, onBroken: () => {} });
const placeAll = async () => {
  while (await place());
};

/** Records actions and adds them to their chains. In the project's chain, the action at position `n` has the subject `thing <n>`. */
async function enter(count: number, owner: ProjectId | undefined = projectId): Promise<void> {
  const log = createAuditLog({
    db,
    clock: systemClock,
    sealer: vault.sealer,
    onError: (error) => {
      throw error;
    },
  });
  for (let n = 1; n <= count; n++) {
    const actor = { kind: "admin" } as const;
    const id = await log.enter({ actor, action: "Test.Do", projectId: owner, subject: `thing ${n}`, entityId: "ada" });
    await log.end(id, { outcome: "ok" });
  }
  await placeAll();
}

async function verify() {
  const faults: { kind: string; position: number; projectId: ProjectId; eventId: string }[] = [];
  const heads: { projectId: ProjectId; length: number; hash: Buffer }[] = [];
  let checked = 0;
  for (let at: typeof verifyStart | undefined = verifyStart; at !== undefined; ) {
    const part = await verifyPart({ db, sealer: vault.sealer }, at);
    faults.push(...part.faults);
    heads.push(...part.heads);
    checked += part.checked;
    at = part.next;
  }
  return { checked, heads, faults: faults.map(({ kind, position }) => `${kind} ${position}`) };
}

/** Changes rows as the owner of the tables, who can remove their triggers. */
const tamper = async (statement: string) => {
  await db.sql.unsafe("alter table audit_events disable trigger user");
  await db.sql.unsafe(statement);
};

test("an unchanged log verifies, also after more rows were added", async () => {
  await enter(3);
  expect(await verify()).toMatchObject({ checked: 4, faults: [] });
  await enter(2);
  const { checked, faults, heads } = await verify();
  // The deployment's chain has one row more, which records the creation of the project's chain.
  expect([checked, faults, heads.map(({ length }) => length)]).toEqual([6, [], [1, 5]]);
});

test.each<[what: string, statement: string, faults: string[]]>([
  ["says something else", "update audit_events set subject = 'other' where subject = 'thing 2'", ["changed 2"]],
  ["has another outcome", "update audit_events set outcome = 'ok ' where subject = 'thing 5'", ["changed 5"]],
  ["has another actor", "update audit_events set actor = 'service' where subject = 'thing 1'", ["changed 1"]],
  [
    "has an actor of a word that none has",
    "update audit_events set actor = 'nobody' where subject = 'thing 1'",
    ["changed 1"],
  ],
  [
    "is added before the first place",
    `insert into audit_events (id, project_id, at, actor, action, subject, outcome, position, mac, hash)
     select gen_random_uuid(), project_id, at, actor, action, 'forged', outcome, -1, mac, hash from audit_events where subject = 'thing 1'`,
    ["head 0"],
  ],
  ["has another entity", "update audit_events set about_digest = '\\x00' where subject = 'thing 3'", ["changed 3"]],
  ["has another hash", "update audit_events set hash = sha256(hash) where subject = 'thing 3'", ["changed 3"]],
  [
    "has another hash, the last",
    "update audit_events set hash = sha256(hash) where subject = 'thing 5'",
    ["changed 5"],
  ],
  ["is gone", "delete from audit_events where subject = 'thing 2'", ["removed 2"]],
  ["is gone with its neighbours", "delete from audit_events where subject in ('thing 2', 'thing 3')", ["removed 2"]],
  ["is gone, the first", "delete from audit_events where subject = 'thing 1'", ["removed 1"]],
  ["is gone, the last", "delete from audit_events where subject = 'thing 5'", ["removed 5"]],
  [
    "is gone, the last, and the end of the chain is that before it",
    `with gone as (delete from audit_events where subject = 'thing 5' returning project_id)
     update audit_chains c set length = 4, hash = (select hash from audit_events where subject = 'thing 4')
     from gone where c.project_id = gone.project_id`,
    ["head 0"],
  ],
  [
    "is gone, and those behind it moved up",
    `delete from audit_events where subject = 'thing 2';
     update audit_events set position = position - 1 where position = 3 and subject = 'thing 3';
     update audit_events set position = position - 1 where position = 4 and subject = 'thing 4';
     update audit_events set position = position - 1 where position = 5 and subject = 'thing 5'`,
    ["moved 2", "moved 3", "moved 4", "removed 5"],
  ],
  [
    "changed places with another",
    `update audit_events set position = 99 where subject = 'thing 2'; update audit_events set position = 2 where subject = 'thing 4';
     update audit_events set position = 4 where subject = 'thing 2'`,
    ["moved 2", "moved 4"],
  ],
  [
    "stands in another project's chain",
    `update audit_events set project_id = '${"0".repeat(8)}-0000-0000-0000-${"0".repeat(12)}', position = 2 where subject = 'thing 5'`,
    ["removed 5", "head 0"],
  ],
])("a row that %s is found, and only it", async (_what, statement, faults) => {
  await enter(5);
  await tamper(statement);
  const found = await verify();
  expect(found.faults).toEqual(faults);
});

test("a missing chain is found, with and without its rows", async () => {
  await enter(2);
  await tamper(`delete from audit_chains where project_id <> '${"0".repeat(8)}-0000-0000-0000-${"0".repeat(12)}'`);
  expect((await verify()).faults).toEqual(["head 0", "head 0"]);
  await tamper("delete from audit_events where action = 'Test.Do'");
  expect((await verify()).faults).toEqual(["head 0"]);
});

test("nothing is added to a chain with a changed end, and other chains continue", async () => {
  await enter(2);
  await tamper("update audit_chains set length = 1 where length = 2");
  const reasons: string[] = [];
  const checkPart = () =>
    placeEvents({
      db,
      clock: systemClock,
      sealer: vault.sealer,
      broken,
      onBroken: (id, why) => void reasons.push(`${id} ${why}`),
    });
  const log = createAuditLog({ db, clock: systemClock, sealer: vault.sealer, onError: () => {} });
  for (const owner of [projectId, undefined]) {
    const deed = {
      actor: { kind: "service" },
      action: "Test.Do",
      projectId: owner,
      subject: "late",
      entityId: "",
    } as const;
    await log.end(await log.enter(deed), { outcome: "ok" });
  }
  while (await checkPart());
  expect(reasons).toEqual([`${projectId} its end was changed`]);
  const late = await listAuditEvents(db, {}, { after: undefined, limit: 10 });
  const places = late.filter(({ subject }) => subject === "late").map((one) => [one.projectId, one.position]);
  expect(new Map(places as [ProjectId, number | null][])).toEqual(
    new Map([
      [projectId, null],
      [deploymentProject, 2],
    ]),
  );
  expect((await verify()).faults).toContain("head 0");
});

test("a placed row is not changed by mistake, and outcomes come before places", async () => {
  await enter(1);
  await expect(db.sql.unsafe("update audit_events set subject = 'x' where subject = 'thing 1'")).rejects.toThrow(
    "audit log",
  );
  await expect(db.sql.unsafe("delete from audit_events where subject = 'thing 1'")).rejects.toThrow("audit log");
  for (const tables of ["audit_events", "audit_chains", "projects, audit_events cascade"]) {
    await expect(db.sql.unsafe(`truncate ${tables}`), tables).rejects.toThrow("the audit log is not emptied");
  }
  const log = createAuditLog({ db, clock: systemClock, sealer: vault.sealer, onError: () => {} });
  const deed = { actor: { kind: "service" }, action: "Test.Wait", projectId, subject: "", entityId: "" } as const;
  const id = await log.enter(deed);
  await placeAll();
  const read = async () => (await listAuditEvents(db, { action: "Test.Wait" }, { after: undefined, limit: 1 }))[0];
  expect(await read()).toMatchObject({ id, outcome: null, position: null });
  // The node of this action was killed. After some time, the row is completed without an outcome.
  const later = { ...systemClock, now: () => systemClock.now() + 200_000 };
  while (await placeEvents({ db, clock: later, sealer: vault.sealer, broken, onBroken: () => {} }));
  expect(await read()).toMatchObject({ outcome: "unknown", position: 2 });
  await log.end(id, { outcome: "ok" });
  expect(await read()).toMatchObject({ outcome: "unknown" });
  expect((await verify()).faults).toEqual([]);
});

test("of two that give places at once one does; both nodes' rows have places, once", async () => {
  const pool = openDatabase({ url });
  drops.push(() => pool.close());
  const log = createAuditLog({ db, clock: systemClock, sealer: vault.sealer, onError: () => {} });
  for (let n = 0; n < 20; n++) {
    await log.end(
      await log.enter({ actor: { kind: "admin" }, action: "Test.Do", projectId, subject: `${n}`, entityId: "" }),
      { outcome: "ok" },
    );
  }
  const one = () => placeEvents({ db, clock: systemClock, sealer: vault.sealer, broken, onBroken: () => {} });
  const other = () => placeEvents({ db: pool, clock: systemClock, sealer: vault.sealer, broken, onBroken: () => {} });
  await Promise.all([one(), other(), one(), other()]);
  await placeAll();
  expect(await verify()).toMatchObject({ checked: 21, faults: [] });
});
