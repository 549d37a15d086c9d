import { type Id, idOfUuid, uuidOfId } from "@svc/core";
import { call } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { expect } from "vitest";
import { examine, type JobAnswer, submit, type Worker } from "./jobs-bench.ts";
import type { Relay } from "./jobs-relay.ts";

// One node runs a child job, another its parent, and one or both nodes die.

/** The node that dies: that of the child job, that of the parent, or both. */
export type Dying = "child" | "parent" | "both";

const kind = "map of skills";

/** Runs a map of skills on two nodes that can run one job each. Kills while one node has a child job and the other has the parent. */
export async function dieApart(relay: Relay, dying: Dying): Promise<void> {
  const { bench, server, database } = relay;
  const tag = relay.nextTag();
  // The relay's own worker is frozen, because it would otherwise take these jobs.
  relay.worker().freeze();
  const pair = await Promise.all([bench.worker({ runsMax: 1 }), bench.worker({ runsMax: 1 })]);
  // The app answers the first child's request late, so that the child's node stays busy.
  const held = Promise.withResolvers<string>();
  const released = Promise.withResolvers<boolean>();
  let isHeld = false;
  bench.provider.onRequest = ({ method, text }) => {
    if (method !== "POST" || isHeld) return false;
    isHeld = true;
    held.resolve(/\/i(\d+)/.exec(text)?.[1] ?? "");
    return released.promise;
  };
  for (const worker of pair) await worker.tell({ start: true });
  const id = await submit(server, kind, tag, bench.provider.url);
  // By now both nodes may run children. The one meant here is the node whose request is held.
  const holder = await ownerOfChild(relay, await held.promise);
  const [ofChild, ofParent] = pair[0].nodeId === holder ? pair : [pair[1], pair[0]];
  await killWithParent(relay, { id, ofParent });
  if (dying !== "parent") await ofChild.kill();
  if (dying === "child") {
    ofParent.thaw();
    await ofParent.tell({ go: true });
  } else await ofParent.kill();
  released.resolve(false);
  relay.worker().thaw();
  const job = await relay.finish(id);
  bench.provider.onRequest = () => false;
  for (const worker of pair) await worker.kill();
  const events = await examine(server, { job, kind, tag, provider: bench.provider });
  expect(events.filter(({ type }) => type === "child-started")).toHaveLength(1);
  const children = await call<{ jobs?: JobAnswer[] }>(server, "JobsService/ListJobs", { parentJobId: id });
  expect(children.jobs?.map(({ status }) => status)).toEqual(Array(9).fill("JOB_STATUS_SUCCEEDED"));
  const [rows] = await database.db.sql<{ places: number }[]>`
    select count(distinct child_key)::int as places from jobs where parent_job_id = (select id from jobs where idempotency_key = ${tag})`;
  expect(rows?.places).toBe(9);
}

/** Stops the node that has the parent, between two of its commits. The node reports when it comes there. */
async function killWithParent(relay: Relay, { id, ofParent }: { id: string; ofParent: Worker }): Promise<void> {
  let isStopped = false;
  ofParent.onReached = async () => {
    if ((await ownerOfParent(relay, id)) === ofParent.nodeId) {
      ofParent.freeze();
      isStopped = true;
      return;
    }
    await ofParent.tell({ arm });
    await ofParent.tell({ go: true });
  };
  const arm = { point: "before-commit", nth: 1, act: "tell" };
  await ofParent.tell({ arm });
  await until(() => isStopped, "a node that holds the parent");
}

/** Returns the node that runs the child job of a row, by the row's position. */
async function ownerOfChild({ database }: Relay, ordinal: string): Promise<string | undefined> {
  const rows = await database.db.sql<{ owner: string }[]>`
    select t.lease_owner as owner from job_tasks t join jobs j on j.id = t.job_id
    where t.kind = 'run' and t.lease_owner is not null and j.child_key like ${`each/${ordinal}/%`}`;
  expect(rows).toHaveLength(1);
  return rows[0] && idOfUuid("node", rows[0].owner);
}

/** Returns the node that runs the parent job. */
async function ownerOfParent({ database }: Relay, id: string): Promise<string | undefined> {
  const [row] = await database.db.sql<{ owner: string }[]>`
    select lease_owner as owner from job_tasks where job_id = ${uuidOfId(id as Id<"job">)}::uuid and kind = 'run' and lease_owner is not null`;
  return row && idOfUuid("node", row.owner);
}
