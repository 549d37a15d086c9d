import { createTestDatabase, startTestPostgres } from "@svc/testing/database";
import { call, freePort, type ServerProcess, until } from "@svc/testing/server-process";
import { afterEach, expect, test } from "vitest";
import { createJobsBench, examine, look, startNode, submit, untilIdle } from "./jobs-bench.ts";
import { examineLoad, pause, prepareLoad, startJobsLoad } from "./jobs-load.ts";
import { kinds, programText } from "./jobs-programs.ts";

// Kills nodes that run as in a deployment, with leases of 30 s.

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
    await prepareLoad(nodes[0]!, bench);
    let turn = 0;
    // A client that one node refuses goes to the other.
    const load = startJobsLoad(() => nodes[turn++ % 2]!, bench, 20);
    cleanups.push(() => load.stop());
    for (let round = 0; round < rounds; round++) {
      await pause(2_000 + Math.random() * 1_000);
      const place = round % 2;
      await nodes[place]!.end("SIGKILL");
      nodes[place] = await startNode(bench, { SVC_PORT: ports[place]! });
    }
    await load.stop();
    const endedUnderLoad = load.ended();
    // The leases of a killed node end after 30 s, and its calls under way count as lost after two minutes.
    await examineLoad(nodes[0]!, { load, bench, timeoutMs: 240_000 });
    await untilIdle(postgres.url, 60_000);
    expect(endedUnderLoad).toBeGreaterThan(rounds);
    process.stdout.write(`${rounds} kills, ${load.submitted.size} jobs, ${endedUnderLoad} ended between them\n`);
  },
);

test("every program of the load is accepted", async () => {
  const database = await createTestDatabase();
  cleanups.push(() => database.drop());
  const bench = await createJobsBench(database.url);
  cleanups.push(() => bench.close());
  const node = await startNode(bench, {});
  cleanups.push(() => node.end("SIGKILL"));
  await prepareLoad(node, bench);
  for (const [kind, { program = {} }] of Object.entries(kinds)) {
    const programJson = programText(program, `c-${kind}`, bench.provider.url);
    const { faults, programHash } = await call<{ faults?: unknown[]; programHash: string }>(
      node,
      "JobsService/CheckProgram",
      { programJson },
    );
    expect.soft([faults ?? [], programHash !== ""], kind).toEqual([[], true]);
  }
});

/** Kinds of work whose writes all have an idempotency key. */
const keyed = ["keyed write", "map of keyed writes", "keyed http write", "map of keyed http writes", "skills"];

test.runIf(rounds > 0)(
  "keyed writes that were lost with their node by kill -9 are resolved within 35 s",
  { timeout: 240_000 },
  async () => {
    const postgres = await startTestPostgres();
    cleanups.push(() => postgres.stop());
    const bench = await createJobsBench(postgres.url);
    cleanups.push(() => bench.close());
    const nodes = [await startNode(bench)];
    cleanups.push(() => Promise.all(nodes.map((node) => node.end("SIGKILL"))));
    const [doomed] = nodes as [ServerProcess];
    await prepareLoad(doomed, bench);
    const inFlight = new Set<string>();
    bench.provider.onRequest = ({ method, text }) => {
      if (method === "POST") inFlight.add(text.split("/")[0] ?? "");
      return method === "POST";
    };
    const ids = new Map<string, string>();
    for (const kind of keyed) ids.set(kind, await submit(doomed, kind, `k${ids.size}`, bench.provider.url));
    await until(() => inFlight.size === keyed.length, 60_000, "a write of each in flight");
    const heir = await startNode(bench);
    nodes.push(heir);
    await doomed.end("SIGKILL");
    bench.provider.onRequest = () => false;
    const diedAt = Date.now();
    await until(
      async () => (await Promise.all([...ids.values()].map((id) => look(heir, id)))).every(({ isEnded }) => isEnded),
      120_000,
      "the end of all",
    );
    const tookMs = Date.now() - diedAt;
    for (const [index, [kind, id]] of [...ids].entries()) {
      const { job } = await look(heir, id);
      await examine(heir, { job, kind, tag: `k${index}`, provider: bench.provider });
    }
    process.stdout.write(`keyed writes of ${keyed.length} jobs resolved ${tookMs} ms after the kill\n`);
    expect(tookMs).toBeLessThanOrEqual(35_000);
  },
);
