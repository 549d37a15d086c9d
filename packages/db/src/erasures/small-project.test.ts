import { type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { getTableName } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { explainAll, type PlanMode, type SentStatement, sentBy } from "../../plans/planner/explain.ts";
import { forgetStatistics, seeded, seededAt, seededId } from "../../plans/planner/seed.ts";
import { exportEntity } from "../entity-export/walk.ts";
import { erasedTables } from "../schema/erased-tables.ts";
import { beginErasure } from "./repo.ts";
import { stepErasure } from "./step.ts";

// This project has few rows in tables of 10,000 rows and more, which it shares with other projects. If an export or erasure scans rows of
// the others, the number of rows that its statements read shows it, with any query plan.

const { db, drop } = await createTestDatabase({ filled: seeded });
afterAll(drop);

const projectId: ProjectId = seededId("prj", 9);
const entityId = "entity-6";
const nowMs = seededAt(400_000);
const times = { graceMs: 0, jobsMs: 0, pollMs: 1_000 };
/** Tables without an index by project. Their rows are few and are deleted within a day. */
const swept = new Set(["console_links", "grant_codes"]);

const own = new Map<string, number>();

beforeAll(async () => {
  for (const table of ["jobs", "standing_versions"])
    await db.sql.unsafe(`update ${table} set estimate = '{"entities":[]}'`);
  // Moves rows of a program to the project of the program. The seed has put some of them into other projects.
  await db.sql.unsafe(
    "delete from standing_runs r using standing_programs p where p.id = r.program_id and p.project_id <> r.project_id",
  );
  await db.sql.unsafe(
    "delete from person_seats s using api_keys k where k.id = s.key_id and k.project_id <> s.project_id",
  );
  for (const { table, project } of erasedTables) {
    if (project === undefined) continue;
    const name = getTableName(table);
    const [row] = await db.sql.unsafe<{ count: number }[]>(
      `select count(*)::int4 as count from "${name}" where "${project.name}" = $1::uuid`,
      [uuidOfId(projectId)],
    );
    own.set(name, row?.count ?? 0);
  }
}, 300_000);

/** Returns the largest number of rows of each table that one statement read. */
async function rowsRead(sent: readonly SentStatement[], mode: PlanMode): Promise<Map<string, number>> {
  const most = new Map<string, number>();
  const told = await explainAll(db, sent, { mode, isRun: true });
  for (const { rows } of told) {
    for (const [table, count] of Object.entries(rows)) most.set(table, Math.max(most.get(table) ?? 0, count));
  }
  return most;
}

async function expectOwnRows(sent: readonly SentStatement[], modes: readonly PlanMode[]): Promise<void> {
  for (const mode of modes) {
    const others = [...(await rowsRead(sent, mode))].filter(
      ([table, count]) => !swept.has(table) && own.has(table) && count > 3 * (own.get(table) ?? 0) + 100,
    );
    expect(others, `${mode} plans read rows of others; its own are ${JSON.stringify([...own])}`).toEqual([]);
  }
}

test("an export of a small project reads no more rows than it has", async () => {
  const sent = await sentBy(db, async (tx) => {
    for await (const { rows } of exportEntity(tx, { projectId, entityId })) expect(rows.length).toBeGreaterThan(0);
  });
  expect(sent.length).toBeGreaterThan(20);
  await expectOwnRows(sent, ["custom", "generic"]);
  await forgetStatistics(db);
  await expectOwnRows(sent, ["custom", "generic"]);
  await db.sql.unsafe("analyze");
  await expectOwnRows(sent, ["custom", "generic"]);
});

test.each([
  ["an entity", entityId],
  ["the project", undefined],
])("an erasure of %s of a small project reads no more rows than it has", async (_, erased) => {
  const begun = await beginErasure(db, { projectId, entityId: erased }, { nowMs });
  expect(begun.finishedAt).toBeNull();
  await db.sql.unsafe("analyze");
  // Texts of statements that were already counted. Each statement is counted at its first run, when most of its rows still exist.
  const known = new Set<string>();
  for (let steps = 0, looks = 0, table = ""; steps < 300; steps++) {
    const sent = looks < 3 ? await sentBy(db, (tx) => stepErasure(tx as never, nowMs, times)) : [];
    const others = sent.filter(({ text }) => !known.has(text));
    await expectOwnRows(others, ["generic"]);
    for (const { text } of others) known.add(text);
    const moved = await stepErasure(db, nowMs, times);
    if (moved === undefined || moved.finishedAt !== null) return;
    [looks, table] = [moved.atTable === table ? looks + 1 : 0, moved.atTable];
  }
  throw new Error("the erasure did not end");
});
