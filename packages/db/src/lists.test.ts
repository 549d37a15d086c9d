import { idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { explain, type PlanMode, sentBy } from "../plans/planner/explain.ts";
import { forgetStatistics } from "../plans/planner/seed.ts";
import { asksForProject } from "./asks/repo.ts";
import { toolCallsForProject } from "./calls/repo.ts";
import type { Executor } from "./connect.ts";
import { connectedAccountsForProject } from "./connections/repo.ts";
import { eventsForProject } from "./events/repo.ts";
import { jobsForProject } from "./jobs/repo.ts";
import { addProject } from "./test-rows.ts";

// Fills a project with 50,000 rows of each kind that a list can filter. None of them matches the filters, and the search must still end
// early.

const { db, drop } = await createTestDatabase();
afterAll(drop);

const projectId = await addProject(db);
const stranger = await addProject(db);
/** Project that owns every 500th row of the large project's range. */
const small = await addProject(db);
/** A project whose jobs appear only in lists that ask for their kind, such as child jobs. */
const parent = await addProject(db);
const rows = 50_000;
const readMax = 500;
const page = { after: undefined, limit: 51 };

/** Returns the SQL that inserts rows with the numbers `first` to `last`. Their ids are in the order of the numbers. */
function filling(owner: ProjectId, [first, last]: readonly [number, number]): string[] {
  const id = "('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid";
  const own = `'${uuidOfId(owner)}'::uuid`;
  const project = owner === projectId ? `case when n % 500 = 7 then '${uuidOfId(small)}'::uuid else ${own} end` : own;
  const from = `from generate_series(${first}, ${last}) n`;
  return [
    `insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
     select ${project}, ${id}, 'event', t, t || '.done_' || n % 20, '', '{}', now(), now(), '' ${from}
     cross join lateral (select case when ${own} = '${uuidOfId(projectId)}' then 'code_host' else 'payments' end as t) k`,
    `insert into tool_calls (id, project_id, tool_slug, access_class, entity_id, step_id, outcome, message, provider_status, arguments_digest, arguments, is_truncated, is_sandbox, created_at, duration_ms, provider_ms)
     select ${id}, ${project}, 'desk.read_' || n % 5, 'read', 'ops_' || n % 5, '', 'ok', '', 200, '', '', false, false, now(), 1, 1 ${from}`,
    `insert into jobs (id, project_id, status, mode, program_digest, params, step_args, key_id, principal_chain, content_digest, estimate, used, saga, created_at, updated_at, finished_at)
     select ${id}, ${project}, 'succeeded', 'live', '', '{}', '{}', ${id}, '{}', '', '{}', '{}', '{}', now(), now(), now() ${from}`,
    `insert into job_asks (id, project_id, job_id, step_id, point_id, kind, state, question, continuations, answer_schema, escalation, default_continuation, hop_index, principal_id, delivered_principals, key_id, asked_at)
     select ${id}, ${project}, ${id}, '', '', 'judge', 'answered', '', '{}', '', '[]', '', 0, 'p', '{}', ${id}, now() ${from}`,
    `insert into connected_accounts (id, project_id, toolkit_slug, is_private, entity_id, scheme, state, variables, created_at, updated_at, expires_at)
     select ${id}, ${project}, 'code_host', false, 'ops_' || n, 'oauth2', 'active', '{}', now(), now(), now() + interval '1 h' ${from}`,
  ];
}

/** Child jobs, approval dry runs and simulation runs, a third of the rows each. Ordinary lists contain none of them. */
const unlisted = `insert into jobs (id, project_id, status, mode, simulated_from, parent_job_id, child_key, program_digest, params, step_args, key_id, principal_chain, content_digest, estimate, used, saga, created_at, updated_at, finished_at)
  select id, '${uuidOfId(parent)}', 'succeeded', (array['live', 'rehearse', 'simulate'])[1 + n % 3], case when n % 3 = 2 then id end,
    case when n % 3 = 0 then id end, case when n % 3 = 0 then '' end, '', '{}', '{}', id, '{}', '', '{}', '{}', '{}', now(), now(), now()
  from generate_series(1, 10000) n cross join lateral (select ('00000000-0000-7001-8000-' || lpad(to_hex(n), 12, '0'))::uuid as id) i`;

beforeAll(async () => {
  for (const table of ["events", "tool_calls", "jobs", "job_asks", "connected_accounts"]) {
    await db.sql.unsafe(`alter table ${table} set (autovacuum_enabled = false)`);
  }
  const texts = [
    ...filling(projectId, [1, rows]),
    ...filling(stranger, [rows + 1, rows + 1_000]),
    unlisted,
    `insert into job_programs (project_id, digest, program_hash, pins) values ('${uuidOfId(small)}', '', '', '{}')`,
  ];
  await Promise.all(texts.map((text) => db.sql.unsafe(text)));
  // Sets the position that the search for lost calls would have stored. This search runs every minute.
  await db.sql.unsafe("update ledger_state set settled_before = (select id from tool_calls order by id desc limit 1)");
});

const everyEvent = { toolkitSlug: "", triggerSlug: "", sinceMs: undefined, untilMs: undefined };
const everyCall = { toolSlug: undefined, entityId: undefined, sinceMs: undefined, untilMs: undefined };
const everyJob = {
  statuses: undefined,
  sinceMs: undefined,
  untilMs: undefined,
  mode: undefined,
  skillSlug: undefined,
  parentJobId: undefined,
  standingProgramId: undefined,
};
const everyAsk = { principalId: undefined, jobId: undefined, standingProgramId: undefined };

const events = (filter: object) => (tx: Executor) =>
  eventsForProject(tx, projectId).list({ ...everyEvent, ...filter }, page);
const jobs =
  (filter: object, owner = projectId) =>
  (tx: Executor) =>
    jobsForProject(tx, owner).list({ ...everyJob, ...filter }, page);
const calls = (outcome: "timeout" | "running") => (tx: Executor) =>
  toolCallsForProject(tx, projectId).list({ ...everyCall, outcome }, page);
const asks = (filter: object) => (tx: Executor) =>
  asksForProject(tx, projectId).list({ ...everyAsk, state: undefined, ...filter }, page);
const accounts = (filter: object) => (tx: Executor) =>
  connectedAccountsForProject(tx, projectId).list(
    { toolkitSlug: "", entityId: "", state: "", ...filter },
    page,
    Date.now(),
  );

const lists: readonly [string, (tx: Executor) => Promise<readonly unknown[]>][] = [
  ["events of a toolkit without any", events({ toolkitSlug: "team_chat" })],
  ["events of a toolkit of which only another project has any", events({ toolkitSlug: "payments" })],
  ["events of a toolkit in a time without any", events({ toolkitSlug: "code_host", sinceMs: 1 })],
  ["events of a trigger without any", events({ triggerSlug: "code_host.opened" })],
  ["calls of an outcome that none has", calls("timeout")],
  ["calls that run", calls("running")],
  ["simulations", jobs({ mode: "simulate" })],
  ["rehearsals", jobs({ mode: "rehearse" })],
  ["jobs of a skill that nobody called", jobs({ skillSlug: "clean_up" })],
  ["jobs in a status that none is in", jobs({ statuses: ["parked"] })],
  ["jobs where all are run by others, rehearsed or twins", jobs({}, parent)],
  ["live ones of these", jobs({ mode: "live" }, parent)],
  ["those of these that succeeded", jobs({ statuses: ["succeeded"] }, parent)],
  ["pending asks", asks({ state: "pending" })],
  ["asks in a state that none is in", asks({ state: "withdrawn" })],
  ["asks of a principal without any", asks({ principalId: "q" })],
  ["pending asks of a principal of whom all have an answer", asks({ principalId: "p", state: "pending" })],
  ["accounts of a toolkit without any", accounts({ toolkitSlug: "calendar" })],
  ["accounts in a state that none is in", accounts({ state: "pending" })],
  ["expired accounts", accounts({ state: "expired" })],
  ["accounts of a toolkit in a state that none of it is in", accounts({ toolkitSlug: "code_host", state: "revoked" })],
  ["expired accounts of a toolkit", accounts({ toolkitSlug: "code_host", state: "expired" })],
];

/** Returns the lists of which the small project has more than one page. */
const listsOf = (owner: ProjectId): readonly [string, (tx: Executor) => Promise<readonly unknown[]>][] => [
  ["events", (tx) => eventsForProject(tx, owner).list(everyEvent, page)],
  ["events of a toolkit", (tx) => eventsForProject(tx, owner).list({ ...everyEvent, toolkitSlug: "code_host" }, page)],
  ["calls", (tx) => toolCallsForProject(tx, owner).list({ ...everyCall, outcome: undefined }, page)],
  [
    "calls of a tool",
    (tx) => toolCallsForProject(tx, owner).list({ ...everyCall, toolSlug: "desk.read_2", outcome: undefined }, page),
  ],
  [
    "calls of an entity",
    (tx) => toolCallsForProject(tx, owner).list({ ...everyCall, entityId: "ops_2", outcome: undefined }, page),
  ],
  ["jobs", jobs({}, owner)],
  ["jobs of a status", jobs({ statuses: ["succeeded"] }, owner)],
  ["asks", (tx) => asksForProject(tx, owner).list({ ...everyAsk, state: undefined }, page)],
];

/** Returns the maximum number of rows that a list reads, over all ways to plan its statements. Nodes use generic plans (`connect.ts`). */
async function readCount(list: (tx: Executor) => Promise<unknown>): Promise<number> {
  const all = await sentBy(db, list);
  if (all.length === 0) throw new Error("nothing was sent");
  const modes: readonly PlanMode[] = ["custom", "generic"];
  let most = 0;
  for (const mode of modes) {
    // Disk costs to plan with: those for flash disks, and the default of a PostgreSQL server.
    for (const randomPageCost of [1.1, 4]) {
      let count = 0;
      for (const sent of all) {
        const { rows: read } = await explain(db, sent, { mode, isRun: true, randomPageCost });
        count += Object.values(read).reduce((sum, one) => sum + one, 0);
      }
      most = Math.max(most, count);
    }
  }
  return most;
}

test.each(["absent", "fresh"])(
  "with %s statistics no list reads far for rows that are not there",
  async (statistics) => {
    if (statistics === "absent") await forgetStatistics(db);
    else await db.sql.unsafe("analyze");
    for (const [name, list] of lists) {
      expect(await list(db), name).toEqual([]);
      expect(await readCount(list), name).toBeLessThan(readMax);
    }
  },
);

test("lists of a small project cost no more because of a large one", async () => {
  // With two projects in a table, a generic plan expects that each has half of the rows.
  for (const table of ["tool_calls", "job_asks"]) {
    await db.sql.unsafe(`delete from ${table} where project_id = '${uuidOfId(stranger)}'`);
    await db.sql.unsafe(`vacuum analyze ${table}`);
  }
  for (const [name, list] of listsOf(small)) {
    expect((await list(db)).length, name).toBe(51);
    expect(await readCount(list), name).toBeLessThan(readMax);
  }
});

test("a late page costs no more than the first one", async () => {
  const late = idOfUuid("call", "00000000-0000-7000-8000-000000000100");
  const calls = await readCount((tx) =>
    toolCallsForProject(tx, projectId).list({ ...everyCall, outcome: undefined }, { after: late, limit: 51 }),
  );
  expect(calls).toBeLessThan(readMax);
  const job = idOfUuid("job", "00000000-0000-7000-8000-000000000100");
  expect(await readCount((tx) => jobsForProject(tx, projectId).list(everyJob, { after: job, limit: 51 }))).toBeLessThan(
    readMax,
  );
  const ask = idOfUuid("ask", "00000000-0000-7000-8000-000000000100");
  const asks = (tx: Executor) =>
    asksForProject(tx, projectId).list({ ...everyAsk, state: undefined }, { after: ask, limit: 51 });
  expect(await asks(db)).toHaveLength(51);
  expect(await readCount(asks)).toBeLessThan(readMax);
});

test("a page of a toolkit with many triggers is merged from a page of each at most", async () => {
  const list = events({ toolkitSlug: "code_host" });
  expect(await list(db)).toHaveLength(51);
  expect(await readCount(list)).toBeLessThan(20 * 51 + 100);
});
