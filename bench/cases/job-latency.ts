import type { BenchCase, CaseReport, Figure } from "../case.ts";
import { startChild } from "../child.ts";
import {
  areEnginesInstalled,
  engineTitles,
  installEnginesCommand,
  latencyEngineNames,
  tellEnginesMissing,
} from "../engines.ts";
import type { Histogram, LatencySummary } from "../histogram.ts";
import { chainSteps, type LatencyResult, measureJobLatency, measureTimeline, serverNames } from "../jobs/latency.ts";
import type { JobsSetting } from "../jobs/setting.ts";
import type { TimelineMark } from "../jobs/timeline.ts";
import type { providerCommands } from "../provider.ts";
import { spreadOf } from "../statistics.ts";

/** Waiting times of a single job: until its first step, between its steps, and until its end is known. */
export const jobLatency: BenchCase = {
  name: "job-latency",
  about:
    "time to the first step, between steps and to the end of one job at a time, against DBOS, Restate and workflow",
  run: async (ctx) => {
    const provider = startChild<typeof providerCommands>(new URL("../provider.ts", import.meta.url));
    try {
      const setting: JobsSetting = { ctx, provider, origin: `http://127.0.0.1:${await provider.ask("port", null)}` };
      const hasEngines = ctx.settings.profileFolder === undefined && areEnginesInstalled();
      if (!hasEngines) tellEnginesMissing();
      const results = await measureJobLatency(setting, hasEngines);
      return report(results, ctx.settings.profileFolder === undefined ? await measureTimeline(setting) : []);
    } finally {
      await provider.stop();
    }
  },
};

interface MeasuredSpan {
  readonly name: string;
  /** Returns the histogram of the span in a result. */
  readonly of: (result: LatencyResult) => Histogram;
  /** Aim: the ratio of svc to the best of the other engines stays below it. Undefined if another figure has the aim. */
  readonly below?: number;
}

/** The measured spans with their aims, which allow the rounding of the figures. */
const spans: readonly MeasuredSpan[] = [
  { name: "one job: submitted to first request at the app", of: ({ toFirst }) => toFirst, below: 1.205 },
  { name: "one job: submitted to result", of: ({ whole }) => whole },
  { name: `${chainSteps} steps: submitted to first request`, of: ({ chainToFirst }) => chainToFirst, below: 1.205 },
  { name: `${chainSteps} steps: one request to the next`, of: ({ gap }) => gap, below: 1.105 },
  { name: `${chainSteps} steps: overhead of all`, of: ({ overhead }) => overhead, below: 1.105 },
];

function report(results: readonly LatencyResult[], timeline: readonly TimelineMark[]): CaseReport {
  const missing = latencyEngineNames.filter((name) => results.every(({ variant }) => variant !== engineTitles[name]));
  return {
    columns: ["span", "system", "count", "p50", "p95", "p99"],
    rows: [
      ...spans.flatMap(({ name, of }) => [
        ...results.map((result) => row(name, result.variant, of(result).summary())),
        ...missing.map((engine) => [name, engineTitles[engine], "not installed"]),
      ]),
      ...timeline.map(({ what, after }) => row(`one job: submitted to ${what}`, "svc, with marks", after.summary())),
    ],
    figures: figuresOf(results),
    notes: [
      "one job at a time on a machine that does nothing else; every request is one GET, timed as it arrives at the app",
      `submitted: the submission is about to be sent; result: the request is answered once the job has ended, of every system; "${serverNames.watched}": answered once it is stored, and WatchJob's stream has ended`,
      "with marks: the timeline of the same job, of jobs in which a mark occurs; a statement of PostgreSQL is named as in its own text; the marks take time themselves",
      `overhead: from submission to result, without ${chainSteps} times the median of the same GET sent by undici, one after the other`,
      "workflow is asked every 5 ms whether it has ended, since its own way asks once a second; it has 20 connections and 18 places",
      "svc keeps of each step a call in the ledger, a log entry and a receipt; the others the result of the step",
      ...(missing.length > 0 ? [`missing engines: ${installEnginesCommand}`] : []),
    ],
  };
}

/** Returns the figures with their aims. Each aim is the best result of the engines that make every step durable. */
function figuresOf(results: readonly LatencyResult[]): Figure[] {
  const server = results.find(({ variant }) => variant === serverNames.held);
  const own = new Set<string>(Object.values(serverNames));
  const engines = results.filter(({ variant }) => !own.has(variant));
  if (server === undefined) return [];
  const gap = server.gap.summary().p50;
  const between: Figure = { name: "gap between steps, p50", value: spreadOf([gap]), unit: "ms", aim: { below: 3 } };
  const compared = spans.flatMap(({ name, of, below }): Figure[] => {
    const best = Math.min(...engines.map((engine) => of(engine).summary().p50));
    if (below === undefined || !Number.isFinite(best) || best === 0) return [];
    const value = spreadOf([of(server).summary().p50 / best]);
    return [{ name: `${name}, p50: svc / best of the others`, value, unit: "", aim: { below } }];
  });
  const dbos = engines.find(({ variant }) => variant === engineTitles.dbos);
  const toDbos: Figure[] = dbos === undefined ? [] : [idleToDbos(server, dbos)];
  return [between, ...toDbos, ...compared];
}

function idleToDbos(server: LatencyResult, dbos: LatencyResult): Figure {
  const value = spreadOf([server.whole.summary().p50 / dbos.whole.summary().p50]);
  return { name: "one job: submitted to result, p50: svc / DBOS", value, unit: "", aim: { below: 1.01 } };
}

function row(span: string, variant: string, { count, p50, p95, p99 }: LatencySummary): string[] {
  return [span, variant, String(count), ...[p50, p95, p99].map((ms) => `${ms.toFixed(1)} ms`)];
}
