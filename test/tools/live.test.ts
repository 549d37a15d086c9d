import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { callTool, connect } from "./project.ts";
import { type Provider, reply, startProvider } from "./provider.ts";

// A server whose sandbox plays the toolkits that are not live. A project adds an app of its own, which is live, beside them.

let app: Provider;
let server: TestServer;

beforeAll(async () => {
  app = await startProvider();
  server = await startTestServer({ variables: { SVC_SANDBOX: "on" } });
  await publish({ live: true });
  await connect(server, "shelf", { apiKey: "key-1" });
  await connect(server, "sales_crm", { scheme: "api_key" });
});
afterAll(async () => {
  await server?.stop();
  await app.close();
});
beforeEach(() => {
  app.reset();
  app.answer = (_seen, res) => reply(res, { items: [{ id: "b-1" }] });
});

async function publish(changes: object, slug = "shelf") {
  const item = { type: "object", properties: { id: { type: "string" } } };
  const definition = {
    toolkit: {
      ...{ slug, name: "Shelf", description: "Keeps the books of a shelf in order and lists them.", version: "1.0.0" },
      ...{ category: "knowledge", baseUrl: app.url, ...changes },
      auth: [{ type: "api_key", placement: "header", name: "X-Key", value: "{{credential.key}}" }],
    },
    tools: {
      list_books: {
        ...{
          kind: "action",
          class: "read",
          description: "Lists the books of the shelf, in the order in which they stand there.",
          request: { method: "GET", path: "/books" },
        },
        input: { type: "object", additionalProperties: false, properties: {} },
        output: { type: "object", properties: { items: { type: "array", items: item } } },
      },
    },
  };
  const answer = await server.call("svc.v1.CatalogService/PublishToolkit", {
    definitionJson: JSON.stringify(definition),
  });
  expect(answer.code, JSON.stringify(answer.json)).toBe("ok");
}

async function isLive(slug: string): Promise<unknown> {
  const { json: identity } = await server.call("svc.v1.IdentityService/GetIdentity");
  const { projectId } = identity as { projectId: string };
  const { json } = await server.call("svc.v1.CatalogService/GetToolkit", { projectId, slug });
  return (json as { toolkit: { live: boolean } }).toolkit.live;
}

const books = { id: "books", call: "shelf.list_books", entity: "ann" };
const deals = { id: "deals", call: "sales_crm.list_deals", entity: "ann" };

function submit(steps: readonly object[], changes: object = {}) {
  const programJson = JSON.stringify({ version: 1, title: "Read", steps });
  return server.call("svc.v1.JobsService/SubmitJob", { programJson, ...changes });
}

const mixed = {
  code: "invalid_argument",
  reason: "PROGRAM_MIXES_SANDBOX",
  json: {
    message: "the program calls real apps (shelf) and apps that the sandbox plays (sales_crm)",
  },
};

test("a live toolkit reaches its app with the account's key, while the sandbox plays the others", async () => {
  expect([await isLive("shelf"), await isLive("sales_crm")]).toEqual([true, false]);
  expect(await callTool(server, "shelf.list_books")).toMatchObject({
    ...{ outcome: "ok", sandbox: false, resultJson: '{"items":[{"id":"b-1"}]}' },
  });
  expect(app.seen).toMatchObject([{ path: "/books", headers: { "x-key": "key-1" } }]);
  expect(await callTool(server, "sales_crm.list_deals")).toMatchObject({ outcome: "ok", sandbox: true });
  expect(app.seen).toHaveLength(1);
});

test("a toolkit that is no longer live does not use the account of the real app, and the other way round", async () => {
  await publish({}, "drawer");
  await connect(server, "drawer");
  expect(await callTool(server, "drawer.list_books")).toMatchObject({ outcome: "ok", sandbox: true });
  await publish({ live: true }, "drawer");
  expect(await callTool(server, "drawer.list_books")).toMatchObject({
    ...{ outcome: "no_account", sandbox: false },
    message: expect.stringContaining("was made in the sandbox"),
  });
  await connect(server, "drawer", { apiKey: "key-2" });
  await publish({}, "drawer");
  expect(await callTool(server, "drawer.list_books")).toMatchObject({ outcome: "ok", sandbox: true });
  expect(app.seen).toEqual([]);
});

test("a key of a played call is refused for the call of the real app, which never gets an invented result", async () => {
  await publish({}, "chest");
  await connect(server, "chest", { apiKey: "key-3" });
  const keyed = { toolSlug: "chest.list_books", argumentsJson: "{}", entityId: "ann", idempotencyKey: "side" };
  const call = () => server.call("svc.v1.ToolsService/CallTool", keyed);
  expect(await call()).toMatchObject({ json: { outcome: "ok", sandbox: true } });
  await publish({ live: true }, "chest");
  expect(await call()).toMatchObject({ reason: "IDEMPOTENCY_KEY_REUSED" });
  await publish({}, "chest");
  expect(await call()).toMatchObject({ json: { outcome: "ok", sandbox: true, replayed: true } });
  expect(app.seen).toEqual([]);
});

test("what a hook allowed of a played call does not allow the call of the real app", async () => {
  app.answer = ({ path }, res) => reply(res, path === "/hook" ? { decision: "allow" } : { items: [] });
  const endpointUrl = `${app.url}/hook`;
  const { json } = await server.call("svc.v1.ToolsService/CreateHook", { phase: "before", endpointUrl });
  await publish({}, "vault");
  await connect(server, "vault");
  const call = async () => {
    // Simulates a crash after the answer of the hook was stored and before the call was recorded.
    await server.database.db.sql`delete from tool_calls where idempotency_key = 'asked'`;
    await callTool(server, "vault.list_books", {}, { idempotencyKey: "asked" });
    return app.seen.filter(({ path }) => path === "/hook").length;
  };
  expect([await call(), await call()]).toEqual([1, 1]);
  await publish({ live: true }, "vault");
  await connect(server, "vault", { apiKey: "key-7" });
  expect([await call(), await call()]).toEqual([2, 2]);
  await server.call("svc.v1.ToolsService/DeleteHook", { id: json.hook?.id });
});

test("a program that calls a real app and a played one is refused, unless it is only simulated", async () => {
  expect(await submit([books, deals])).toMatchObject(mixed);
  expect(await submit([books, deals], { simulateFirst: true })).toMatchObject(mixed);
  expect(await submit([books, deals], { mode: "simulate" })).toMatchObject({ code: "ok" });
  for (const [step, sandbox] of [
    [books, undefined],
    [deals, true],
  ] as const) {
    const { json } = await submit([step]);
    const { id } = (json as { job: { id: string } }).job;
    const log = await server.call("svc.v1.JobsService/ListJobEvents", { jobId: id });
    const [first] = (log.json as { events: { payloadJson: string }[] }).events;
    expect(JSON.parse(first?.payloadJson ?? "{}").sandbox).toBe(sandbox);
  }
});

/** Submits a program and returns the id of its job, after the job has succeeded. */
async function done(steps: readonly object[], on = server): Promise<string> {
  const input = { inputSchema: { type: "object", additionalProperties: false, properties: {} }, input: {} };
  const programJson = JSON.stringify({ version: 1, title: "Read", ...input, steps });
  const { json } = await on.call("svc.v1.JobsService/SubmitJob", { programJson });
  const id = json.job?.id;
  const find = async () => (await on.call("svc.v1.JobsService/GetJob", { id })).json.job?.status;
  await expect.poll(find, { timeout: 10_000 }).toBe("JOB_STATUS_SUCCEEDED");
  return id;
}

async function promote(jobId: string, slug: string): Promise<void> {
  const promoted = await server.call("svc.v1.JobsService/PromoteJob", { jobId, slug, description: "Reads a list" });
  expect(promoted.code, JSON.stringify(promoted.json)).toBe("ok");
}

test("a rerun with the tools of today is refused if a skill of the program now calls a real app", async () => {
  await publish({}, "cellar");
  await connect(server, "cellar");
  await promote(await done([{ ...books, call: "cellar.list_books" }]), "stock");
  const id = await done([deals, { id: "stock", run: "skills.stock" }]);
  await publish({ live: true }, "cellar");
  await connect(server, "cellar", { apiKey: "key-4" });
  const rerun = (repin: boolean) => server.call("svc.v1.JobsService/RerunJob", { id, repin });
  const message = "the program calls real apps (cellar) and apps that the sandbox plays (sales_crm)";
  expect(await rerun(true)).toMatchObject({ ...mixed, json: { message } });
});

test("a rerun with the stored tools is refused if these and the stored tools of a skill are on two sides", async () => {
  const variables = { SVC_SANDBOX: "force", SVC_DATABASE_URL: server.database.url };
  const forced = await startTestServer({ variables });
  try {
    await connect(forced, "shelf", { apiKey: "key-5" });
    await promote(await done([deals], forced), "pipeline");
    const id = await done([books, { id: "pipeline", run: "skills.pipeline" }], forced);
    expect(await server.call("svc.v1.JobsService/RerunJob", { id })).toMatchObject(mixed);
  } finally {
    await forced.stop();
  }
});

test("a schedule that polls a played app for a program of a real one is refused", async () => {
  const program = { version: 1, title: "Read", steps: [books] };
  const define = (call: string, how: object = {}) =>
    server.call("svc.v1.StandingService/CreateStandingProgram", {
      slug: "follow",
      definitionJson: JSON.stringify({
        ...{ version: 1, title: "Follow", program },
        source: { poll: { call, entity: "ann", every: "5m", ...how } },
      }),
    });
  expect(await define("sales_crm.list_deals")).toMatchObject(mixed);
  const how = { rows: "items[]", id: "id", cursor: { kind: "seen" } };
  const answer = await define("shelf.list_books", how);
  expect(answer.code, JSON.stringify(answer.json)).toBe("ok");
});

test("a schedule whose polled app was live and is now played starts no job of a real app", async () => {
  await publish({ live: true }, "attic");
  await connect(server, "attic", { apiKey: "key-6" });
  const standing = (method: string, body: object) => server.call(`svc.v1.StandingService/${method}`, body);
  const how = { rows: "items[]", id: "id", cursor: { kind: "seen" } };
  const { json } = await standing("CreateStandingProgram", {
    slug: "attic",
    definitionJson: JSON.stringify({
      ...{ version: 1, title: "Follow", program: { version: 1, title: "Read", steps: [books] } },
      source: { poll: { call: "attic.list_books", entity: "ann", every: "5m", ...how } },
    }),
  });
  const id = json.standingProgram?.id;
  const poll = async () => (await standing("GetStandingProgram", { id })).json.standingProgram?.pollState;
  await expect.poll(poll, { timeout: 10_000 }).toMatchObject({ outcome: "ok" });
  await standing("PauseStandingProgram", { id });
  await publish({}, "attic");
  await connect(server, "attic");
  await standing("ResumeStandingProgram", { id });
  await expect.poll(poll, { timeout: 10_000 }).toMatchObject({
    ...{ outcome: "failed", code: "PROGRAM_MIXES_SANDBOX" },
    detail: "the program calls real apps (shelf) and apps that the sandbox plays (attic)",
  });
});
