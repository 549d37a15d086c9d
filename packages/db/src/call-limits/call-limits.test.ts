import type { ProjectId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { addProject, nowMs } from "../test-rows.ts";
import { findCallLimits } from "./find.ts";
import { readCallPaces, writeCallPaces } from "./paces.ts";
import { type CallLimitRow, callLimitsForProject, sweepCallPaces } from "./repo.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

function limitOf(name: string, changes: Partial<CallLimitRow> = {}): CallLimitRow {
  return {
    name,
    toolkitSlug: "",
    keyExpression: "accountId",
    concurrency: 2,
    rateMax: 10,
    ratePerMs: 1_000,
    isPaused: false,
    createdAt: nowMs,
    updatedAt: nowMs,
    ...changes,
  };
}

const limitsOf = (projectId: ProjectId) => callLimitsForProject(db, projectId);
const share = { held: 1, heldUntil: nowMs, wanted: 0, waitsSince: nowMs, saidAt: nowMs };

test("a limit is listed by name to its project only, and put again keeps when it was made", async () => {
  const [own, other] = [await addProject(db), await addProject(db)];
  await limitsOf(own).put(limitOf("b"), 10);
  await limitsOf(own).put(limitOf("a"), 10);
  const changed = limitOf("b", { isPaused: true, createdAt: nowMs + 5, updatedAt: nowMs + 5 });
  expect(await limitsOf(own).put(changed, 10)).toEqual({ ...changed, createdAt: nowMs });
  expect(await limitsOf(own).list()).toEqual([limitOf("a"), { ...changed, createdAt: nowMs }]);
  expect(await findCallLimits(db, [other, own, own])).toEqual([
    [],
    await limitsOf(own).list(),
    await limitsOf(own).list(),
  ]);
  expect([await limitsOf(other).delete("a"), await limitsOf(own).delete("a"), await limitsOf(own).delete("a")]).toEqual(
    [false, true, false],
  );
});

test("of puts that race for the last place one is kept", async () => {
  const projectId = await addProject(db);
  await limitsOf(projectId).put(limitOf("first"), 2);
  const put = await Promise.all(["a", "b", "c", "d"].map((name) => limitsOf(projectId).put(limitOf(name), 2)));
  expect(put.filter(Boolean)).toHaveLength(1);
  expect(await limitsOf(projectId).put(limitOf("first"), 2)).toBeDefined();
});

test("of writers that read the same revision one writes", async () => {
  const projectId = await addProject(db);
  const key = { projectId, limitName: "l", key: "k" };
  const row = (revision: string, madeFrom: string, held = 1) => ({
    ...key,
    pace: { shares: { node: { ...share, held } } },
    revision,
    madeFrom,
    expiresAt: nowMs,
  });
  expect(await readCallPaces(db, [key])).toEqual([undefined]);
  const first = await Promise.all(["a", "b", "c"].map((revision) => writeCallPaces(db, [row(revision, "")])));
  const [written = ""] = first.flatMap((revisions) => [...revisions]);
  expect(first.filter(({ size }) => size === 1)).toHaveLength(1);
  expect(await readCallPaces(db, [{ ...key, key: "other" }, key])).toEqual([
    undefined,
    { pace: { shares: { node: share } }, revision: written },
  ]);
  expect(await writeCallPaces(db, [row("d", "x", 2)])).toEqual(new Set());
  const other = { ...row("e", ""), key: "other" };
  expect(await writeCallPaces(db, [row("d", written, 2), other])).toEqual(new Set(["d", "e"]));
  expect((await readCallPaces(db, [key]))[0]?.pace.shares["node"]?.held).toBe(2);
});

test("a sweep removes what has expired, the oldest first, up to its limit", async () => {
  const projectId = await addProject(db);
  const rows = [1, 2, 3, 4].map((n) => ({
    projectId,
    limitName: "swept",
    key: `k${n}`,
    pace: { shares: {} },
    revision: `${n}`,
    madeFrom: "",
    expiresAt: nowMs - 3_600_000 + n,
  }));
  await writeCallPaces(db, rows);
  expect(await sweepCallPaces(db, nowMs - 3_600_000 + 4, 2)).toBe(2);
  expect((await readCallPaces(db, rows)).map((row) => row?.revision)).toEqual([undefined, undefined, "3", "4"]);
  expect(await sweepCallPaces(db, nowMs - 3_600_000 + 4, 2)).toBe(1);
});
