import type { BenchCase, CaseReport, Figure } from "../case.ts";
import { startChild } from "../child.ts";
import { cpuEachCells, cpuEachColumns, medianCpu } from "../cpu-each.ts";
import type { LatencySummary } from "../histogram.ts";
import { measureAnswers } from "../jobs/answers.ts";
import { type MapResults, measureMaps, ratioToBare } from "../jobs/map.ts";
import { type ItemCall, type JobsSetting, readCall, writeCall } from "../jobs/setting.ts";
import { measureSingles, type SingleResult, singleNames } from "../jobs/single.ts";
import type { providerCommands } from "../provider.ts";
import { formatRate } from "../report.ts";
import { spreadOf } from "../statistics.ts";

/** What a program costs that survives restarts: single steps, rows of a map, and coming back from a question. */
export const jobs: BenchCase = {
  name: "jobs",
  about: "single-step jobs, rows of a map, and answers of people, against job queues and a bare undici loop",
  run: async (ctx) => {
    const provider = startChild<typeof providerCommands>(new URL("../provider.ts", import.meta.url));
    try {
      const setting: JobsSetting = { ctx, provider, origin: `http://127.0.0.1:${await provider.ask("port", null)}` };
      const singles = await measureSingles(setting);
      const maps = await measureMaps(setting);
      const answers = await measureAnswers(setting);
      return report({ singles, maps, answers, isWhole: ctx.settings.profileFolder === undefined });
    } finally {
      await provider.stop();
    }
  },
};

type Results = {
  readonly singles: readonly SingleResult[];
  readonly maps: MapResults;
  readonly answers: LatencySummary;
  /** False under the profiler, when nothing is measured beside the server. */
  readonly isWhole: boolean;
};

function report({ singles, maps, answers, isWhole }: Results): CaseReport {
  return {
    columns: ["work", "a second", ...cpuEachColumns],
    rows: [...singles.map(singleRow), ...mapRows(maps)],
    figures: [
      ...(isWhole ? comparisons(singles, maps) : []),
      { name: "answer to resumed step, p99", value: spreadOf([answers.p99]), unit: "ms", aim: { below: 100 } },
    ],
    notes: [
      "a job's one step is a write: its call is in the ledger before it is sent, and the job has a log and a receipt; the queues record one row an outcome",
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

function singleRow({ variant, rates, cpu, cpuRate }: SingleResult): string[] {
  // Percent of a core over a rate.
  const each = (share: number | undefined) => (share === undefined ? undefined : (share * 10_000) / cpuRate);
  return [
    `single-step jobs, ${variant}`,
    formatRate(spreadOf(rates)),
    ...cpuEachCells({ system: each(cpu.system), postgres: each(cpu.postgres) }),
  ];
}

function mapRows({ runs, bare, sizes }: MapResults): string[][] {
  const calls = [...runs].flatMap(([call, found]) => [
    [
      `map of ${call.name}s`,
      formatRate(spreadOf(found.map(({ rowsPerSecond }) => rowsPerSecond))),
      ...cpuEachCells(medianCpu(found.map(({ cpu }) => cpu))),
    ],
    ...(bare.get(call)?.length
      ? [[`bare loop of ${call.name}s`, formatRate(spreadOf(bare.get(call) ?? [])), "", ""]]
      : []),
  ]);
  const growing = sizes.map(({ rows, rowsPerSecond, cpu }) => [
    `map of ${rows.toLocaleString("en-US")} reads`,
    formatRate(spreadOf([rowsPerSecond])),
    ...cpuEachCells(cpu),
  ]);
  return [...calls, ...growing];
}

function comparisons(singles: readonly SingleResult[], maps: MapResults): Figure[] {
  const [first] = maps.sizes;
  return [
    ...[singleNames.graphileWorker, singleNames.pgBoss].map((name) => ({
      name: `single-step jobs: svc / ${name}`,
      value: ratioOf(singles, name),
      unit: "",
      aim: { atLeast: 1 },
    })),
    ...maps.sizes.slice(1).map(({ rows, rowsPerSecond }) => ({
      name: `time per row: ${rows.toLocaleString("en-US")} / ${first?.rows.toLocaleString("en-US")} rows`,
      value: spreadOf([(first?.rowsPerSecond ?? Number.NaN) / rowsPerSecond]),
      unit: "",
      aim: { below: 1.2 },
    })),
  ];
}

function ratioOf(singles: readonly SingleResult[], peer: string) {
  const ratesOf = (name: string) => singles.find(({ variant }) => variant === name)?.rates ?? [];
  const peers = ratesOf(peer);
  return spreadOf(ratesOf(singleNames.server).map((rate, round) => rate / (peers[round] ?? Number.NaN)));
}
