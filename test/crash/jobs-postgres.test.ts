import { until } from "@svc/testing/server-process";
import { afterEach, expect, test } from "vitest";
import { createJobsBench, startNode, untilIdle } from "./jobs-bench.ts";
import { examineLoad, pause, prepareLoad, startJobsLoad } from "./jobs-load.ts";
import { startCrashingPostgres } from "./jobs-outage.ts";

const isWhole = Number(process.env["SVC_CRASH_ROUNDS"] ?? 0) > 0;
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function setUp() {
  const postgres = await startCrashingPostgres();
  cleanups.push(() => postgres.stop());
  const bench = await createJobsBench(postgres.url);
  cleanups.push(() => bench.close());
  bench.provider.latencyMs = 20;
  return { postgres, bench };
}

test.skipIf(isWhole)(
  "PostgreSQL crashes under a load of jobs: nothing is lost, and everything ends",
  {
    timeout: 240_000,
  },
  async () => {
    const { postgres, bench } = await setUp();
    const server = await startNode(bench, { SVC_ROLE: "api" });
    cleanups.push(() => server.end("SIGKILL"));
    const worker = await bench.worker();
    await worker.tell({ start: true });
    await prepareLoad(server, bench);
    const load = startJobsLoad(() => server, bench, 8);
    cleanups.push(() => load.stop());
    await until(() => load.submitted.size >= 12, 60_000, "a load of jobs");
    await postgres.crash();
    const before = load.submitted.size;
    await until(() => load.submitted.size > before, 60_000, "jobs after the crash");
    await load.stop();
    await examineLoad(server, { load, bench, timeoutMs: 60_000 });
    await untilIdle(postgres.url, 60_000);
  },
);

test.runIf(isWhole)(
  "PostgreSQL crashes every 5 s for two minutes under a load of jobs: nothing is lost, and everything ends",
  {
    timeout: 600_000,
  },
  async () => {
    const { postgres, bench } = await setUp();
    const server = await startNode(bench);
    cleanups.push(() => server.end("SIGKILL"));
    await prepareLoad(server, bench);
    const load = startJobsLoad(() => server, bench, 20);
    cleanups.push(() => load.stop());
    const end = Date.now() + 120_000;
    let crashes = 0;
    while (Date.now() < end) {
      await pause(5_000);
      await postgres.crash();
      crashes++;
    }
    await load.stop();
    const endedUnderLoad = load.ended();
    // A call under way at a crash counts as lost only after two minutes.
    await examineLoad(server, { load, bench, timeoutMs: 240_000 });
    await untilIdle(postgres.url, 60_000);
    expect(endedUnderLoad).toBeGreaterThan(crashes);
    process.stdout.write(`${crashes} crashes, ${load.submitted.size} jobs, ${endedUnderLoad} ended between them\n`);
  },
);
