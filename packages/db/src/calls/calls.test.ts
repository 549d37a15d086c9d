import { createId, type Id, type ProjectId } from "@svc/core";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { Database } from "../connect.ts";
import { accessOf, addProject, explain, nowMs } from "../test-rows.ts";
import { createTestDatabase } from "../testing.ts";
import { beginKeyedCalls, doubtRunningCall, findKeyHolder, releaseIdempotencyKey } from "./keyed.ts";
import { type CallRecord, putToolCalls } from "./put.ts";
import { doubtRunningCalls, sweepToolCalls, toolCallsForProject } from "./repo.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);
beforeEach(() => db.sql`truncate tool_calls`);

function callOf(projectId: ProjectId, changes: Partial<CallRecord> = {}): CallRecord {
  const createdAt = changes.createdAt ?? nowMs;
  return {
    id: createId("call", createdAt),
    projectId,
    toolSlug: "desk.read_ticket",
    accessClass: "write",
    entityId: "ann",
    accountId: createId("acc", nowMs),
    keyId: createId("key", nowMs),
    jobId: undefined,
    stepId: "",
    outcome: "ok",
    message: "",
    providerStatus: 200,
    argumentsDigest: Buffer.alloc(32, 1),
    arguments: Buffer.from("sealed"),
    result: undefined,
    isTruncated: false,
    isSandbox: false,
    idempotencyKey: undefined,
    replay: undefined,
    createdAt,
    durationMs: 12,
    providerMs: 7,
    ...changes,
  };
}

const everything = {
  toolSlug: undefined,
  entityId: undefined,
  outcome: undefined,
  sinceMs: undefined,
  untilMs: undefined,
};
const page = (limit: number, after?: Id<"call">) => ({ after, limit });
const keyed = (call: CallRecord, idempotencyKey = "k") => ({ ...call, idempotencyKey });

/** Begins one call; answers with the call that holds its key, undefined when it is this one. */
async function beginKeyedCall(db: Database, call: CallRecord & { idempotencyKey: string }) {
  const [isFree] = await beginKeyedCalls(db, [call]);
  return isFree ? undefined : findKeyHolder(db, call.projectId, call.idempotencyKey);
}

test("a batch stores every column, bytes and nulls among them", async () => {
  const projectId = await addProject(db);
  const full = callOf(projectId, {
    jobId: createId("job", nowMs),
    stepId: 'a"{},\\',
    message: "ü\n",
    result: Buffer.from([0, 255, 92, 34]),
    replay: Buffer.alloc(0),
    isTruncated: true,
    isSandbox: true,
    idempotencyKey: '{k,"\\}',
  });
  const bare = callOf(projectId, { accountId: undefined, keyId: undefined });
  await putToolCalls(db, [full, bare]);
  const calls = toolCallsForProject(db, projectId);
  const { replay, ...shown } = full;
  expect(await calls.find(full.id)).toEqual(shown);
  expect((await calls.findKeyHolder(full.idempotencyKey ?? ""))?.replay).toEqual(replay);
  const { replay: _none, ...others } = bare;
  expect(await calls.find(bare.id)).toEqual({
    ...others,
    accountId: null,
    keyId: null,
    jobId: null,
    result: null,
    idempotencyKey: null,
  });
});

test("a running call is settled once, and never changes again", async () => {
  const projectId = await addProject(db);
  const begun = callOf(projectId, { outcome: "running", durationMs: 0 });
  const settled = { ...begun, outcome: "ok", result: Buffer.from("r"), message: "m", durationMs: 5, isTruncated: true };
  await putToolCalls(db, [begun]);
  await putToolCalls(db, [settled, callOf(projectId)]);
  const calls = toolCallsForProject(db, projectId);
  expect(await calls.find(begun.id)).toMatchObject({
    outcome: "ok",
    result: Buffer.from("r"),
    message: "m",
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
  expect(await releaseIdempotencyKey(db, { ...key, id: createId("call", nowMs) })).toBe(false);
  expect(await releaseIdempotencyKey(db, { ...key, projectId: await addProject(db) })).toBe(false);
  expect(await releaseIdempotencyKey(db, key)).toBe(true);
  expect(await releaseIdempotencyKey(db, key)).toBe(false);
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
    outcome: "ok",
    argumentsDigest: call.argumentsDigest,
    replay: Buffer.from("r"),
    createdAt: nowMs,
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
    expect(await doubtRunningCall(db, { projectId, id, message: "lost" })).toBe(expected);
  }
  expect(await doubtRunningCall(db, { projectId: await addProject(db), id: write.id, message: "lost" })).toBe(false);
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
  expect(await doubtRunningCalls(db, nowMs, "lost")).toBe(2);
  expect(await doubtRunningCalls(db, nowMs, "lost")).toBe(0);
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
    await foreign.findKeyHolder("k"),
    await foreign.list(everything, page(50)),
  ]).toEqual([undefined, undefined, []]);
});

/** 8,000 calls of twenty projects, one of which is given. */
async function seed(projectId: ProjectId) {
  const projects = [projectId];
  while (projects.length < 20) projects.push(await addProject(db));
  for (let batch = 0; batch < 16; batch++) {
    const calls = Array.from({ length: 500 }, (_, index) =>
      callOf(projects[index % 20] ?? projectId, {
        createdAt: nowMs + batch * 500 + index,
        toolSlug: `desk.tool_${(batch * 25 + index) % 7}`,
        idempotencyKey: `${batch}-${index}`,
        outcome: index % 100 === 0 ? "running" : "ok",
      }),
    );
    await putToolCalls(db, calls);
  }
  await db.sql`analyze tool_calls`;
}

test.each(["custom", "generic"] as const)("every statement has its index (%s plan)", async (mode) => {
  const projectId = await addProject(db);
  await seed(projectId);
  const accessTo = async (name: string, run: Parameters<typeof explain>[3]) =>
    accessOf(await explain(db, name, mode, run), "tool_calls");
  const id = createId("call", nowMs);
  expect(await accessTo("find_idempotency_key", (tx) => findKeyHolder(tx, projectId, "3-3"))).toEqual([
    "tool_calls_idempotency_key",
  ]);
  expect(
    await accessTo("release_idempotency_key", (tx) => releaseIdempotencyKey(tx, { projectId, key: "3-3", id })),
  ).toEqual([expect.stringMatching(/^tool_calls_(idempotency_key|pkey)$/)]);
  expect(await accessTo("doubt_running_call", (tx) => doubtRunningCall(tx, { projectId, id, message: "" }))).toEqual([
    expect.stringMatching(/^tool_calls_(project|pkey)$/),
  ]);
  expect(await accessTo("doubt_running_calls", (tx) => doubtRunningCalls(tx, nowMs + 3_000, ""))).toEqual([
    "tool_calls_pkey",
    "tool_calls_running",
  ]);
  expect(await accessTo("sweep_tool_calls", (tx) => sweepToolCalls(tx, nowMs + 3_000, 100))).toEqual([
    "tool_calls_pkey",
  ]);
});

test.each([
  ["tool_calls_project", {}],
  ["tool_calls_entity", { entityId: "ann", outcome: "ok" }],
  ["tool_calls_project", { sinceMs: nowMs + 100, untilMs: nowMs + 200 }],
  ["tool_calls_tool", { toolSlug: "desk.tool_2" }],
] as const)("%s serves a page of the list narrowed by %j, in order", async (index, filter) => {
  const projectId = await addProject(db);
  await seed(projectId);
  const query = toolCallsForProject(db, projectId).list({ ...everything, ...filter }, page(51)) as unknown as {
    toSQL(): { sql: string; params: (string | number)[] };
  };
  const { sql, params } = query.toSQL();
  const plan = await db.sql.begin(async (tx) => {
    // As the embedded store is set up, and any server on flash should be.
    await tx`set local random_page_cost = 1.1`;
    return JSON.stringify(await tx.unsafe(`explain (format json) ${sql}`, params));
  });
  expect(plan).toContain(`"Index Name":"${index}"`);
  // A page in the order of the index needs no sorting.
  expect(plan).not.toContain('"Sort"');
});
