import { type Id, idOfUuid, uuidOfId } from "@svc/core";
import { call } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { expect } from "vitest";
import { examine, type JobAnswer, submit, type Worker } from "./jobs-bench.ts";
import type { Relay } from "./jobs-relay.ts";

// Two nodes, one of which holds a child job and the other its parent, and one of them dies, or both.

/** Who dies: the node of the child, that of the parent, or both. */
export type Dying = "child" | "parent" | "both";

const kind = "map of skills";

/** Runs a map of skills on two nodes with room for one job each, and kills while one holds a child and the other the parent. */
export async function dieApart(relay: Relay, dying: Dying): Promise<void> {
  const { bench, server, database } = relay;
  const tag = relay.nextTag();
  // It would take what is theirs.
  relay.worker().freeze();
  const pair = await Promise.all([bench.worker({ runsMax: 1 }), bench.worker({ runsMax: 1 })]);
  // The first child's request is answered late: its node is busy with it until then.
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
  // Both may be at children by now: it is the one whose request is held.
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

/** Stops the node where it holds the parent: between two of its commits, of which it is told. */
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

/** The node that drives the child of a row, by the row's place. */
async function ownerOfChild({ database }: Relay, ordinal: string): Promise<string | undefined> {
  const rows = await database.db.sql<{ owner: string }[]>`
    select t.lease_owner as owner from job_tasks t join jobs j on j.id = t.job_id
    where t.kind = 'run' and t.lease_owner is not null and j.child_key like ${`each/${ordinal}/%`}`;
  expect(rows).toHaveLength(1);
  return rows[0] && idOfUuid("node", rows[0].owner);
}

/** The node that drives the parent. */
async function ownerOfParent({ database }: Relay, id: string): Promise<string | undefined> {
  const [row] = await database.db.sql<{ owner: string }[]>`
    select lease_owner as owner from job_tasks where job_id = ${uuidOfId(id as Id<"job">)}::uuid and kind = 'run' and lease_owner is not null`;
  return row && idOfUuid("node", row.owner);
}
