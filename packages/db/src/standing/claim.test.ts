import { createId, isoTime, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { addProject, nowMs } from "../test-rows.ts";
import { claimDueTasks } from "./claim.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const request = { owner: createId("node", nowMs), nowMs, leaseUntilMs: nowMs + 30_000, limit: 100 };

test("acceptance 24: 10,000 programs of one project that are due leave the next claim to the single one of another", async () => {
  const herd = await addProject(db);
  await db.sql`insert into due_tasks (owner_id, kind, subject, project_id, due_at)
    select gen_random_uuid(), 'fire', '', ${uuidOfId(herd)}::uuid, ${isoTime(nowMs - 60_000)}::timestamptz + n * interval '1 ms'
    from generate_series(1, 10000) n`;
  const before = await claimDueTasks(db, request);
  expect(before.tasks.map(({ projectId }) => projectId)).toEqual(Array.from({ length: 100 }, () => herd));
  // Two events: one that is due after all events of the burst, and one that is due before half of them.
  for (const dueAtMs of [nowMs - 1, nowMs - 55_000]) {
    const single = await addProject(db);
    const ownerId = createId("stp", nowMs);
    await db.sql`insert into due_tasks (owner_id, kind, subject, project_id, due_at)
      values (${uuidOfId(ownerId)}::uuid, 'fire', '', ${uuidOfId(single)}::uuid, ${isoTime(dueAtMs)}::timestamptz)`;
    const { tasks } = await claimDueTasks(db, request);
    expect(tasks).toHaveLength(100);
    expect(tasks.filter(({ projectId }) => projectId === single).map((task) => task.ownerId)).toEqual([ownerId]);
    for (const { projectId, dueOfProject } of tasks) expect(dueOfProject).toBe(projectId === single ? 1 : 10_000);
  }
});
