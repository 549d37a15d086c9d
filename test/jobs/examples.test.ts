import { setTimeout as wait } from "node:timers/promises";
import { programSchema } from "@svc/program";
import { Code, createSvcClient, type SvcClient } from "@svc/sdk";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { pauseMs } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { codeBlocksOf } from "../markdown.ts";
import { readText } from "../source.ts";
import { jobPages } from "./pages.ts";

// Runs the programs of docs/examples and of the pages about jobs unchanged, in the sandbox.

let server: TestServer;
let client: SvcClient;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  for (const [toolkitSlug, entityId] of accounts) {
    const accountVariables = toolkitSlug === "search_engine" ? { hostname: "search.example.com", port: "443" } : {};
    await client.connections.initiateConnection({
      toolkitSlug,
      entityId,
      scheme: "api_key",
      apiKey: "sandbox",
      accountVariables,
    });
  }
  for (const principalId of ["lead", "head"]) {
    const contact = { principalId, name: principalId, approver: false };
    const put = await server.call("svc.v1.ContactsService/PutContact", { contact });
    expect(put.code).toBe("ok");
  }
});
afterAll(() => server?.stop());

const accounts = [
  ["sales_crm", "ops"],
  ["sales_crm", "sandbox:pages=80"],
  ["sales_crm", "sandbox:error"],
  ["esignature", "sandbox:pages=3"],
  ["incident_mgmt", "ops"],
  ["messaging_bot", "ops"],
  ["issue_tracker", "ops"],
  ["messaging_bot", "sandbox:error"],
  ["search_engine", "ops"],
  ["search_ingestion", "ops"],
  ["bank_link", "ops"],
] as const;

const example = (name: string) => readText(`docs/examples/${name}.json`);

async function submit(name: string, options: { simulateFirst?: boolean } = {}): Promise<string> {
  const { job } = await client.jobs.submitJob({ programJson: example(name), ...options });
  return job?.id ?? "";
}

/** Waits until `holds` is true of the job, and returns the job. */
async function reach(id: string, holds: (job: NonNullable<Awaited<ReturnType<typeof read>>>) => boolean) {
  for (const startedAt = performance.now(); ; await wait(pauseMs(startedAt))) {
    const job = await read(id);
    if (job !== undefined && holds(job)) return job;
    if (performance.now() > startedAt + 60_000)
      throw new Error(`the job did not come so far: ${job?.status} ${job?.lastError}`);
  }
}

async function read(id: string) {
  return (await client.jobs.getJob({ id })).job;
}

const hasEnded = (job: { finishedAt?: unknown }) => job.finishedAt !== undefined;

test("20,000 rows over 80 pages are counted, and none of them leaves", { timeout: 90_000 }, async () => {
  const job = await reach(await submit("count-deals"), hasEnded);
  expect(job).toMatchObject({
    lastError: "",
    receipt: { outcome: "complete", calls: { read: 80 }, rows: { in: 20_000 } },
  });
  // The API returns only the number of rows, however many there are.
  const steps = await client.jobs.listSteps({ jobId: job.id });
  expect(steps.steps.find(({ stepId }) => stepId === "fetch")).toMatchObject({ state: "completed", rowsDone: 20_000 });
  for (const answer of [job, steps]) {
    const text = JSON.stringify(answer, (_name, value) => (typeof value === "bigint" ? Number(value) : value));
    expect(text.length).toBeLessThan(16_384);
  }
  const { of, large } = JSON.parse(job.receipt?.resultJson ?? "") as { of: number; large: number };
  expect(of).toBe(20_000);
  expect(large).toBeGreaterThan(0);
  expect(large).toBeLessThan(of);
});

test("a list that is counted is read to its end, and told in one message", async () => {
  const job = await reach(await submit("report-open-contracts"), hasEnded);
  // The program reads three full pages, and an empty one that marks the end.
  expect(job).toMatchObject({ lastError: "", receipt: { outcome: "complete", calls: { read: 4, write: 1 } } });
  const { of, open } = JSON.parse(job.receipt?.resultJson ?? "") as { of: number; open: number };
  expect(of).toBe(300);
  expect(open).toBeGreaterThan(0);
  expect(open).toBeLessThan(of);
});

test("a question climbs two hops, and its answer changes what is done", async () => {
  const id = await submit("ask-before-writing");
  const asked = await reach(id, ({ pendingAsk }) => pendingAsk !== undefined);
  expect(asked.pendingAsk).toMatchObject({ principalId: "lead", hopIndex: 0 });
  // Simulates that four hours pass.
  await server.database.db.sql`update job_asks set deadline_at = now() where deadline_at is not null`;
  await server.database.db.sql`update job_tasks set due_at = now() where kind = 'hop'`;
  const climbed = await reach(id, ({ pendingAsk }) => pendingAsk?.hopIndex === 1);
  expect(climbed.pendingAsk).toMatchObject({ principalId: "head", deliveredPrincipals: ["lead", "head"] });
  const answer = { jobId: id, principalId: "head", continuation: "retry-with", overridesJson: '{"minValue": 50000}' };
  await client.jobs.answerAsk(answer);
  const again = await reach(id, ({ park }) => park?.judgment?.question.includes("50000") === true);
  const { worth } = Object.fromEntries(again.stepReceipts.map(({ stepId, rows }) => [stepId, rows]));
  expect(worth?.in).toBeGreaterThan(worth?.ok ?? 0);
  await client.jobs.answerAsk({ jobId: id, principalId: "lead", continuation: "proceed" });
  const { receipt } = await reach(id, hasEnded);
  expect(receipt).toMatchObject({ asks: { raised: 2, answered: 2 } });
  expect(JSON.parse(receipt?.resultJson ?? "")).toEqual({ sent: worth?.ok, failed: 0 });
});

test("what was done before a failure is undone", async () => {
  const job = await reach(await submit("undo-on-failure"), hasEnded);
  const planned = job.stepReceipts.find(({ stepId }) => stepId === "plan");
  expect(planned).toMatchObject({ state: "undone", undo: { failed: 0 } });
  expect(job.saga).toMatchObject({ state: "compensated", entries: planned?.rows?.ok, done: planned?.rows?.ok });
  expect(job.lastError).toContain("provider_error");
});

test("an export is waited for, and what it brought is loaded", async () => {
  const job = await reach(await submit("wait-for-export"), hasEnded);
  const { loaded, finishedAt } = JSON.parse(job.receipt?.resultJson ?? "") as { loaded: number; finishedAt: string };
  expect(job).toMatchObject({ lastError: "", receipt: { outcome: "complete", calls: { write: 1 + loaded } } });
  expect(loaded).toBeGreaterThan(0);
  expect(finishedAt).toMatch(/^20/);
});

test("a message that the app refuses is noted instead, and the job goes on", async () => {
  const job = await reach(await submit("record-when-chat-fails"), hasEnded);
  expect(job).toMatchObject({ lastError: "", receipt: { outcome: "partial", calls: { write: 2 } } });
  expect(JSON.parse(job.receipt?.resultJson ?? "")).toMatchObject({ why: "provider_error" });
  const states = Object.fromEntries(job.stepReceipts.map(({ stepId, state }) => [stepId, state]));
  expect(states).toMatchObject({ tell: "failed", note: "completed" });
  const told = example("record-when-chat-fails").replace("sandbox:error", "ops");
  const { job: other } = await client.jobs.submitJob({ programJson: told });
  const { receipt } = await reach(other?.id ?? "", hasEnded);
  expect(receipt).toMatchObject({ outcome: "complete", calls: { write: 1 } });
  expect(JSON.parse(receipt?.resultJson ?? "")).toMatchObject({ why: "told" });
});

test("three apps are asked at the same time, and one message reports", async () => {
  const job = await reach(await submit("gather-and-report"), hasEnded);
  expect(job).toMatchObject({ lastError: "", receipt: { outcome: "complete", calls: { read: 3, write: 1 } } });
  const { deals, incidents, imports } = JSON.parse(job.receipt?.resultJson ?? "") as Record<string, number>;
  expect(job.receipt?.rows?.in).toBe((deals ?? 0) + (incidents ?? 0) + (imports ?? 0));
  const { events } = await client.jobs.listJobEvents({ jobId: job.id });
  const started = events.flatMap(({ type, stepId }) => (type === "step-started" ? [stepId] : []));
  expect(started.slice(0, 4).toSorted()).toEqual(["deals", "gather", "incidents", "tasks"]);
  expect(started.at(-1)).toBe("report");
});

test("an export that does not end is waited for as often as the program says, and no further", async () => {
  const never = example("wait-for-export")
    .replace("has(steps.run.finishedAt)", "!has(steps.run.finishedAt)")
    .replace('"30s"', '"1s"')
    .replace('"max": 20', '"max": 3');
  const { job: submitted } = await client.jobs.submitJob({ programJson: never });
  expect(submitted?.estimate).toMatchObject({ callsMin: 3 });
  const job = await reach(submitted?.id ?? "", hasEnded);
  expect(job.lastError).toContain("UNTIL_EXHAUSTED");
  const steps = Object.fromEntries(job.stepReceipts.map((step) => [step.stepId, step]));
  expect(steps["ready"]).toMatchObject({ state: "failed", attempts: 3 });
  expect(steps["run"]).toMatchObject({ state: "completed", attempts: 3, calls: { read: 3 } });
  expect(steps["fetch"]).toBeUndefined();
});

test("tickets that nobody has touched for thirty days are closed, and opened again where the rest of the job fails", async () => {
  const job = await reach(await submit("close-stale-tickets"), hasEnded);
  expect(job).toMatchObject({ lastError: "", receipt: { outcome: "complete" } });
  const { of, closed, on } = JSON.parse(job.receipt?.resultJson ?? "") as { of: number; closed: number; on: string };
  expect(closed).toBeGreaterThan(0);
  expect(closed).toBeLessThanOrEqual(of);
  expect(on).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  const failing = JSON.parse(example("close-stale-tickets")) as {
    input: object;
    steps: { id: string; entity?: string }[];
  };
  const steps = failing.steps.map((step) => (step.id === "tell" ? { ...step, entity: "sandbox:error" } : step));
  // Another team is used, because the rows of the first team were changed just now.
  const input = { ...failing.input, team: "team-billing" };
  const submitted = await client.jobs.submitJob({ programJson: JSON.stringify({ ...failing, input, steps }) });
  const failed = await reach(submitted.job?.id ?? "", hasEnded);
  expect(failed.saga).toMatchObject({ state: "compensated", done: failed.saga?.entries });
  expect(failed.saga?.entries).toBeGreaterThan(0);
});

test("a destructive plan is simulated, approved and run", async () => {
  const id = await submit("approve-deletion", { simulateFirst: true });
  const waiting = await reach(id, ({ park }) => park?.reason === "approval");
  const { simulation } = await client.jobs.getJob({ id });
  expect(simulation).toMatchObject({ simulatedFrom: id, receipt: { outcome: "complete" } });
  const [ask] = (await client.jobs.listAsks({ jobId: id })).asks;
  expect(ask?.simulationReceipt).toEqual(simulation?.receipt);
  expect(ask?.approvalId).toBe(waiting.planApprovalId);
  await client.jobs.answerAsk({ jobId: id, principalId: "owner", continuation: "proceed" });
  const { receipt } = await reach(id, hasEnded);
  expect(receipt).toMatchObject({ outcome: "complete", approvals: [{ decision: { principalId: "owner" } }] });
  expect(receipt?.calls?.destructive).toBeGreaterThan(0);
});

test("a program that succeeded is promoted, and called as a tool", async () => {
  const id = await submit("announce-skill");
  await reach(id, hasEnded);
  const description = "Announces a text in the team's channel.";
  const { tool } = await client.jobs.promoteJob({ jobId: id, slug: "announce", description });
  expect(tool?.slug).toBe("skills.announce");
  const { results } = await client.tools.searchTools({ query: "announce something to the team" });
  expect(results.map((found) => found.tool?.slug)).toContain("skills.announce");
  const called = await client.tools.callTool({
    toolSlug: "skills.announce",
    argumentsJson: '{"text": "Lunch is ready"}',
  });
  expect(called.outcome).toBe("ok");
  const job = await reach((JSON.parse(called.resultJson) as { job_id: string }).job_id, hasEnded);
  expect(job).toMatchObject({ skillSlug: "skills.announce", lastError: "", receipt: { outcome: "complete" } });
});

test("a program that runs two skills announces what one found by the other", async () => {
  const summed = await submit("sum-deals-skill");
  await reach(summed, hasEnded);
  const described = "Counts and sums the deals in a status.";
  await client.jobs.promoteJob({ jobId: summed, slug: "sum_deals", description: described });
  const { receipt } = (await read(summed)) ?? {};
  const { count } = JSON.parse(receipt?.resultJson ?? "") as { count: number };
  const id = await submit("announce-open-deals");
  const job = await reach(id, hasEnded);
  expect(job).toMatchObject({ lastError: "", receipt: { outcome: "complete", calls: { write: 1 } } });
  expect(JSON.parse(job.receipt?.resultJson ?? "")).toEqual({ open: count, messageId: expect.anything() });
  const { jobs } = await client.jobs.listJobs({ parentJobId: id });
  expect(jobs.map(({ skillSlug }) => skillSlug)).toEqual(["skills.announce", "skills.sum_deals"]);
});

test("the log of a job can be watched over HTTP until its end", async () => {
  const id = await submit("announce-skill");
  const types: string[] = [];
  for await (const { event } of client.jobs.watchJob({ jobId: id })) types.push(event?.type ?? "");
  expect(types.at(0)).toBe("job-submitted");
  expect(types.at(-1)).toBe("job-status-changed");
  const { events } = await client.jobs.listJobEvents({ jobId: id });
  expect(events.map(({ type }) => type)).toEqual(types);
});

const programsOf = (page: string) =>
  codeBlocksOf(readText(page)).filter(({ language, text }) => {
    return language === "json" && text.includes('"version": 1') && !text.includes('"source"');
  });

test.each(jobPages.filter((page) => programsOf(page).length > 0))(
  "every program that %s shows is accepted",
  async (page) => {
    for (const { text } of programsOf(page)) {
      const { job } = await client.jobs.submitJob({ programJson: text, mode: "simulate" });
      const ended = await reach(job?.id ?? "", hasEnded);
      // One program fails on purpose: its account answers with errors.
      if (!text.includes("sandbox:error")) expect(ended.lastError, text).toBe("");
    }
  },
);

test("the expressions that docs/reference/program/expressions.md shows are accepted", async () => {
  const [block] = codeBlocksOf(readText("docs/reference/program/expressions.md"));
  const expressions = block?.text.trim().split("\n") ?? [];
  expect(expressions.length).toBeGreaterThan(4);
  const fields = ["status", "attendees", "owner", "created_at", "email"];
  const input = {
    list: [{ status: "open", attendees: [], owner: "ada", created_at: "2026-01-01T00:00:00Z", email: "a@b.c" }],
  };
  const take = (id: string) => ({ id, take: "input.list", keep: fields });
  const filters = expressions.map((where, index) => ({ id: `f${index}`, filter: "all", where }));
  const programJson = JSON.stringify({
    version: 1,
    title: "See",
    input,
    steps: [take("all"), take("large"), ...filters],
  });
  const { job } = await client.jobs.submitJob({ programJson });
  expect((await reach(job?.id ?? "", hasEnded)).lastError).toBe("");
});

test("a stream of a node that stops ends with the word that it stopped, and its schema of programs is public", async () => {
  await using own = new AsyncDisposableStack();
  const stopping = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  own.defer(() => stopping.stop());
  const schema = await fetch(`${stopping.url}/schemas/program.v1.json`);
  expect(await schema.json()).toEqual(programSchema);
  const { jobs } = createSvcClient({ baseUrl: stopping.url, apiKey: stopping.key });
  const programJson = JSON.stringify({ version: 1, title: "Wait", steps: [{ id: "pause", wait: "1h" }] });
  const { job } = await jobs.submitJob({ programJson });
  const watching = async () => {
    for await (const { event } of jobs.watchJob({ jobId: job?.id ?? "" })) {
      if (event?.payloadJson.includes('"parked"')) void stopping.server.stop();
    }
  };
  await expect(watching()).rejects.toMatchObject({ code: Code.DeadlineExceeded });
});
