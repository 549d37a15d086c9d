import type { BenchCase } from "../case.ts";
import { costCells, costColumns, costsNote } from "../costs.ts";
import { measure, warmUpSeconds, withSystem } from "../measure.ts";
import { cpuCells, cpuColumns, latencyCells, latencyColumns } from "../report.ts";
import { deliveringServer } from "../server-variant.ts";
import { spreadOf } from "../statistics.ts";

const ratePerSecond = 1_000;

/** How long an event takes from its post to its receipt at a steady rate far below the limit. */
export const latency: BenchCase = {
  name: "latency",
  about: "p50, p95, p99 from post to receipt at 1,000 events a second",
  run: async (ctx) => {
    const { settings } = ctx;
    const post = settings.post ?? "calendar";
    const seconds = settings.seconds ?? 60;
    const { connections } = settings;
    ctx.progress(`${ratePerSecond} events a second for ${seconds} s`);
    return withSystem(ctx, deliveringServer(settings, "svc"), { post }, async (system) => {
      await measure(ctx, system, { post, connections, ratePerSecond, seconds: warmUpSeconds });
      const { load, cpu, costs } = await measure(ctx, system, { post, connections, ratePerSecond, seconds });
      const receipts = await ctx.sink.ask("report", null);
      return {
        columns: ["span", "events", ...latencyColumns, ...cpuColumns, ...costColumns],
        rows: [
          [
            "post to receipt",
            String(receipts.latency.count),
            ...latencyCells(receipts.latency),
            ...cpuCells(cpu),
            ...costCells(costs),
          ],
          ["post to 202", String(load.latency.count), ...latencyCells(load.latency)],
        ],
        figures: [
          { name: "p99 from post to receipt", value: spreadOf([receipts.latency.p99]), unit: "ms", aim: { below: 50 } },
        ],
        notes: [
          costsNote,
          `open loop: ${ratePerSecond} posts a second for ${seconds} s, each timed from the moment it was due, whatever the answers did`,
          "the load generator's timer adds up to 1 ms",
        ],
      };
    });
  },
};
