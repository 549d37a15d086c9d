import { createId, firstUuidAt, type Id, type ProjectId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { Database, Executor } from "../connect.ts";
import { addProject, callOf, nowMs } from "../test-rows.ts";
import { doubtRunningToolCall, doubtRunningToolCalls } from "./doubt-running.ts";
import { beginKeyedToolCalls, findToolCallKeyHolders, releaseToolCallKey } from "./keys.ts";
import { type CallRecord, putToolCalls, sweepToolCalls, toolCallsForProject } from "./repo.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(async () => {
  await db.sql`truncate tool_calls`;
  await db.sql`update ledger_state set settled_before = ${firstUuidAt(0)}`;
});

const everything = {
  toolSlug: undefined,
  entityId: undefined,
  outcome: undefined,
  sinceMs: undefined,
  untilMs: undefined,
};
const page = (limit: number, after?: Id<"call">) => ({ after, limit });
const keyed = (call: CallRecord, idempotencyKey = "k") => ({ ...call, idempotencyKey });

/** Returns the call that holds an idempotency key; undefined if none does. */
async function findKeyHolder(executor: Executor, projectId: ProjectId, key: string) {
  const [holder] = await findToolCallKeyHolders(executor, [{ projectId, key }]);
  return holder;
}

/** Begins one call with an idempotency key. Returns the call that already holds this key; undefined if the new call gets it. */
async function beginKeyedCall(db: Database, call: CallRecord & { idempotencyKey: string }) {
  const [isFree] = await beginKeyedToolCalls(db, [call]);
  return isFree ? undefined : findKeyHolder(db, call.projectId, call.idempotencyKey);
}

const putApart = async (calls: CallRecord[]) => {
  for (const call of calls) await putToolCalls(db, [call]);
};

test.each([
  ["together, by one array per column", (calls: CallRecord[]) => putToolCalls(db, calls)],
  ["each alone, without arrays", putApart],
])("calls stored %s keep every column, bytes and nulls among them", async (_, put) => {
  const projectId = await addProject(db);
  const full = callOf(projectId, {
    jobId: createId("job", nowMs),
    stepId: 'a"{},\\',
    message: "ü\n",
    sealedMessage: Buffer.from([1, 0, 2]),
    result: Buffer.from([0, 255, 92, 34]),
    replay: Buffer.alloc(0),
    isTruncated: true,
    isSandbox: true,
    idempotencyKey: '{k,"\\}',
  });
  const bare = callOf(projectId, { accountId: undefined, keyId: undefined });
  await put([full, bare]);
  const calls = toolCallsForProject(db, projectId);
  const { replay, ...shown } = full;
  expect(await calls.find(full.id)).toEqual(shown);
  expect((await findKeyHolder(db, projectId, full.idempotencyKey ?? ""))?.replay).toEqual(replay);
  const { replay: _none, ...others } = bare;
  expect(await calls.find(bare.id)).toEqual({
    ...others,
    accountId: null,
    keyId: null,
    jobId: null,
    sealedMessage: null,
    result: null,
    idempotencyKey: null,
  });
});

test("a running call is settled once, and never changes again", async () => {
  const projectId = await addProject(db);
  const begun = callOf(projectId, { outcome: "running", durationMs: 0 });
  const settled = {
    ...begun,
    outcome: "ok" as const,
    result: Buffer.from("r"),
    message: "m",
    sealedMessage: Buffer.from("sealed m"),
    durationMs: 5,
    isTruncated: true,
  };
  await putToolCalls(db, [begun]);
  await putToolCalls(db, [settled, callOf(projectId)]);
  const calls = toolCallsForProject(db, projectId);
  expect(await calls.find(begun.id)).toMatchObject({
    outcome: "ok",
    result: Buffer.from("r"),
    message: "m",
    sealedMessage: Buffer.from("sealed m"),
    durationMs: 5,
    isTruncated: true,
  });
  await putToolCalls(db, [{ ...settled, outcome: "timeout", message: "other" }]);
  await putToolCalls(db, [begun]);
  expect(await calls.find(begun.id)).toMatchObject({ outcome: "ok", message: "m" });
});

test("of twenty that begin under one key at once, one inserts; the others hear of it", async () => {
  const projectId = await addProject(db);
  const begun = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const call = callOf(projectId, { outcome: "running" });
      return { id: call.id, holder: await beginKeyedCall(db, keyed(call)) };
    }),
  );
  const [winner, ...more] = begun.filter(({ holder }) => holder === undefined);
  expect(more).toEqual([]);
  expect(new Set(begun.flatMap(({ holder }) => holder?.id ?? []))).toEqual(new Set([winner?.id]));
  expect(await toolCallsForProject(db, projectId).list(everything, page(50))).toHaveLength(1);
  expect(await beginKeyedCall(db, keyed(callOf(await addProject(db))))).toBeUndefined();
});

test("a key that was released is free, and does not come back with the outcome of who held it", async () => {
  const projectId = await addProject(db);
  const first = keyed(callOf(projectId, { outcome: "running" }));
  await beginKeyedCall(db, first);
  const key = { projectId, key: "k", id: first.id };
  expect(await releaseToolCallKey(db, { ...key, id: createId("call", nowMs) })).toBe(false);
  expect(await releaseToolCallKey(db, { ...key, projectId: await addProject(db) })).toBe(false);
  expect(await releaseToolCallKey(db, key)).toBe(true);
  expect(await releaseToolCallKey(db, key)).toBe(false);
  const second = keyed(callOf(projectId, { outcome: "running" }));
  expect(await beginKeyedCall(db, second)).toBeUndefined();
  await putToolCalls(db, [{ ...first, outcome: "ok", replay: Buffer.from("r") }]);
  expect((await findKeyHolder(db, projectId, "k"))?.id).toBe(second.id);
});

test("a settled call holds its key or lets it go, as its end says", async () => {
  const projectId = await addProject(db);
  const call = keyed(callOf(projectId, { outcome: "running" }));
  await beginKeyedCall(db, call);
  await putToolCalls(db, [{ ...call, outcome: "ok", replay: Buffer.from("r") }]);
  expect(await findKeyHolder(db, projectId, "k")).toEqual({
    id: call.id,
    accessClass: "write",
    isSandbox: false,
    outcome: "ok",
    providerStatus: call.providerStatus,
    argumentsDigest: call.argumentsDigest,
    replay: Buffer.from("r"),
    result: null,
    createdAt: nowMs,
  });
  // A result is read only if it is also the answer of a repeated call, because it may be large.
  const shown = keyed(callOf(projectId, { outcome: "running" }), "m");
  await beginKeyedCall(db, shown);
  await putToolCalls(db, [{ ...shown, outcome: "ok", result: Buffer.from("whole"), replay: Buffer.alloc(0) }]);
  expect(await findKeyHolder(db, projectId, "m")).toMatchObject({
    replay: Buffer.alloc(0),
    result: Buffer.from("whole"),
  });
  const other = keyed(callOf(projectId, { outcome: "running" }), "l");
  await beginKeyedCall(db, other);
  await putToolCalls(db, [{ ...other, outcome: "rate_limited", idempotencyKey: undefined }]);
  expect(await findKeyHolder(db, projectId, "l")).toBeUndefined();
});

test("only running calls are ended as lost: a write stays bound and in doubt, a read is free", async () => {
  const projectId = await addProject(db);
  const [write, read] = [
    callOf(projectId, { outcome: "running" }),
    callOf(projectId, { outcome: "running", accessClass: "read" }),
  ];
  await beginKeyedCall(db, keyed(write, "w"));
  await beginKeyedCall(db, keyed(read, "r"));
  const ended = callOf(projectId);
  await putToolCalls(db, [ended]);
  for (const [id, expected] of [
    [write.id, true],
    [read.id, true],
    [ended.id, false],
    [write.id, false],
  ] as const) {
    expect(await doubtRunningToolCall(db, { projectId, id, message: "lost" })).toBe(expected);
  }
  expect(await doubtRunningToolCall(db, { projectId: await addProject(db), id: write.id, message: "lost" })).toBe(
    false,
  );
  const calls = toolCallsForProject(db, projectId);
  expect(await calls.find(write.id)).toMatchObject({
    outcome: "outcome_unknown",
    message: "lost",
    idempotencyKey: "w",
  });
  expect(await calls.find(read.id)).toMatchObject({ outcome: "timeout", message: "lost", idempotencyKey: null });
  await putToolCalls(db, [{ ...write, outcome: "ok" }]);
  expect(await calls.find(write.id)).toMatchObject({ outcome: "outcome_unknown" });
});

test("a sweep ends what has run since before a time, of every project, and nothing else", async () => {
  const [one, other] = [await addProject(db), await addProject(db)];
  const old = [one, other].map((projectId) => callOf(projectId, { outcome: "running", createdAt: nowMs - 1 }));
  const fresh = callOf(one, { outcome: "running" });
  await putToolCalls(db, [...old, fresh, callOf(one, { createdAt: nowMs - 1 })]);
  const lost = { message: "lost", limit: 2 };
  // Each step begins after the last call that the previous step scanned.
  const steps = [];
  for (let step = 0; step < 4; step++) steps.push(await doubtRunningToolCalls(db, { ...lost, beforeMs: nowMs }));
  expect(steps.map(({ looked }) => looked)).toEqual([2, 2, 1, 0]);
  expect(steps.reduce((sum, { doubted }) => sum + doubted, 0)).toBe(2);
  expect(await toolCallsForProject(db, one).list({ ...everything, outcome: "running" }, page(9))).toMatchObject([
    { id: fresh.id },
  ]);
  expect(await toolCallsForProject(db, one).list({ ...everything, outcome: "outcome_unknown" }, page(9))).toHaveLength(
    1,
  );
  expect(await toolCallsForProject(db, one).find(fresh.id)).toMatchObject({ outcome: "running" });
});

test("a sweep removes the oldest calls first, up to its limit, and none made at the bound", async () => {
  const projectId = await addProject(db);
  const calls = Array.from({ length: 10 }, (_, index) => callOf(projectId, { createdAt: nowMs + index }));
  await putToolCalls(db, calls);
  expect(await sweepToolCalls(db, nowMs + 8, 5)).toBe(5);
  const left = async () =>
    (await toolCallsForProject(db, projectId).list(everything, page(50))).map(({ createdAt }) => createdAt - nowMs);
  expect(await left()).toEqual([9, 8, 7, 6, 5]);
  expect(await sweepToolCalls(db, nowMs + 8, 5)).toBe(3);
  expect(await left()).toEqual([9, 8]);
});

test("a list is newest first, page by page, narrowed by every filter and their combinations", async () => {
  const projectId = await addProject(db);
  const calls = Array.from({ length: 12 }, (_, index) =>
    callOf(projectId, {
      createdAt: nowMs + index,
      toolSlug: index % 2 === 0 ? "desk.a" : "desk.b",
      entityId: index % 3 === 0 ? "ann" : "bob",
      outcome: index < 6 ? "ok" : "held",
    }),
  );
  await putToolCalls(db, calls);
  const repository = toolCallsForProject(db, projectId);
  const listed = async (filter: Partial<typeof everything> & object) =>
    (await repository.list({ ...everything, ...filter }, page(50))).map(({ createdAt }) => createdAt - nowMs);
  expect(await listed({ toolSlug: "desk.a" } as object)).toEqual([10, 8, 6, 4, 2, 0]);
  expect(await listed({ entityId: "ann" } as object)).toEqual([9, 6, 3, 0]);
  expect(await listed({ outcome: "held" } as object)).toEqual([11, 10, 9, 8, 7, 6]);
  expect(await listed({ sinceMs: nowMs + 2, untilMs: nowMs + 4 } as object)).toEqual([3, 2]);
  expect(await listed({ toolSlug: "desk.a", entityId: "ann", outcome: "ok", untilMs: nowMs + 6 } as object)).toEqual([
    0,
  ]);
  const first = await repository.list(everything, page(5));
  const second = await repository.list(everything, page(50, first.at(-1)?.id));
  expect([...first, ...second].map(({ id }) => id)).toEqual(calls.map(({ id }) => id).reverse());
  expect(first[0]).not.toHaveProperty("arguments");
  expect(first[0]).not.toHaveProperty("replay");
});

test("another project's calls read as missing", async () => {
  const [own, other] = [await addProject(db), await addProject(db)];
  const call = keyed(callOf(own));
  await putToolCalls(db, [call]);
  const foreign = toolCallsForProject(db, other);
  expect([
    await foreign.find(call.id),
    await findKeyHolder(db, other, "k"),
    await foreign.list(everything, page(50)),
  ]).toEqual([undefined, undefined, []]);
});
