import { type ProjectId, type SubscriptionId, uuidOfId } from "@svc/core";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import type { Executor } from "../connect.ts";
import { subscriptionsForProject } from "../subscriptions/repo.ts";
import { addProject, addSubscription, nowMs } from "../test-rows.ts";
import { publishOperationalEvents } from "./operational.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const filters = { begin: () => async () => new Map(), countFaults: () => {} };

async function subscribe(projectId: ProjectId, entityId = ""): Promise<SubscriptionId> {
  const id = await addSubscription(db, projectId, entityId);
  await subscriptionsForProject(db, projectId).update(id, { toolkitSlug: "svc" });
  return id;
}

let count = 0;

/** Publishes one event about a quota for each entity (customer or user). Returns the subscriptions that receive each event, sorted. */
async function publish(executor: Executor, facts: readonly { projectId: ProjectId; entityId: string }[]) {
  const payload = { quota: "jobs", used: 1, limit: 1 };
  const events = facts.map((fact) => ({ ...fact, name: "quota_near" as const, occurrence: `o${++count}`, payload }));
  await publishOperationalEvents(executor, facts, () => events, { filters, nowMs });
  const received: (string[] | undefined)[] = [];
  for (const { projectId, occurrence } of events) {
    const rows = await db.sql<{ ids: string[] }[]>`
      select array(select d.subscription_id::text from deliveries d where d.project_id = e.project_id and d.event_id = e.id order by 1) as ids
      from events e where e.project_id = ${uuidOfId(projectId)} and e.dedupe_key = ${occurrence}`;
    received.push(rows[0]?.ids);
  }
  return received;
}

/** Returns an executor that notes the names of the statements that read receivers. */
function noting() {
  const read: string[] = [];
  const sql = new Proxy(db.sql, {
    get(target, property) {
      if (property !== "unsafe") return Reflect.get(target, property) as unknown;
      return (text: string, ...rest: never[]) => {
        read.push(...(/find_(?:operational|entity)_receivers/.exec(text) ?? []));
        return target.unsafe(text, ...rest);
      };
    },
  });
  return { executor: { sql, orm: db.orm } as Executor, read };
}

const idsOf = (...ids: SubscriptionId[]) => ids.map((id) => uuidOfId(id)).toSorted();

test("an operational event goes to the subscriptions of its entity and of the whole project, and only those are read", async () => {
  const [projectId, other] = [await addProject(db), await addProject(db)];
  const [all, ada, bob] = [
    await subscribe(projectId),
    await subscribe(projectId, "ada"),
    await subscribe(projectId, "bob"),
  ];
  await addSubscription(db, projectId, "ada");
  const theirs = await subscribe(other, "ada");
  const { executor, read } = noting();
  const facts = ["ada", "bob", "eve", ""].map((entityId) => ({ projectId, entityId }));
  expect(await publish(executor, [...facts, { projectId: other, entityId: "ada" }])).toEqual([
    ...[idsOf(all, ada), idsOf(all, bob), idsOf(all), idsOf(all), idsOf(theirs)],
  ]);
  expect(read).toEqual(["find_operational_receivers", "find_entity_receivers"]);
});

test("a project with a receiver of one entity stores the events of every entity, and one without receivers stores none", async () => {
  const [projectId, plain, general] = [await addProject(db), await addProject(db), await addProject(db)];
  await subscribe(projectId, "ada");
  const all = await subscribe(general);
  const { executor, read } = noting();
  expect(await publish(executor, [{ projectId: plain, entityId: "ada" }])).toEqual([undefined]);
  expect(await publish(executor, [{ projectId: general, entityId: "ada" }])).toEqual([idsOf(all)]);
  expect(read.splice(0)).toEqual(["find_operational_receivers", "find_operational_receivers"]);
  expect(await publish(executor, [{ projectId, entityId: "" }])).toEqual([[]]);
  expect(read).toEqual(["find_operational_receivers"]);
});
