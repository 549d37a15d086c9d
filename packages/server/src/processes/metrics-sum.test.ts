import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { expect, test } from "vitest";
import { createMetricsSum } from "./metrics-sum.ts";

/** Returns the metrics of a process with one metric of each type. */
async function valuesOf({ calls, held, backlog }: { calls: number; held: number; backlog: number }) {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: "calls", help: "Calls.", labelNames: ["code"], registers }).inc({ code: "ok" }, calls);
  new Histogram({ name: "seconds", help: "Seconds.", buckets: [1], registers }).observe(0.5);
  new Gauge({ name: "held", help: "Held.", registers }).set(held);
  new Gauge({ name: "backlog", help: "Backlog.", aggregator: "max", registers }).set(backlog);
  return registry.getMetricsAsJSON();
}

test("counters, histograms and gauges of processes are summed, and what is the same for all is not", async () => {
  const sum = createMetricsSum();
  sum.note(1, await valuesOf({ calls: 3, held: 1, backlog: 7 }));
  sum.note(2, await valuesOf({ calls: 4, held: 2, backlog: 7 }));
  const text = await sum.text();
  for (const line of ['calls{code="ok"} 7', "seconds_count 2", 'seconds_bucket{le="1"} 2', "held 3", "backlog 7"])
    expect(text).toContain(`${line}\n`);
});

test("an ended process's counters stay in the sums, and its gauges do not", async () => {
  const sum = createMetricsSum();
  sum.note(1, await valuesOf({ calls: 3, held: 1, backlog: 0 }));
  for (const calls of [4, 5]) {
    sum.note(2, await valuesOf({ calls, held: 2, backlog: 0 }));
    await sum.forget(2);
  }
  const text = await sum.text();
  for (const line of ['calls{code="ok"} 12', "seconds_count 3", "held 1"]) expect(text).toContain(`${line}\n`);
});

test("an empty sum is an empty text", async () => {
  expect((await createMetricsSum().text()).trim()).toBe("");
});
