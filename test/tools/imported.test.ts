import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callTool, connect } from "./project.ts";
import { type Provider, reply, startProvider } from "./provider.ts";

// An app that is known only by its OpenAPI document, from the address of the document to the calls and programs that use its tools.

let app: Provider;
let server: TestServer;

beforeAll(async () => {
  app = await startProvider();
  server = await startTestServer({ variables: { SVC_SANDBOX: "off" } });
  app.answer = ({ path, query }, res) => {
    if (path === "/openapi.json") return reply(res, openapiDocument());
    if (path !== "/v1/charges") return reply(res, { id: "ch_new" });
    const from = Number(query.get("starting_after")?.slice(3) ?? 0);
    const data = [1, 2]
      .map((step) => ({ id: `ch_${from + step}`, amount: from + step }))
      .filter(({ amount }) => amount <= 5);
    reply(res, { data, has_more: from + data.length < 5 });
  };
});
afterAll(async () => {
  await server?.stop();
  await app.close();
});

function openapiDocument({ filler = "" } = {}) {
  const charge = { type: "object", properties: { id: { type: "string" }, amount: { type: "integer" } } };
  const page = {
    type: "object",
    properties: { data: { type: "array", items: charge }, has_more: { type: "boolean" } },
  };
  const json = (schema: object) => ({ 200: { description: "OK", content: { "application/json": { schema } } } });
  const order = {
    type: "object",
    required: ["lines"],
    properties: {
      lines: {
        type: "array",
        items: { type: "object", properties: { sku: { type: "string" }, count: { type: "integer" } } },
      },
      ship: { type: "object", properties: { city: { type: "string" }, gift: { type: "boolean" } } },
    },
  };
  return {
    openapi: "3.0.3",
    info: { title: "Till", version: "1.0.0", description: filler },
    servers: [{ url: "/v1" }],
    security: [{ key: [] }],
    components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
    paths: {
      "/charges": {
        get: {
          operationId: "listCharges",
          summary: "List the charges of the till, the newest first",
          parameters: [
            { name: "starting_after", in: "query", schema: { type: "string" } },
            {
              name: "created",
              in: "query",
              style: "deepObject",
              schema: { type: "object", properties: { gte: { type: "integer" } } },
            },
          ],
          responses: json(page),
        },
      },
      "/orders/search": {
        post: {
          operationId: "searchOrders",
          summary: "Place an order, in spite of its name",
          requestBody: { required: true, content: { "application/x-www-form-urlencoded": { schema: order } } },
          responses: json(charge),
        },
      },
    },
  };
}

test("the tools of a document send what it describes, with the account's key, and a program reads every page", async () => {
  const imported = await server.call("svc.v1.CatalogService/ImportToolkit", {
    openapi: { url: `${app.url}/openapi.json` },
  });
  expect(imported.json, JSON.stringify(imported.json)).toMatchObject({
    toolkit: { slug: "till" },
    report: { baseUrl: `${app.url}/v1`, readTools: 1, writeTools: 1 },
  });
  expect(app.seen.map(({ path }) => path)).toEqual(["/openapi.json"]);
  app.seen.length = 0;
  await connect(server, "till", { scheme: "api_key", apiKey: "key-1" });
  const args = { lines: [{ sku: "a b", count: 2 }], ship: { city: "Köln", gift: true } };
  expect(await callTool(server, "till.search_orders", args)).toMatchObject({
    outcome: "ok",
    resultJson: '{"id":"ch_new"}',
  });
  expect(app.seen).toMatchObject([
    {
      method: "POST",
      path: "/v1/orders/search",
      headers: { authorization: "Bearer key-1", "content-type": "application/x-www-form-urlencoded" },
      body: "lines%5B0%5D%5Bsku%5D=a%20b&lines%5B0%5D%5Bcount%5D=2&ship%5Bcity%5D=K%C3%B6ln&ship%5Bgift%5D=true",
    },
  ]);
  app.seen.length = 0;
  const list = { id: "all", call: "till.list_charges", entity: "ann", args: { created: { gte: 7 } } };
  const program = {
    version: 1,
    title: "All charges",
    steps: [{ ...list, rows: { from: "data[]", keep: ["id"], page: { max: 9 } } }],
  };
  const run = { programJson: JSON.stringify(program), waitSeconds: 30 };
  const { json } = await server.call("svc.v1.JobsService/SubmitJob", run);
  expect(json.job, JSON.stringify(json)).toMatchObject({ status: "JOB_STATUS_SUCCEEDED" });
  expect(app.seen.map(({ target }) => target)).toEqual([
    "/v1/charges?created%5Bgte%5D=7",
    "/v1/charges?starting_after=ch_2&created%5Bgte%5D=7",
    "/v1/charges?starting_after=ch_4&created%5Bgte%5D=7",
  ]);
});

test("a document may be larger than other requests, for callers with a key only", async () => {
  const document = JSON.stringify({
    ...openapiDocument({ filler: "x".repeat(3_000_000) }),
    servers: [{ url: `${app.url}/v1` }],
  });
  const request = { openapi: { document }, slug: "large", dryRun: true };
  const method = "svc.v1.CatalogService/ImportToolkit";
  expect(await server.call(method, request)).toMatchObject({ status: 200, json: { toolkit: { slug: "large" } } });
  expect(await server.call(method, request, { bearer: "svk_wrong" })).toMatchObject({ code: "unauthenticated" });
  const publish = { definitionJson: document };
  const refused = await server.call("svc.v1.CatalogService/PublishToolkit", publish);
  expect(refused).toMatchObject({ status: 429, reason: "BODY_TOO_LARGE" });
});

test("a running job finishes with the tools that it started with, and the next one uses the accepted changes", async () => {
  const [catalog, jobs] = ["svc.v1.CatalogService", "svc.v1.JobsService"];
  const document = JSON.stringify({ ...openapiDocument(), servers: [{ url: `${app.url}/v1` }] });
  const imported = await server.call(`${catalog}/ImportToolkit`, { openapi: { document }, slug: "pinned" });
  expect(imported.json, JSON.stringify(imported.json)).toMatchObject({ toolkit: { sourceKind: "openapi" } });
  await connect(server, "pinned", { scheme: "api_key", apiKey: "key-1" });
  const place = { call: "pinned.search_orders", entity: "ann", args: { lines: [] } };
  const steps = [
    { id: "first", ...place },
    { id: "second", ...place },
  ];
  const programJson = JSON.stringify({ version: 1, title: "Two orders", steps });
  const arrived = Promise.withResolvers<() => void>();
  app.seen.length = 0;
  app.answer = (_request, res) => arrived.resolve(() => reply(res, { id: "ch_new" }));
  const { json: started } = await server.call(`${jobs}/SubmitJob`, { programJson });
  expect(started.job, JSON.stringify(started)).toBeDefined();
  const answerFirst = await arrived.promise;
  app.answer = (_request, res) => reply(res, { id: "ch_new" });
  const newer = document.replace("/orders/search", "/orders/place");
  const { json: read } = await server.call(`${catalog}/RefreshToolkit`, { slug: "pinned", document: newer });
  expect(read.changes, JSON.stringify(read)).toMatchObject({
    gone: [],
    altered: [
      { tool: "search_orders", field: "request.path", before: "/orders/search", after: "/orders/place" },
      { tool: "search_orders", field: "description" },
    ],
  });
  // Nothing changes before the acceptance: a new call has the old path.
  expect(await callTool(server, "pinned.search_orders", { lines: [] })).toMatchObject({ outcome: "ok" });
  expect(app.seen.map(({ path }) => path)).toEqual(["/v1/orders/search", "/v1/orders/search"]);
  const accepted = await server.call(`${catalog}/AcceptToolkitChanges`, {
    slug: "pinned",
    digest: read.changes.digest,
  });
  expect(accepted.json, JSON.stringify(accepted.json)).toMatchObject({ toolkit: { changesWaiting: 0 } });
  const { events } = (await server.admin("ListAuditEvents", { action: "CatalogService.AcceptToolkitChanges" })).json;
  expect(events).toMatchObject([{ subject: `pinned ${read.changes.digest}`, outcome: "ok" }]);
  answerFirst();
  const statusOf = async () => (await server.call(`${jobs}/GetJob`, { id: started.job.id })).json.job.status;
  await until(async () => (await statusOf()) === "JOB_STATUS_SUCCEEDED", "the job");
  expect(app.seen.map(({ path }) => path).slice(2)).toEqual(["/v1/orders/search"]);
  await server.call(`${jobs}/SubmitJob`, { programJson, waitSeconds: 30 });
  expect(app.seen.map(({ path }) => path).slice(3)).toEqual(["/v1/orders/place", "/v1/orders/place"]);
});
