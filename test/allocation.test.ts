import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { call, type ServerProcess, startServerProcess, until, vaultKey } from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

// Measures the memory that a job allocates, also if it is freed later. Unlike times, it hardly depends on other work of the machine.

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

/** Jobs in progress at the same time, as in the benchmark. */
const together = 64;
/** V8 records about one allocation in this number of bytes. */
const samplingInterval = 16_384;
/** Maximum number of bytes that a job with one call may allocate. */
const bytesMax = 255 * 1024;

let database: TestDatabase;
let app: TestReceiver;
let server: ServerProcess;
let folder: string;
let inspector: WebSocket;

beforeAll(async () => {
  database = await createTestDatabase();
  app = await startTestReceiver();
  app.script({ headers: { "content-type": "application/json" }, body: '{"id":"i1","state":"closed"}' });
  folder = await mkdtemp(join(tmpdir(), "svc-allocation-"));
  const deployment = { toolkits: { bench_items: { provider_base_url: `http://127.0.0.1:${app.port}` } } };
  await writeFile(join(folder, "deployment.yaml"), JSON.stringify(deployment));
  server = await startServerProcess({
    NODE_OPTIONS: "--inspect=127.0.0.1:0",
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey(),
    SVC_TOOLKITS: `${fewToolkits},${fileURLToPath(new URL("../bench/toolkits", import.meta.url))}`,
    SVC_DEPLOYMENT: join(folder, "deployment.yaml"),
  });
  const account = { toolkitSlug: "bench_items", entityId: "bench", scheme: "api_key", apiKey: "bench" };
  await call(server, "ConnectionsService/InitiateConnection", account);
  // The program replaces itself once when it starts, so the last inspector address in the output belongs to the server.
  const url =
    server
      .output()
      .match(/ws:\S+/g)
      ?.at(-1) ?? "";
  inspector = new WebSocket(url);
  await once(inspector, "open");
});
afterAll(async () => {
  inspector?.close();
  await server?.end("SIGKILL");
  await app?.[Symbol.asyncDispose]();
  await database?.drop();
  await rm(folder, { recursive: true });
});

let asked = 0;

/** Calls a method of the process's inspector. */
async function inspect<Result>(method: string, params: object = {}): Promise<Result> {
  const id = ++asked;
  const answered = Promise.withResolvers<Result>();
  const read = ({ data }: MessageEvent) => {
    const answer = JSON.parse(String(data)) as { id?: number; result: Result };
    if (answer.id === id) answered.resolve(answer.result);
  };
  inspector.addEventListener("message", read);
  inspector.send(JSON.stringify({ id, method, params }));
  return answered.promise.finally(() => inspector.removeEventListener("message", read));
}

const step = { id: "item", call: "bench_items.close_item", entity: "bench", args: { item_id: "i1" } };
const programJson = JSON.stringify({ version: 1, title: "One write", steps: [step] });
let submitted = 0;

/** Runs jobs with one write each, until they have ended. */
async function runJobs(count: number): Promise<void> {
  const last = submitted + count;
  const submitUntilLast = async () => {
    while (submitted < last) {
      submitted++;
      await call(server, "JobsService/SubmitJob", { programJson });
    }
  };
  await Promise.all(Array.from({ length: together }, submitUntilLast));
  await until(async () => {
    const [row] = await database.db.sql.unsafe<{ ended: number }[]>(
      "select count(*)::int as ended from jobs where status = 'succeeded'",
    );
    return row?.ended === last;
  }, 120_000);
}

type Allocations = { readonly selfSize: number; readonly callFrame: Frame; readonly children: readonly Allocations[] };
type Frame = { readonly functionName: string; readonly url: string; readonly lineNumber: number };

/**
 * Returns the bytes that each function has allocated. Log lines are not counted: if the output is slow, their buffer is copied more often,
 * and the benchmark writes none.
 */
function bytesOf({ selfSize, callFrame, children }: Allocations, into = new Map<string, number>()) {
  const { functionName, url, lineNumber } = callFrame;
  if (functionName === "LOG") return into;
  const name = `${functionName || "?"} ${url.split("/").at(-1)}:${lineNumber + 1}`;
  into.set(name, (into.get(name) ?? 0) + selfSize);
  for (const child of children) bytesOf(child, into);
  return into;
}

test("a job of one write allocates at most 255 KB in the process that takes and runs it", async () => {
  const jobs = 800;
  // These jobs run first, so that the functions are compiled. Functions that are not compiled allocate more.
  await runJobs(2_400);
  await inspect("HeapProfiler.startSampling", {
    samplingInterval,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  await runJobs(jobs);
  const { profile } = await inspect<{ profile: { head: Allocations } }>("HeapProfiler.stopSampling");
  const found = bytesOf(profile.head);
  const bytes = [...found.values()].reduce((sum, more) => sum + more, 0) / jobs;
  const most = [...found].toSorted(([, a], [, b]) => b - a).slice(0, 15);
  const shown = most.map(([name, size]) => `${Math.round(size / jobs)} ${name}`).join("\n");
  process.stdout.write(`a job of one write: ${(bytes / 1024).toFixed(1)} KB allocated\n`);
  expect(bytes, `bytes a job, of those:\n${shown}`).toBeLessThan(bytesMax);
});
