import type { BenchCase, CaseReport, Figure } from "../case.ts";
import { startChild } from "../child.ts";
import { costCells, costColumns, costsNote } from "../costs.ts";
import { measureSets, type SetRun } from "../jobs/sets.ts";
import type { JobsSetting } from "../jobs/setting.ts";
import type { providerCommands } from "../provider.ts";
import { spreadOf } from "../statistics.ts";

/** What steps over sets cost, and whether a row costs the same however many there are. */
export const rows: BenchCase = {
  name: "rows",
  about: "steps over sets of 1,000, 10,000 and 100,000 rows: time a row, and memory",
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

/** The steps that hold something of every row in memory. */
const heldSteps = ["sort", "distinct", "join inner", "group, a group a row"];

function report(runs: readonly SetRun[]): CaseReport {
  const most = Math.max(...runs.map((run) => run.rows));
  const held = runs.filter((run) => run.rows === most && heldSteps.includes(run.step));
  const name = `${most.toLocaleString("en-US")} rows`;
  const figures: Figure[] = held.flatMap(({ step, ms, grownMb }) => [
    { name: `${step} of ${name}`, value: spreadOf([ms / 1_000]), unit: "s", aim: { below: 3 } },
    { name: `${step} of ${name}: memory`, value: spreadOf([grownMb]), unit: "MB", aim: { below: 200 } },
  ]);
  return {
    columns: ["step", "rows", "ms", "us a row", "server grew, MB", ...costColumns],
    rows: runs.map(({ step, rows: count, ms, grownMb, costs }) => [
      step,
      count.toLocaleString("en-US"),
      ms.toLocaleString("en-US"),
      ((ms * 1_000) / count).toFixed(1),
      grownMb.toFixed(0),
      ...costCells(costs),
    ]),
    figures,
    notes: [
      "by the receipt of the step; rows of four fields, fetched before it; memory is looked at every 20 ms",
      `${costsNote}; of the whole job, its fetch among it`,
    ],
  };
}
