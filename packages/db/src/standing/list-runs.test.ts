import { createId, type StandingRunId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { addProject, nowMs } from "../test-rows.ts";
import type { StandingRunFilter } from "./list-runs.ts";
import { standingRunsForProject } from "./runs.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const every = { state: undefined, reason: undefined, sinceMs: undefined, untilMs: undefined };

test("runs of a period are those decided in it, even if they began to collect before", async () => {
  const projectId = await addProject(db);
  const programId = createId("stp", nowMs);
  const add = async (madeMs: number, decidedMs: number, { state = "ended", reason = "", bytes = 0 } = {}) => {
    const id = createId("srn", madeMs);
    await db.sql`insert into standing_runs (id, project_id, program_id, version, kind, source_key, lane, state, reason, bytes, fire_at, decided_at)
      values (${uuidOfId(id)}::uuid, ${uuidOfId(projectId)}::uuid, ${uuidOfId(programId)}::uuid, 1, 'event', ${id}, '', ${state}, ${reason},
        ${bytes}, now(), ${new Date(decidedMs).toISOString()}::timestamptz)`;
    return id;
  };
  const early = await add(nowMs, nowMs);
  const window = await add(nowMs, nowMs + 60_000, { bytes: 10 });
  const skipped = await add(nowMs + 60_000, nowMs + 60_000, { state: "skipped", reason: "overlap" });
  const started = await add(nowMs + 90_000, nowMs + 90_000, { state: "started" });
  const list = (filter: Partial<StandingRunFilter>, after?: StandingRunId, limit = 10) =>
    standingRunsForProject(db, projectId)
      .list(programId, { ...every, ...filter }, { after, limit })
      .then((runs) => runs.map(({ id }) => id));
  expect(await list({})).toEqual([started, skipped, window, early]);
  expect(await list({}, skipped, 1)).toEqual([window]);
  expect(await list({ sinceMs: nowMs + 30_000 })).toEqual([started, skipped, window]);
  expect(await list({ untilMs: nowMs + 30_000 })).toEqual([early]);
  expect(await list({ sinceMs: nowMs + 30_000, untilMs: nowMs + 90_000, reason: "" })).toEqual([window]);
  expect(await list({ state: "skipped" })).toEqual([skipped]);
  expect(await list({ reason: "overlap" })).toEqual([skipped]);
  expect(await list({ state: "started", reason: "overlap" })).toEqual([]);
  const other = await addProject(db);
  expect(await standingRunsForProject(db, other).list(programId, every, { after: undefined, limit: 10 })).toEqual([]);
});
