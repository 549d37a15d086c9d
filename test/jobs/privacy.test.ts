import { createSvcClient } from "@svc/sdk";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/server-process";
import { type Subscriber, startSubscriber } from "@svc/testing/subscriber";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeDeployment } from "../tools/project.ts";
import { type Provider, reply, startProvider } from "../tools/provider.ts";
import {
  answer,
  askPoint,
  connectOps,
  hasEnded,
  isAsked,
  type JobJson,
  jobs,
  judge,
  listDeals,
  type Program,
  reach,
  sendMessage,
  submit,
} from "./project.ts";

// Every row of the app holds a marker text, and the app repeats rows in its error messages. The test then searches all stored and returned
// data for the marker.

const marker = "planted-5c1d";
const title = (index: number) => `${marker}-${index}`;

let app: Provider;
let receiver: Subscriber;
let server: TestServer;
let deployment: Awaited<ReturnType<typeof writeDeployment>>;
/** Ended jobs, by the name of their program. */
const ended: Record<string, JobJson> = {};

const rowsOfPage = (page: number) =>
  Array.from({ length: 6 }, (_, index) => ({ id: page * 6 + index, title: title(page * 6 + index), value: index }));

/**
 * Sets the app's answers: pages of deals; messages about rows 2 and 3 are refused with the row in the error; messages about row 4 break
 * off.
 */
function play(): void {
  app.answer = ({ method, path, query, body }, res) => {
    if (path === "/api/v2/deals" && method === "GET") {
      const page = Number(query.get("cursor") ?? "0");
      const failing = query.get("status") === "lost" && page === 1;
      if (failing) reply(res, { error: `no page after ${JSON.stringify(rowsOfPage(0))}` }, { status: 400 });
      else if (query.get("status") === "won")
        reply(res, { data: rowsOfPage(0).map((row) => ({ ...row, value: row.title })) });
      else reply(res, { data: rowsOfPage(page), additional_data: page === 0 ? { next_cursor: "1" } : {} });
    } else if (path === "/sendMessage") {
      const { text = "" } = JSON.parse(body) as { text?: string };
      if (text.endsWith("-2") || text.endsWith("-3")) {
        reply(res, { ok: false, description: `cannot say ${body}` }, { status: 400, headers: { "x-quoted": text } });
      } else if (text.endsWith("-4")) res.destroy();
      else reply(res, { ok: true, result: { message_id: 7, text } });
    } else if (path === "/deleteMessage") {
      reply(res, { ok: false, description: `cannot delete ${title(1)}` }, { status: 400 });
    } else if (path === "/getMe") reply(res, { ok: true, result: { id: 1 } });
    else reply(res, { error: `no ${path}, ${title(0)}` }, { status: 500 });
  };
}

const tell = (changes: object = {}) =>
  sendMessage({ args: { chat_id: "@team", text: { $ref: "row.title" } }, ...changes });
const rowPoints = { failed: askPoint({ overrides: undefined }), unknown: askPoint({ continuations: ["proceed"] }) };
const filterBy = (where: string, args: object = {}) => ({
  steps: [listDeals({ args }), { id: "kept", filter: "deals", where }],
});

const programs: Readonly<Record<string, Program>> = {
  "rows that fail, and are in doubt": {
    steps: [
      listDeals(),
      { id: "kept", filter: "deals", where: "row.title.contains('planted')" },
      judge,
      {
        id: "tell",
        map: "kept",
        concurrency: 3,
        onRows: { failed: "failed", unknown: "unknown" },
        do: [tell()],
      },
      { id: "sum", reduce: "tell", as: { ok: "count ok", most: "max value", sum: "sum value" } },
    ],
    points: {
      ask: askPoint({ question: "{rows.kept} of {rows.deals}?", continuations: ["proceed"] }),
      failed: askPoint({ question: "{rows.tell}?", continuations: ["proceed", "retry-with"] }),
      unknown: rowPoints.unknown,
    },
    result: { ok: { $ref: "steps.sum.ok" }, most: { $ref: "steps.sum.most" } },
  },
  "a page that fails": { steps: [listDeals({ args: { status: "lost" } })] },
  "a condition that cannot be evaluated": filterBy("int(row.title) > 1"),
  "a time that is none": filterBy("timestamp(row.title) > timestamp('2026-01-01T00:00:00Z')"),
  "a duration that is none": filterBy("duration(row.title) > duration('1s')"),
  "a field by the name of a value": filterBy("row[row.title] == 1.0"),
  "numbers that are texts": filterBy("row.value > 1.0", { status: "won" }),
  "numbers that are texts, converted": filterBy("int(row.value) > 1", { status: "won" }),
  "a key that is a value": filterBy("{'x': 1}[row.title] == 1"),
  "arguments that do not fit": {
    steps: [
      listDeals(),
      {
        id: "make",
        map: "deals",
        do: [
          {
            id: "make_one",
            call: "sales_crm.create_deal",
            entity: "ops",
            args: { title: "x", currency: { $ref: "row.title" }, expected_close_date: { $ref: "row.title" } },
          },
        ],
      },
    ],
  },
  "an undo that fails": {
    steps: [
      listDeals(),
      {
        id: "tell",
        map: "deals",
        onRows: { unknown: "unknown" },
        do: [
          tell({
            undo: {
              call: "messaging_bot.delete_message",
              entity: "ops",
              args: { chat_id: { $ref: "row.title" }, message_id: { $ref: "output.message_id" }, confirm: true },
            },
          }),
        ],
      },
    ],
    points: { unknown: askPoint({ continuations: ["abort"] }) },
    saga: { on: ["failed", "aborted"] },
  },
  "a simulation": { steps: [listDeals(), { id: "tell", map: "deals", do: [tell()] }] },
};

beforeAll(async () => {
  [app, receiver] = [await startProvider(), await startSubscriber()];
  const bound = { provider_base_url: app.url };
  deployment = await writeDeployment({ sales_crm: bound, messaging_bot: bound });
  server = await startTestServer({ variables: { SVC_SANDBOX: "off", SVC_DEPLOYMENT: deployment.path } });
  play();
  await connectOps(server);
  const endpoint = await server.call(jobs("CreateAskEndpoint"), { endpointUrl: receiver.url });
  expect(endpoint.code).toBe("ok");
  await Promise.all(
    Object.entries(programs).map(async ([name, program]) => {
      const id = await submit(server, { ...program, title: name }, name === "a simulation" ? { mode: "simulate" } : {});
      ended[name] = await answerUntilEnd(id);
    }),
  );
  // The log gets the result of a question's publication when it is known, possibly after the job has ended.
  const { sql } = server.database.db;
  await until(
    async () => (await sql`select 1 from job_tasks where kind = 'publish'`).length === 0,
    15_000,
    "fates of publications",
  );
}, 60_000);
afterAll(async () => {
  await server?.stop();
  await Promise.all([app?.close(), receiver?.close(), deployment?.[Symbol.asyncDispose]()]);
});

/** Answers every question of a job with its first allowed answer, until the job ends. */
async function answerUntilEnd(id: string): Promise<JobJson> {
  for (;;) {
    const job = await reach(server, id, (now) => isAsked(now) || hasEnded(now), { timeoutMs: 40_000 });
    if (hasEnded(job)) return job;
    const { requestId, continuations } = job.park.judgment;
    const answered = await answer(server, id, { requestId, continuation: continuations[0] });
    expect(answered.code, JSON.stringify(answered.json)).toBe("ok");
  }
}

/** Lists the places of a marker in an answer, each with a few characters around it. */
function shown(what: unknown): string[] {
  const text = JSON.stringify(what);
  return [...new Set([...text.matchAll(new RegExp(`.{0,60}${marker}`, "g"))].map(([found]) => found))].slice(0, 4);
}

test("the app was sent and sent the markers, so that what follows tells something", () => {
  expect(app.seen.filter(({ body }) => body.includes(marker)).length).toBeGreaterThan(20);
  const { receipt } = ended["rows that fail, and are in doubt"];
  expect(receipt.rows).toMatchObject({ failed: expect.any(Number) });
  expect(JSON.parse(receipt.resultJson)).toEqual({ ok: 10, most: 5 });
  expect(ended["rows that fail, and are in doubt"].status).toBe("JOB_STATUS_SUCCEEDED");
  expect(ended["an undo that fails"].saga.failed).toBeGreaterThan(0);
  const failed = Object.entries(ended).filter(([, { status }]) => status === "JOB_STATUS_FAILED");
  expect(failed.map(([name]) => name)).toEqual(expect.arrayContaining(["a page that fails", "a time that is none"]));
});

test.each(Object.keys(programs))("%s: no answer about the job holds row data", async (name) => {
  const job = ended[name];
  const client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  const watched: string[] = [];
  for await (const { event } of client.jobs.watchJob({ jobId: job.id })) watched.push(event?.payloadJson ?? "");
  const { json: log } = await server.call(jobs("ListJobEvents"), { jobId: job.id });
  const { json: asks } = await server.call(jobs("ListAsks"), { jobId: job.id });
  const single = [];
  for (const { requestId } of asks.asks) {
    single.push((await server.call(jobs("GetAsk"), { jobId: job.id, requestId })).json);
  }
  expect(watched.length).toBe(log.events.length);
  for (const [what, found] of Object.entries({ job, watched, log, asks, single })) {
    expect(shown(found), what).toEqual([]);
  }
  expect(job.lastError).not.toContain(marker);
});

test("lists, published asks and the log at trace hold no row data", async () => {
  const { json } = await server.call(jobs("ListJobs"), {});
  expect(json.jobs.length).toBeGreaterThan(8);
  expect(shown(json)).toEqual([]);
  expect(shown((await server.call(jobs("ListJobs"), { mode: "simulate" })).json)).toEqual([]);
  expect(shown((await server.call(jobs("ListAsks"), {})).json)).toEqual([]);
  await until(() => receiver.received.length >= 3, 5_000, "the publication of asks");
  expect(receiver.received.flatMap(({ body, headers }) => shown([body, headers]))).toEqual([]);
  expect(server.logs.length).toBeGreaterThan(40);
  expect(server.logs.flatMap(shown)).toEqual([]);
});

test("no column of the database holds row data that is not sealed", async () => {
  const { sql } = server.database.db;
  const tables = await sql`select table_schema, table_name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
  const leaks: Record<string, string[]> = {};
  let rows = 0;
  for (const { table_schema, table_name } of tables) {
    const found = await sql`select t::text as text from ${sql(table_schema)}.${sql(table_name)} t`;
    for (const { text } of found) {
      rows += 1;
      const bytes = [...(text as string).matchAll(/\\\\?x([0-9a-f]{8,})/g)].map(([, hex = ""]) => {
        return Buffer.from(hex, "hex").toString("utf8");
      });
      if ([text as string, ...bytes].some((plain) => plain.includes(marker))) leaks[table_name] = shown(text);
    }
  }
  expect(rows).toBeGreaterThan(200);
  expect(leaks).toEqual({});
});

test("the calls of a job stand in the ledger under its id, and lists of them hold no row data", async () => {
  const { json } = await server.call("svc.v1.ToolsService/ListToolCalls", { pageSize: 500 });
  const own = json.calls.filter(({ jobId }: { jobId: string }) => jobId !== "");
  expect(own.length).toBeGreaterThan(20);
  expect(shown(json)).toEqual([]);
});

test("what the ledger tells of one failed call of a job holds no row data", async () => {
  const { json } = await server.call("svc.v1.ToolsService/ListToolCalls", { pageSize: 500 });
  const leaks = new Set<string>();
  let failed = 0;
  for (const { id, toolSlug, jobId, outcome } of json.calls as Record<string, string>[]) {
    if (jobId === "" || outcome === "ok") continue;
    failed += 1;
    const { json: one } = await server.call("svc.v1.ToolsService/GetToolCall", { id });
    for (const found of shown({ ...one.call, argumentsJson: "" })) leaks.add(`${toolSlug}: ${found}`);
  }
  expect(failed).toBeGreaterThan(5);
  expect([...leaks]).toEqual([]);
});
