import { uuidOfId } from "@svc/core";
import { sql } from "drizzle-orm";
import type postgres from "postgres";
import type { Executor } from "../../src/connect.ts";
import { exportEntity } from "../../src/entity-export/walk.ts";
import { deleteRows, rowsWhere } from "../../src/erasures/delete-rows.ts";
import { beginErasure } from "../../src/erasures/repo.ts";
import { stepErasure } from "../../src/erasures/step.ts";
import { type PlantedOwner, plantRows } from "../../src/erasures/test-planted.ts";
import { whereKey } from "../../src/erasures/walk.ts";
import { erasedTables } from "../../src/schema/erased-tables.ts";
import { standingRuns } from "../../src/schema/index.ts";
import { arrayLiteral } from "../../src/sql/statement.ts";
import { nowMs } from "../../src/test-rows.ts";
import { seededId } from "./seed.ts";

const owner: PlantedOwner = {
  ...{ projectId: seededId("prj", 500_000), entityId: "ada", number: 901, marker: "marker-901" },
};
const askedEvent = seededId("evt", 900_001);
const times = { graceMs: 0, jobsMs: 600_000, pollMs: 0 };

/**
 * Inserts a project with a row of an entity (customer or user) in every table that can have such rows. These statements are not recorded.
 */
async function plant({ sql, orm }: Executor): Promise<void> {
  await (sql as postgres.TransactionSql).savepoint(async (inner) => {
    await inner`insert into projects (id, name, created_at) values (${uuidOfId(owner.projectId)}, 'planted', now())`;
    await plantRows({ sql: inner, orm }, owner);
    // Adds rows for the cases in which an export needs more than the entity's id in a row: for example a row that belongs to another row of
    // the entity.
    const isPlanted = inner`o::text like ${`%${owner.marker}/%`}`;
    for (const table of ["standing_rates", "standing_dedupe", "call_paces"])
      await inner`insert into ${inner(table)} select (jsonb_populate_record(o, '{"key":"ada"}')).* from ${inner(table)} o where ${isPlanted}`;
    const others = {
      tool_calls: { id: uuidOfId(seededId("call", 900_001)), failure: null, idempotency_key: null },
      console_links: { id: uuidOfId(seededId("lnk", 900_001)), digest: "\\x01", target: {} },
      events: { id: uuidOfId(askedEvent), entity_id: "bob", dedupe_key: "" },
    };
    for (const [table, other] of Object.entries(others))
      await inner`insert into ${inner(table)} select (jsonb_populate_record(o, ${JSON.stringify(other)}::text::jsonb)).* from ${inner(table)} o where ${isPlanted}`;
    await inner`update job_asks o set event_ids = event_ids || ${askedEvent}::text where ${isPlanted}`;
  });
}

async function erase(tx: Executor, entityId: string | undefined): Promise<void> {
  await plant(tx);
  await beginErasure(tx, { projectId: owner.projectId, entityId }, { nowMs });
  for (let steps = 0; steps < 100; steps++) {
    if ((await stepErasure(tx, nowMs, times))?.finishedAt !== null) return;
  }
  throw new Error("the erasure did not end");
}

/** Erases an entity (customer or user) that has a row in every table. */
export function eraseWholeEntity(tx: Executor): Promise<void> {
  return erase(tx, owner.entityId);
}

/** Erases a project that has a row in every table. */
export function eraseWholeProject(tx: Executor): Promise<void> {
  return erase(tx, undefined);
}

/**
 * Deletes one run of a standing program (a schedule) by its key, to record the query plan of this deletion. A real erasure of an entity
 * would delete the run together with its program.
 */
export async function eraseRun(tx: Executor): Promise<void> {
  const erased = erasedTables.find(({ table }) => table === standingRuns);
  if (erased === undefined) throw new Error("runs are not declared");
  const erasure = {
    ...{
      id: seededId("ers", 1),
      projectId: owner.projectId,
      kind: "project" as const,
      entityId: "",
      state: "running" as const,
    },
    ...{ pass: 1, atTable: "", atKey: "", counts: {}, deletedInPass: 0, jobsLeft: 0 },
    ...{ notBefore: null, createdAt: nowMs, finishedAt: null },
  };
  const isOne = sql`= any(${arrayLiteral([uuidOfId(seededId("srn", 1))])}::uuid[])`;
  const rows = rowsWhere(erased, whereKey(erased, owner.projectId, isOne));
  await deleteRows({ tx, erasure, left: 1_000, counts: new Map() }, erased, rows);
}

/**
 * Exports an entity (customer or user) that has a row in every table. Pages have one row, so that each table has a first page and a second
 * one.
 */
export async function exportWholeEntity(tx: Executor): Promise<void> {
  await plant(tx);
  for await (const page of exportEntity(tx, owner, { bytesMax: 1 }))
    if (page.rows.length === 0) throw new Error("a page is empty");
}
