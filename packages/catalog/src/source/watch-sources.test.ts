import { createServer } from "node:http";
import { listDueSources } from "@svc/db/catalog/watched-sources";
import { createProject } from "@svc/db/projects/repo";
import { CatalogService } from "@svc/gen/catalog";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase } from "@svc/testing/database";
import { createTestNode } from "@svc/testing/node";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { shopDocument } from "../import/test-documents.ts";
import { refusalOf } from "../test-client.ts";

const { db, drop } = await createTestDatabase();
const { id: projectId } = await createProject(db, "watching", 1);
const [minute, hour] = [60_000, 3_600_000];

let requests = 0;
/** The document that the server answers with; undefined for a server that never answers. */
let served: unknown = shopDocument();
const server = createServer((_req, res) => {
  requests++;
  if (served !== undefined) res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(served));
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
const address = server.address();
const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/openapi.json`;
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await drop();
});

test("a watched document is read each day by one of two nodes, and its changes wait for an approver", async () => {
  const clock = createTestClock();
  await using first = createTestNode(db, { clock, engines: ["sources"] });
  await using second = createTestNode(db, { clock, engines: ["sources"] });
  const client = first.client(CatalogService, { projectId, role: "approver" });
  const slug = "daily";
  await client.importToolkit({ openapi: { url }, slug, watch: true });
  await client.importToolkit({ openapi: { url }, slug: "unwatched" });
  const sourceOf = async (name: string) => (await client.getToolkitSource({ slug: name })).source;
  expect(await sourceOf("unwatched")).not.toHaveProperty("nextRefreshAt");
  const nextAt = async () => Number((await sourceOf(slug))?.nextRefreshAt?.seconds) * 1_000;
  expect(await nextAt()).toBe(clock.now() + 24 * hour);
  const document = shopDocument();
  served = {
    ...document,
    paths: { ...document.paths, "/refunds": { post: { operationId: "refund", responses: {} } } },
  };
  requests = 0;
  // Both nodes wait for their next look.
  await until(async () => clock.waiting() >= 2, "the first looks");
  clock.advance(24 * hour);
  const changesOf = async () => (await client.getToolkitSource({ slug })).changes;
  await until(async () => (await changesOf()) !== undefined, "the changes");
  expect((await changesOf())?.added).toMatchObject([{ name: "refund" }]);
  expect(await refusalOf(client.getTool({ slug: `${slug}.refund`, projectId }))).toEqual([5, "TOOL_NOT_FOUND", "slug"]);
  await until(async () => (await nextAt()) === clock.now() + 24 * hour, "the end of the lease");
  expect(requests).toBe(1);
  expect([...first.told.failures, ...second.told.failures]).toEqual([]);
});

test("a node that ends during a read leaves the lease, and another node reads after it has expired", async () => {
  const clock = createTestClock();
  const node = createTestNode(db, { clock, engines: ["sources"] });
  const client = node.client(CatalogService, { projectId, role: "approver" });
  served = shopDocument();
  const slug = "abandoned";
  await client.importToolkit({ openapi: { url }, slug, watch: true });
  [served, requests] = [undefined, 0];
  await until(async () => clock.waiting() >= 1, "the first look");
  clock.advance(24 * hour);
  await until(async () => requests === 1, "the read");
  await node[Symbol.asyncDispose]();
  expect(node.told.failures).toEqual([]);
  served = shopDocument();
  await using other = createTestNode(db, { clock, engines: ["sources"] });
  const source = async () => {
    const reader = other.client(CatalogService, { projectId, role: "approver" });
    return (await reader.getToolkitSource({ slug })).source;
  };
  expect((await source())?.lastError).toBe("");
  const due = async () => (await listDueSources(db, clock.now(), 100)).filter((key) => key.slug === slug);
  clock.advance(minute - 1_000);
  expect(await due()).toEqual([]);
  expect(requests).toBe(1);
  await until(async () => clock.waiting() >= 1, "the next look");
  clock.advance(hour);
  await until(async () => Number((await source())?.refreshedAt?.seconds) * 1_000 === clock.now(), "the read");
  expect(requests).toBe(2);
});

test("a watched source needs an address", async () => {
  await using node = createTestNode(db);
  const client = node.client(CatalogService, { projectId, role: "approver" });
  const openapi = { document: JSON.stringify(shopDocument()) };
  expect(await refusalOf(client.importToolkit({ openapi, slug: "text", watch: true }))).toEqual([
    ...[3, "SOURCE_INVALID", "watch"],
  ]);
});

test("a watched document stays watched after a refresh and an acceptance, until an import without watch replaces it", async () => {
  await using node = createTestNode(db);
  const client = node.client(CatalogService, { projectId, role: "approver" });
  const slug = "kept_watched";
  served = shopDocument();
  await client.importToolkit({ openapi: { url }, slug, watch: true });
  const next = async () => (await client.getToolkitSource({ slug })).source?.nextRefreshAt;
  const first = await next();
  expect(first).toBeDefined();
  const document = JSON.stringify({
    ...shopDocument(),
    paths: { ...shopDocument().paths, "/refunds": { post: { operationId: "refund", responses: {} } } },
  });
  for (const request of [{ document }, {}, { document }]) {
    await client.refreshToolkit({ slug, ...request });
    expect(await next()).toEqual(first);
  }
  const { changes } = await client.getToolkitSource({ slug });
  await client.acceptToolkitChanges({ slug, digest: changes?.digest ?? "" });
  expect(await next()).toEqual(first);
  await client.importToolkit({ openapi: { url }, slug, watch: true, replace: true });
  expect(await next()).toBeDefined();
  await client.importToolkit({ openapi: { url }, slug, replace: true });
  expect(await next()).toBeUndefined();
});

test("sources that cannot be claimed are tried once in each look, not without end", async () => {
  const clock = createTestClock();
  await using node = createTestNode(db, { clock, engines: ["sources"] });
  const client = node.client(CatalogService, { projectId, role: "approver" });
  served = shopDocument();
  // As many sources as one look reads.
  for (let index = 0; index < 8; index++)
    await client.importToolkit({ openapi: { url }, slug: `kept_${index}`, watch: true });
  await db.sql.unsafe(`
    create function refuse_write() returns trigger language plpgsql as $$ begin raise exception 'read-only'; end $$;
    create trigger refuse_write before update on toolkit_sources for each row execute function refuse_write()`);
  await until(async () => clock.waiting() >= 1, "the first look");
  clock.advance(24 * hour);
  await until(async () => node.told.failures.length >= 8, "the refused claims");
  await until(async () => clock.waiting() >= 1, "the wait for the next look");
  expect(node.told.failures).toHaveLength(8);
  await db.sql.unsafe("drop trigger refuse_write on toolkit_sources; drop function refuse_write");
});
