import type { BenchCase, BenchContext, CaseReport, Figure } from "../case.ts";
import { startChild } from "../child.ts";
import { type Costs, costCells, costColumns, costsNote } from "../costs.ts";
import type { LatencySummary } from "../histogram.ts";
import { rowsEach, whileMapsRun } from "../jobs/busy.ts";
import { deliveringJobServer } from "../jobs/setting.ts";
import { callSteadily, postSteadily } from "../jobs/steady.ts";
import { type LoopFigures, loopCells, loopColumns } from "../loops.ts";
import { type CpuShares, warmUpSeconds, withSystem } from "../measure.ts";
import type { PostKindName } from "../post-kinds.ts";
import type { providerCommands } from "../provider.ts";
import { cpuCells, cpuColumns, latencyCells, latencyColumns } from "../report.ts";
import { spreadOf } from "../statistics.ts";
import type { System } from "../system.ts";

const ratePerSecond = 1_000;
const jobsBeside = 64;

/** Latency of one kind of request at the steady rate. */
type Span = {
  readonly name: string;
  readonly latency: LatencySummary;
  readonly cpu?: CpuShares;
  readonly costs?: Costs;
  readonly loops: readonly LoopFigures[];
  /** True if an aim applies to it. */
  readonly isJudged: boolean;
};

/** Latency of an event or a call at a steady rate far below the limit, alone and next to jobs that use all the remaining capacity. */
export const latency: BenchCase = {
  name: "latency",
  about: "p50, p95, p99 from post to receipt at 1,000 events a second, and of posts and calls beside 64 jobs",
  run: async (ctx) => {
    const post = ctx.settings.post ?? "calendar";
    const provider = startChild<typeof providerCommands>(new URL("../provider.ts", import.meta.url));
    try {
      const origin = `http://127.0.0.1:${await provider.ask("port", null)}`;
      const spans = await withSystem(ctx, deliveringJobServer(ctx.settings, origin), { post }, (system) =>
        measureSpans(ctx, system, post),
      );
      return report(spans, secondsOf(ctx));
    } finally {
      await provider.stop();
    }
  },
};

/** Returns the length of the measurements: a minute alone, and half as long next to jobs. */
function secondsOf({ settings }: BenchContext): { alone: number; beside: number } {
  const { seconds = 60 } = settings;
  return { alone: seconds, beside: Math.max(1, seconds / 2) };
}

async function measureSpans(ctx: BenchContext, system: System, post: PostKindName): Promise<Span[]> {
  const { alone, beside } = secondsOf(ctx);
  await timePosts(ctx, system, { post, seconds: warmUpSeconds, beside: "" });
  await timeCalls(ctx, system, warmUpSeconds);
  const found = await timePosts(ctx, system, { post, seconds: alone, beside: "" });
  return whileMapsRun(system, jobsBeside, async () => {
    found.push(...(await timePosts(ctx, system, { post, seconds: beside, beside: besideJobs })));
    found.push(await timeCalls(ctx, system, beside));
    return found;
  });
}

const besideJobs = `, beside ${jobsBeside} jobs`;

type Posts = { readonly post: PostKindName; readonly seconds: number; readonly beside: string };

async function timePosts(ctx: BenchContext, system: System, { post, seconds, beside }: Posts): Promise<Span[]> {
  ctx.progress(`${ratePerSecond} events a second for ${seconds} s${beside}`);
  const { answers, receipts, cpu, costs, loops } = await postSteadily(ctx, system, { post, ratePerSecond, seconds });
  // Next to jobs, the cost of a post cannot be told apart from theirs, so only the processor time is reported.
  const own = beside === "" ? { cpu, costs } : { cpu };
  return [
    { name: `post to receipt${beside}`, latency: receipts, ...own, loops, isJudged: true },
    { name: `post to 202${beside}`, latency: answers, loops, isJudged: beside !== "" },
  ];
}

async function timeCalls(ctx: BenchContext, system: System, seconds: number): Promise<Span> {
  ctx.progress(`${ratePerSecond} calls a second for ${seconds} s`);
  const found = await callSteadily(ctx, system, { ratePerSecond, seconds });
  return { name: `CallTool, a read${besideJobs}`, ...found, isJudged: true };
}

function report(spans: readonly Span[], seconds: { alone: number; beside: number }): CaseReport {
  return {
    columns: ["span", "events", ...latencyColumns, ...loopColumns, ...cpuColumns, ...costColumns],
    rows: spans.map(({ name, latency: found, loops, cpu, costs }) => [
      name,
      String(found.count),
      ...latencyCells(found),
      ...loopCells(loops),
      ...(cpu === undefined ? [] : cpuCells(cpu)),
      ...(costs === undefined ? [] : costCells(costs)),
    ]),
    figures: spans.filter(({ isJudged }) => isJudged).map(figureOf),
    notes: [
      costsNote,
      `open loop: ${ratePerSecond} posts, or calls, a second, each timed from the moment it was due, independent of the answers; for ${seconds.alone} s alone, ${seconds.beside} s with jobs`,
      `jobs: ${jobsBeside} under way all the time, each a map of ${rowsEach.toLocaleString("en-US")} reads, of the same project; they take what the machine has left`,
      "the load generator's timer adds up to 1 ms",
      "loop used: share of the span in which the event loop worked; loop delay and longest garbage collection as the process itself measures them",
    ],
  };
}

function figureOf({ name, latency: { p99 } }: Span): Figure {
  return { name: `${name}, p99`, value: spreadOf([p99]), unit: "ms", aim: { below: 50 } };
}
