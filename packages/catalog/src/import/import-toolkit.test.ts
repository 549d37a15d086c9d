import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { createId } from "@svc/core";
import { createApiKey } from "@svc/db/keys/repo";
import { createProject } from "@svc/db/projects/repo";
import { createTestDatabase } from "@svc/testing/database";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createTestNode, errorOf, refusalOf } from "../test-client.ts";
import { shopDocument } from "./test-documents.ts";

const { db, drop } = await createTestDatabase();
const { id: projectId } = await createProject(db, "importing", 1);
const node = createTestNode(db);
const client = node.clientOf(projectId);

const asked: string[] = [];
/** Functions that answer the requests of `/held`. */
const held: (() => void)[] = [];
const server = createServer((req, res) => {
  asked.push(req.url ?? "");
  if (req.url === "/moved") res.writeHead(302, { location: "https://elsewhere.example.com/openapi.json" }).end();
  else if (req.url?.startsWith("/large?") === true) res.writeHead(200).end(largeText(Number(req.url.slice(7))));
  else if (req.url?.endsWith("/.well-known/openid-configuration") === true)
    res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(openIdMetadata));
  else if (req.url === "/held") held.push(() => res.writeHead(404).end());
  else if (req.url === "/utf-16") res.writeHead(200).end(Buffer.from(`\ufeff${shopText()}`, "utf16le"));
  else if (req.url === "/bytes") res.writeHead(200).end(Buffer.from([0x7b, 0xff, 0x7d]));
  else if (req.url === "/openapi.json") res.writeHead(200, { "content-type": "application/json" }).end(shopText());
  else res.writeHead(404).end();
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const address = server.address();
const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await drop();
});

const shopText = () => JSON.stringify(shopDocument());

const openIdMetadata = {
  issuer: `${url}/login`,
  authorization_endpoint: `${url}/login/ask`,
  token_endpoint: `${url}/login/token`,
};

/** Returns the document whose first operation needs the OpenID provider with metadata at the given path. */
function openIdText(path: string): string {
  const document = shopDocument();
  const openIdConnectUrl = `${url}${path}/.well-known/openid-configuration`;
  Object.assign(document.components.securitySchemes, { login: { type: "openIdConnect", openIdConnectUrl } });
  return JSON.stringify({ ...document, security: [{ login: ["orders.read"] }] });
}

test("the metadata of an OpenID provider is read for its endpoints, and only from its own issuer", async () => {
  asked.length = 0;
  const openapi = { document: openIdText("/login") };
  await client.importToolkit({ openapi, slug: "with_login" });
  expect(asked).toEqual(["/login/.well-known/openid-configuration"]);
  const { toolkit } = await client.getToolkit({ slug: "with_login", projectId });
  expect(toolkit?.authSchemes).toContain("oauth2");
  expect((await client.refreshToolkit({ slug: "with_login", document: openIdText("/login") })).changes).toBeUndefined();
  const refused = (document: string, auth = "") => refusalOf(client.importToolkit({ openapi: { document, auth } }));
  const unreachable = [14, "SOURCE_UNREACHABLE", "openapi.auth"];
  expect(await refused(openIdText("/other"))).toEqual(unreachable);
  expect(await refused(openIdText("/login").replaceAll(`${url}/login`, "https://10.1.2.3"))).toEqual(unreachable);
  asked.length = 0;
  expect(
    (await client.importToolkit({ openapi: { ...openapi, auth: "bearer" }, dryRun: true })).toolkit?.authSchemes,
  ).toEqual(["api_key"]);
  expect(asked).toEqual([]);
});

/** Returns the document with so many bytes. */
function largeText(bytes: number): string {
  const text = (filler: string) => JSON.stringify({ ...shopDocument(), "x-filler": filler });
  return text("x".repeat(bytes - text("").length));
}

test("a document at an address may have 16 MiB in any charset, and not a byte more", async () => {
  const importFrom = (path: string) => client.importToolkit({ openapi: { url: `${url}${path}` }, dryRun: true });
  expect((await importFrom("/large?16777216")).report?.operations).toBe(10);
  expect((await importFrom("/utf-16")).report?.operations).toBe(10);
  expect(await refusalOf(importFrom("/large?16777217"))).toEqual([14, "SOURCE_UNREACHABLE", "openapi.url"]);
  expect(await refusalOf(importFrom("/bytes"))).toEqual([3, "OPENAPI_UNREADABLE", "openapi"]);
  asked.length = 0;
});

test("a node makes eight imports at a time, so that waiting documents do not fill its memory", async () => {
  const projects = await Promise.all(Array.from({ length: 9 }, (_, at) => createProject(db, `held-${at}`, 1)));
  const [last, ...others] = projects.map(({ id }) => node.clientOf(id));
  const source = { openapi: { url: `${url}/held` } };
  const running = others.map((one) => refusalOf(one.importToolkit(source)));
  await until(() => held.length === 8);
  expect(await refusalOf(last?.importToolkit(source) ?? Promise.resolve())).toEqual([8, "IMPORT_TOO_COSTLY", ""]);
  for (const release of held) release();
  expect(new Set((await Promise.all(running)).map(([code]) => code))).toEqual(new Set([14]));
  asked.length = 0;
});

test("a trial stores nothing, and an import publishes the tools of the document at once", async () => {
  const trial = await client.importToolkit({ openapi: { document: shopText() }, dryRun: true });
  expect(trial.toolkit).toMatchObject({ slug: "corner_shop", ownerProjectId: projectId, authSchemes: ["api_key"] });
  expect(trial.report).toMatchObject({ operations: 10, readTools: 3, writeTools: 2, destructiveTools: 2 });
  expect(trial.tools.map((tool) => [tool.name, tool.class])).toEqual([
    ["create_order", "write"],
    ["delete_order", "destructive"],
    ["get_order", "read"],
    ["list_orders", "read"],
    ["post_orders_by_id_cancel", "destructive"],
    ["report", "read"],
    ["search_orders", "write"],
  ]);
  expect(trial.tools.find(({ name }) => name === "get_order")?.description).toMatch(/^Get an order\./);
  expect((await client.listToolkits({ projectId })).toolkits.map(({ slug }) => slug)).not.toContain("corner_shop");
  const made = await client.importToolkit({ openapi: { url: `${url}/openapi.json` }, slug: "shop" });
  expect([made.tools, made.report?.foreignHost]).toEqual([[], "{{account.region}}.shop.example.com"]);
  const { tool } = await client.getTool({ slug: "shop.list_orders", projectId });
  expect(tool).toMatchObject({ accessClass: "read", ownerProjectId: projectId });
  expect(JSON.parse(tool?.pagingJson ?? "")).toEqual({ arg: "starting_after", from: "data[-1].id", more: "has_more" });
  expect(asked).toEqual(["/openapi.json"]);
});

test("the report counts the keys without a limit on toolkits, which see the new tools at once", async () => {
  const { id } = await createProject(db, "counted", 1);
  const addKey = (changes: object) =>
    createApiKey(db, {
      ...{ id: createId("key", 1), projectId: id, role: "member" as const, name: "", hint: "", createdAt: 1 },
      ...{ digest: randomBytes(32), ...changes },
    });
  const [limited, ended] = [{ toolkitSlugs: ["calendar"] }, { revokedAt: 1 }];
  for (const changes of [{}, { expiresAt: 9_999_999_999_999 }, limited, ended, { expiresAt: 1 }, { purpose: "portal" }])
    await addKey(changes);
  const { report } = await node.clientOf(id).importToolkit({ openapi: { document: shopText() }, dryRun: true });
  expect(report?.openKeys).toBe(2);
});

test("a slug in use is refused without replace, also that of a shared toolkit", async () => {
  const openapi = { document: shopText() };
  for (const slug of ["taken", "code_host"]) {
    if (slug === "taken") await client.importToolkit({ openapi, slug });
    expect(await refusalOf(client.importToolkit({ openapi, slug }))).toEqual([6, "TOOLKIT_SLUG_TAKEN", "slug"]);
  }
  const { toolkit } = await client.importToolkit({ openapi, slug: "taken", replace: true, only: ["orders"] });
  expect(toolkit).toMatchObject({ slug: "taken" });
  expect((await client.listTools({ projectId, toolkitSlug: "taken" })).tools).toHaveLength(4);
});

test.each([
  ["no source", {}, [3, "SOURCE_INVALID", "openapi"]],
  ["neither url nor document", { openapi: {} }, [3, "SOURCE_INVALID", "openapi"]],
  ["both", { openapi: { url: "https://a.example.com", document: "{}" } }, [3, "SOURCE_INVALID", "openapi"]],
  ["an http address", { openapi: { url: "http://a.example.com/x" } }, [3, "SOURCE_URL_REFUSED", "openapi.url"]],
  ["a password", { openapi: { url: "https://u:p@a.example.com/x" } }, [3, "SOURCE_URL_REFUSED", "openapi.url"]],
  ["a private address", { openapi: { url: "https://10.1.2.3/x" } }, [3, "SOURCE_URL_REFUSED", "openapi.url"]],
  ["a missing document", { openapi: { url: `${url}/none` } }, [14, "SOURCE_UNREACHABLE", "openapi.url"]],
  ["a redirect to another host", { openapi: { url: `${url}/moved` } }, [14, "SOURCE_UNREACHABLE", "openapi.url"]],
  ["no document", { openapi: { document: "[]" } }, [3, "OPENAPI_UNREADABLE", "openapi"]],
  [
    "more options than are stored",
    { openapi: { document: "{}" }, overrides: [{ match: "a", description: "\u20ac".repeat(90_000) }] },
    [3, "SOURCE_INVALID", "overrides"],
  ],
  [
    "no server",
    { openapi: { document: JSON.stringify({ ...shopDocument(), servers: [] }) } },
    [3, "BASE_URL_NEEDED", "openapi.server"],
  ],
])("%s is refused", async (_what, request, refusal) => {
  expect(await refusalOf(client.importToolkit(request))).toEqual(refusal);
});

test("of two imports with one new slug on two nodes, one is stored, and a project has one import at a time on a node", async () => {
  const other = createTestNode(db).clientOf(projectId);
  const openapi = { document: shopText() };
  const both = await Promise.all(
    [client, other].map((one) => refusalOf(one.importToolkit({ openapi, slug: "raced" }))),
  );
  expect(both).toContainEqual([6, "TOOLKIT_SLUG_TAKEN", "slug"]);
  expect(both).toContainEqual([2, undefined, undefined]);
  const [first, second] = await Promise.all(
    ["beside_a", "beside_b"].map((slug) => refusalOf(client.importToolkit({ openapi, slug }))),
  );
  expect(first).toEqual([2, undefined, undefined]);
  expect(second).toEqual([8, "IMPORT_TOO_COSTLY", ""]);
});

test("a large document is checked outside of the event loop", async () => {
  const document = shopDocument();
  const [order = {}] = Object.values(document.paths);
  for (let at = 0; at < 400; at++) document.paths[`/made/${at}`] = structuredClone(order);
  const before = [process.threadCpuUsage(), process.cpuUsage()] as const;
  const { report } = await client.importToolkit({
    ...{ openapi: { document: JSON.stringify(document) }, slug: "large" },
    dryRun: true,
  });
  expect(report?.operations).toBeGreaterThan(400);
  const [own, all] = [process.threadCpuUsage(before[0]), process.cpuUsage(before[1])];
  // A share, because a busy machine makes all processor times longer. It is about 0.15, and 0.7 if the checks are done here.
  expect((own.user + own.system) / (all.user + all.system)).toBeLessThan(0.45);
});

test("an import says what a refused option would have to be", async () => {
  const error = await errorOf(client.importToolkit({ openapi: { document: shopText(), server: "9" } }));
  expect(error.rawMessage).toBe('server "9" is not one of the 2 servers of the document');
});

test("a tool that breaks a rule of definitions is left out, and the others are imported", async () => {
  const document = shopDocument();
  document.paths["/odd"] = { get: { operationId: "odd", summary: "x", responses: {}, parameters: [] } };
  const { report } = await client.importToolkit({
    openapi: { document: JSON.stringify(document) },
    ...{ slug: "odd", dryRun: true },
    overrides: [{ match: "odd", name: "Odd_Name" }],
  });
  expect(report?.leftOut).toContainEqual(expect.objectContaining({ operation: "GET /odd", reason: "refused" }));
  expect(report?.notes).toContainEqual(expect.objectContaining({ tool: "Odd_Name", kind: "refused" }));
  expect(report?.readTools).toBe(3);
});

test("what was looked at is imported, and nothing else: a source that changed since then is refused", async () => {
  let summary = "List things";
  const changing = createServer((_req, res) => {
    const paths = { "/things": { get: { operationId: "listThings", summary, responses: {} } } };
    const servers = [{ url: "https://things.example.com" }];
    res
      .writeHead(200)
      .end(JSON.stringify({ openapi: "3.1.0", info: { title: "Things", version: "1" }, servers, paths }));
  });
  await new Promise<void>((listening) => changing.listen(0, "127.0.0.1", listening));
  const port = (changing.address() as { port: number }).port;
  const openapi = { url: `http://127.0.0.1:${port}/openapi.json` };
  try {
    const { digest } = await client.importToolkit({ openapi, dryRun: true });
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    summary = "List other things";
    expect(await refusalOf(client.importToolkit({ openapi, digest }))).toEqual([9, "SOURCE_CHANGED", "digest"]);
    expect((await client.listToolkits({ projectId })).toolkits.map(({ slug }) => slug)).not.toContain("things");
    summary = "List things";
    const overrides = [{ match: "list_things", class: "write" }];
    expect((await client.importToolkit({ openapi, digest, overrides })).digest).toBe(digest);
  } finally {
    changing.closeAllConnections();
    changing.close();
  }
});
