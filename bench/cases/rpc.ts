import { callRequest } from "../call-request.ts";
import type { BenchCase, BenchContext, CaseReport } from "../case.ts";
import { type Costs, costCells, costColumns, costsEach, costsNote, medianCosts, readCosts } from "../costs.ts";
import type { LatencySummary } from "../histogram.ts";
import { warmUpSeconds, withSystem } from "../measure.ts";
import type { PostKindName } from "../post-kinds.ts";
import { raiseQuotas } from "../quotas.ts";
import { formatRate, latencyCells, latencyColumns } from "../report.ts";
import { storingServer } from "../server-variant.ts";
import { spreadOf } from "../statistics.ts";
import type { System } from "../system.ts";

/** A repeated call: one fixed request, or posts of a kind. `eachMakes`: number of events that one call makes. Default: 1. */
export type Call = { readonly name: string; readonly eachMakes?: number } & (
  | { readonly request: string }
  | { readonly posts: PostKindName }
);
/** Result of one round of a call. Rates and costs are those of the events that the call makes. */
export type CallRun = {
  readonly made: number;
  readonly callsPerSecond: number;
  readonly costs: Costs;
  readonly latency: LatencySummary;
};

/** A call that reads from the catalog. */
export const getTool = {
  name: "CatalogService/GetTool",
  request: callRequest("svc.v1.CatalogService/GetTool", { slug: "calendar.create_event" }),
} satisfies Call;
/** A call that does nothing. */
export const noOp = {
  name: "grpc.health.v1.Health/Check",
  request: callRequest("grpc.health.v1.Health/Check", {}),
} satisfies Call;

/** Cost of a catalog read beyond the layers that every call passes. */
export const rpc: BenchCase = {
  name: "rpc",
  about: "GetTool calls a second, against a no-op handler of the same stack",
  run: async (ctx) => {
    const variant = storingServer(ctx.settings, "svc");
    const runs = await withSystem(ctx, variant, { post: "calendar" }, (system) =>
      takeTurns(ctx, system, [getTool, noOp]),
    );
    return report(runs);
  },
};

/** Measures all calls on one process, by turns and in several rounds. */
export async function takeTurns(
  ctx: BenchContext,
  system: System,
  calls: readonly Call[],
): Promise<ReadonlyMap<Call, CallRun[]>> {
  const { rounds = 3, seconds = 6 } = ctx.settings;
  const runs = new Map<Call, CallRun[]>(calls.map((call) => [call, []]));
  // The quota is raised, because the 20,000 calls a second that a project may make by default are too few here.
  await raiseQuotas(system, { calls: 1_000_000 });
  for (const call of runs.keys()) await makeCalls(ctx, system, call, warmUpSeconds);
  for (let round = 1; round <= rounds; round += 1) {
    for (const [call, found] of runs) {
      ctx.progress(`round ${round} of ${rounds}: ${call.name}`);
      found.push(await makeCalls(ctx, system, call, seconds));
    }
  }
  return runs;
}

async function makeCalls(ctx: BenchContext, system: System, call: Call, seconds: number): Promise<CallRun> {
  const { connections } = ctx.settings;
  const post = "posts" in call ? call.posts : { request: call.request };
  const before = await readCosts(ctx, system);
  const found = await ctx.load.ask("run", { port: system.port, post, connections, seconds });
  if (found.refused > 0) throw new Error(`${found.refused} calls failed: ${found.firstRefusal}`);
  const made = found.accepted * (call.eachMakes ?? 1);
  const callsPerSecond = (made * 1e6) / (found.endedAtMicros - found.startedAtMicros);
  const costs = costsEach(before, await readCosts(ctx, system), made);
  return { made, callsPerSecond, costs, latency: found.latency };
}

function report(runs: ReadonlyMap<Call, CallRun[]>): CaseReport {
  const ratesOf = (call: Call) => (runs.get(call) ?? []).map(({ callsPerSecond }) => callsPerSecond);
  const noOpRates = ratesOf(noOp);
  const ratios = ratesOf(getTool).map((rate, round) => rate / (noOpRates[round] ?? Number.NaN));
  return {
    columns: ["call", "calls/s", ...costColumns, ...latencyColumns],
    rows: [...runs].map(([call, found]) => {
      const last = found.at(-1);
      return [
        call.name,
        formatRate(spreadOf(ratesOf(call))),
        ...costCells(medianCosts(found.map(({ costs }) => costs))),
        ...(last === undefined ? [] : latencyCells(last.latency)),
      ];
    }),
    figures: [{ name: "GetTool / no-op", value: spreadOf(ratios), unit: "", aim: { atLeast: 0.8 } }],
    notes: [
      costsNote,
      "the no-op is Health/Check of the same process: the same HTTP layer, decoding and interceptors, and no key",
      "percentiles are those of the last round",
    ],
  };
}
