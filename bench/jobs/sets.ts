import { type Costs, costsEach, readCosts } from "../costs.ts";
import { withSystem } from "../measure.ts";
import { delay } from "../monotonic.ts";
import { callServer } from "../server.ts";
import type { System } from "../system.ts";
import { readMemoryMb } from "./memory.ts";
import { type JobsSetting, jobServer, type ReadJob, submission, submitJob } from "./setting.ts";

/**
 * One step over a set: of how many rows, how long it took, by how much the server grew meanwhile at most, and what each row of the whole
 * job cost, that of a job which fetches them alone as well.
 */
export type SetRun = {
  readonly step: string;
  readonly rows: number;
  readonly ms: number;
  readonly grownMb: number;
  readonly costs: Costs;
};

const sizes = [1_000, 10_000, 100_000];

const numbers = { all: "count", sum: "sum place" };

/** The steps that are measured, each over the items of a list. */
const steps: Readonly<Record<string, object | undefined>> = {
  "none: the fetch alone": undefined,
  filter: { filter: "list", where: "row.place >= 100.0" },
  sort: { sort: "list", by: [{ field: "place", order: "desc" }] },
  limit: { limit: "list", max: 1_000_000 },
  distinct: { distinct: "list", by: ["title"] },
  "join inner": { join: "list", with: "list", on: { id: "id" }, keep: { other: "right.title" } },
  "join anti": { join: "list", with: "list", on: { id: "id" }, kind: "anti" },
  "group, 100 groups": { group: "list", by: ["owner"], as: numbers },
  "group, a group a row": { group: "list", by: ["title"], as: numbers },
  compute: { compute: "list", fields: { title: "row.title.upperAscii()" } },
  reduce: { reduce: "list", as: numbers },
  "reduce to a text": {
    reduce: "list",
    as: { text: { text: { of: "- {row.title}", max: 1_000, more: "and {more}" } } },
  },
};

/** Each step over sets of growing size, a job each, the rows in the store. */
export async function measureSets(setting: JobsSetting): Promise<SetRun[]> {
  const { settings, progress } = setting.ctx;
  const isQuick = (settings.seconds ?? 6) < 6;
  const taken = isQuick ? sizes.slice(0, 2) : sizes;
  return withSystem(setting.ctx, jobServer(settings, setting.origin), { post: "calendar" }, async (system) => {
    // Compiles what is hot.
    for (const name of Object.keys(steps)) await runSet(setting, system, name, 5_000);
    const found: SetRun[] = [];
    for (const name of Object.keys(steps)) {
      for (const rows of taken) {
        progress(`${name} of ${rows} rows`);
        found.push(await runSet(setting, system, name, rows));
      }
    }
    return found;
  });
}

async function runSet(setting: JobsSetting, system: System, name: string, rows: number): Promise<SetRun> {
  const list = {
    id: "list",
    call: "bench_items.list_items",
    entity: "bench",
    args: { list: rows },
    rows: {
      from: "items[]",
      keep: ["id", "title", "owner", "place"],
      page: { arg: "cursor", from: "nextCursor", max: 1_000 },
    },
  };
  const limits = { rows: Math.max(rows, 1_000) };
  const before = await readCosts(setting.ctx, system, setting.provider.pid);
  const { id } = await submitJob(
    system,
    submission(`Bench: ${name}`, [list, ...(steps[name] === undefined ? [] : [{ id: "step", ...steps[name] }])], {
      limits,
    }),
  );
  const { job, grownMb } = await watch(system, id);
  if (job.status !== "JOB_STATUS_SUCCEEDED") throw new Error(`${name} of ${rows} rows: ${job.status} ${job.lastError}`);
  const step = job.stepReceipts?.find(({ stepId }) => stepId === (steps[name] === undefined ? "list" : "step"));
  const ms = Date.parse(step?.finishedAt ?? "") - Date.parse(step?.startedAt ?? "");
  const costs = costsEach(before, await readCosts(setting.ctx, system, setting.provider.pid), rows);
  return { step: name, rows, ms, grownMb, costs };
}

/** Waits for a job's end; by how much the server's memory exceeded what it had before the step. */
async function watch(system: System, id: string): Promise<{ readonly job: ReadJob; readonly grownMb: number }> {
  let beforeMb = readMemoryMb(system.pid);
  let mostMb = beforeMb;
  for (;;) {
    const { job } = (await callServer(system.port, "JobsService/GetJob", { id })) as { job: ReadJob };
    const nowMb = readMemoryMb(system.pid);
    if (job.stepReceipts?.some(({ stepId }) => stepId === "step") !== true) beforeMb = nowMb;
    mostMb = Math.max(beforeMb, mostMb, nowMb);
    if (/SUCCEEDED|FAILED|PARKED|EXPIRED/.test(job.status)) return { job, grownMb: Math.max(0, mostMb - beforeMb) };
    await delay(20);
  }
}
