import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callTool, connect } from "./project.ts";
import { type Provider, reply, startProvider } from "./provider.ts";

// Documents in the styles of ten public generators and of their oddities. Each was written from public knowledge of these styles, without
// the importer: the request that reaches the app is the one that a reader of the document would send by hand.

let app: Provider;
let server: TestServer;
beforeAll(async () => {
  app = await startProvider();
  server = await startTestServer({ variables: { SVC_SANDBOX: "off" } });
});
afterAll(async () => {
  await server?.stop();
  await app?.close();
});

/** One call of an imported tool, and the request that must reach the app: target, headers and body. */
type SentCall = {
  readonly tool: string;
  readonly args: object;
  readonly sent: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

type DocumentCase = {
  readonly file: string;
  readonly openapi?: { readonly server: string };
  readonly credential: Readonly<Record<string, unknown>>;
  /** Tools with their classes, and the operations that are left out with their reasons. */
  readonly tools: Readonly<Record<string, string>>;
  readonly leftOut: Readonly<Record<string, string>>;
  readonly notes?: readonly string[];
  readonly calls: readonly SentCall[];
  /** Arguments that the tool's schema refuses, by tool. */
  readonly refused: readonly (readonly [tool: string, args: object])[];
};

const key = { scheme: "api_key", apiKey: "key-1" };
const basic = { scheme: "basic", basic: { username: "ann", password: "pass-1" } };
const json = { "content-type": "application/json" };
const form = { "content-type": "application/x-www-form-urlencoded" };

const cases: readonly DocumentCase[] = [
  {
    file: "pets.yaml",
    credential: key,
    tools: { add_pet: "write", change_owner: "write" },
    leftOut: {},
    calls: [
      {
        tool: "add_pet",
        args: { body: { kind: "cat", name: "Tom", lives: 9 } },
        sent: "POST /v1/pets",
        headers: { authorization: "Bearer key-1", ...json },
        body: { kind: "cat", name: "Tom", lives: 9 },
      },
      {
        tool: "add_pet",
        args: { body: { kind: "dog", name: "Rex", tricks: ["sit"] } },
        sent: "POST /v1/pets",
        body: { kind: "dog", name: "Rex", tricks: ["sit"] },
      },
      {
        tool: "change_owner",
        args: { ownerId: 7, "X-Clinic": "north", phone: null, level: null, address: null },
        sent: "PATCH /v1/owners/7",
        headers: { "x-clinic": "north" },
        body: { phone: null, level: null, address: null },
      },
    ],
    refused: [
      ["add_pet", { body: { kind: "cow", name: "Ada", lives: 1 } }],
      ["add_pet", { body: { kind: "cat", name: "Tom", lives: 10 } }],
      ["change_owner", { ownerId: 7, "X-Clinic": "west", phone: "1" }],
      ["change_owner", { ownerId: 7, "X-Clinic": "north", phone: "1", id: 3 }],
    ],
  },
  {
    file: "chat.yaml",
    openapi: { server: "2" },
    credential: key,
    tools: { list_messages: "read", set_topic: "write" },
    leftOut: {},
    notes: ["webhooks"],
    calls: [
      {
        tool: "list_messages",
        args: { room: "a/b", tags: ["x", "y"], filter: { from: "ann" } },
        sent: "GET /api/rooms/a%2Fb/messages?tags=x,y&filter=%7B%22from%22%3A%22ann%22%7D&api_key=key-1",
      },
      {
        tool: "set_topic",
        args: { room: "r", topic: null, style: null, pinned: true, linked: 5 },
        sent: "PUT /api/rooms/r/topic?api_key=key-1",
        body: { topic: null, style: null, pinned: true, linked: 5 },
      },
    ],
    refused: [
      ["set_topic", { room: "r", topic: "t", style: "quiet" }],
      ["set_topic", { room: "r", topic: "t", pinned: false }],
      ["set_topic", { room: "r", style: "loud" }],
    ],
  },
  {
    file: "spring.json",
    credential: basic,
    tools: { find_all_1: "read", save_1: "write" },
    leftOut: { "GET /api/articles/_search": "body_type" },
    calls: [
      {
        tool: "find_all_1",
        args: { page: 0, size: 20, sort: ["name,asc", "id,desc"], state: ["NEW", "SOLD"] },
        sent: "GET /api/articles?page=0&size=20&sort=name%2Casc&sort=id%2Cdesc&state=NEW&state=SOLD",
        headers: { authorization: `Basic ${Buffer.from("ann:pass-1").toString("base64")}` },
      },
      {
        tool: "save_1",
        args: { name: "Pen", price: 0.5, example: "blue" },
        sent: "POST /api/articles",
        body: { name: "Pen", price: 0.5, example: "blue" },
      },
    ],
    refused: [
      ["find_all_1", { page: 0, size: 0 }],
      ["save_1", { name: "Pen", price: 0 }],
      ["save_1", { id: 1 }],
    ],
  },
  {
    file: "payments.yaml",
    credential: basic,
    tools: { get_charges: "read", post_charges: "write" },
    leftOut: {},
    calls: [
      {
        tool: "get_charges",
        args: { created: { gte: 5, lt: 9 }, expand: ["data.a", "data.b"] },
        sent: "GET /v1/charges?created%5Bgte%5D=5&created%5Blt%5D=9&expand%5B%5D=data.a&expand%5B%5D=data.b",
      },
      { tool: "get_charges", args: { created: 5 }, sent: "GET /v1/charges?created=5" },
      {
        tool: "post_charges",
        args: {
          amount: 5,
          methods: ["card", "sepa"],
          items: [{ sku: "a" }],
          metadata: { "a b": "ö" },
          note: { text: "n" },
        },
        sent: "POST /v1/charges",
        headers: form,
        body: "amount=5&methods=card&methods=sepa&items%5B0%5D%5Bsku%5D=a&metadata%5Ba%20b%5D=%C3%B6&note=%7B%22text%22%3A%22n%22%7D",
      },
    ],
    refused: [["post_charges", { methods: ["card"] }]],
  },
  {
    file: "store.json",
    openapi: { server: "https://api.example.com/v2" },
    credential: key,
    tools: { find_orders: "read", place_order: "write", add_note: "write" },
    leftOut: { "POST /shops/{shop}/photo": "upload" },
    calls: [
      {
        tool: "find_orders",
        args: { shop: "s", state: ["new", "paid"], ids: [1, 2] },
        sent: "GET /v2/shops/s/orders?state=new&state=paid&ids=1,2",
        headers: { "x-store-key": "key-1" },
      },
      {
        tool: "place_order",
        args: { shop: "s", gift: null, lines: [{ sku: "a" }] },
        sent: "POST /v2/shops/s/orders",
        headers: json,
        body: { gift: null, lines: [{ sku: "a" }] },
      },
      {
        tool: "add_note",
        args: { shop: "s", text: "a b", tags: ["x", "y"] },
        sent: "POST /v2/shops/s/note",
        headers: form,
        body: "text=a%20b&tags=x,y",
      },
    ],
    refused: [["place_order", { shop: "s", gift: "g" }]],
  },
  {
    file: "files.yaml",
    credential: key,
    tools: { add_note: "write", read_text: "read" },
    leftOut: { "POST /upload": "upload", "GET /raw/{id}": "download", "GET /session": "other_auth" },
    calls: [
      {
        tool: "add_note",
        args: { text: "t", labels: ["a"] },
        sent: "POST /files/notes",
        headers: { "x-token": "key-1", ...json },
        body: { text: "t", labels: ["a"] },
      },
      { tool: "read_text", args: { id: "a b" }, sent: "GET /files/raw/a%20b.txt", headers: { accept: "text/plain" } },
    ],
    refused: [["add_note", { labels: [] }]],
  },
  {
    file: "queries.yaml",
    credential: key,
    tools: { list_rows: "read", put_row: "write" },
    leftOut: {
      "QUERY /rows": "method",
      "COPY /rows": "method",
      "GET /any": "parameter_encoding",
      "GET /live": "stream",
    },
    notes: ["paging"],
    calls: [
      { tool: "list_rows", args: { cursor: "c" }, sent: "GET /q/rows?cursor=c", headers: { "x-key": "key-1" } },
      {
        tool: "put_row",
        args: { id: "1", body: { kind: "rich", html: "<p>" } },
        sent: "PUT /q/rows/1",
        body: { kind: "rich", html: "<p>" },
      },
    ],
    refused: [
      ["put_row", { id: "1", body: { kind: "plain", html: "<p>" } }],
      ["put_row", { id: "1", body: { kind: "other", text: "t" } }],
    ],
  },
  {
    file: "regions.yaml",
    credential: key,
    tools: { get_same: "read", get_mixed: "read", get_report: "read" },
    leftOut: { "POST /mixed": "other_server" },
    notes: ["auth"],
    calls: [
      { tool: "get_same", args: {}, sent: "GET /eu/same?key=key-1" },
      { tool: "get_mixed", args: {}, sent: "GET /eu/mixed?key=key-1" },
      {
        tool: "get_report",
        args: { year: 2026, month: 3, year_query: "fiscal", "X-Trace": ["a", "b"] },
        sent: "GET /eu/reports/2026-3?year=fiscal&key=key-1",
        headers: { "x-trace": "a,b", accept: "application/hal+json; charset=utf-8" },
      },
    ],
    refused: [["get_report", { year: 2026, month: 13 }]],
  },
  {
    file: "orders.yaml",
    credential: key,
    tools: { create_order: "write" },
    leftOut: {},
    notes: ["cut"],
    calls: [
      {
        tool: "create_order",
        args: {
          ...{ "API-Version": "2024-06-30", amount: 5, priority: "1", gift: null, iban: "DE1" },
          ...{ parent: { amount: 1, anything: 2 }, lines: [], customer: { name: "Acme", kind: "company" } },
        },
        sent: "POST /v3/orders",
        headers: { "api-version": "2024-06-30" },
        body: {
          ...{ amount: 5, priority: "1", gift: null, iban: "DE1", parent: { amount: 1, anything: 2 }, lines: [] },
          customer: { name: "Acme", kind: "company" },
        },
      },
    ],
    refused: [
      ["create_order", { "API-Version": "2024-06-30", amount: 5, priority: "4" }],
      ["create_order", { "API-Version": "2024-06-30", amount: 5, customer: { name: "Acme", kind: "person" } }],
      ["create_order", { "API-Version": "2024-06-30", amount: 5, customer: { name: "A".repeat(41) } }],
      ["create_order", { "API-Version": "2024-06-31", amount: 5 }],
    ],
  },
  {
    file: "desk.json",
    credential: key,
    tools: { get_tickets: "read", post_tickets: "write", post_tickets_by_key_default_close: "destructive" },
    leftOut: {},
    notes: ["auth"],
    calls: [
      {
        tool: "get_tickets",
        args: { filter: "state eq 1", top: 5, "Accept-Language": "de" },
        sent: "GET /odata/Tickets?%24filter=state%20eq%201&%24top=5&api-version=1.0",
        headers: { "subscription-key": "key-1", "accept-language": "de" },
      },
      {
        tool: "post_tickets",
        args: { title: null, state: 2, "@odata.type": "#Ticket", custom: { a: "b" } },
        sent: "POST /odata/Tickets",
        headers: json,
        body: { title: null, state: 2, "@odata.type": "#Ticket", custom: { a: "b" } },
      },
      {
        tool: "post_tickets_by_key_default_close",
        args: { key: 5, confirm: true },
        sent: "POST /odata/Tickets(5)/Default.Close",
      },
    ],
    refused: [["post_tickets", { state: 3 }]],
  },
];

const catalog = (name: string, request: object) => server.call(`svc.v1.CatalogService/${name}`, request);

test.each(cases)("$file: preview, arguments and requests are what the document says", async (one) => {
  const { file, openapi, credential, tools, leftOut, notes = [], calls, refused } = one;
  const atApp = (text: string) => text.replaceAll("https://api.example.com", app.url);
  const document = atApp(await readFile(join(import.meta.dirname, "documents", file), "utf8"));
  const slug = file.replace(/\..*/, "_document");
  app.answer = (_seen, res) => reply(res, {});
  const request = { openapi: { document, ...(openapi && { server: atApp(openapi.server) }) }, slug };
  const preview = (await catalog("ImportToolkit", { ...request, dryRun: true })).json;
  expect(
    Object.fromEntries((preview.tools ?? []).map((tool: { name: string; class: string }) => [tool.name, tool.class])),
    JSON.stringify(preview),
  ).toEqual(tools);
  const { report } = preview;
  expect(
    Object.fromEntries(report.leftOut.map((row: { operation: string; reason: string }) => [row.operation, row.reason])),
  ).toEqual(leftOut);
  const kinds = report.notes.map(({ kind }: { kind: string }) => kind);
  expect(kinds).toEqual(expect.arrayContaining([...notes]));
  const imported = await catalog("ImportToolkit", request);
  expect(imported.code, JSON.stringify(imported.json)).toBe("ok");
  const shown = await catalog("ListTools", { toolkitSlug: slug, projectId: imported.json.toolkit.ownerProjectId });
  expect(JSON.stringify([preview, imported.json, shown.json])).not.toContain("planted-secret");
  expect(app.seen).toEqual([]);
  await connect(server, slug, credential);
  for (const { tool, args, sent, headers = {}, body } of calls) {
    app.seen.length = 0;
    const { outcome, message } = await callTool(server, `${slug}.${tool}`, args);
    expect(outcome, `${tool}: ${message}`).toBe("ok");
    const [seen] = app.seen;
    expect(`${seen?.method} ${seen?.target}`).toBe(sent);
    expect(seen?.headers).toMatchObject(headers);
    if (body !== undefined) expect(typeof body === "string" ? seen?.body : JSON.parse(seen?.body ?? "")).toEqual(body);
  }
  app.seen.length = 0;
  for (const [tool, args] of refused) {
    const { outcome, message } = await callTool(server, `${slug}.${tool}`, args);
    expect(outcome, `${tool} ${JSON.stringify(args)}: ${message}`).toBe("invalid_arguments");
  }
  expect(app.seen).toEqual([]);
});
