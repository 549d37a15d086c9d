import { startTestPostgres } from "@svc/testing/database";
import { freePort, type ServerProcess } from "@svc/testing/server-process";
import { afterEach, expect, test } from "vitest";
import { connectDesk, createJobsBench, startNode, untilIdle } from "./jobs-bench.ts";
import { examineLoad, pause, startJobsLoad } from "./jobs-load.ts";

const rounds = Number(process.env["SVC_CRASH_ROUNDS"] ?? 0);
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test.runIf(rounds > 0)(
  `two nodes on one database, one of them killed ${rounds} times under a load of jobs: all jobs end`,
  {
    timeout: 600_000,
  },
  async () => {
    const postgres = await startTestPostgres();
    cleanups.push(() => postgres.stop());
    const bench = await createJobsBench(postgres.url);
    cleanups.push(() => bench.close());
    bench.provider.latencyMs = 20;
    const ports = [String(await freePort()), String(await freePort())];
    const nodes: ServerProcess[] = [];
    cleanups.push(() => Promise.all(nodes.map((node) => node.end("SIGKILL"))));
    for (const port of ports) nodes.push(await startNode(bench, { SVC_PORT: port }));
    await connectDesk(nodes[0]!);
    let turn = 0;
    // A client that is refused by the one node goes to the other.
    const load = startJobsLoad(() => nodes[turn++ % 2]!, 20);
    cleanups.push(() => load.stop());
    for (let round = 0; round < rounds; round++) {
      await pause(2_000 + Math.random() * 1_000);
      const place = round % 2;
      await nodes[place]!.end("SIGKILL");
      nodes[place] = await startNode(bench, { SVC_PORT: ports[place]! });
    }
    await load.stop();
    const endedUnderLoad = load.ended();
    // Leases of a killed node run out after 30 s, and what it had in flight counts as lost after two minutes.
    await examineLoad(nodes[0]!, { load, bench, timeoutMs: 240_000 });
    await untilIdle(postgres.url, 60_000);
    expect(endedUnderLoad).toBeGreaterThan(rounds);
    process.stdout.write(`${rounds} kills, ${load.submitted.size} jobs, ${endedUnderLoad} ended between them\n`);
  },
);
