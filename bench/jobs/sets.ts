import { type Costs, costsEach, medianCosts, readCosts } from "../costs.ts";
import { withSystem } from "../measure.ts";
import { delay } from "../monotonic.ts";
import { callServer } from "../server.ts";
import { spreadOf } from "../statistics.ts";
import type { System } from "../system.ts";
import { mapRows } from "./map.ts";
import { readMemoryMb, readPeakMb, resetPeak } from "./memory.ts";
import { type JobsSetting, jobServer, type ReadJob, readCall, submission, submitJob, writeCall } from "./setting.ts";

/**
 * Result of one step over a set: number of rows, time, largest memory of the server, growth of memory (NaN if not measured), and cost of
 * each row. The cost is that of the whole job, and is also given for a job that only makes the set.
 */
export type SetRun = {
  readonly step: string;
  readonly rows: number;
  readonly ms: number;
  readonly peakMb: number;
  readonly grownMb: number;
  readonly costs: Costs;
};

const sizes = [1_000, 10_000, 100_000];
/**
 * Returns the number of jobs of which the median counts. With few rows, the first and the last commit take most of the time, about ten
 * milliseconds.
 */
const runsOf = (rows: number) => (rows < 10_000 ? 15 : rows < 100_000 ? 5 : 1);

const numbers = { all: "count", sum: "sum place" };
const sorted = { id: "sorted", sort: "list", by: [{ field: "place", order: "desc" }] };

/** The measured steps over the items of a list. The last step in each list is measured; an empty list measures the fetch alone. */
const steps: Readonly<Record<string, readonly object[]>> = {
  "none: the fetch alone": [],
  filter: [{ filter: "list", where: "row.place >= 100.0" }],
  "sort, its first rows read": [sorted],
  "sort, all its rows read": [sorted],
  limit: [{ limit: "list", max: 1_000_000 }],
  distinct: [{ distinct: "list", by: ["title"] }],
  "join inner": [{ join: "list", with: "list", on: { id: "id" }, keep: { other: "right.title" } }],
  "join anti": [{ join: "list", with: "list", on: { id: "id" }, kind: "anti" }],
  "group, 100 groups": [{ group: "list", by: ["owner"], as: numbers }],
  "group, a group a row": [{ group: "list", by: ["title"], as: numbers }],
  compute: [{ compute: "list", fields: { title: "row.title.upperAscii()" } }],
  reduce: [{ reduce: "list", as: numbers }],
  "reduce to a text": [
    { reduce: "list", as: { text: { text: { of: "- {row.title}", max: 1_000, more: "and {more}" } } } },
  ],
  "filter of sorted rows": [sorted, { filter: "sorted", where: "row.place >= 100.0" }],
  "distinct of sorted rows": [sorted, { distinct: "sorted", by: ["title"] }],
};

/**
 * Returns a small step that is put before and after the measured one. The measured step begins when the first mark ends, and the second
 * mark begins when the measured step's writes are committed. The measured step's receipt cannot be used if rows are few, because it leaves
 * out the first chunk or the last commit.
 */
const mark = (id: string, set: string) => ({ id, limit: set, max: 1 });

/** Steps that read all rows of the measured step's set after its end, which makes the measured step store them. */
const readers: Readonly<Record<string, readonly object[]>> = {
  "sort, all its rows read": [{ id: "reader", reduce: "step", as: numbers }],
};

/** True for the steps that leave no set. */
const hasNoSet = (name: string) => name.startsWith("reduce");

const maps = { "map of reads": readCall, "map of writes": writeCall };

/** Measures each step, and maps, over sets of growing size, with one job for each. The rows are in the store. */
export async function measureSets(setting: JobsSetting): Promise<SetRun[]> {
  const { settings, progress } = setting.ctx;
  const isQuick = (settings.seconds ?? 6) < 6;
  const taken = isQuick ? sizes.slice(0, 2) : sizes;
  return withSystem(setting.ctx, jobServer(settings, setting.origin), { post: "calendar" }, async (system) => {
    const found: SetRun[] = [];
    for (const [name, run] of runners(setting, system)) {
      // Warm-up, so that the code is compiled.
      await run(5_000);
      for (const rows of taken) {
        progress(`${name} of ${rows} rows`);
        const runs: SetRun[] = [];
        for (let round = 0; round < runsOf(rows); round += 1) runs.push(await run(rows));
        found.push(middleOf(runs));
      }
    }
    return found;
  });
}

type Runner = readonly [name: string, run: (rows: number) => Promise<SetRun>];

/** Returns the measurements, limited to the names that were asked for. */
function runners(setting: JobsSetting, system: System): readonly Runner[] {
  const sets = Object.keys(steps).map((name): Runner => [name, (rows) => runSet(setting, system, name, rows)]);
  const calls = Object.entries(maps).map(([step, call]): Runner => {
    return [
      step,
      async (rows) => {
        const { rowsPerSecond, costs } = await mapRows(setting, system, call, rows);
        const ms = Math.round((rows * 1_000) / rowsPerSecond);
        return { step, rows, ms, peakMb: Number.NaN, grownMb: Number.NaN, costs };
      },
    ];
  });
  const wanted = setting.ctx.settings.steps;
  return [...sets, ...calls].filter(([name]) => wanted === undefined || new RegExp(wanted).test(name));
}

function middleOf(runs: readonly SetRun[]): SetRun {
  const { step = "", rows = 0 } = runs[0] ?? {};
  const middle = (name: "ms" | "peakMb" | "grownMb") => spreadOf(runs.map((run) => run[name])).median;
  return {
    ...{ step, rows, ms: middle("ms"), peakMb: middle("peakMb"), grownMb: middle("grownMb") },
    costs: medianCosts(runs.map(({ costs }) => costs)),
  };
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
  const made = (steps[name] ?? []).map((step, index, all) =>
    index === all.length - 1 ? { ...step, id: "step" } : step,
  );
  const measured = [list, ...made] as readonly { readonly id: string }[];
  const [before, step] = [measured.at(-2), measured.at(-1) ?? list];
  // The fetch is measured from its own start, because no set exists before it.
  const marks = before === undefined ? [] : [mark("before", before.id)];
  const end = mark("after", hasNoSet(name) ? list.id : step.id);
  const program = [...measured.slice(0, -1), ...marks, step, end, ...(readers[name] ?? [])];
  const limits = { rows: Math.max(rows, 1_000) };
  const costsBefore = await readCosts(setting.ctx, system, setting.provider.pid);
  const { id } = await submitJob(system, submission(`Bench: ${name}`, program, { limits }));
  const { job, peakMb, grownMb } = await watch(system, id, marks[0]?.id);
  if (job.status !== "JOB_STATUS_SUCCEEDED") throw new Error(`${name} of ${rows} rows: ${job.status} ${job.lastError}`);
  const receiptOf = (id: string) => job.stepReceipts?.find(({ stepId }) => stepId === id);
  const begunAt = before === undefined ? receiptOf(step.id)?.startedAt : receiptOf("before")?.finishedAt;
  const ms = Date.parse(receiptOf("after")?.startedAt ?? "") - Date.parse(begunAt ?? "");
  const costs = costsEach(costsBefore, await readCosts(setting.ctx, system, setting.provider.pid), rows);
  return { step: name, rows, ms, peakMb, grownMb, costs };
}

type Watched = { readonly job: ReadJob; readonly peakMb: number; readonly grownMb: number };

/** Waits for a job's end. Returns the largest memory of the server since the step `before` ended, and the growth since then. */
async function watch(system: System, id: string, before: string | undefined): Promise<Watched> {
  let beforeMb = readMemoryMb(system.pid);
  let hasBegun = before === undefined;
  if (hasBegun) resetPeak(system.pid);
  for (;;) {
    const { job } = (await callServer(system.port, "JobsService/GetJob", { id })) as { job: ReadJob };
    if (!hasBegun) {
      // A step that ends between two looks still counts for the measured one.
      hasBegun =
        job.stepReceipts?.some(({ stepId, finishedAt }) => stepId === before && finishedAt !== undefined) === true;
      beforeMb = readMemoryMb(system.pid);
      resetPeak(system.pid);
    }
    if (/SUCCEEDED|FAILED|PARKED|EXPIRED/.test(job.status)) {
      const peakMb = readPeakMb(system.pid);
      return { job, peakMb, grownMb: Math.max(0, peakMb - beforeMb) };
    }
    await delay(20);
  }
}
