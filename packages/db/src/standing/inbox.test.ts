import { createId, isoTime, type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { addProject, nowMs } from "../test-rows.ts";
import { claimInbox } from "./inbox.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const request = { owner: createId("node", nowMs), nowMs, leaseUntilMs: nowMs + 30_000, limit: 100 };

/** Adds events of a project that wait for a decision. The first is received at `fromMs`, and each one a millisecond after the other. */
const fillInbox = (projectId: ProjectId, count: number, fromMs: number) =>
  db.sql`insert into standing_arrivals (due_at, project_id, event_id, trigger_slug, routing_version)
    select ${isoTime(fromMs)}::timestamptz + n * interval '1 ms', ${uuidOfId(projectId)}::uuid, gen_random_uuid(), 'desk.changed', 1
    from generate_series(1, ${count}::int4) n`;

test("acceptance 24: 10,000 events of one project leave the next claim to the single one of another, whenever that came", async () => {
  const flood = await addProject(db);
  await fillInbox(flood, 10_000, nowMs - 60_000);
  const before = await claimInbox(db, { ...request, after: undefined });
  expect(before.events.map(({ projectId }) => projectId)).toEqual(Array.from({ length: 100 }, () => flood));
  let { next } = before;
  // Two events: one that is received after the whole burst, and one that is received before half of it.
  for (const atMs of [nowMs - 2, nowMs - 55_000]) {
    const single = await addProject(db);
    await fillInbox(single, 1, atMs);
    const found = await claimInbox(db, { ...request, after: next });
    expect(found.events).toHaveLength(100);
    expect(found.events.filter(({ projectId }) => projectId === single)).toHaveLength(1);
    expect(found.events.map(({ dueAt }) => dueAt)).toEqual(found.events.map(({ dueAt }) => dueAt).toSorted());
    next = found.next;
  }
  // While this node holds some events, another node claims the events that are free.
  const other = await claimInbox(db, { ...request, owner: createId("node", nowMs), after: undefined });
  expect(new Set([...before.events, ...other.events].map(({ eventId }) => eventId)).size).toBe(200);
  await db.sql`delete from standing_arrivals`;
});

test("if more projects have events than a claim takes, each gets its turn; earlier ones are found once no later one is left", async () => {
  const projects = await Promise.all(Array.from({ length: 25 }, () => addProject(db)));
  for (const projectId of projects) await fillInbox(projectId, 3, nowMs - 1_000);
  let after: ProjectId | undefined;
  const turns: ProjectId[] = [];
  for (let look = 0; look < 3; look++) {
    const found = await claimInbox(db, { ...request, limit: 10, after });
    turns.push(...found.events.map(({ projectId }) => projectId));
    after = found.next;
  }
  // Two claims visit ten projects each, and one visits the last five. Each project gives two events to a claim.
  expect(new Set(turns).size).toBe(25);
  expect([turns.length, after]).toEqual([30, undefined]);
  const last = projects
    .map((id) => uuidOfId(id))
    .toSorted()
    .at(-1);
  const behind = projects.find((id) => uuidOfId(id) === last);
  const whole = await claimInbox(db, { ...request, after: behind });
  expect(whole.events).toHaveLength(45);
  expect(await claimInbox(db, { ...request, after: behind })).toEqual({ events: [], next: undefined });
});
