import { randomBytes } from "node:crypto";
import { createId, type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { endLeases } from "@svc/testing/leases";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { addActivityMinutes } from "./activity/write.ts";
import { beginKeyedToolCalls } from "./calls/keys.ts";
import { type Database, type Executor, withTransaction } from "./connect.ts";
import { claimDeliveries } from "./deliveries/claim.ts";
import { settleDeliveries } from "./deliveries/settle.ts";
import { isUniqueViolation } from "./driver.ts";
import { recordEvents } from "./events/record.ts";
import { putJobPrograms } from "./jobs/children.ts";
import { createApiKey } from "./keys/repo.ts";
import { createFirstProject, createProject, touchSubscriptionRouting } from "./projects/repo.ts";
import { routingState } from "./schema/index.ts";
import { sweepStandingRates, writeStandingRates } from "./standing/bounds.ts";
import { sweepKnownKeys, writeKnownKeys } from "./standing/windows.ts";
import { agentSubscriptionsForProject } from "./subscriptions/agent-subscriptions.ts";
import { addFilterFaults } from "./subscriptions/filters.ts";
import {
  reportSubscriptionFailures,
  reportSubscriptionOverflows,
  reportSubscriptionRecoveries,
} from "./subscriptions/health.ts";
import { subscriptionsForProject } from "./subscriptions/repo.ts";
import { endSubscriptionsOfKey, readProjectRouting } from "./subscriptions/routing.ts";
import { deleteEndedSubscriptions, findEndedSubscriptions } from "./subscriptions/sweep.ts";
import {
  addProject,
  addSubscription,
  callOf,
  claimRequest,
  fillQueue,
  newEvent,
  nowMs,
  settlement,
} from "./test-rows.ts";
import { writeResealed } from "./vault/reseal.ts";

// Statements that write the same rows lock them in one order, or skip locked rows. Otherwise two of them deadlock, and PostgreSQL ends one
// of them (40P01) after a second. The caller of this one then gets the error that the database is unavailable.

const { db, url, drop } = await createTestDatabase();
afterAll(drop);

const owner = createId("node", nowMs);
const [a, b, c] = ["a", "b", "c"] as const;

/**
 * Runs two writers that write the same three rows or keys, each in its own order. `hold` locks the middle row first, so both writers stop
 * at it or before it; then the lock is released. If the writers lock in opposite orders, each now holds a row that the other needs, and
 * they deadlock. `isFar`: returns true when a writer has gone as far as it can, for writers that neither end nor wait there.
 */
async function meet(
  hold: (tx: Executor) => Promise<unknown>,
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
  { on = db, isFar = async () => false }: { on?: Database; isFar?: () => Promise<boolean> } = {},
): Promise<void> {
  const met: Promise<unknown>[] = [];
  class LetGo extends Error {}
  const held = withTransaction(on, async (tx) => {
    await hold(tx);
    for (const [index, run] of [first, second].entries()) {
      let isOver = false;
      const running = run().finally(() => {
        isOver = true;
      });
      // The test awaits `running` later and handles its rejection there.
      running.catch(() => {});
      met.push(running);
      await until(
        async () => isOver || (await countWaiting(on)) > index || (await isFar()),
        "it came as far as it can",
      );
    }
    throw new LetGo();
  });
  await expect(held).rejects.toThrow(LetGo);
  await Promise.all(met);
}

async function countWaiting(on: Database): Promise<number> {
  const found = await on.sql`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return found.length;
}

test("two that meet in opposite orders deadlock, or this would tell nothing", async () => {
  const projectId = await addProject(db);
  const lane = await fillQueue(db, projectId, await addSubscription(db, projectId), { count: 3 });
  const lock = (tx: Executor, place: number) =>
    tx.sql`select from delivery_tasks where due_at = ${new Date(lane[place]!.queuedForMs).toISOString()}::timestamptz for update`;
  const lockAll = (places: number[]) => () =>
    withTransaction(db, async (tx) => {
      for (const place of places) await lock(tx, place);
    });
  await expect(meet((tx) => lock(tx, 1), lockAll([0, 1, 2]), lockAll([2, 1, 0]))).rejects.toThrow("deadlock detected");
});

test("calls that begin under the same idempotency keys", async () => {
  const projectId = await addProject(db);
  const begin = (executor: Executor, keys: readonly string[]) => {
    const calls = keys.map((idempotencyKey) => ({ ...callOf(projectId, { outcome: "running" }), idempotencyKey }));
    return beginKeyedToolCalls(executor, calls);
  };
  const begun: boolean[][] = [];
  const keep = async (keys: readonly string[]) => begun.push(await begin(db, keys));
  await meet(
    (tx) => begin(tx, [b]),
    () => keep([a, b, c]),
    () => keep([c, b, a]),
  );
  expect(begun).toHaveLength(2);
  expect(begun.flat().filter(Boolean)).toHaveLength(3);
});

test("events with the same dedupe keys", async () => {
  const projectId = await addProject(db);
  const record = (executor: Executor, keys: readonly string[]) => {
    const events = keys.map((dedupeKey) => newEvent(projectId, [], { dedupeKey }));
    return recordEvents(executor, events, undefined, { owner, untilMs: nowMs });
  };
  await meet(
    (tx) => record(tx, [b]),
    () => record(db, [a, b, c]),
    () => record(db, [c, b, a]),
  );
});

test("jobs that run the same skills", async () => {
  const projectId = await addProject(db);
  const put = (executor: Executor, numbers: readonly number[]) => {
    const programs = numbers.map((number) => {
      const digest = Buffer.alloc(32, number);
      return { projectId, digest, program: null, sealedProgram: digest, programHash: "h", pins: "{}" };
    });
    return putJobPrograms(executor, programs);
  };
  await meet(
    (tx) => put(tx, [2]),
    () => put(db, [1, 2, 3]),
    () => put(db, [3, 2, 1]),
  );
});

test("subscriptions that fail, and that deliver again", async () => {
  const projectId = await addProject(db);
  const ids = [await addSubscription(db, projectId), await addSubscription(db, projectId)];
  ids.push(await addSubscription(db, projectId));
  const limits = {
    backoffMinMs: 1_000,
    backoffMaxMs: 2_000,
    failingMaxMs: 9_000_000,
    goneMaxMs: 9_000_000,
    goneMin: 3,
  };
  const fail = (executor: Executor, failed: typeof ids) => {
    const reports = failed.map((subscriptionId) => ({
      ...{ subscriptionId, startedAtMs: nowMs, retryAfterMs: 0, goneCount: 0 },
    }));
    return reportSubscriptionFailures(executor, reports, nowMs, limits);
  };
  await fail(db, ids);
  const hold = (tx: Executor) => fail(tx, ids.slice(1, 2));
  await meet(
    hold,
    () => fail(db, ids),
    () => fail(db, ids.toReversed()),
  );
  await meet(
    hold,
    () => fail(db, ids.toReversed()),
    () => reportSubscriptionRecoveries(db, ids.toReversed()),
  );
  const count = (counted: typeof ids) => addFilterFaults(db, new Map(counted.map((id) => [id, 1])));
  await meet(
    hold,
    () => count(ids.toReversed()),
    () => fail(db, ids),
  );
  const overflow = (executor: Executor, counted: typeof ids) => reportSubscriptionOverflows(executor, counted, 0);
  for (const id of ids) await fillQueue(db, projectId, id, { count: 1 });
  await meet(
    (tx) => overflow(tx, ids.slice(1, 2)),
    () => overflow(db, ids.toReversed()),
    () => fail(db, ids),
  );
  const found =
    await db.sql`select filter_faults::int4 as faults from subscriptions where project_id = ${uuidOfId(projectId)}`;
  expect(found.map(({ faults }) => faults)).toEqual([1, 1, 1]);
});

test("subscriptions of several entities that are swept, while those of a key end and one of them is made", async () => {
  const projectId = await addProject(db);
  const [keyId, expiresAt] = [createId("key", nowMs), new Date(nowMs - 1).toISOString()];
  // The hashes of these entities differ, so each has a version of its own.
  const entities = ["a", "b", "d"];
  let count = 0;
  const add = async (entityId: string, isOfKey: boolean) => {
    const id = await addSubscription(db, projectId, entityId);
    const ordered = uuidOfId(createId("sub", nowMs + ++count));
    await db.sql`update subscriptions set id = ${ordered}, key_id = ${isOfKey ? uuidOfId(keyId) : null},
      expires_at = ${isOfKey ? null : expiresAt}::timestamptz where id = ${uuidOfId(id)}`;
  };
  for (const entityId of entities) await add(entityId, false);
  for (const entityId of entities.toReversed()) await add(entityId, true);
  // Orders the rows by their ids, so that statements lock them in this order, with each plan.
  await db.sql`cluster subscriptions using subscriptions_pkey`;
  const ended = await findEndedSubscriptions(db, nowMs, 10);
  const shards = await db.sql`select from routing_shards where project_id = ${uuidOfId(projectId)}`;
  expect([ended.length, shards.length]).toEqual([3, 3]);
  await meet(
    (tx) =>
      tx.sql`update routing_shards set version = version where project_id = ${uuidOfId(projectId)} and shard = routing_shard('b')`,
    () => deleteEndedSubscriptions(db, ended, nowMs),
    () => withTransaction(db, (tx) => endSubscriptionsOfKey(tx, { projectId, keyId, nowMs })),
  );
  await meet(
    (tx) => addSubscription(tx, projectId, "b"),
    () => addSubscription(db, projectId, "d"),
    () => addSubscription(db, projectId, "a"),
  );
  const [counted] = await db.sql`select sum(subscriptions)::int4 as count from routing_shards
    where project_id = ${uuidOfId(projectId)}`;
  expect(counted).toEqual({ count: 5 });
});

test("subscriptions of two projects that are sealed again, while they fail and while they are changed", async () => {
  const projects = [await addProject(db), await addProject(db)];
  const ids: SubscriptionId[] = [];
  for (const projectId of projects)
    ids.push(await addSubscription(db, projectId, "a"), await addSubscription(db, projectId));
  const sealAgain = async () => {
    const row = (id: SubscriptionId) => ({
      row: { key: [uuidOfId(id)], values: [{ sealed: Buffer.from("sealed"), context: "" }, undefined, undefined] },
      sealed: [Buffer.from("other"), undefined, undefined],
    });
    await withTransaction(db, (tx) => writeResealed(tx, "subscriptions", ids.toReversed().map(row)));
  };
  const limits = { backoffMinMs: 1, backoffMaxMs: 1, failingMaxMs: 0, goneMaxMs: 0, goneMin: 1 };
  const fail = (atMs: number) => {
    const reports = ids.map((subscriptionId) => ({ subscriptionId, startedAtMs: atMs, retryAfterMs: 0, goneCount: 0 }));
    return reportSubscriptionFailures(db, reports, atMs, limits);
  };
  await fail(nowMs);
  const change = (projectId: ProjectId, id: SubscriptionId) =>
    subscriptionsForProject(db, projectId).update(id, { active: false });
  const [first, second] = projects;
  await meet(
    // A holder of the second project's row, and of no subscription.
    (tx) => touchSubscriptionRouting(tx, second!, ["a"]),
    async () => {
      await sealAgain();
      await fail(nowMs + 10);
    },
    () => change(first!, ids[0]!),
  );
  const versions = await readProjectRouting(db, projects);
  // The deactivation of two subscriptions of each project: one moves the version of the project, and one that of a shard.
  expect(projects.map((id) => versions.get(id)?.version)).toEqual([4, 4]);
});

test("subscriptions of entities that are deactivated wait for their project, although its own routing stays", async () => {
  const projectId = await addProject(db);
  const failing = await addSubscription(db, projectId, "a");
  const full = await addSubscription(db, projectId, "b");
  await fillQueue(db, projectId, full, { count: 1 });
  const limits = { backoffMinMs: 1, backoffMaxMs: 1, failingMaxMs: 0, goneMaxMs: 0, goneMin: 1 };
  const fail = (atMs: number) => {
    const report = { subscriptionId: failing, startedAtMs: atMs, retryAfterMs: 0, goneCount: 0 };
    return reportSubscriptionFailures(db, [report], atMs, limits);
  };
  await fail(nowMs);
  const ended: Promise<unknown>[] = [];
  await withTransaction(db, async (tx) => {
    await tx.sql`select from projects where id = ${uuidOfId(projectId)} for update`;
    ended.push(fail(nowMs + 10), reportSubscriptionOverflows(db, [full], 0));
    await until(async () => (await countWaiting(db)) === 2, "both wait for the project");
  });
  await Promise.all(ended);
  const found = await db.sql`select inactive_reason from subscriptions where project_id = ${uuidOfId(projectId)}
    order by entity_id`;
  expect(found.map((row) => row["inactive_reason"])).toEqual(["failing", "overflow"]);
});

test("a subscription that is deactivated, while it is swept or an agent renews it", async () => {
  const projectId = await addProject(db);
  const key = createId("key", nowMs);
  await createApiKey(db, {
    ...{
      id: key,
      projectId,
      name: "agent",
      hint: "",
      digest: randomBytes(32),
      createdAt: nowMs,
      role: "member" as const,
    },
  });
  const limits = { backoffMinMs: 1, backoffMaxMs: 1, failingMaxMs: 0, goneMaxMs: 0, goneMin: 1 };
  for (const other of ["swept", "renewed"]) {
    const id = await addSubscription(db, projectId);
    const expiresAt = new Date(nowMs + (other === "swept" ? -1 : 60_000)).toISOString();
    await db.sql`update subscriptions set expires_at = ${expiresAt}::timestamptz, key_id = ${uuidOfId(key)}, mcp_id = ${other}
      where id = ${uuidOfId(id)}`;
    const fail = (atMs: number) => {
      const report = { subscriptionId: id, startedAtMs: atMs, retryAfterMs: 0, goneCount: 0 };
      return reportSubscriptionFailures(db, [report], atMs, limits);
    };
    await fail(nowMs);
    const found = await findEndedSubscriptions(db, nowMs, 10);
    const ended = found.filter((one) => one.projectId === projectId);
    expect(ended).toHaveLength(other === "swept" ? 1 : 0);
    const renewed = {
      expiresAt: nowMs + 120_000,
      cursor: "",
      signingSecret: Buffer.from("sealed"),
      formerSecret: null,
      formerUntil: null,
    };
    await meet(
      (tx) => tx.sql`select from subscriptions where id = ${uuidOfId(id)} for update`,
      () => fail(nowMs + 10),
      () =>
        other === "swept"
          ? deleteEndedSubscriptions(db, ended, nowMs)
          : agentSubscriptionsForProject(db, projectId).refresh(id, renewed, nowMs),
    );
  }
});

test("paces that nodes claim from, and that a caller changes meanwhile", async () => {
  const projectId = await addProject(db);
  const subscriptions = subscriptionsForProject(db, projectId);
  const ids = [await addSubscription(db, projectId), await addSubscription(db, projectId)];
  ids.push(await addSubscription(db, projectId));
  for (const id of ids) {
    await fillQueue(db, projectId, id, { count: 3 });
    await subscriptions.update(id, { settings: { pace: { max: 10, perMs: 1_000 } } });
  }
  const claim = async () => {
    const { deliveries } = await claimDeliveries(db, claimRequest(owner));
    return deliveries.filter(({ projectId: of }) => of === projectId).map(({ subscriptionId }) => subscriptionId);
  };
  const claimed: string[] = [];
  const change = async (tx: Executor, id: (typeof ids)[number]) => {
    await subscriptionsForProject(tx, projectId).update(id, { settings: { pace: { concurrency: 1 } } });
  };
  await meet(
    (tx) => change(tx, ids[1]!),
    async () => void claimed.push(...(await claim())),
    () =>
      withTransaction(db, async (tx) => {
        for (const id of ids.toReversed()) await change(tx, id);
      }),
    // The claim does not wait, so only the other writer does.
    { isFar: async () => claimed.length > 0 && (await countWaiting(db)) === 1 },
  );
  // The claim waits for nobody: it leaves out the subscription that is being changed.
  expect(claimed.sort()).toEqual([ids[0], ids[2]]);
});

test("counts of what happened", async () => {
  const projectId = await addProject(db);
  const add = (executor: Executor, outcomes: readonly string[]) => {
    const counts = outcomes.map((outcome) => ({
      ...{ projectId, series: "calls", subject: "s", at: nowMs, outcome, count: 1 },
    }));
    return addActivityMinutes(executor, counts);
  };
  await meet(
    (tx) => add(tx, [b]),
    () => add(db, [a, b, c]),
    () => add(db, [c, b, a]),
  );
});

test("memory and limits of standing programs, while they are swept", async () => {
  const programId = createId("stp", nowMs);
  const seen = (keys: readonly string[], until: number) => keys.map((key) => ({ programId, key, until }));
  await writeKnownKeys(db, seen([a, b, c], nowMs - 1));
  await meet(
    (tx) => writeKnownKeys(tx, seen([b], nowMs - 1)),
    () => writeKnownKeys(db, seen([c, b, a], nowMs + 1)),
    () => sweepKnownKeys(db, nowMs, 10),
  );
  const rates = (keys: readonly string[], at: number) => keys.map((key) => ({ programId, key, at }));
  await writeStandingRates(db, rates([a, b, c], nowMs - 1));
  await meet(
    (tx) => writeStandingRates(tx, rates([b], nowMs - 1)),
    () => writeStandingRates(db, rates([c, b, a], nowMs + 1)),
    () => sweepStandingRates(db, nowMs, 10),
  );
});

test("the first project, and one of its name that an administrator makes meanwhile", async () => {
  const empty = await createTestDatabase();
  try {
    await meet(
      (tx) => tx.orm.select().from(routingState).for("update"),
      () => createFirstProject(empty.db, "one", nowMs),
      () => expect(createProject(empty.db, "one", nowMs)).rejects.toSatisfy((error) => isUniqueViolation(error)),
      { on: empty.db },
    );
  } finally {
    await empty.drop();
  }
});

test("leases that a test ends, while the nodes that live settle theirs", async () => {
  const projectId = await addProject(db);
  const fromMs = Date.now();
  const lane = await fillQueue(db, projectId, await addSubscription(db, projectId), { count: 3, fromMs, owner });
  const leaseUntilMs = fromMs + 30_000;
  await db.sql`update delivery_tasks set lease_until = ${new Date(leaseUntilMs).toISOString()}::timestamptz where lease_owner is not null`;
  const settle = (executor: Executor, tasks: typeof lane) =>
    settleDeliveries(
      executor,
      owner,
      tasks.map((task) => settlement(projectId, { ...task, leaseUntilMs })),
    );
  const isPassed = async () => {
    const held = await db.sql`select 1 from delivery_tasks where lease_owner is not null and lease_until > now()`;
    return held.length < lane.length;
  };
  await meet(
    (tx) => settle(tx, lane.slice(1, 2)),
    () => settle(db, lane.toReversed()),
    () => endLeases(url, "delivery_tasks"),
    { isFar: isPassed },
  );
});
