import { randomBytes } from "node:crypto";
import {
  createId,
  type DeliveryId,
  type EventId,
  idOfUuid,
  type NodeId,
  type ProjectId,
  type SubscriptionId,
  uuidOfId,
} from "@svc/core";
import type { Database, Executor } from "./connect.ts";
import type { ClaimRequest } from "./deliveries/claim.ts";
import type { Settlement, TaskKey } from "./deliveries/settle.ts";
import type { NewEvent } from "./events/record.ts";
import { createProject } from "./projects/repo.ts";
import type { AttemptEntry } from "./schema/triggers.ts";
import { subscriptionsForProject } from "./subscriptions/repo.ts";

/** The present of tests that need none in particular. */
export const nowMs = Date.UTC(2026, 0, 5, 9, 0, 0);

/** A new project with a name of its own. */
export async function addProject(db: Executor): Promise<ProjectId> {
  return (await createProject(db, randomBytes(6).toString("hex"), nowMs)).id;
}

/** A new subscription to everything. */
export async function addSubscription(db: Executor, projectId: ProjectId): Promise<SubscriptionId> {
  const id = createId("sub", nowMs);
  const signingSecret = Buffer.from("sealed");
  const endpointUrl = "https://example.com/hook";
  await subscriptionsForProject(db, projectId).create({
    id,
    endpointUrl,
    toolkitSlug: "",
    triggerSlug: "",
    createdAt: nowMs,
    signingSecret,
  });
  return id;
}

/** An event with an unleased delivery a subscription, unless `changes` says otherwise. */
export function newEvent(
  projectId: ProjectId,
  subscriptions: readonly SubscriptionId[] = [],
  changes: Partial<NewEvent> = {},
): NewEvent {
  const receivedAtMs = changes.receivedAtMs ?? nowMs;
  return {
    id: createId("evt", receivedAtMs),
    projectId,
    kind: "event",
    toolkitSlug: "code_host",
    triggerSlug: "code_host.issue_opened",
    entityId: "",
    payload: '{"n":1}',
    occurredAtMs: receivedAtMs,
    receivedAtMs,
    dedupeKey: "",
    deliveries: subscriptions.map((subscriptionId) => ({
      id: createId("dlv", receivedAtMs),
      subscriptionId,
      leased: false,
    })),
    ...changes,
  };
}

/** A claim for everything there is room for. */
export function claimRequest(owner: NodeId, changes: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    owner,
    nowMs,
    leaseUntilMs: nowMs + 30_000,
    limit: 256,
    share: 32,
    rooms: new Map(),
    fullProjects: new Set(),
    after: undefined,
    lanes: 256,
    ...changes,
  };
}

/** A first attempt that was delivered, unless the changes say otherwise. */
export function settlement(
  projectId: ProjectId,
  task: TaskKey,
  { attempt, ...changes }: Partial<Omit<Settlement, "attempt">> & { attempt?: Partial<AttemptEntry> } = {},
): Settlement {
  return {
    ...task,
    projectId,
    state: "delivered",
    dueAtMs: nowMs,
    attempt: {
      number: 1,
      startedAt: nowMs,
      durationMs: 12,
      requestUrl: "https://example.com/hook",
      address: "192.0.2.1",
      statusCode: 200,
      error: "",
      responseHeaders: { "content-type": "text/plain" },
      responseBody: "ok",
      ...attempt,
    },
    ...changes,
  };
}

/**
 * Fills a lane: `count` events of the project, a second apart from `fromMs`, each with one pending delivery to the
 * subscription, due at its receipt. Returns the tasks, the oldest first.
 */
export async function fillLane(
  db: Database,
  projectId: ProjectId,
  subscriptionId: SubscriptionId,
  { count, fromMs = nowMs - 86_400_000, owner }: { count: number; fromMs?: number; owner?: NodeId },
): Promise<TaskKey[]> {
  const rows = await db.sql<{ id: string; due_ms: number }[]>`
    with numbered as materialized (
      select n, to_timestamp(${fromMs / 1000}::float8) + n * interval '1 second' as at,
        (lpad(to_hex(${fromMs}::int8 + n * 1000), 12, '0') || '7' || substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid as id
      from generate_series(1, ${count}::int8) n
    ), stored as (
      insert into events (project_id, id, kind, toolkit_slug, trigger_slug, entity_id, payload, occurred_at, received_at, dedupe_key)
      select ${uuidOfId(projectId)}::uuid, id, 'event', 'code_host', 'code_host.issue_opened', '', '{"n":1}', at, at, '' from numbered
    ), delivered as (
      insert into deliveries (project_id, id, event_id, subscription_id, state, next_attempt_at)
      select ${uuidOfId(projectId)}::uuid, id, id, ${uuidOfId(subscriptionId)}::uuid, 'pending', at from numbered
    ), queued as (
      insert into delivery_tasks (delivery_id, project_id, subscription_id, event_id, due_at, lease_owner, lease_until)
      select id, ${uuidOfId(projectId)}::uuid, ${uuidOfId(subscriptionId)}::uuid, id, at,
        ${owner === undefined ? null : uuidOfId(owner)}::uuid, ${owner === undefined ? null : new Date(nowMs + 30_000).toISOString()}::timestamptz
      from numbered
    )
    select id, (extract(epoch from at) * 1000)::float8 as due_ms from numbered order by n`;
  const leaseUntilMs = nowMs + 30_000;
  return rows.map((row) => ({ id: idOfUuid("dlv", row.id), subscriptionId, queuedForMs: row.due_ms, leaseUntilMs }));
}

/** The event that `fillLane` stored with a delivery: they share their UUID. */
export function eventOf(id: DeliveryId): EventId {
  return idOfUuid("evt", uuidOfId(id));
}

/** One node of an executed plan. */
export type PlanNode = {
  readonly type: string;
  readonly relation: string | undefined;
  readonly index: string | undefined;
  /** Rows it returned, over all its loops. */
  readonly rows: number;
};

type RawNode = {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  Plans?: RawNode[];
};

/**
 * Runs what `run` asks of the store with EXPLAIN ANALYZE in a transaction that is rolled back, and returns every node of
 * the plan of the statement called `name`. `mode`: planned for these values, or for any (as PostgreSQL does from the sixth run on).
 */
export async function explain(
  db: Database,
  name: string,
  mode: "custom" | "generic",
  run: (executor: Executor) => Promise<unknown>,
): Promise<PlanNode[]> {
  const statements = await recordStatements(run);
  const found = statements.find(({ text }) => text.startsWith(`/* ${name} */`));
  if (found === undefined)
    throw new Error(`${name} was not run, but ${statements.map(({ text }) => text.slice(0, 40))}`);
  const rolledBack = new Error("rolled back");
  let nodes: PlanNode[] = [];
  const explained = db.sql.begin(async (tx) => {
    await tx.unsafe(`set local plan_cache_mode = force_${mode}_plan`);
    // As the embedded store is set up, and any server on flash should be.
    await tx.unsafe("set local random_page_cost = 1.1");
    await tx.unsafe(`prepare explained as ${found.text}`);
    const values = found.parameters.map((value) => (value === null ? "null" : `'${value.replaceAll("'", "''")}'`));
    const [row] = await tx.unsafe(`explain (analyze, format json) execute explained(${values.join(", ")})`);
    await tx.unsafe("deallocate explained");
    nodes = flatten((row as unknown as { "QUERY PLAN": [{ Plan: RawNode }] })["QUERY PLAN"][0].Plan);
    throw rolledBack;
  });
  await explained.catch((error: unknown) => {
    if (error !== rolledBack) throw error;
  });
  return nodes;
}

/** Lets `run` ask and answers nothing: what it would have sent is returned. */
async function recordStatements(run: (executor: Executor) => Promise<unknown>) {
  const statements: { text: string; parameters: (string | null)[] }[] = [];
  const sql = {
    unsafe: (text: string, parameters: (string | null)[]) => {
      statements.push({ text, parameters });
      return { execute: () => Promise.resolve([]) };
    },
  };
  await run({ sql, orm: undefined } as unknown as Executor).catch(() => {
    // An empty answer may be more than it can take: what it asked is known by then.
  });
  return statements;
}

function flatten(node: RawNode): PlanNode[] {
  const rows = node["Actual Rows"] * node["Actual Loops"];
  // A bitmap's index stands in the node below the one that names the table.
  const index =
    node["Index Name"] ?? (node["Node Type"] === "Bitmap Heap Scan" ? node.Plans?.[0]?.["Index Name"] : undefined);
  const own = { type: node["Node Type"], relation: node["Relation Name"], index, rows };
  return [own, ...(node.Plans ?? []).flatMap(flatten)];
}

/** How the plan reads a table: the indexes it uses, or `Seq Scan`; without duplicates, sorted. */
export function accessOf(nodes: readonly PlanNode[], relation: string): string[] {
  const scans = nodes.filter((node) => node.relation === relation && node.type.includes("Scan"));
  return [...new Set(scans.map((node) => node.index ?? node.type))].sort();
}
