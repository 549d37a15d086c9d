import type { BenchCase, CaseReport, Figure } from "../case.ts";
import { startChild } from "../child.ts";
import { type Costs, costCells, costColumns, costsNote, medianCosts } from "../costs.ts";
import {
  areEnginesInstalled,
  engineNames,
  engineTitles,
  installEnginesCommand,
  tellEnginesMissing,
} from "../engines.ts";
import type { LatencySummary } from "../histogram.ts";
import { measureAnswers } from "../jobs/answers.ts";
import { type MapResults, measureMaps, ratioToBare } from "../jobs/map.ts";
import { type ItemCall, type JobsSetting, readCall, writeCall } from "../jobs/setting.ts";
import { measureSingles, type SingleResult, singleNames } from "../jobs/single.ts";
import { measureTogether, type TogetherResult, togetherSteps } from "../jobs/together.ts";
import type { providerCommands } from "../provider.ts";
import { formatRate } from "../report.ts";
import { spreadOf } from "../statistics.ts";

/** Cost of programs that survive restarts: single steps, rows of a map, and continuing after a question. */
export const jobs: BenchCase = {
  name: "jobs",
  about:
    "single-step jobs, rows of a map, and answers of people, against job queues, DBOS, Restate and a bare undici loop",
  run: async (ctx) => {
    const provider = startChild<typeof providerCommands>(new URL("../provider.ts", import.meta.url));
    try {
      const setting: JobsSetting = { ctx, provider, origin: `http://127.0.0.1:${await provider.ask("port", null)}` };
      const isWhole = ctx.settings.profileFolder === undefined;
      const hasEngines = isWhole && areEnginesInstalled();
      if (isWhole && !hasEngines) tellEnginesMissing();
      const singles = await measureSingles(setting, hasEngines);
      const together = hasEngines ? await measureTogether(setting) : [];
      const maps = await measureMaps(setting);
      const answers = await measureAnswers(setting);
      return report({ singles, together, maps, answers, isWhole });
    } finally {
      await provider.stop();
    }
  },
};

const togetherWork = `${togetherSteps.toLocaleString("en-US")} steps of one workflow, 32 at once`;

type Results = {
  readonly singles: readonly SingleResult[];
  /** Results of steps run together. Empty if the engines are not installed. */
  readonly together: readonly TogetherResult[];
  readonly maps: MapResults;
  readonly answers: LatencySummary;
  /** False with the profiler, when only the server is measured. */
  readonly isWhole: boolean;
};

function report({ singles, together, maps, answers, isWhole }: Results): CaseReport {
  return {
    columns: ["work", "a second", ...costColumns],
    rows: [
      ...singles.map(({ variant, rates, costs }) => rateRow(`single-step jobs, ${variant}`, rates, costs)),
      ...together.map(({ variant, rates, costs }) => rateRow(`${togetherWork}, ${variant}`, rates, costs)),
      ...(together.length === 0 ? missingRows : []),
      ...mapRows(maps),
    ],
    figures: [
      ...(isWhole ? comparisons(singles, together, maps) : []),
      { name: "answer to resumed step, p99", value: spreadOf([answers.p99]), unit: "ms", aim: { below: 100 } },
    ],
    notes: [
      costsNote,
      "a job's one step is a write: its call is in the ledger before it is sent, and the job has a log and a receipt; the queues record one row an outcome",
      "DBOS and Restate run a workflow of one step that makes one GET, and answer once it has ended; a step whose result was not recorded is made again. DBOS keeps its rows in the same PostgreSQL over 20 connections, Restate in its own log",
      `${togetherWork}: a map of reads, by its receipt, and a workflow of as many steps, from its request to its answer`,
      ...(isWhole && together.length === 0 ? [`DBOS and Restate: ${installEnginesCommand}`] : []),
      "jobs a second: from the first submission over HTTP to the last recorded end",
      "rows a second: of the map step, by its receipt, 32 rows at once; processor time is of the whole job, which also fetches the rows",
      "the bare loop keeps 32 of the same requests under way, and no account of them",
      ...(isWhole ? [readCall, writeCall].map((call) => bareNote(maps, call)) : []),
      `answers, ${answers.count} in turn, from AnswerAsk sent to the arrival of the next step's call: p50 ${ms(answers.p50)}, p95 ${ms(answers.p95)}, p99 ${ms(answers.p99)}, longest ${ms(answers.max)}`,
    ],
  };
}

function bareNote(maps: MapResults, call: ItemCall): string {
  const { median, min, max } = ratioToBare(maps, call);
  const spread = min === max ? "" : ` (${min.toFixed(2)} to ${max.toFixed(2)})`;
  return `rows of ${call.name}s, map / bare loop: ${median.toFixed(2)}${spread}; no aim was set`;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}

function rateRow(work: string, rates: readonly number[], costs: Costs): string[] {
  return [work, formatRate(spreadOf(rates)), ...costCells(costs)];
}

/** Rows in the report for engines that were not measured. */
const missingRows = ["single-step jobs", togetherWork].flatMap((work) =>
  engineNames.map((name) => [`${work}, ${engineTitles[name]}`, "not installed"]),
);

function mapRows({ runs, bare, sizes }: MapResults): string[][] {
  const calls = [...runs].flatMap(([call, found]) => [
    [
      `map of ${call.name}s`,
      formatRate(spreadOf(found.map(({ rowsPerSecond }) => rowsPerSecond))),
      ...costCells(medianCosts(found.map(({ costs }) => costs))),
    ],
    ...(bare.get(call)?.length ? [[`bare loop of ${call.name}s`, formatRate(spreadOf(bare.get(call) ?? []))]] : []),
  ]);
  const growing = sizes.map(({ rows, rowsPerSecond, costs }) => [
    `map of ${rows.toLocaleString("en-US")} reads`,
    formatRate(spreadOf([rowsPerSecond])),
    ...costCells(costs),
  ]);
  return [...calls, ...growing];
}

/** Systems that single-step jobs (one write each) are compared with, and the factor by which the jobs should exceed each one's rate. */
const singleAims: readonly (readonly [name: string, atLeast: number])[] = [
  [singleNames.graphileWorker, 0.95],
  [singleNames.dbos, 2.6],
  [singleNames.restate, 2],
];

/** Aims for a map's rows a second, with everything on two cores. */
const rowsAims = { read: 7_000, write: 4_500 };

function comparisons(
  singles: readonly SingleResult[],
  together: readonly TogetherResult[],
  maps: MapResults,
): Figure[] {
  const [first] = maps.sizes;
  return [
    ...singleAims
      .filter(([name]) => singles.some(({ variant }) => variant === name))
      .map(([name, atLeast]) => ({
        name: `single-step jobs: svc / ${name}`,
        value: ratioOf(singles, name),
        unit: "",
        aim: { atLeast },
      })),
    ...together
      .filter(({ variant }) => variant === singleNames.restate)
      .map(({ variant }) => ({
        name: `${togetherWork}: svc / ${variant}`,
        value: ratioOf(together, variant),
        unit: "",
        aim: { atLeast: 1 },
      })),
    ...[...maps.runs].map(([{ name }, runs]) => ({
      name: `map of ${name}s, rows a second`,
      value: spreadOf(runs.map(({ rowsPerSecond }) => rowsPerSecond)),
      unit: "",
      aim: { atLeast: rowsAims[name] },
    })),
    ...maps.sizes.slice(1).map(({ rows, rowsPerSecond }) => ({
      name: `time per row: ${rows.toLocaleString("en-US")} / ${first?.rows.toLocaleString("en-US")} rows`,
      value: spreadOf([(first?.rowsPerSecond ?? Number.NaN) / rowsPerSecond]),
      unit: "",
      aim: { below: 1.2 },
    })),
  ];
}

function ratioOf(results: readonly { variant: string; rates: readonly number[] }[], peer: string) {
  const ratesOf = (name: string) => results.find(({ variant }) => variant === name)?.rates ?? [];
  const peers = ratesOf(peer);
  return spreadOf(ratesOf(singleNames.server).map((rate, round) => rate / (peers[round] ?? Number.NaN)));
}
