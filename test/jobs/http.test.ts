import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readText } from "../source.ts";
import { type Provider, reply, startProvider } from "../tools/provider.ts";
import {
  answer,
  askPoint,
  hasEnded,
  isAsked,
  type JobJson,
  judge,
  type Program,
  reach,
  readLog,
  submit,
  trySubmit,
} from "./project.ts";

// Requests that programs declare themselves, to a host of the project's own on loopback, with secrets of the vault.

let server: TestServer;
let app: Provider;
let projectId: string;

beforeAll(async () => {
  server = await startTestServer({ variables: { SVC_SANDBOX: "force" } });
  app = await startProvider();
  projectId = (await server.call("svc.v1.IdentityService/GetIdentity")).json.projectId;
  await putSecret("billing_token", "planted-billing-token");
});
afterAll(async () => {
  await server?.stop();
  await app?.close();
});
beforeEach(async () => {
  app.reset();
  await allow(`127.0.0.1:${app.port}`);
});

async function putSecret(name: string, value: string): Promise<void> {
  const put = await server.call("svc.v1.SecretsService/PutSecret", { name, value });
  expect(put.code).toBe("ok");
}

async function allow(...hosts: string[]): Promise<void> {
  expect((await server.admin("SetProjectPolicy", { projectId, http: { hosts } })).code).toBe("ok");
}

const token = { authorization: { $secret: "billing_token", prefix: "Bearer " } };

const requestOf = (http: object, changes: object = {}) => ({
  id: "one",
  http: { method: "POST", url: `${app.url}/invoices`, headers: token, ...http },
  ...changes,
});

async function run(program: Program, request: Readonly<Record<string, unknown>> = {}): Promise<JobJson> {
  return reach(server, await submit(server, program, request), hasEnded);
}

const seen = () => app.seen.map(({ method, target, headers, body }) => ({ method, target, headers, body }));

test("a request is sent with its secret, and its answer is a value of the program; nothing shows the secret", async () => {
  app.answer = ({ headers }, res) =>
    reply(res, { id: 42, said: headers.authorization, deep: [`x${headers.authorization}`] });
  const job = await run({
    input: { customer: "c-1" },
    steps: [
      requestOf({
        query: { dry: true, tag: ["a b", "c"] },
        body: { customer: { $ref: "input.customer" }, key: { $secret: "billing_token" } },
      }),
      requestOf(
        { method: "PUT", url: { $text: `${app.url}/invoices/{steps.one.id}/{input.customer}` }, body: undefined },
        { id: "two" },
      ),
    ],
    result: { id: { $ref: "steps.one.id" }, said: { $ref: "steps.one.said" } },
  });
  expect(job).toMatchObject({ lastError: "", receipt: { outcome: "complete", calls: { write: 2 } } });
  expect(JSON.parse(job.receipt.resultJson)).toEqual({ id: 42, said: "Bearer ***" });
  const [one, two] = seen();
  expect(one).toMatchObject({
    method: "POST",
    target: "/invoices?dry=true&tag=a%20b&tag=c",
    headers: { authorization: "Bearer planted-billing-token", "content-type": "application/json" },
    body: '{"customer":"c-1","key":"planted-billing-token"}',
  });
  expect(two).toMatchObject({ method: "PUT", target: "/invoices/42/c-1", body: "" });
  expect(job.stepReceipts[0]).toMatchObject({ kind: "http", toolSlug: "http", toolVersion: "", state: "completed" });
  expect(job.estimate).toMatchObject({ writesMax: 2, toolkits: ["http"], entities: [] });
  const { json } = await server.call("svc.v1.ToolsService/ListToolCalls", { toolSlug: "http" });
  expect(json.calls).toHaveLength(2);
  expect(json.calls[0]).toMatchObject({ toolSlug: "http", accessClass: "write", outcome: "ok", sandbox: false });
  expect(JSON.stringify([job, json, await readLog(server, job.id), server.logs])).not.toContain("planted");
});

test("a secret that is put again is sent with its newest value", async () => {
  await putSecret("rotated", "planted-first");
  const program = { steps: [requestOf({ headers: { "x-api-key": { $secret: "rotated" } } })] };
  await run(program);
  await putSecret("rotated", "planted-second");
  await run(program);
  expect(app.seen.map(({ headers }) => headers["x-api-key"])).toEqual(["planted-first", "planted-second"]);
});

test("rows are taken from an answer, and each has a request of its own", async () => {
  app.answer = ({ method, path }, res) => {
    if (method === "GET") reply(res, [{ id: "a/b" }, { id: "c?d" }, { id: ".." }]);
    else reply(res, { ok: path }, { headers: { "content-type": "text/plain" } });
  };
  const job = await run({
    approval: { plan: "never" },
    steps: [
      requestOf({ method: "GET" }, { id: "items", rows: { from: "[]", key: "id", keep: ["id"] } }),
      {
        id: "drop",
        map: "items",
        tolerate: { count: 1 },
        do: [
          requestOf({ method: "DELETE", url: { $text: `${app.url}/items/{row.id}` } }, { confirm: true }),
          requestOf({ body: { text: { $ref: "calls.one.text" } } }, { id: "tell" }),
        ],
      },
    ],
  });
  expect(job).toMatchObject({
    lastError: "",
    receipt: { outcome: "partial", calls: { read: 1, destructive: 3, write: 2 } },
  });
  expect(job.stepReceipts[1]).toMatchObject({
    toolSlug: "http",
    rows: { in: 3, ok: 2, failed: 1 },
    errors: [{ code: "invalid_arguments" }],
  });
  expect(seen().flatMap(({ method, target }) => (method === "DELETE" ? [target] : []))).toEqual([
    "/items/a%2Fb",
    "/items/c%3Fd",
  ]);
  expect(
    seen()
      .filter(({ method }) => method === "POST")
      .map(({ body }) => body),
  ).toContain('{"text":"{\\"ok\\":\\"/items/a%2Fb\\"}"}');
});

test("a row cannot name a secret: what stands in it is a value", async () => {
  app.answer = ({ method }, res) => reply(res, method === "GET" ? [{ payload: { $secret: "billing_token" } }] : {});
  await run({
    steps: [
      requestOf({ method: "GET" }, { id: "items", rows: { from: "[]", keep: ["payload"] } }),
      { id: "send", map: "items", do: [requestOf({ body: { $ref: "row.payload" } })] },
    ],
  });
  expect(seen().at(-1)?.body).toBe('{"$secret":"billing_token"}');
});

test("a host that is taken off the list is not called any more, and neither is a secret sent that was erased", async () => {
  await putSecret("fleeting", "planted-fleeting");
  const points = { ask: askPoint() };
  const withSecret = requestOf({ headers: { "x-token": { $secret: "fleeting" } } });
  const waiting = await submit(server, { points, steps: [judge, requestOf({})] });
  const lacking = await submit(server, { points, steps: [judge, withSecret] });
  for (const id of [waiting, lacking]) await reach(server, id, isAsked);
  await server.call("svc.v1.SecretsService/DeleteSecret", { name: "fleeting" });
  await answer(server, lacking);
  expect(await reach(server, lacking, hasEnded)).toMatchObject({
    status: "JOB_STATUS_FAILED",
    lastError: "not_callable: step one: the project has no secret fleeting; nothing was sent",
  });
  await allow("api.example.com");
  await answer(server, waiting);
  expect(await reach(server, waiting, hasEnded)).toMatchObject({
    status: "JOB_STATUS_FAILED",
    lastError: `not_callable: step one: 127.0.0.1:${app.port} is not on the project's list of hosts`,
  });
  expect(app.seen).toEqual([]);
});

test("a redirect is followed within its host by a GET alone, and never elsewhere", async () => {
  const other = await startProvider();
  try {
    app.answer = ({ path, query }, res) => {
      const to = query.get("to");
      if (path === "/invoices" && to !== null) res.writeHead(302, { location: to }).end();
      else reply(res, { path });
    };
    const get = (to: string) => requestOf({ method: "GET", query: { to } });
    expect(await run({ steps: [get("/there")] })).toMatchObject({ lastError: "", receipt: { outcome: "complete" } });
    expect(seen().map(({ target }) => target)).toEqual(["/invoices?to=%2Fthere", "/there"]);
    expect(await run({ steps: [get(`${other.url}/there`)] })).toMatchObject({
      lastError: expect.stringContaining("provider_error: step one: the app answered 302"),
    });
    expect(await run({ steps: [requestOf({ query: { to: "/there" } })] })).toMatchObject({
      status: "JOB_STATUS_FAILED",
    });
    expect(other.seen).toEqual([]);
  } finally {
    await other.close();
  }
});

test("a simulated job reads and sends no write", async () => {
  app.answer = (_seen, res) => reply(res, { id: 7 });
  const job = await run(
    {
      steps: [
        requestOf({ method: "GET" }, { id: "read" }),
        requestOf({ body: { id: { $ref: "steps.read.id" }, token: { $secret: "billing_token" } } }),
        requestOf({ method: "DELETE" }, { id: "drop", confirm: true }),
      ],
      result: { id: { $ref: "steps.one.id", else: "none" } },
    },
    { mode: "simulate" },
  );
  expect(job).toMatchObject({ lastError: "", receipt: { outcome: "complete" } });
  expect(job.stepReceipts.map(({ state }: { state: string }) => state)).toEqual([
    "completed",
    "simulated",
    "simulated",
  ]);
  expect(seen().map(({ method }) => method)).toEqual(["GET"]);
});

test("a plan that deletes waits for approval as one of tools does", async () => {
  const id = await submit(server, { steps: [requestOf({ method: "DELETE" }, { confirm: true })] });
  const waiting = await reach(server, id, ({ park }) => park?.reason === "approval");
  expect(waiting).toMatchObject({ status: "JOB_STATUS_PENDING_PLAN_APPROVAL", estimate: { destructiveMax: 1 } });
  await server.call("svc.v1.JobsService/CancelJob", { id });
  expect(app.seen).toEqual([]);
});

test("a keyed write is repeated under one key, another is sent once", async () => {
  app.answer = (_seen, res) => void res.writeHead(503).end();
  const retry = { max: 2, initial: "100ms" };
  const keyed = { idempotency: { header: "Idempotency-Key" }, retry };
  expect(await run({ steps: [requestOf({}, keyed)] })).toMatchObject({
    lastError: expect.stringContaining("provider_error: step one: the app answered 503"),
    stepReceipts: [{ calls: { write: 3, retried: 2 } }],
  });
  expect(new Set(app.seen.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  expect(app.seen).toHaveLength(3);
  app.seen.length = 0;
  await run({ steps: [requestOf({}, { retry })] });
  expect(app.seen).toHaveLength(1);
});

test("an argument that its tool keeps secret takes a secret of the project, and shows it nowhere", async () => {
  await server.call("svc.v1.ConnectionsService/InitiateConnection", {
    toolkitSlug: "bank_link",
    entityId: "ops",
    apiKey: "k",
  });
  await putSecret("bank_token", "planted-bank-token");
  const args = { public_token: { $secret: "bank_token" } };
  const exchange = { id: "exchange", call: "bank_link.exchange_public_token", entity: "ops", args };
  expect(await run({ steps: [exchange] })).toMatchObject({ lastError: "", receipt: { outcome: "complete" } });
  expect(await run({ steps: [exchange] }, { mode: "simulate" })).toMatchObject({ lastError: "" });
});

test("the example calls a function of its user's own, with a secret", async () => {
  await putSecret("scoring_token", "planted-scoring-token");
  for (const toolkitSlug of ["sales_crm", "messaging_bot"]) {
    await server.call("svc.v1.ConnectionsService/InitiateConnection", { toolkitSlug, entityId: "ops", apiKey: "k" });
  }
  app.answer = ({ method, body }, res) => reply(res, method === "PUT" ? { id: "report-1" } : { score: body.length });
  const text = readText("docs/examples/call-own-function.json").replaceAll("https://functions.example.com", app.url);
  const { json } = await trySubmit(server, text);
  const job = await reach(server, json.job.id, hasEnded);
  const { told } = JSON.parse(job.receipt.resultJson);
  expect(job).toMatchObject({ lastError: "", receipt: { outcome: "complete" } });
  expect(told).toBeGreaterThan(0);
  expect(JSON.parse(job.receipt.resultJson)).toEqual({ told, report: "report-1" });
  const scores = app.seen.filter(({ path }) => /^\/deals\/[^/]+\/score$/.test(path));
  expect(scores).toHaveLength(told);
  expect(new Set(scores.map(({ headers }) => headers["idempotency-key"])).size).toBe(told);
  expect(new Set(app.seen.map(({ headers }) => headers.authorization))).toEqual(
    new Set(["Bearer planted-scoring-token"]),
  );
  expect(app.seen.at(-1)).toMatchObject({ method: "PUT", path: "/reports/today", body: JSON.stringify({ told }) });
});

test("what is refused is told with what would be right", async () => {
  const faultsOf = async (program: Program) => {
    const { json } = await trySubmit(server, program);
    return (json.details ?? []).map(({ debug }: { debug: { reason: string; field: string } }) => {
      return `${debug.reason} ${debug.field.replace("programJson/steps/0", "")}`;
    });
  };
  await allow();
  expect(await faultsOf({ steps: [requestOf({})] })).toEqual(["PROGRAM_HOST_NOT_ALLOWED /http/url"]);
  await allow(`127.0.0.1:${app.port}`);
  const missing = { authorization: { $secret: "never_put" } };
  expect(await faultsOf({ steps: [requestOf({ headers: missing })] })).toEqual([
    "PROGRAM_SECRET_UNKNOWN /http/headers/authorization/$secret",
  ]);
});
