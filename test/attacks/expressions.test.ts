import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTestDatabase } from "@svc/testing/database";
import { call, type ServerProcess, startServerProcess, until, vaultKey } from "@svc/testing/server-process";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { residentMiB, startBystander } from "./bystander.ts";
import { createProjectKey } from "./projects.ts";
import { bystanderP99MaxMs, rounds, rssMaxMiB } from "./rounds.ts";

// Tests with two nodes on one database. These programs once blocked the node that ran them, then the node that took them over, and both
// again after a restart.

vi.setConfig({ testTimeout: 180_000 });
const isWhole = rounds > 1;
const pages = isWhole ? 40 : 4;
const crm = fileURLToPath(new URL("../../toolkits/sales_crm", import.meta.url));
const closing: (() => Promise<unknown>)[] = [];
const nodes: ServerProcess[] = [];
let bystandersKey: string;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-attack-"));
  closing.push(() => rm(folder, { recursive: true }));
  await cp(crm, join(folder, "sales_crm"), { recursive: true });
  const database = await createTestDatabase();
  closing.push(() => database.drop());
  const env = {
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey(),
    SVC_TOOLKITS: folder,
    SVC_SANDBOX: "force",
  };
  for (const _ of [1, 2]) {
    const node = await startServerProcess(env);
    closing.push(() => node.end("SIGKILL"));
    nodes.push(node);
  }
  const entityId = `sandbox:pages=${pages}`;
  await call(nodes[0]!, "ConnectionsService/InitiateConnection", {
    toolkitSlug: "sales_crm",
    entityId,
    apiKey: "sandbox",
  });
  bystandersKey = await createProjectKey(nodes[0]!, "bystander");
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

type Job = { status: string; lastError: string; stepReceipts: { stepId: string; errors?: { code: string }[] }[] };

/** Returns a program with a filter over many deals. `where`: the condition of the filter. Its params are a long list and a long text. */
function programOf(where: string): object {
  return {
    version: 1,
    title: "Attack",
    params: { list: Array.from({ length: 1_000 }, () => 1), long: `${"a".repeat(50_000)}!` },
    limits: { rows: 20_000, toolCalls: 200 },
    steps: [
      {
        id: "fetch",
        call: "sales_crm.list_deals",
        entity: `sandbox:pages=${pages}`,
        args: { limit: 250 },
        rows: {
          from: "data[]",
          key: "id",
          keep: ["id", "title"],
          page: { arg: "cursor", from: "additional_data.next_cursor", max: 100 },
        },
      },
      { id: "some", filter: "fetch", where },
    ],
  };
}

async function submit(node: ServerProcess, where: string): Promise<string> {
  const programJson = JSON.stringify(programOf(where));
  const { job } = await call<{ job: { id: string } }>(node, "JobsService/SubmitJob", { programJson });
  return job.id;
}

async function read(id: string): Promise<Job> {
  return (await call<{ job: Job }>(nodes[0]!, "JobsService/GetJob", { id })).job;
}

/** Runs an attack while another project calls both nodes. Checks the answers that this project gets. */
async function besideBystanders(attack: () => Promise<void>): Promise<void> {
  await using first = await startBystander(nodes[0]!, { key: bystandersKey });
  await using second = await startBystander(nodes[1]!, { key: bystandersKey });
  await attack();
  const reports = [await first.stop(), await second.stop()];
  for (const [index, { failures, p99Ms, calls }] of reports.entries()) {
    expect(calls).toBeGreaterThan(0);
    expect(failures).toEqual([]);
    // In `npm test`, a call may wait for the processor because of other tests. It only checks that the node answers at all.
    expect(p99Ms).toBeLessThan(isWhole ? bystanderP99MaxMs : 10_000);
    expect(await residentMiB(nodes[index]!.process.pid)).toBeLessThan(rssMaxMiB);
  }
}

const tooExpensive = [
  "params.list.all(x, !params.long.matches('^(a|aa)+$'))",
  "params.list.all(x, !params.long.contains('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' + params.long))",
  "params.list.exists(x, !params.long.contains('b' + params.long) && params.long.matches('(a?){20}b'))",
];

test("filters that multiply patterns, texts and items fail their step, and nobody else waits for them", async () => {
  await besideBystanders(async () => {
    // In the sample, each expression runs on only one of the nodes.
    const submitted = tooExpensive.flatMap((where, index) =>
      nodes
        .filter((_node, place) => isWhole || place === index % nodes.length)
        .flatMap((node) => times(rounds, () => submit(node, where))),
    );
    const ids = await Promise.all(submitted);
    await until(async () => (await Promise.all(ids.map(read))).every(hasEnded), 150_000, "every attack ended");
    for (const id of ids) {
      const { status, lastError, stepReceipts } = await read(id);
      expect(lastError).toContain("EXPRESSION_TOO_EXPENSIVE");
      expect(status).toBe("JOB_STATUS_FAILED");
      expect(stepReceipts.at(-1)?.errors?.map(({ code }) => code)).toEqual(["EXPRESSION_TOO_EXPENSIVE"]);
    }
  });
});

test("a filter that is as expensive as it may be, row after row, is cancelled at once", async () => {
  await besideBystanders(async () => {
    for (let round = 0; round < rounds; round++) {
      // About 20 ms for each of more than 1,000 rows.
      const id = await submit(nodes[round % 2]!, "!(params.long + row.title).matches('^(a|aa)+$') && row.title != ''");
      await until(async () => (await read(id)).stepReceipts.some(({ stepId }) => stepId === "some"), 60_000);
      const startedMs = performance.now();
      await call(nodes[1]!, "JobsService/CancelJob", { id });
      await until(async () => hasEnded(await read(id)), 30_000, "the job ended");
      expect((await read(id)).status).toBe("JOB_STATUS_CANCELLED");
      // If the job runs on another node, its driver notices the request when it renews the lease, within 10 s.
      expect(performance.now() - startedMs).toBeLessThan(15_000);
    }
  });
});

function hasEnded({ status }: Job): boolean {
  return ["JOB_STATUS_FAILED", "JOB_STATUS_SUCCEEDED", "JOB_STATUS_CANCELLED"].includes(status);
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}
