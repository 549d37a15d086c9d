import { type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asksForProject } from "./asks/repo.ts";
import { toolCallsForProject } from "./calls/repo.ts";
import type { Executor } from "./connect.ts";
import { eventsForProject } from "./events/repo.ts";
import { jobsForProject } from "./jobs/repo.ts";
import { explain, type PlanMode, sentBy } from "./test-plans/explain.ts";
import { forgetStatistics } from "./test-plans/seed.ts";
import { addProject } from "./test-rows.ts";

// A project with 50,000 rows of each kind that a list may narrow, none of which is what is asked for: the search ends early.

const { db, drop } = await createTestDatabase();
afterAll(drop);

const projectId = await addProject(db);
const stranger = await addProject(db);
const rows = 50_000;
const readMax = 500;
const page = { after: undefined, limit: 51 };

/** Rows whose ids are in the order of `n`. */
function filling(owner: ProjectId, count: number): string[] {
  const id = "('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid";
  const project = `'${uuidOfId(owner)}'::uuid`;
  const from = `from generate_series(${count === rows ? 1 : rows + 1}, ${count === rows ? rows : rows + count}) n`;
  return [
    `insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
     select ${project}, ${id}, 'event', t, t || '.done_' || n % 20, '', '{}', now(), now(), '' ${from}
     cross join lateral (select case when ${project} = '${uuidOfId(projectId)}' then 'code_host' else 'payments' end as t) k`,
    `insert into tool_calls (id, project_id, tool_slug, access_class, entity_id, step_id, outcome, message, provider_status, arguments_digest, arguments, is_truncated, is_sandbox, created_at, duration_ms, provider_ms)
     select ${id}, ${project}, 'desk.read', 'read', 'ops', '', 'ok', '', 200, '', '', false, false, now(), 1, 1 ${from}`,
    `insert into jobs (id, project_id, status, mode, program_digest, params, step_args, key_id, principal_chain, content_digest, estimate, used, saga, created_at, updated_at, finished_at)
     select ${id}, ${project}, 'succeeded', 'live', '', '{}', '{}', ${id}, '{}', '', '{}', '{}', '{}', now(), now(), now() ${from}`,
    `insert into job_asks (id, project_id, job_id, step_id, point_id, kind, state, question, continuations, answer_schema, escalation, default_continuation, hop_index, principal_id, delivered_principals, key_id, asked_at)
     select ${id}, ${project}, ${id}, '', '', 'judge', 'answered', '', '{}', '', '[]', '', 0, 'p', '{}', ${id}, now() ${from}`,
  ];
}

beforeAll(async () => {
  for (const table of ["events", "tool_calls", "jobs", "job_asks"]) {
    await db.sql.unsafe(`alter table ${table} set (autovacuum_enabled = false)`);
  }
  const texts = [...filling(projectId, rows), ...filling(stranger, 1_000)];
  await Promise.all(texts.map((text) => db.sql.unsafe(text)));
  // As the search for lost calls leaves it, which goes on every minute.
  await db.sql.unsafe("update ledger_state set settled_before = (select id from tool_calls order by id desc limit 1)");
});

const everyEvent = { toolkitSlug: "", triggerSlug: "", sinceMs: undefined, untilMs: undefined };
const everyCall = { toolSlug: undefined, entityId: undefined, sinceMs: undefined, untilMs: undefined };
const everyJob = {
  status: undefined,
  mode: undefined,
  skillSlug: undefined,
  parentJobId: undefined,
  standingProgramId: undefined,
};
const everyAsk = { principalId: undefined, jobId: undefined, standingProgramId: undefined };

const events = (filter: object) => (tx: Executor) =>
  eventsForProject(tx, projectId).list({ ...everyEvent, ...filter }, page);
const jobs = (filter: object) => (tx: Executor) => jobsForProject(tx, projectId).list({ ...everyJob, ...filter }, page);
const calls = (outcome: "timeout" | "running") => (tx: Executor) =>
  toolCallsForProject(tx, projectId).list({ ...everyCall, outcome }, page);
const pendingAsks = (tx: Executor) => asksForProject(tx, projectId).list({ ...everyAsk, state: "pending" }, page);

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
  ["jobs in a status that none is in", jobs({ status: "parked" })],
  ["pending asks", pendingAsks],
];

/** Rows it reads at most, over the ways it may be planned: what is no statement of a name is planned for its values each time. */
async function readCount(list: (tx: Executor) => Promise<unknown>): Promise<number> {
  const [sent] = await sentBy(db, list);
  if (sent === undefined) throw new Error("nothing was sent");
  const modes: readonly PlanMode[] = sent.text.startsWith("/* ") ? ["custom", "generic"] : ["custom"];
  let most = 0;
  for (const mode of modes) {
    const { rows: read } = await explain(db, sent, { mode, isRun: true });
    const count = Object.values(read).reduce((sum, one) => sum + one, 0);
    most = Math.max(most, count);
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

test("a page of a toolkit with many triggers is merged from a page of each at most", async () => {
  const list = events({ toolkitSlug: "code_host" });
  expect(await list(db)).toHaveLength(51);
  expect(await readCount(list)).toBeLessThan(20 * 51 + 100);
});
