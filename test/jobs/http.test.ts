import { brotliCompressSync } from "node:zlib";
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

// HTTP requests that programs declare themselves, to a local host that the project allows, with secrets of the vault.

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

test("a secret that a host repeats in another form is hidden in values, rows, errors and the log as well", async () => {
  const value = "planted/odd+value 1";
  await putSecret("odd_token", value);
  const encoded = (before: string, encoding: "base64" | "base64url") =>
    Buffer.from(`${before}${value}`).toString(encoding);
  const forms = [
    ...["", "u", "us"].flatMap((before) => [encoded(before, "base64"), encoded(before, "base64url")]),
    encodeURIComponent(encoded("", "base64")),
    encodeURIComponent(value),
    new URLSearchParams({ value }).toString(),
    value.replaceAll("/", "\\/").replaceAll("+", "\\u002b"),
    value.replaceAll("/", "&#x2F;").replaceAll("+", "&#43;"),
  ];
  app.answer = ({ method }, res) => {
    if (method === "GET") reply(res, { items: forms.map((form, n) => ({ id: n, form, [`x ${value}`]: 1 })) });
    else reply(res, { error: `no: ${forms.join(" ")}` }, { status: 422 });
  };
  const headers = { "x-api-key": { $secret: "odd_token" } };
  const job = await run({
    steps: [
      requestOf({ method: "GET", headers }, { id: "items", rows: { from: "items[]", key: "id", keep: ["form"] } }),
      {
        id: "sum",
        reduce: "items",
        as: { forms: { text: { of: "{row.form}", separator: " ", max: 50 } } },
      },
      requestOf({ method: "GET", headers }, { id: "value" }),
      { id: "tell", map: "items", tolerate: { percent: 100 }, do: [requestOf({ headers })] },
      // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
      requestOf({ headers }, { id: "last", onError: { then: "continue" } }),
    ],
    result: {
      forms: { $ref: "steps.sum.forms" },
      form: { $ref: "steps.value.items[0].form" },
    },
  });
  expect(job.lastError).toBe("");
  const result = JSON.parse(job.receipt.resultJson);
  expect(result.forms.split(" ").filter((form: string) => form.includes("***"))).toHaveLength(forms.length);
  const { json } = await server.call("svc.v1.ToolsService/ListToolCalls", { toolSlug: "http" });
  const shown = JSON.stringify([job, json, await readLog(server, job.id), server.logs]);
  for (const part of ["planted", ...forms]) expect(shown).not.toContain(part);
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
    errors: [{ code: "invalid_arguments", sample: "/url has a segment that is . or .." }],
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

test("a list is read page after page by a parameter of the query: a token, a number, an offset", async () => {
  const all = Array.from({ length: 7 }, (_, n) => ({ id: `i${n}` }));
  app.answer = ({ query }, res) => {
    const number = (name: string) => Number(query.get(name) ?? "0");
    const from = query.has("page") ? (number("page") - 1) * 3 : number("offset") + number("cursor");
    const next = from + 3 < all.length ? String(from + 3) : null;
    reply(res, { items: all.slice(from, from + 3), next });
  };
  for (const [page, targets] of [
    [{ arg: "cursor", from: "next", max: 5 }, ["size=3", "size=3&cursor=3", "size=3&cursor=6"]],
    [{ arg: "page", start: 1, size: "size", max: 5 }, ["size=3&page=1", "size=3&page=2", "size=3&page=3"]],
    [{ arg: "offset", by: "rows", size: "size", max: 5 }, ["size=3&offset=0", "size=3&offset=3", "size=3&offset=6"]],
  ] as const) {
    app.seen.length = 0;
    const rows = { from: "items[]", key: "id", keep: ["id"], page };
    const job = await run({ steps: [requestOf({ method: "GET", query: { size: 3 } }, { id: "items", rows })] });
    expect(job).toMatchObject({ lastError: "", receipt: { rows: { in: 7 }, calls: { read: 3 } } });
    expect(app.seen.map(({ target }) => target)).toEqual(targets.map((query) => `/invoices?${query}`));
  }
  const undeclared = { from: "items[]", keep: ["id"], page: { max: 2 } };
  const { reason, field } = await trySubmit(server, { steps: [requestOf({ method: "GET" }, { rows: undeclared })] });
  expect([reason, field]).toEqual(["PROGRAM_REFERENCE_INVALID", "programJson/steps/0/rows/page"]);
});

test("of a name and a password in base64 neither is shown, nor what a refusal repeats of them", async () => {
  const pair = "billing:planted-password";
  await putSecret("basic_pair", Buffer.from(pair).toString("base64"));
  const headers = { authorization: { $secret: "basic_pair", prefix: "Basic " } };
  app.answer = ({ method }, res) =>
    reply(res, { said: `${pair} planted-password` }, { status: method === "PUT" ? 400 : 200 });
  const said = { said: { $ref: "steps.one.said" } };
  const job = await run({
    steps: [requestOf({ headers }), requestOf({ method: "PUT", headers }, { id: "two" })],
    result: said,
  });
  expect(job.lastError).toBe('provider_error: step two: the app answered 400: {"said":"*** ***"}');
  expect(JSON.stringify(job)).not.toContain("planted");
  const good = await run({ steps: [requestOf({ headers })], result: said });
  expect(JSON.parse(good.receipt.resultJson)).toEqual({ said: "*** ***" });
});

test("a request that would be too large is not sent", async () => {
  app.answer = (_seen, res) => reply(res, { text: "x".repeat(60_000) });
  const read = requestOf({ method: "GET" }, { id: "read" });
  const body = Array.from({ length: 20 }, () => ({ $ref: "steps.read.text" }));
  expect(await run({ steps: [read, requestOf({ body })] })).toMatchObject({
    lastError: expect.stringContaining("invalid_arguments: step one: the request would hold more than 20,000 values"),
  });
  expect(seen().map(({ method }) => method)).toEqual(["GET"]);
});

test("HEAD reads and has no answer; what has no body is an empty object, and what is no JSON a text", async () => {
  app.answer = ({ method, path }, res) => {
    if (path === "/text") res.writeHead(200, { "content-type": "text/plain" }).end("12");
    else if (path === "/bare") res.writeHead(200).end('{"id":12}');
    else res.writeHead(method === "HEAD" ? 200 : 204).end();
  };
  const job = await run({
    steps: [
      requestOf({ method: "HEAD" }, { id: "head" }),
      requestOf({}, { id: "none" }),
      requestOf({ url: `${app.url}/text` }, { id: "text" }),
      requestOf({ url: `${app.url}/bare` }, { id: "bare" }),
    ],
    result: {
      head: { $ref: "steps.head.id", else: "nothing" },
      none: { $ref: "steps.none.id", else: "nothing" },
      text: { $ref: "steps.text.text" },
      bare: { $ref: "steps.bare.id" },
    },
  });
  expect(job).toMatchObject({ lastError: "", receipt: { calls: { read: 1, write: 3 } } });
  expect(JSON.parse(job.receipt.resultJson)).toEqual({ head: "nothing", none: "nothing", text: "12", bare: 12 });
});

test("an answer is read in the charset that it declares, compressed or not; bytes that are no text are never made into one", async () => {
  const latin = Buffer.from("caf\xe9", "latin1");
  app.answer = ({ path }, res) => {
    res.writeContinue();
    const type = { "content-type": path === "/declared" ? "text/plain; charset=iso-8859-1" : "text/plain" };
    if (path === "/packed") res.writeHead(200, { ...type, "content-encoding": "br" }).end(brotliCompressSync("packed"));
    else res.writeHead(200, type).end(latin);
  };
  const job = await run({
    steps: [
      requestOf({ method: "GET", url: `${app.url}/declared` }, { id: "declared" }),
      requestOf({ method: "GET", url: `${app.url}/packed` }, { id: "packed" }),
    ],
    result: { declared: { $ref: "steps.declared.text" }, packed: { $ref: "steps.packed.text" } },
  });
  expect(JSON.parse(job.receipt.resultJson)).toEqual({ declared: "caf\u00e9", packed: "packed" });
  expect(app.seen.map(({ headers }) => headers["accept-encoding"])).toEqual(Array(2).fill("gzip, deflate, br"));
  const broken = await run({ steps: [requestOf({ method: "GET", url: `${app.url}/other` })] });
  expect(broken.lastError).toContain("is not text of the charset UTF-8");
});

test("a write that its host takes is done, whatever it answers, and is not repeated", async () => {
  app.answer = (_seen, res) => void res.writeHead(201, { "content-type": "application/json" }).end("<p>thanks</p>");
  const retry = { retry: { max: 3, initial: "1s" } };
  const job = await run({ steps: [requestOf({ body: { a: 1 } }, retry)], result: { a: 1 } });
  expect(job).toMatchObject({ lastError: "", receipt: { outcome: "complete" } });
  expect(app.seen).toHaveLength(1);
});

test("requests are held to the project's call limits", async () => {
  const limit = { name: "one", keyExpression: 'toolSlug == "http" ? "all" : null', concurrency: 1 };
  expect((await server.call("svc.v1.ToolsService/PutCallLimit", { limit })).code).toBe("ok");
  let underWay = 0;
  let most = 0;
  app.answer = ({ method }, res) => {
    if (method === "GET") return reply(res, [1, 2, 3, 4, 5, 6]);
    most = Math.max(most, ++underWay);
    setImmediate(() => {
      underWay--;
      reply(res, {});
    });
  };
  const items = requestOf({ method: "GET" }, { id: "items", rows: { from: "[]", keep: ["value"] } });
  const job = await run({ steps: [items, { id: "each", map: "items", concurrency: 6, do: [requestOf({})] }] });
  expect(job).toMatchObject({ lastError: "", receipt: { calls: { write: 6 } } });
  expect(most).toBe(1);
  await server.call("svc.v1.ToolsService/DeleteCallLimit", { name: "one" });
});

test("a condition skips a request, and what handles its error runs", async () => {
  app.answer = ({ path }, res) => void res.writeHead(path === "/invoices" ? 500 : 204).end();
  const instead = requestOf({ url: `${app.url}/instead` }, { id: "instead" });
  const job = await run({
    steps: [
      requestOf({}, { id: "never", when: "1.0 > 2.0" }),
      // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
      requestOf({}, { onError: { codes: ["provider_error"], do: [instead], then: "continue" } }),
    ],
    result: {
      code: { $ref: "steps.one.error.code", else: "" },
      status: { $ref: "steps.one.error.status", else: 0 },
    },
  });
  expect(job).toMatchObject({ receipt: { outcome: "partial" } });
  expect(JSON.parse(job.receipt.resultJson)).toEqual({ code: "provider_error", status: 500 });
  expect(app.seen.map(({ path }) => path)).toEqual(["/invoices", "/instead"]);
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

test("what a simulated job shows of a request is what would be sent: its address and query, method and body", async () => {
  app.answer = ({ method }, res) => reply(res, method === "GET" ? [{ id: "a/b c" }, { id: "ü?d" }, { id: ".." }] : {});
  const program = {
    steps: [
      requestOf({ method: "GET" }, { id: "items", rows: { from: "[]", key: "id", keep: ["id"] } }),
      {
        id: "each",
        map: "items",
        tolerate: { count: 1, percent: 50 },
        do: [
          requestOf({
            method: "PUT",
            url: { $text: `${app.url}/items/{row.id}/state?from={row.id}` },
            query: { at: "1+1", n: [1, 2] },
            body: { id: { $ref: "row.id" } },
          }),
        ],
      },
    ],
  };
  const simulated = await run(program, { mode: "simulate" });
  expect(simulated).toMatchObject({ lastError: "", stepReceipts: [{}, { rows: { ok: 2, failed: 1 } }] });
  const { json } = await server.call("svc.v1.JobsService/ListSteps", { jobId: simulated.id });
  const shown = json.steps[1].simulatedCalls.map((call: { argumentsJson: string }) => {
    const { method, url, query, body } = JSON.parse(call.argumentsJson);
    const search = new URLSearchParams(
      Object.entries(query).flatMap(([name, value]) =>
        [value].flat().map((item): [string, string] => [name, String(item)]),
      ),
    );
    return { method, target: `${url.slice(app.url.length)}&${search}`, body: JSON.stringify(body) };
  });
  expect(shown).toHaveLength(2);
  app.seen.length = 0;
  await run(program);
  const sent = app.seen.filter(({ method }) => method === "PUT");
  expect(sent.map(({ method, target, body }) => ({ method, target, body }))).toEqual(
    shown.map((one: object) => expect.objectContaining(one)),
  );
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
  const live = await run({ steps: [exchange] });
  expect(live).toMatchObject({ lastError: "", receipt: { outcome: "complete" } });
  const simulated = await run({ steps: [exchange] }, { mode: "simulate" });
  expect(simulated).toMatchObject({ lastError: "" });
  for (const { id } of [live, simulated]) {
    for (const path of ["JobsService/GetJob", "JobsService/ListSteps", "ToolsService/ListToolCalls"]) {
      const { json } = await server.call(
        `svc.v1.${path}`,
        path.endsWith("GetJob") ? { id } : path.endsWith("ListSteps") ? { jobId: id } : {},
      );
      expect(JSON.stringify(json)).not.toContain("planted-bank-token");
    }
    expect(JSON.stringify(await readLog(server, id))).not.toContain("planted-bank-token");
  }
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
