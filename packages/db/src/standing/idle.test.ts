import { createId, isoTime, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { explainAll, sentBy } from "../../plans/planner/explain.ts";
import { arrayLiteral } from "../sql/statement.ts";
import { addProject, nowMs } from "../test-rows.ts";
import { claimDueTasks } from "./claim.ts";
import { claimInbox } from "./inbox.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const schedules = 100_000;

test("acceptance 6: a claim over 100,000 schedules that are not due reads below 10 buffers, with custom and generic plans", async () => {
  const projects = [await addProject(db), await addProject(db), await addProject(db)].map(uuidOfId);
  await db.sql`insert into due_tasks (owner_id, kind, subject, project_id, due_at)
    select gen_random_uuid(), 'fire', '', (${arrayLiteral(projects)}::uuid[])[1 + n % 3], ${isoTime(nowMs)}::timestamptz + n * interval '1 s'
    from generate_series(1, ${schedules}::int4) n`;
  await db.sql`vacuum analyze due_tasks, standing_arrivals`;
  const request = { owner: createId("node", nowMs), nowMs, leaseUntilMs: nowMs + 30_000, limit: 100 };
  const look = await sentBy(db, async (executor) => {
    expect(await claimDueTasks(executor, request)).toEqual({ tasks: [], replays: [] });
    expect((await claimInbox(executor, { ...request, after: undefined })).events).toEqual([]);
  });
  for (const mode of ["custom", "generic"] as const) {
    const plans = await explainAll(db, look, { mode, isRun: true });
    const buffers = plans.reduce((sum, plan) => sum + plan.buffers, 0);
    expect([mode, buffers]).toEqual([mode, expect.toSatisfy((read: number) => read > 0 && read < 10)]);
  }
});
