import { getTableName } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { type ErasedTable, erasedTables, type RowParent } from "../schema/erased-tables.ts";
import type { Plan } from "./plan.ts";

// What an erasure and an export read of each table that is declared for them, by the names of tables.

type Access = string | readonly string[];

/** A way by which rows of a table go with those of another. */
export type Along = { readonly erased: ErasedTable; readonly name: string; readonly parent: RowParent };

/** Every way of every table. */
export const everyWay: readonly Along[] = erasedTables.flatMap((erased) =>
  (erased.parents ?? []).map((parent) => ({
    ...{ erased, parent },
    name: `${getTableName(erased.table)} of ${getTableName(parent.table)}`,
  })),
);

/** By way: how rows that go with another are found by it. */
const readsByWay: Readonly<Record<string, Access>> = {
  "grant_tokens of grants": "grant_tokens_grant(grant_id)",
  "console_seats of api_keys": "console_seats_of_key(key_id)",
  // Few, since each ends within the hour it was made for; an export has them in the order of their key.
  "console_links of api_keys": ["Seq Scan", "console_links_pkey()"],
  "standing_versions of standing_programs": "standing_versions_key(program_id)",
  // By no index: one by program would do it, where a program had thousands of them. They are gone some days after their end.
  "standing_backfills of standing_programs": ["Seq Scan", "standing_backfills_pkey()"],
  "standing_usage of standing_programs": "standing_usage_key(program_id)",
  "standing_listeners of standing_programs": "standing_listeners_key(program_id)",
  "standing_polls of standing_programs": "standing_polls_pkey(program_id)",
  "standing_seen of standing_programs": "standing_seen_key(program_id)",
  "standing_notices of standing_programs": "standing_notices_key(program_id)",
  "standing_rates of standing_programs": "standing_rates_key(program_id)",
  "standing_dedupe of standing_programs": "standing_dedupe_key(program_id)",
  "due_tasks of standing_programs": "due_tasks_key(owner_id)",
  "job_attempts of jobs": "job_attempts_key(job_id)",
  "job_steps of jobs": "job_steps_key(job_id)",
  "job_rows of jobs": "job_rows_key(job_id)",
  "job_set_rows of jobs": "job_set_rows_key(job_id)",
  "job_undo_entries of jobs": "job_undo_entries_key(job_id)",
  "job_tasks of jobs": "job_tasks_key(job_id)",
  "job_events of jobs": "job_events_key(job_id)",
  "job_asks of jobs": "job_asks_job(job_id)",
  // All skills of the job's project, which people made one by one.
  "skills of jobs": "skills_key(project_id)",
  "standing_runs of standing_programs": ["standing_runs_program(program_id)", "standing_runs_source(program_id)"],
  "standing_runs of jobs": "standing_runs_pkey(id)",
  "standing_run_events of standing_runs": "standing_run_events_run(run_id)",
  "standing_run_events of events": "standing_run_events_key(event_id)",
  "delivery_tasks of deliveries": "delivery_tasks_lane(epoch, subscription_id, due_at, delivery_id)",
  "deliveries of events": "deliveries_event(project_id, event_id)",
  "standing_arrivals of events": "standing_arrivals_key(project_id, due_at, event_id)",
};

/** How rows of a table are read by their keys. */
export function readByKey(table: PgTable): string {
  const name = getTableName(table);
  return name === "events" ? "events_key(project_id, id)" : `${name}_pkey(id)`;
}

/** What is read for the rows of a way, those of `parent` by their keys. Throws an Error for a way that is new. */
export function readsAlong({ name, erased, parent }: Along): Record<string, readonly string[]> {
  const access = readsByWay[name];
  if (access === undefined) throw new Error(`${name}: say how they are read`);
  return {
    [getTableName(parent.table)]: [readByKey(parent.table)],
    [getTableName(erased.table)]: [access].flat(),
    ...(name.startsWith("delivery_tasks") && { delivery_epoch: ["delivery_epoch_pkey(id)"] }),
  };
}

const jobsByStatus = ["jobs_status(project_id, status, id)", "jobs_other_status(project_id, status, id)"];
const lookedAt: Readonly<Record<string, Plan["reads"]>> = {
  jobs: { jobs: ["jobs_pkey(id)", ...jobsByStatus] },
  events: { events: "events_key(project_id, id)" },
  standing_runs: {
    standing_programs: "standing_programs_project(project_id, id)",
    // Without statistics all runs of one program may be.
    standing_runs: [
      "standing_runs_pkey(id)",
      "standing_runs_program(program_id, id)",
      "standing_runs_source(program_id)",
    ],
  },
};

/** What tells whether an event without an entity names an account of one. */
export const accountsOfEntity = { connected_accounts: "connected_accounts_entity(project_id, entity_id)" };

/** What a look at the next rows of a project reads, with what tells whether one is an entity's. */
export function readsOfLook({ table }: ErasedTable, isForEntity: boolean): Plan["reads"] {
  const name = getTableName(table);
  return {
    [name]: [readByKey(table), `${name}_project(project_id, id)`],
    ...lookedAt[name],
    // Whose key a grant is for.
    ...(isForEntity && name === "events" && accountsOfEntity),
    ...(isForEntity && table === grants?.table && { api_keys: "api_keys_pkey(id)" }),
  };
}

const grants = erasedTables.find(({ table }) => getTableName(table) === "grants");
