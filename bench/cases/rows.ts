import type { BenchCase, CaseReport, Figure } from "../case.ts";
import { startChild } from "../child.ts";
import { costCells, costColumns, costsNote } from "../costs.ts";
import { measureSets, type SetRun } from "../jobs/sets.ts";
import type { JobsSetting } from "../jobs/setting.ts";
import type { providerCommands } from "../provider.ts";
import { spreadOf } from "../statistics.ts";

/** Cost of steps over sets and of maps, and if the cost of a row depends on the number of rows. */
export const rows: BenchCase = {
  name: "rows",
  about: "steps over sets, and maps, of 1,000, 10,000 and 100,000 rows: time a row, and memory",
  run: async (ctx) => {
    const provider = startChild<typeof providerCommands>(new URL("../provider.ts", import.meta.url));
    try {
      const setting: JobsSetting = { ctx, provider, origin: `http://127.0.0.1:${await provider.ask("port", null)}` };
      return report(await measureSets(setting));
    } finally {
      await provider.stop();
    }
  },
};

/** The steps that keep something of every row in memory. */
const heldSteps = [
  "sort, its first rows read",
  "sort, all its rows read",
  "distinct",
  "join inner",
  "group, a group a row",
];

function report(runs: readonly SetRun[]): CaseReport {
  const most = Math.max(...runs.map((run) => run.rows));
  const held = runs.filter((run) => run.rows === most && heldSteps.includes(run.step));
  const name = `${most.toLocaleString("en-US")} rows`;
  const figures: Figure[] = held.flatMap(({ step, ms, grownMb }) => [
    { name: `${step} of ${name}`, value: spreadOf([ms / 1_000]), unit: "s", aim: { below: 3 } },
    { name: `${step} of ${name}: memory`, value: spreadOf([grownMb]), unit: "MB", aim: { below: 200 } },
  ]);
  return {
    columns: ["step", "rows", "s", "us a row", "server at most, MB", "grew, MB", ...costColumns],
    rows: runs.map(({ step, rows: count, ms, peakMb, grownMb, costs }) => [
      step,
      count.toLocaleString("en-US"),
      (ms / 1_000).toFixed(3),
      ((ms * 1_000) / count).toFixed(1),
      megabytes(peakMb),
      megabytes(grownMb),
      ...costCells(costs),
    ]),
    figures: [...figures, ...runs.flatMap((run) => growthOf(run, runs))],
    notes: [
      "from the beginning of the step until what it wrote is committed and the next one begins, of 1,000 rows the middle one of fifteen jobs, of 10,000 of five; rows of four fields, fetched before it",
      "memory is the resident set of the server: its peak as the kernel keeps it, and how much that is above what it was before the step",
      "sorted rows are those of a set in another order than they are stored in",
      `${costsNote}; of the whole job, its fetch among it`,
    ],
  };
}

/**
 * Returns the ratio of the time for a row to that at the next smaller size. For a sort, which needs n log n, the time is corrected by the
 * logarithm.
 */
function growthOf({ step, rows: count, ms }: SetRun, runs: readonly SetRun[]): Figure[] {
  const less = runs.findLast((run) => run.step === step && run.rows < count);
  if (less === undefined) return [];
  const share = step.startsWith("sort") ? Math.log(less.rows) / Math.log(count) : 1;
  const ratio = ((ms / count) * share) / (less.ms / less.rows);
  const name = `${step}: a row of ${count.toLocaleString("en-US")} / of ${less.rows.toLocaleString("en-US")}`;
  return [{ name, value: spreadOf([ratio]), unit: "", aim: { below: 1.2 } }];
}

function megabytes(value: number): string {
  return Number.isNaN(value) ? "-" : value.toFixed(0);
}
