import { idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { explainAll, sentBy } from "../plans/planner/explain.ts";
import { toolCallsForProject } from "./calls/repo.ts";
import type { Executor } from "./connect.ts";
import { deliveriesForProject } from "./deliveries/repo.ts";
import { eventsForProject } from "./events/repo.ts";
import type { WalkedPage } from "./sql/filter.ts";
import { addProject } from "./test-rows.ts";

// Tests lists that have no index for their filter. There are 45,000 rows of each kind. Every 9,000th row matches the filter, and as many
// rows of another project match too.

const { db, drop } = await createTestDatabase();
afterAll(drop);

const projectId = await addProject(db);
const stranger = await addProject(db);
const rows = 45_000;
const sought = 5;
const jobId = idOfUuid("job", "00000000-0000-7000-8000-000000000001");
/**
 * A subscription with a third of the deliveries. Two other subscriptions have the rest. Deliveries of the other project are spread over all
 * three.
 */
const subscriptionId = idOfUuid("sub", "00000000-0000-7000-8000-000000000001");

function filling(owner: ProjectId, kind: string): string[] {
  const id = `('00000000-0000-7${kind}-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
  const own = `'${uuidOfId(owner)}'::uuid`;
  const isSought = "n % 9000 = 8000";
  const from = `from generate_series(1, ${rows}) n`;
  return [
    `insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
     select ${own}, ${id}, 'event', 'desk', 'desk.done', case when ${isSought} then 'ada' else '' end,
       case when ${isSought} then '{"word":"needle"}' else '{}' end, now(), now(), '' ${from}`,
    `insert into deliveries (project_id, id, event_id, subscription_id, state, attempts)
     select ${own}, ${id}, ${id}, ('00000000-0000-7000-8000-' || lpad(to_hex(1 + n % 3), 12, '0'))::uuid,
       case when n % 9001 = 8000 then 'dead_letter' else 'delivered' end, 1 ${from}`,
    `insert into tool_calls (id, project_id, tool_slug, access_class, entity_id, job_id, step_id, outcome, failure, message, provider_status, arguments_digest, arguments, is_truncated, is_sandbox, created_at, duration_ms, provider_ms)
     select ${id}, ${own}, 'desk.read', 'read', '', case when ${isSought} then '${uuidOfId(jobId)}'::uuid end, '', o, nullif(o, 'ok'), '', 200, '', '', false, false, now(), 1, 1
     ${from} cross join lateral (select case when n % 4 = 0 then 'timeout' else 'ok' end as o) k`,
  ];
}

beforeAll(async () => {
  for (const [owner, kind] of [
    [projectId, "000"],
    [stranger, "001"],
  ] as const) {
    for (const text of filling(owner, kind)) await db.sql.unsafe(text);
  }
  await db.sql.unsafe("analyze");
});

type Row = { readonly id: string };
type ListPageReader = (tx: Executor, place: { after: never; limit: number }) => Promise<WalkedPage<Row>>;

const everyEvent = {
  toolkitSlug: "",
  triggerSlug: "",
  entityId: "",
  payloadContains: "",
  sinceMs: undefined,
  untilMs: undefined,
};
const everyCall = {
  toolSlug: undefined,
  entityId: undefined,
  outcome: undefined,
  sinceMs: undefined,
  untilMs: undefined,
};
const ofJob = { jobId, accountId: undefined, keyId: undefined, stepId: undefined };

const walks: readonly (readonly [name: string, count: number, walk: ListPageReader])[] = [
  [
    "events of an entity",
    sought,
    (tx, at) => eventsForProject(tx, projectId).walk({ ...everyEvent, entityId: "ada" }, at),
  ],
  [
    "events with a text",
    sought,
    (tx, at) => eventsForProject(tx, projectId).walk({ ...everyEvent, payloadContains: "needle" }, at),
  ],
  [
    "events of a trigger with a text",
    sought,
    (tx, at) =>
      eventsForProject(tx, projectId).walk({ ...everyEvent, triggerSlug: "desk.done", payloadContains: "needle" }, at),
  ],
  [
    "events of a toolkit that is not",
    0,
    (tx, at) => eventsForProject(tx, projectId).walk({ ...everyEvent, toolkitSlug: "gone", entityId: "ada" }, at),
  ],
  [
    "deliveries in a state",
    sought,
    (tx, at) => deliveriesForProject(tx, projectId).walk({ subscriptionId: undefined, state: "dead_letter" }, at),
  ],
  [
    "deliveries in a state that none is in",
    0,
    (tx, at) => deliveriesForProject(tx, projectId).walk({ subscriptionId: undefined, state: "pending" }, at),
  ],
  [
    "deliveries to one in a state",
    2,
    (tx, at) => deliveriesForProject(tx, projectId).walk({ subscriptionId, state: "dead_letter" }, at),
  ],
  [
    "deliveries to one that failed",
    2,
    (tx, at) => deliveriesForProject(tx, projectId).walk({ subscriptionId, state: undefined, onlyFailed: true }, at),
  ],
  ["calls of a job", sought, (tx, at) => toolCallsForProject(tx, projectId).walk({ ...everyCall, ...ofJob }, at)],
  [
    "calls of a job and a tool",
    sought,
    (tx, at) => toolCallsForProject(tx, projectId).walk({ ...everyCall, ...ofJob, toolSlug: "desk.read" }, at),
  ],
  [
    "calls of a job that timed out",
    sought,
    (tx, at) => toolCallsForProject(tx, projectId).walk({ ...everyCall, ...ofJob, outcome: "timeout" }, at),
  ],
  [
    "calls of a job that ran",
    0,
    (tx, at) => toolCallsForProject(tx, projectId).walk({ ...everyCall, ...ofJob, outcome: "ok" }, at),
  ],
];

test.each(walks)("%s: pages find all %i, newest first, each once", async (_, count, walk) => {
  const found: string[] = [];
  let after: string | undefined;
  let pages = 0;
  do {
    const { rows: page, walkedTo }: WalkedPage<Row> = await walk(db, { after: after as never, limit: 2 });
    found.push(...page.map(({ id }) => id));
    after = page.length >= 2 ? page.at(-1)?.id : walkedTo;
    pages++;
  } while (after !== undefined && pages < 100);
  expect(found).toHaveLength(count);
  expect(found).toEqual([...new Set(found)].sort().reverse());
  expect(pages).toBeLessThan(20);
});

test.each(walks)("%s: a page scans at most 20,000 rows", async (_, _count, walk) => {
  const sent = await sentBy(db, (tx) => walk(tx, { after: undefined as never, limit: 51 }));
  const plans = await explainAll(db, sent, { mode: "generic", isRun: true });
  for (const { rows: read } of plans) {
    for (const count of Object.values(read)) expect(count).toBeLessThan(20_300);
  }
});
