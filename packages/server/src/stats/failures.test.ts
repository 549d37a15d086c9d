import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  callFailure,
  createId,
  createSealer,
  type FailureKind,
  type ProjectId,
  parseVaultKeys,
  uuidOfId,
} from "@svc/core";
import { failureGroupsMax, sweepFailureGroups } from "@svc/db/activity/failures";
import { Remedy } from "@svc/gen/failures";
import { ListFailuresRequestSchema, TraceKind } from "@svc/gen/stats";
import { createTestClock, type TestClock } from "@svc/testing/clock";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { createFailureCounters, listFailures } from "./failures.ts";

const { db, drop } = await createTestDatabase();
const sealer = createSealer(parseVaultKeys(`k1:${randomBytes(32).toString("base64")}`));
afterAll(drop);

const hourMs = 3_600_000;

function bench() {
  const clock = createTestClock();
  const projectId = createId("prj", clock.now());
  return { clock, projectId, counters: createFailureCounters({ clock }) };
}

/** Counts a failed call whose app answers with these words. Returns the id of the call. */
function fail({ clock, projectId, counters }: ReturnType<typeof bench>, words: string, kind: FailureKind = "call") {
  const id = createId("call", clock.now());
  const call = { id, toolSlug: "desk.read", outcome: "provider_error", providerStatus: 404, entityId: "", stepId: "" };
  const failure = callFailure({
    ...call,
    message: `the app answered 404: ${words}`,
    jobId: null,
    createdAt: clock.now(),
  });
  if (failure === undefined) throw new Error("the call has no failure");
  counters.add(projectId, kind, id, failure);
  return id;
}

const list = (context: { clock: TestClock; projectId: ProjectId }, request: object = {}) =>
  listFailures({ db, sealer, clock: context.clock }, context.projectId, create(ListFailuresRequestSchema, request));

test("failures with the same cause are one group, whose hours and newest member are right after many flushes", async () => {
  const one = bench();
  fail(one, "no deal 1");
  fail(one, "no deal 2");
  await one.counters.flush(db, sealer);
  one.clock.advance(2 * hourMs);
  const newest = fail(one, "no deal 3");
  fail(one, "no person");
  await one.counters.flush(db, sealer);
  await one.counters.flush(db, sealer);
  const { groups, hoursSince } = await list(one);
  expect(groups.map(({ count, title }) => [count, title])).toEqual([
    [3, 'Desk refused the call: "no deal 3"'],
    [1, 'Desk refused the call: "no person"'],
  ]);
  const [deals] = groups;
  expect(deals).toMatchObject({ kind: TraceKind.CALL, newestId: newest });
  expect(deals?.remedy).toEqual([Remedy.EDIT_ARGUMENTS, Remedy.RETRY_CALL]);
  expect(deals?.hourlyCounts.slice(-3)).toEqual([2, 0, 1]);
  expect(deals?.hourlyCounts).toHaveLength(24);
  const nowMs = one.clock.now();
  expect(hoursSince && timestampDate(hoursSince).getTime()).toBe(nowMs - (nowMs % hourMs) - 23 * hourMs);
});

test("a list has only the range and the kinds that it is asked for, and no other project's failures", async () => {
  const one = bench();
  fail(one, "first");
  one.clock.advance(3 * hourMs);
  fail(one, "second", "job");
  await one.counters.flush(db, sealer);
  const titles = async (request: object) => (await list(one, request)).groups.map(({ title }) => title);
  const [first, second] = ['Desk refused the call: "first"', 'Desk refused the call: "second"'];
  expect((await titles({})).sort()).toEqual([first, second]);
  expect(await titles({ since: timestampFromMs(one.clock.now() - hourMs) })).toEqual([second]);
  expect(await titles({ until: timestampFromMs(one.clock.now() - hourMs) })).toEqual([first]);
  expect(await titles({ kinds: [TraceKind.JOB] })).toEqual([second]);
  expect(await titles({ kinds: [TraceKind.EVENT] })).toEqual([]);
  expect((await list(bench())).groups).toEqual([]);
});

test("a project has at most 1,000 groups in a day, and known groups are counted further", async () => {
  const one = bench();
  // Letters, because numbers do not distinguish messages.
  const word = (n: number) => String(n).replace(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? "");
  for (let n = 0; n < failureGroupsMax - 1; n++) fail(one, word(n));
  await one.counters.flush(db, sealer);
  // A second node counts without knowing the groups of the first one.
  const other = { ...one, counters: createFailureCounters({ clock: one.clock }) };
  for (let n = 0; n < 3; n++) fail(other, `new ${word(n)}`);
  fail(other, word(7));
  await other.counters.flush(db, sealer);
  const stored = await db.sql.unsafe<{ groups: number; most: number }[]>(
    "select count(*)::int4 as groups, max(count)::int4 as most from failure_groups where project_id = $1",
    [uuidOfId(one.projectId)],
  );
  expect(stored).toEqual([{ groups: failureGroupsMax, most: 2 }]);
});

test("a node keeps at most 20,000 groups of all projects until it stores them", async () => {
  const one = bench();
  const word = (n: number) => String(n).replace(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? "");
  for (let project = 0; project < 20; project++) {
    const other = { ...one, projectId: createId("prj", one.clock.now()) };
    for (let n = 0; n < failureGroupsMax; n++) fail(other, word(n));
  }
  fail(one, "one more");
  await one.counters.flush(db, sealer);
  fail(one, "after the flush");
  await one.counters.flush(db, sealer);
  expect((await list(one)).groups.map(({ title }) => title)).toEqual(['Desk refused the call: "after the flush"']);
});

test("counts that the database refused are stored later, once", async () => {
  const one = bench();
  fail(one, "no deal");
  await db.sql.unsafe("alter table failure_groups rename to gone");
  await expect(one.counters.flush(db, sealer)).rejects.toThrow();
  fail(one, "no deal");
  await db.sql.unsafe("alter table gone rename to failure_groups");
  await one.counters.flush(db, sealer);
  expect((await list(one)).groups.map(({ count }) => count)).toEqual([2]);
});

test("the stored sentence is encrypted, and groups are deleted after eight days", async () => {
  const one = bench();
  fail(one, "planted words");
  await one.counters.flush(db, sealer);
  const stored = await db.sql.unsafe("select encode(title, 'escape') as title from failure_groups");
  expect(JSON.stringify(stored)).not.toContain("planted");
  expect(await sweepFailureGroups(db, one.clock.now() - 9 * 24 * hourMs, 100_000)).toBe(0);
  await sweepFailureGroups(db, one.clock.now() + 1, 100_000);
  expect((await list(one)).groups).toEqual([]);
});

test("a project whose counts cannot be stored keeps its own, and no other project's", async () => {
  const one = bench();
  const other = { ...one, projectId: createId("prj", one.clock.now()) };
  fail(one, "no deal 1");
  fail(other, "no deal 2");
  const ready = async (ids: readonly ProjectId[]) => {
    if (ids.includes(one.projectId)) throw new Error("its data key cannot be made");
  };
  await expect(one.counters.flush(db, { ...sealer, ready })).rejects.toThrow("its data key cannot be made");
  const counts = async (context: typeof one) => (await list(context)).groups.map(({ count }) => count);
  expect([await counts(one), await counts(other)]).toEqual([[], [1]]);
  await one.counters.flush(db, sealer);
  expect([await counts(one), await counts(other)]).toEqual([[1], [1]]);
});
