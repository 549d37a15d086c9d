import { setTimeout as wait } from "node:timers/promises";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/server-process";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { addProject, connect, type TestProject, writeDeployment } from "../tools/project.ts";
import { type Provider, reply, startProvider } from "../tools/provider.ts";
import {
  answer,
  askPoint,
  connectOps,
  hasEnded,
  isAsked,
  jobs,
  judge,
  listDeals,
  type Program,
  putContact,
  reach,
  readJob,
  readLog,
  sendMessage,
  submit,
  trySubmit,
} from "./project.ts";

// Jobs that are large, slow or hostile, while the data that they use changes. They run on two nodes and use an app that the test simulates.

let app: Provider;
let server: TestServer;
let second: TestServer;
let small: TestProject;
let deployment: Awaited<ReturnType<typeof writeDeployment>>;
/** Rows in a page of deals, and number of pages. */
let pages = { rows: 500, count: 1 };

beforeAll(async () => {
  app = await startProvider();
  play();
  const bound = { provider_base_url: app.url };
  deployment = await writeDeployment({ sales_crm: bound, messaging_bot: bound });
  const variables = { SVC_SANDBOX: "off", SVC_DEPLOYMENT: deployment.path, SVC_LOG_LEVEL: "info" };
  server = await startTestServer({ variables });
  second = await startTestServer({ variables: { ...variables, SVC_DATABASE_URL: server.database.url } });
  small = await addProject(server, "small");
  await connectOps(server);
  await connectOps(server, small.member);
}, 60_000);
afterAll(async () => {
  await second?.server.stop();
  await server?.stop();
  await second?.database.drop();
  await app?.close();
  await deployment?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  app.seen.length = 0;
  pages = { rows: 500, count: 1 };
  play();
});

function play(): void {
  app.answer = ({ method, path, query }, res) => {
    if (path === "/getMe") reply(res, { ok: true, result: { id: 1 } });
    else if (path === "/sendMessage") reply(res, { ok: true, result: { message_id: 1 } });
    else if (path === "/deleteMessage") reply(res, { ok: true, result: true });
    else if (path === "/api/v2/deals" && method === "GET") {
      const page = Number(query.get("cursor") ?? "0");
      const data = Array.from({ length: pages.rows }, (_, index) => {
        const id = page * pages.rows + index;
        return { id, title: `Deal ${id}`, value: id % 100 };
      });
      reply(res, { data, additional_data: page + 1 < pages.count ? { next_cursor: String(page + 1) } : {} });
    } else reply(res, { data: { id: 1 } });
  };
}

const isMessage = ({ path }: { path: string }) => path === "/sendMessage";
const tell = (changes: object = {}) => ({ id: "tell", map: "deals", concurrency: 8, do: [sendMessage()], ...changes });

test("beside a map of 20,000 rows another project's small job ends long before it, and the map is cancelled", async () => {
  pages = { rows: 500, count: 40 };
  const limits = { rows: 30_000, toolCalls: 50_000, writes: 30_000 };
  const large = await submit(server, { limits, steps: [listDeals(), tell()] });
  await until(() => app.seen.some(isMessage), 20_000, "the first message");
  const id = await submit(server, { steps: [sendMessage()] }, { bearer: small.member });
  const job = await reach(server, id, hasEnded, { bearer: small.member, timeoutMs: 25_000 });
  expect(job.status).toBe("JOB_STATUS_SUCCEEDED");
  // The large job has sent only a few of its 20,000 messages in these seconds.
  expect(app.seen.filter(isMessage).length).toBeLessThan(10_000);
  expect((await readJob(server, large)).finishedAt).toBeUndefined();
  await server.call(jobs("CancelJob"), { id: large });
  const cancelled = await reach(server, large, hasEnded);
  expect(cancelled.status).toBe("JOB_STATUS_CANCELLED");
  const sent = app.seen.filter(isMessage).length;
  // The number includes one message of the small job.
  expect(cancelled.receipt.calls.write).toBe(sent - 1);
  await wait(300);
  expect(app.seen.filter(isMessage).length).toBe(sent);
});

test("a flood of 100 jobs of one project does not hold up a job of another", async () => {
  app.answer = (_seen, res) => setTimeout(() => reply(res, { ok: true, result: { message_id: 1 } }), 150);
  const flood = await Promise.all(
    Array.from({ length: 100 }, () =>
      submit(server, { steps: Array.from({ length: 5 }, (_, index) => sendMessage({ id: `send${index}` })) }),
    ),
  );
  const sentBefore = app.seen.filter(isMessage).length;
  const id = await submit(server, { steps: [sendMessage()] }, { bearer: small.member });
  const job = await reach(server, id, hasEnded, { bearer: small.member, timeoutMs: 25_000 });
  expect(job.status).toBe("JOB_STATUS_SUCCEEDED");
  // Without fair scheduling, it would be the last of 501 messages.
  expect(app.seen.filter(isMessage).length - sentBefore).toBeLessThan(250);
  await Promise.all(flood.map((one) => server.call(jobs("CancelJob"), { id: one })));
  for (const one of flood) await reach(server, one, hasEnded);
});

test("100 steps of heavy conditions over 500 rows do not hold up the service or another project's job", async () => {
  const where = `[${Array.from({ length: 40 }, (_, index) => `${index}.0`).join(",")}].all(x, row.title.contains('Deal') && row.value + x >= 0.0 && !row.title.matches('(a+)+b'))`;
  const filters = Array.from({ length: 98 }, (_, index) => ({
    id: `f${index}`,
    filter: index === 0 ? "deals" : `f${index - 1}`,
    where,
  }));
  const heavy = await submit(server, { steps: [listDeals(), ...filters] });
  const started = performance.now();
  const id = await submit(server, { steps: [sendMessage()] }, { bearer: small.member });
  const job = await reach(server, id, hasEnded, { bearer: small.member });
  const smallMs = performance.now() - started;
  let slowestMs = 0;
  for (let index = 0; index < 10; index++) {
    const asked = performance.now();
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    slowestMs = Math.max(slowestMs, performance.now() - asked);
  }
  expect(job.status).toBe("JOB_STATUS_SUCCEEDED");
  expect({ smallMs: smallMs < 5_000, slowestMs: slowestMs < 1_000 }, `${smallMs} ${slowestMs}`).toEqual({
    smallMs: true,
    slowestMs: true,
  });
  await server.call(jobs("CancelJob"), { id: heavy });
  expect((await reach(server, heavy, hasEnded)).lastError).not.toContain("INTERNAL");
});

test("programs of 256 KiB at once are taken, and calls of others are answered meanwhile", async () => {
  const params = Object.fromEntries(Array.from({ length: 6_000 }, (_, index) => [`p${index}`, "x".repeat(25)]));
  const program = { params, steps: [{ id: "pause", wait: "1s" }] };
  expect(JSON.stringify(program).length).toBeGreaterThan(200_000);
  // The node knows the key from here on. While it has to look up a key, it refuses several large bodies if the store is slow.
  await server.call(jobs("ListAsks"), {});
  const many = Promise.all(Array.from({ length: 12 }, () => trySubmit(server, program)));
  const started = performance.now();
  expect((await server.call(jobs("ListAsks"), {}, { bearer: small.member })).code).toBe("ok");
  expect(performance.now() - started).toBeLessThan(3_000);
  const answers = await many;
  expect(new Set(answers.map(({ code }) => code))).toEqual(new Set(["ok"]));
  const { json } = await server.call(jobs("ListJobs"), { pageSize: 500 });
  expect(json.jobs.length).toBeGreaterThan(100);
  for (const { json: accepted } of answers) await server.call(jobs("CancelJob"), { id: accepted.job.id });
});

const undoing = sendMessage({
  undo: {
    call: "messaging_bot.delete_message",
    entity: "ops",
    args: { chat_id: "@team", message_id: { $ref: "output.message_id" }, confirm: true },
  },
});
const kinds: readonly (readonly [string, Program])[] = [
  ["a wait", { steps: [{ id: "pause", wait: "1h" }] }],
  ["a question", { steps: [judge], points: { ask: askPoint() } }],
  ["the approval of its plan", { approval: { plan: "always" }, steps: [sendMessage()] }],
  ["a call", { steps: [sendMessage()] }],
  ["a map", { steps: [listDeals(), tell()] }],
  ["a map that is undone", { steps: [listDeals(), tell({ do: [undoing] })], saga: { on: ["cancelled"] } }],
  ["a retry", { steps: [sendMessage({ retry: { max: 5, initial: "30s" } })] }],
];

test.each(kinds)(
  "cancelling over the other node during %s ends the job, and what was done is accounted for",
  async (name, program) => {
    pages = { rows: 60, count: 1 };
    const usual = app.answer;
    app.answer = (seen, res) => {
      if (name === "a retry" && isMessage(seen)) reply(res, { ok: false, description: "busy" }, { status: 429 });
      else setTimeout(() => usual(seen, res), isMessage(seen) ? 20 : 0);
    };
    const id = await submit(server, program);
    await reach(server, id, (job) => job.status !== "JOB_STATUS_QUEUED");
    if (name.startsWith("a map")) await until(() => app.seen.filter(isMessage).length > 10, 5_000, "messages");
    const answers = await Promise.all([1, 2, 3].map(() => second.call(jobs("CancelJob"), { id })));
    for (const { code, reason } of answers) expect(["ok", "JOB_FINISHED"]).toContain(code === "ok" ? code : reason);
    const job = await reach(server, id, hasEnded);
    expect([job.status, job.park]).toEqual([name === "a call" ? job.status : "JOB_STATUS_CANCELLED", undefined]);
    const sent = app.seen.filter(isMessage).length;
    expect(job.receipt.calls.write).toBe(sent);
    if (program["saga"] !== undefined) {
      expect(job.saga).toMatchObject({ state: "compensated", entries: sent, done: sent, failed: 0 });
      expect(app.seen.filter(({ path }) => path === "/deleteMessage").length).toBe(sent);
    }
    const log = await readLog(server, id);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    expect(log.at(-1)?.type).toBe("job-status-changed");
  },
);

/** Returns a project's own toolkit, whose one tool reads from `path`. */
const ownToolkit = (path: string, slug = "own_app") => ({
  toolkit: {
    slug,
    name: "Own app",
    description: "An app of our own that changes while jobs run, for tests of pins.",
    version: path === "/first" ? "0.1.0" : "0.2.0",
    category: "scheduling",
    baseUrl: app.url,
    auth: [{ type: "api_key", placement: "header", name: "X-Own", value: "{{credential.key}}" }],
  },
  tools: {
    read: {
      kind: "action",
      class: "read",
      description: "Reads something from the app of our own, for tests of pins in jobs.",
      intents: ["read something", "look it up", "what is there"],
      input: { type: "object", additionalProperties: false, properties: {} },
      output: { type: "object", properties: {} },
      request: { method: "GET", path },
    },
  },
});

const publish = (definition: object) =>
  server.call("svc.v1.CatalogService/PublishToolkit", { definitionJson: JSON.stringify(definition) });
const ownRead = (id: string) => ({ id, call: "own_app.read", entity: "ops" });
const pinned: Program = { steps: [ownRead("before"), judge, ownRead("after")], points: { ask: askPoint() } };

test("a toolkit that is published anew under a job does not change what the job calls", async () => {
  expect((await publish(ownToolkit("/first"))).code).toBe("ok");
  await connect(server, "own_app", { entityId: "ops", apiKey: "k" });
  const id = await submit(server, pinned);
  await reach(server, id, isAsked);
  expect((await publish(ownToolkit("/second"))).code).toBe("ok");
  app.seen.length = 0;
  await answer(server, id);
  const job = await reach(server, id, hasEnded);
  expect([job.status, job.lastError]).toEqual(["JOB_STATUS_SUCCEEDED", ""]);
  expect(app.seen.map(({ path }) => path)).toEqual(["/first"]);
  expect(job.stepReceipts.map(({ toolVersion }: { toolVersion: string }) => toolVersion)).toEqual([
    "0.1.0",
    "",
    "0.1.0",
  ]);
  const next = await submit(server, { steps: [ownRead("now")] });
  await reach(server, next, hasEnded);
  expect(app.seen.at(-1)?.path).toBe("/second");
});

test("a toolkit that is deleted under a job leaves it to end, with an outcome that says why or on its pins", async () => {
  expect((await publish(ownToolkit("/first"))).code).toBe("ok");
  const id = await submit(server, pinned);
  await reach(server, id, isAsked);
  const deleted = await server.call("svc.v1.CatalogService/DeleteToolkit", { slug: "own_app" });
  expect(deleted.code, JSON.stringify(deleted.json)).toBe("ok");
  await answer(server, id);
  const job = await reach(server, id, hasEnded);
  if (job.status === "JOB_STATUS_FAILED") expect(job.lastError).toMatch(/no_account|not_callable|account_unusable/);
  else expect(job.status).toBe("JOB_STATUS_SUCCEEDED");
});

test("an account revoked under a map fails the rows to come, and nothing is sent with it any more", async () => {
  pages = { rows: 200, count: 1 };
  const usual = app.answer;
  app.answer = (seen, res) => void setTimeout(() => usual(seen, res), isMessage(seen) ? 15 : 0);
  const bearer = small.member;
  const { json } = await server.call(
    "svc.v1.ConnectionsService/ListConnections",
    { toolkitSlug: "messaging_bot" },
    { bearer },
  );
  const id = await submit(server, { steps: [listDeals(), tell({ concurrency: 4 })] }, { bearer });
  await until(() => app.seen.filter(isMessage).length > 10, 5_000, "messages");
  for (const account of json.accounts) {
    await server.call("svc.v1.ConnectionsService/DeleteConnection", { id: account.id }, { bearer });
  }
  const sentThen = app.seen.filter(isMessage).length;
  const job = await reach(server, id, hasEnded, { bearer });
  expect([job.status, job.lastError]).toEqual(["JOB_STATUS_FAILED", expect.stringContaining("ROWS_FAILED")]);
  const receipt = job.stepReceipts[1];
  expect(receipt.rows.in).toBe(200);
  expect(receipt.rows.ok + receipt.rows.failed + receipt.rows.unknown).toBe(200);
  expect(["no_account", "account_unusable"]).toContain(receipt.errors[0].code);
  expect(app.seen.filter(isMessage).length - sentThen).toBeLessThanOrEqual(8);
  await connect(server, "messaging_bot", { entityId: "ops", scheme: "api_key", apiKey: "k", bearer });
});

test("a key revoked under a job keeps nobody else from reading or cancelling it", async () => {
  const { json } = await server.admin("CreateApiKey", { projectId: small.id, role: "ROLE_MEMBER", name: "short" });
  const id = await submit(server, { steps: [judge, sendMessage()], points: { ask: askPoint() } }, { bearer: json.key });
  await reach(server, id, isAsked, { bearer: small.member });
  await server.admin("RevokeApiKey", { id: json.apiKey.id });
  expect((await answer(server, id, {}, { bearer: small.member })).code).toBe("ok");
  const job = await reach(server, id, hasEnded, { bearer: small.member });
  expect(job.status).toBe("JOB_STATUS_SUCCEEDED");
});

test("the same idempotency key in another mode is other content, whatever became of the first job", async () => {
  const program: Program = { steps: [sendMessage()] };
  const id = await submit(server, program, { idempotencyKey: "modes", mode: "simulate" });
  for (const request of [{}, { mode: "live" }, { simulateFirst: true }]) {
    const refused = await trySubmit(server, program, { ...request, idempotencyKey: "modes" });
    expect(refused.reason).toBe("IDEMPOTENCY_KEY_REUSED");
  }
  await reach(server, id, hasEnded);
  expect((await trySubmit(second, program, { idempotencyKey: "modes", mode: "simulate" })).json.job.id).toBe(id);
  expect(app.seen.filter(isMessage)).toEqual([]);
});

test("a simulation sends no write, whichever step would", async () => {
  pages = { rows: 30, count: 1 };
  const program: Program = {
    steps: [
      listDeals(),
      tell({ do: [undoing] }),
      sendMessage({
        id: "drop",
        call: "messaging_bot.delete_message",
        args: { chat_id: "@team", message_id: 5, confirm: true },
      }),
    ],
    saga: { on: ["failed", "cancelled", "aborted"] },
  };
  const id = await submit(server, program, { mode: "simulate" });
  const job = await reach(server, id, hasEnded);
  expect([job.status, job.stepReceipts.map(({ state }: { state: string }) => state)]).toEqual([
    "JOB_STATUS_SUCCEEDED",
    ["completed", "simulated", "simulated"],
  ]);
  expect(new Set(app.seen.map(({ path }) => path))).toEqual(new Set(["/api/v2/deals"]));
});

test("a contact reached by a tool that fails may answer all the same, and the tool is tried in the ledger", async () => {
  const argsJson = JSON.stringify({ chat_id: "@lead", text: "{question} {{x}} {jobId} {requestId}" });
  await putContact(server, "reached", {
    reach: { toolSlug: "messaging_bot.send_message", entityId: "ops", argsJson },
  });
  app.answer = (seen, res) =>
    isMessage(seen) ? reply(res, { ok: false, description: "no" }, { status: 400 }) : reply(res, {});
  const question = '"}{question} {jobId} \\ {{';
  const point = askPoint({ question: question.replaceAll("{", "{{"), escalation: [{ principal: "reached" }] });
  const refusedOrId = await trySubmit(server, { steps: [judge], points: { ask: point } });
  expect(refusedOrId.code, JSON.stringify(refusedOrId.json)).toBe("ok");
  const { id } = refusedOrId.json.job;
  const asked = await reach(server, id, isAsked);
  await until(() => app.seen.some(isMessage), 5_000, "the try");
  const { text } = JSON.parse(app.seen.find(isMessage)?.body ?? "{}");
  const { question: put, requestId } = asked.park.judgment;
  expect(text.startsWith(put)).toBe(true);
  expect(text.endsWith(`${id} ${requestId}`)).toBe(true);
  expect((await answer(server, id, { principalId: "reached" })).code).toBe("ok");
  expect((await reach(server, id, hasEnded)).status).toBe("JOB_STATUS_SUCCEEDED");
});

test("a node that stops amid a map leaves it to the other, and every row is sent once", async () => {
  pages = { rows: 300, count: 1 };
  const own = await startTestServer({
    variables: {
      SVC_SANDBOX: "off",
      SVC_DEPLOYMENT: deployment.path,
      SVC_DATABASE_URL: server.database.url,
      SVC_DRAIN: "3s",
      SVC_LOG_LEVEL: "info",
    },
  });
  const text = { $ref: "row.title" };
  const rows = tell({ concurrency: 4, do: [sendMessage({ args: { chat_id: "@team", text } })] });
  const ids = await Promise.all([1, 2, 3].map(() => submit(own, { steps: [listDeals(), rows] })));
  await until(() => app.seen.filter(isMessage).length > 30, 15_000, "messages");
  await own.server.stop();
  await own.database.drop();
  for (const id of ids) {
    const job = await reach(server, id, hasEnded);
    expect([job.status, job.stepReceipts[1].rows.ok, job.receipt.calls.unknown]).toEqual([
      "JOB_STATUS_SUCCEEDED",
      300,
      0,
    ]);
  }
  const counts = new Map<string, number>();
  for (const { body } of app.seen.filter(isMessage)) counts.set(body, (counts.get(body) ?? 0) + 1);
  expect(new Set(counts.values())).toEqual(new Set([3]));
});

test("connections to the store cut again and again lose no job, and leave no gap in a log", async () => {
  pages = { rows: 100, count: 3 };
  const ids = await Promise.all(Array.from({ length: 6 }, () => submit(server, { steps: [listDeals()] })));
  const { sql } = server.database.db;
  for (let round = 0; round < 3; round++) {
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.catch(() => undefined);
    await wait(150);
  }
  // A job that could not be handed back either continues when its lease of 30 s ends. The test shortens the lease to 2 s.
  const haveEnded = async () => {
    await sql`update job_tasks set lease_until = now()
      where lease_until > now() and lease_until < now() + interval '28 s'`;
    const jobs = await Promise.all(ids.map((id) => readJob(server, id)));
    return jobs.every((job) => job !== undefined && hasEnded(job));
  };
  await until(haveEnded, 25_000, "the end of every job");
  for (const id of ids) {
    const job = await readJob(server, id);
    expect([job.status, job.stepReceipts[0].rows.in]).toEqual(["JOB_STATUS_SUCCEEDED", 300]);
    const log = await readLog(server, id);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  }
});

test("when nothing is left to do, no task is left", async () => {
  const { sql } = server.database.db;
  const { json } = await server.call(jobs("ListJobs"), { pageSize: 500 });
  for (const { id, finishedAt } of json.jobs) {
    if (finishedAt === undefined) await server.call(jobs("CancelJob"), { id });
  }
  await until(
    async () => (await sql`select count(*)::int as n from job_tasks`)[0]?.["n"] === 0,
    8_000,
    "an empty queue",
  );
});
