import { callRequest } from "../call-request.ts";
import type { BenchContext } from "../case.ts";
import type { LatencySummary } from "../histogram.ts";
import { type LoopFigures, watchLoops } from "../loops.ts";
import { type Measurement, measure } from "../measure.ts";
import type { PostKindName } from "../post-kinds.ts";
import type { System } from "../system.ts";
import { entityId, readCall } from "./setting.ts";

/** Requests at a steady rate, each due at a fixed time, whether or not the earlier ones are answered. */
type Steady = { readonly ratePerSecond: number; readonly seconds: number };

/** Latencies of calls at a steady rate, and the event loops of the server's processes meanwhile. */
export type SteadyCalls = { readonly latency: LatencySummary; readonly loops: readonly LoopFigures[] };

/** Latencies of posts at a steady rate: until the answer, and until the receipt of the delivery. */
export type SteadyPosts = Pick<Measurement, "cpu" | "costs"> & {
  readonly answers: LatencySummary;
  readonly receipts: LatencySummary;
  readonly loops: readonly LoopFigures[];
};

/** Posts at a steady rate. Throws if a post is refused or its event is not delivered. */
export async function postSteadily(
  ctx: BenchContext,
  system: System,
  { post, ratePerSecond, seconds }: Steady & { readonly post: PostKindName },
): Promise<SteadyPosts> {
  const { connections } = ctx.settings;
  const { result, loops } = await watchLoops(system, () =>
    measure(ctx, system, { post, connections, ratePerSecond, seconds }),
  );
  const receipts = await ctx.sink.ask("report", null);
  const { load, cpu, costs } = result;
  return { answers: load.latency, receipts: receipts.latency, cpu, costs, loops };
}

/** Calls a tool that reads one item, at a steady rate. Throws if a call fails. */
export async function callSteadily(
  ctx: BenchContext,
  system: System,
  { ratePerSecond, seconds }: Steady,
): Promise<SteadyCalls> {
  const { connections } = ctx.settings;
  const message = { toolSlug: readCall.tool, argumentsJson: JSON.stringify({ item_id: "i1" }), entityId };
  const request = callRequest("svc.v1.ToolsService/CallTool", message);
  const load = { port: system.port, post: { request }, connections, ratePerSecond, seconds };
  const { result: found, loops } = await watchLoops(system, () => ctx.load.ask("run", load));
  if (found.refused > 0) throw new Error(`${found.refused} calls failed: ${found.firstRefusal}`);
  return { latency: found.latency, loops };
}
