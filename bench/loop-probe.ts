import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay, PerformanceObserver, performance } from "node:perf_hooks";
import type { LoopFigures } from "./loops.ts";

/*
 * Loaded into a process of the service before its own code. At each SIGUSR2 it writes a line about its event loop since the
 * last one, to a file of its own in the folder BENCH_LOOPS.
 */
const file = join(process.env["BENCH_LOOPS"] ?? ".", String(process.pid));
const delays = monitorEventLoopDelay({ resolution: 1 });
delays.enable();
let before = performance.eventLoopUtilization();
let longestMs = 0;

new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) longestMs = Math.max(longestMs, duration);
}).observe({ entryTypes: ["gc"] });

process.on("SIGUSR2", () => {
  const now = performance.eventLoopUtilization();
  const { utilization } = performance.eventLoopUtilization(now, before);
  const figures: LoopFigures = { utilization, delayP99Ms: delays.percentile(99) / 1e6, collectionMs: longestMs };
  appendFileSync(file, `${JSON.stringify(figures)}\n`);
  before = now;
  longestMs = 0;
  delays.reset();
});
