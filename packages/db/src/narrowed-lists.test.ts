import { idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { repeats } from "@svc/testing/sample";
import { afterAll, beforeAll, expect, test } from "vitest";
import { farReads, type NarrowedList } from "../plans/planner/narrowed.ts";
import { forgetStatistics } from "../plans/planner/seed.ts";
import type { AskFilter } from "./asks/repo.ts";
import { asksForProject } from "./asks/repo.ts";
import type { ToolCallFilter } from "./calls/list-page.ts";
import { toolCallsForProject } from "./calls/repo.ts";
import type { ConnectedAccountFilter } from "./connections/account.ts";
import { connectedAccountsForProject } from "./connections/repo.ts";
import { addProject, nowMs } from "./test-rows.ts";

// Fills a project with 50,000 rows of each kind (a fifth of them in `npm test`), and tries every combination of a list's filters. If
// nothing matches, the search must end early. No value is rare, but each occurs only together with certain values of other columns.

const { db, drop } = await createTestDatabase();
afterAll(drop);

/** A project with rows that succeeded, were answered, or were superseded. */
const usual = await addProject(db);
/** A project with rows that failed, are pending, or are active. */
const unusual = await addProject(db);
const each = repeats({ sample: 5_000, whole: 50_000 });
const page = { after: undefined, limit: 51 };
const programId = idOfUuid("stp", "00000000-0000-7000-8000-000000000001");
const jobId = idOfUuid("job", "00000000-0000-7000-8000-000000000001");
const absentJobId = idOfUuid("job", "00000000-0000-7000-8000-fffffffffff1");

function filling(project: ProjectId, first: number): string[] {
  const owner = `'${uuidOfId(project)}'::uuid`;
  const id = "('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid";
  const from = `from generate_series(${first}, ${first + each - 1}) n`;
  const either = (one: string, other: string) => (project === usual ? `'${one}'` : `'${other}'`);
  return [
    `insert into tool_calls (id, project_id, tool_slug, access_class, entity_id, step_id, outcome, failure, message, provider_status, arguments_digest, arguments, is_truncated, is_sandbox, created_at, duration_ms, provider_ms)
     select ${id}, ${owner}, 'desk.read_' || n % 5, 'read', 'ops_' || n % 5, '', ${either("ok", "timeout")},
       ${project === usual ? "null" : "'timeout'"}, '', 200, '', '', false, false, now(), 1, 1 ${from}`,
    `insert into job_asks (id, project_id, job_id, step_id, point_id, kind, state, question, continuations, answer_schema, escalation, default_continuation, hop_index, principal_id, delivered_principals, key_id, standing_program_id, asked_at)
     select ${id}, ${owner}, ${id}, '', '', 'judge', ${either("answered", "pending")}, '', '{}', '', '[]', '', 0, 'p' || n % 2, '{}', ${id},
       case when n % 2 = 0 then '${programId}' else '' end, now() ${from}`,
    `insert into connected_accounts (id, project_id, toolkit_slug, is_private, entity_id, scheme, state, variables, credential, created_at, updated_at, expires_at)
     select ${id}, ${owner}, 'desk_' || n % 5, false, 'ops_' || n % 5, 's' || n, ${either("superseded", "active")}, '{}', '', now(), now(),
       ${project === usual ? "null" : `to_timestamp(${nowMs / 1000}) + interval '1 day'`} ${from}`,
  ];
}

beforeAll(async () => {
  for (const table of ["tool_calls", "job_asks", "connected_accounts"]) {
    await db.sql.unsafe(`alter table ${table} set (autovacuum_enabled = false)`);
  }
  for (const text of [...filling(usual, 1), ...filling(unusual, 100_001)]) await db.sql.unsafe(text);
  await db.sql.unsafe("update ledger_state set settled_before = (select id from tool_calls order by id desc limit 1)");
});

const calls: NarrowedList<ToolCallFilter> = {
  name: "calls",
  every: {
    ...{ toolSlug: undefined, entityId: undefined, outcome: undefined, failed: false },
    ...{ sinceMs: undefined, untilMs: undefined },
  },
  values: {
    toolSlug: ["desk.read_2", "desk.gone"],
    entityId: ["ops_2", "ops_3", "gone"],
    outcome: ["ok", "running", "timeout", "held"],
    failed: [true],
    sinceMs: [1],
    untilMs: [1],
  },
  list: (tx, filter) => toolCallsForProject(tx, usual).list(filter, page),
};

const asks: NarrowedList<AskFilter> = {
  name: "asks",
  every: { state: undefined, principalId: undefined, jobId: undefined, standingProgramId: undefined },
  values: {
    state: ["pending", "answered", "withdrawn"],
    principalId: ["p0", "p1", "gone"],
    jobId: [jobId, absentJobId],
    standingProgramId: [programId, "stp_gone"],
  },
  list: (tx, filter) => asksForProject(tx, usual).list(filter, page),
  isLeftOut: ({ state, principalId, jobId, standingProgramId }) =>
    // These combinations are left out: a job has only a few asks, and all asks of a standing program are read.
    jobId !== undefined || (standingProgramId !== undefined && (state ?? principalId) !== undefined),
};

const accounts: NarrowedList<ConnectedAccountFilter> = {
  name: "accounts",
  every: { toolkitSlug: "", entityId: "", state: "" },
  values: {
    toolkitSlug: ["desk_2", "gone"],
    entityId: ["ops_2", "ops_3", "gone"],
    state: ["pending", "active", "expired", "superseded"],
  },
  list: (tx, filter) => connectedAccountsForProject(tx, usual).list(filter, page, nowMs),
  // Combinations with an entity are left out, because an entity has only a few accounts.
  isLeftOut: ({ entityId }) => entityId !== "",
};

const lists = [
  calls,
  {
    ...calls,
    name: "calls of the other project",
    list: (tx, filter) => toolCallsForProject(tx, unusual).list(filter, page),
  } satisfies NarrowedList<ToolCallFilter>,
  asks,
  {
    ...asks,
    name: "asks of the other project",
    list: (tx, filter) => asksForProject(tx, unusual).list(filter, page),
  } satisfies NarrowedList<AskFilter>,
  accounts,
  {
    ...accounts,
    name: "accounts of the other project",
    list: (tx, filter) => connectedAccountsForProject(tx, unusual).list(filter, page, nowMs),
  } satisfies NarrowedList<ConnectedAccountFilter>,
] as readonly NarrowedList<object>[];

test.each(["absent", "fresh"])("with %s statistics no list reads far for what is not there", async (statistics) => {
  if (statistics === "absent") await forgetStatistics(db);
  else await db.sql.unsafe("analyze");
  for (const list of lists) {
    const { empty, far } = await farReads(db, list);
    expect(empty, list.name).toBeGreaterThan(2);
    expect(far).toEqual([]);
  }
});
