import { createId, type ProjectId, type StandingProgramId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { addProject, nowMs } from "../test-rows.ts";
import { standingProgramsForProject } from "./programs.ts";
import { standingRunsForProject } from "./runs.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const projectId = await addProject(db);
const stranger = await addProject(db);

test("waiting runs of a program are skipped, and started ones return their jobs", async () => {
  const programId = createId("stp", nowMs);
  const other = createId("stp", nowMs);
  const jobId = createId("job", nowMs);
  const add = async (state: string, of: StandingProgramId = programId) => {
    const id = createId("srn", nowMs);
    const job = state === "started" || state === "ended" ? uuidOfId(jobId) : null;
    await db.sql`insert into standing_runs (id, project_id, program_id, version, kind, source_key, lane, state, reason, not_before, fire_at, decided_at, job_id)
      values (${uuidOfId(id)}::uuid, ${uuidOfId(projectId)}::uuid, ${uuidOfId(of)}::uuid, 1, 'event', ${id}, '', ${state}, '', now(), now(), now(),
        ${job}::uuid)`;
    return id;
  };
  const waiting = [await add("queued"), await add("queued"), await add("collecting"), await add("closing")];
  const started = await add("started");
  const ended = await add("ended");
  const foreign = await add("queued", other);
  const of = (owner: ProjectId) => standingRunsForProject(db, owner);

  expect(await of(stranger).skipOpen(programId, "deleted", nowMs)).toBe(0);
  expect(await of(projectId).skipOpen(programId, "deleted", nowMs)).toBe(4);
  expect(await of(projectId).skipOpen(programId, "deleted", nowMs)).toBe(0);
  for (const id of waiting) {
    const skipped = { state: "skipped", reason: "deleted", notBefore: null, endedAt: nowMs };
    expect(await of(projectId).find(id)).toMatchObject(skipped);
  }
  for (const [id, state] of [
    [started, "started"],
    [ended, "ended"],
    [foreign, "queued"],
  ] as const) {
    expect(await of(projectId).find(id)).toMatchObject({ state, reason: "", endedAt: null });
  }
  expect(await of(projectId).listStartedJobs(programId)).toEqual([jobId]);
  expect(await of(projectId).listStartedJobs(other)).toEqual([]);
  expect(await of(stranger).listStartedJobs(programId)).toEqual([]);
});

test("the programs of a project are counted in every state, without deleted ones", async () => {
  const programs = standingProgramsForProject(db, projectId);
  const add = async (state: "active" | "paused" | "pending" | "ended", deletedAt: number | null = null) => {
    const id = createId("stp", nowMs);
    const program = { id, slug: id, title: "", state, version: 1, deletedAt, createdAt: nowMs, updatedAt: nowMs };
    await programs.add({ ...program, sourceKind: "schedule" });
  };
  for (const state of ["active", "paused", "pending", "ended"] as const) await add(state);
  await add("active", nowMs);
  expect(await programs.count()).toBe(4);
  expect(await standingProgramsForProject(db, stranger).count()).toBe(0);
});
