import { type AccountId, createId, type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { activateAccount } from "../connections/activate.ts";
import { connectedAccountsForProject } from "../connections/repo.ts";
import { setProjectPolicy } from "../projects/repo.ts";
import { addProject, nowMs } from "../test-rows.ts";
import { privateToolkitsForProject } from "./repo.ts";
import { type ToolkitSource, toolkitSourcesForProject, type WaitingChanges } from "./sources.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const slug = "shop";
const definition = "{}";
const read = { digest: Buffer.alloc(32, 1), options: "{}", refreshedAt: nowMs, listingAccountId: null };

/** Returns a project with an imported toolkit, and the functions that read and change it. */
async function imported() {
  const projectId = await addProject(db);
  const toolkits = privateToolkitsForProject(db, projectId);
  const sources = toolkitSourcesForProject(db, projectId);
  const find = async () => (await sources.find(slug)) as ToolkitSource;
  await importAgain(projectId);
  return { projectId, toolkits, sources, find };
}

function importAgain(projectId: ProjectId) {
  const toolkit = { slug, definition, originDigest: Buffer.alloc(32), toolCount: 1, updatedAt: nowMs };
  const source = { kind: "openapi", origin: "https://shop.example.com", nextAt: null, ...read } as const;
  return privateToolkitsForProject(db, projectId).put(toolkit, { mustBeNew: false, source: { kind: "put", source } });
}

function waitingOf(nextDefinition: string): WaitingChanges {
  return { changes: "[]", changesDigest: Buffer.alloc(32, nextDefinition), changesCount: 1, nextDefinition };
}

const limitBytes = (projectId: ProjectId, privateToolkitBytes: number) =>
  setProjectPolicy(db, projectId, { planApproval: "never", redirectUrls: [], quotas: { privateToolkitBytes } });

test("changes that are accepted wait further if a quota refuses the new definition", async () => {
  const { projectId, toolkits, sources, find } = await imported();
  const waiting = waitingOf('{"next":1}');
  expect(await sources.refresh(await find(), { ...read, definition, waiting })).toBeUndefined();
  const before = await find();
  await limitBytes(projectId, 5);
  const next = { slug, definition: '{"next":1}', originDigest: Buffer.alloc(32), toolCount: 1, updatedAt: nowMs };
  const accept = { kind: "accept", changesDigest: waiting.changesDigest, options: "{}", rest: undefined } as const;
  expect(await toolkits.put(next, { mustBeNew: false, source: accept })).toMatchObject({
    quota: "privateToolkitBytes",
  });
  expect(await find()).toEqual(before);
  await limitBytes(projectId, 100);
  expect(await toolkits.put(next, { mustBeNew: false, source: accept })).toBeUndefined();
  expect(await find()).toMatchObject({ changes: null, changesCount: 0 });
});

test("a source that was deleted and made again refuses what was read of the earlier one", async () => {
  const { projectId, toolkits, sources, find } = await imported();
  const before = await find();
  await toolkits.delete(slug, nowMs);
  await importAgain(projectId);
  const after = await find();
  expect(after.version).toBeGreaterThan(before.version);
  expect(await sources.refresh(before, { ...read, definition, waiting: waitingOf("{ }") })).toBe("outdated");
  await sources.reportFailure(before, "away");
  expect(await find()).toEqual(after);
  await sources.reportFailure(after, "away");
  expect((await find()).lastError).toBe("away");
});

test("only a refresh with other changes or options moves the version of the project's catalog", async () => {
  const { toolkits, sources, find } = await imported();
  const refresh = async (changes: { options?: string; waiting?: WaitingChanges }) => {
    const { waiting, ...others } = changes;
    const from = await toolkits.version();
    expect(await sources.refresh(await find(), { ...read, definition, waiting, ...others })).toBeUndefined();
    return (await toolkits.version()) - from;
  };
  expect(await refresh({})).toBe(0);
  expect(await refresh({ waiting: waitingOf("a") })).toBe(1);
  expect(await refresh({ waiting: waitingOf("a") })).toBe(0);
  expect(await refresh({ waiting: waitingOf("b") })).toBe(1);
  expect(await refresh({ options: "[1]", waiting: waitingOf("b") })).toBe(1);
  expect(await refresh({ options: "[1]" })).toBe(1);
});

test("the options and the waiting changes of a source count towards the bytes of the toolkits", async () => {
  const { projectId, toolkits, sources, find } = await imported();
  await limitBytes(projectId, 20);
  const before = await find();
  const large = { ...read, definition, waiting: waitingOf("x".repeat(15)) };
  const reached = { quota: "privateToolkitBytes", quotaReached: { most: 20, used: 0 } };
  expect(await sources.refresh(before, large)).toEqual(reached);
  expect(await find()).toEqual(before);
  expect(await sources.refresh(before, { ...large, waiting: waitingOf("x".repeat(10)) })).toBeUndefined();
  const other = { slug: "other", definition: "12345", originDigest: Buffer.alloc(32), toolCount: 1, updatedAt: nowMs };
  expect(await toolkits.put(other)).toEqual({ ...reached, quotaReached: { most: 20, used: 16 } });
  expect(await toolkits.put({ ...other, definition: "1234" })).toBeUndefined();
});

test("the account that lists the tools of a source follows its successor, and ends with the account", async () => {
  const { projectId, sources, find } = await imported();
  const connect = async (owner = projectId) => {
    const times = { createdAt: nowMs, updatedAt: nowMs, credentialTriedAt: null, refreshAt: null, expiresAt: null };
    const definition = { toolkitSlug: slug, isPrivate: true, isSandbox: false, entityId: "ann", scheme: "api_key" };
    const account = { ...definition, ...times, id: createId("acc", nowMs), projectId: owner, isCredentialTaken: null };
    const stored = {
      variables: {},
      credential: Buffer.from("sealed"),
      originDigest: Buffer.alloc(32),
      grantedScopes: [],
    };
    const options = { isNew: true, referencesOf: () => [], exclusiveOf: () => [] };
    return (await activateAccount(db, { ...account, ...stored }, options))?.id as AccountId;
  };
  const listWith = async (listingAccountId: AccountId, before?: ToolkitSource) => {
    const change = { ...read, definition, waiting: undefined, listingAccountId };
    expect(await sources.refresh(before ?? (await find()), change)).toBeUndefined();
    return (await find()).listingAccountId;
  };
  const first = await connect();
  expect(await listWith(first)).toBe(first);
  const before = await find();
  const second = await connect();
  expect((await find()).listingAccountId).toBe(second);
  // A read that began before with the first account does not bring it back.
  expect(await listWith(first, before)).toBe(second);
  await connectedAccountsForProject(db, projectId).revoke(second, nowMs);
  expect((await find()).listingAccountId).toBeNull();
  for (const ended of [first, second, await connect(await addProject(db))]) expect(await listWith(ended)).toBeNull();
  const third = await connect();
  expect(await listWith(third)).toBe(third);
  await db.sql`delete from connected_accounts where id = ${uuidOfId(third)}`;
  expect((await find()).listingAccountId).toBeNull();
});
