import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import { privateToolkitsForProject } from "@svc/db/catalog/repo";
import { type Database, withTransaction } from "@svc/db/connect";
import { createProject } from "@svc/db/projects/repo";
import { ToolkitConnectability } from "@svc/gen/catalog";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase } from "@svc/testing/database";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { afterAll, expect, test } from "vitest";
import { createTestNode, errorOf, refusalOf } from "../test-client.ts";
import { parsePrivateToolkit } from "./parse-definition.ts";
import { privateDefinition, privateSource, sharedSource } from "./test-definitions.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

async function addProject() {
  return (await createProject(db, randomBytes(6).toString("hex"), Date.UTC(2026, 0, 5))).id;
}

const slugsOf = (items: { slug: string }[]) => items.map(({ slug }) => slug);

test("a published toolkit is served at once on its node, to its project only, and says whose it is", async () => {
  const node = createTestNode(db);
  const [projectId, otherId] = [await addProject(), await addProject()];
  const client = node.clientOf(projectId);
  await client.listToolkits({ projectId });
  const published = await client.publishToolkit({ definitionJson: privateDefinition() });
  expect(published.toolSlugs).toEqual(["shop.read_order"]);
  expect(published.toolkit).toMatchObject({ slug: "shop", ownerProjectId: projectId });

  const { toolkits } = await client.listToolkits({ projectId });
  // Every project has the toolkit of operational events.
  expect(slugsOf(toolkits)).toEqual(["code_host", "payments", "shop", "svc", "team_chat", "watcher"]);
  expect(toolkits.map(({ ownerProjectId }) => ownerProjectId)).toEqual(["", "", projectId, "", "", ""]);
  const { tool } = await client.getTool({ slug: "shop.read_order", projectId });
  expect(tool).toMatchObject({ toolkitSlug: "shop", ownerProjectId: projectId, callable: true });
  expect(slugsOf((await client.listTools({ projectId, toolkitSlug: "shop" })).tools)).toEqual(["shop.read_order"]);
  expect((await client.getToolkitConnectSpec({ slug: "shop", projectId })).spec?.toolkitSlug).toBe("shop");

  const shared = await client.listToolkits({});
  expect(slugsOf(shared.toolkits)).not.toContain("shop");
  const other = node.clientOf(otherId);
  for (const call of [
    client.getToolkit({ slug: "shop" }),
    other.getToolkit({ slug: "shop" }),
    other.getToolkit({ slug: "shop", projectId: otherId }),
  ]) {
    expect(await refusalOf(call)).toEqual([Code.NotFound, "TOOLKIT_NOT_FOUND", "slug"]);
  }
  expect(slugsOf((await other.listTools({ projectId: otherId })).tools)).not.toContain("shop.read_order");
});

test("another node serves a publication and a deletion within a second", async () => {
  const clock = createTestClock();
  const [here, there] = [createTestNode(db, { clock }), createTestNode(db, { clock })];
  const projectId = await addProject();
  const slugsThere = async () => slugsOf((await there.clientOf(projectId).listToolkits({ projectId })).toolkits);
  expect(await slugsThere()).not.toContain("shop");
  await here.clientOf(projectId).publishToolkit({ definitionJson: privateDefinition() });
  clock.advance(1000);
  expect(await slugsThere()).toContain("shop");
  await here.clientOf(projectId).deleteToolkit({ slug: "shop" });
  clock.advance(1000);
  expect(await slugsThere()).not.toContain("shop");
});

test("a node asks the store for a project at most every 500 ms, and rebuilds a view only when it changed", async () => {
  const clock = createTestClock();
  const [here, there] = [createTestNode(db, { clock }), createTestNode(db, { clock })];
  const projectId = await addProject();
  await here.clientOf(projectId).publishToolkit({ definitionJson: privateDefinition() });
  const view = await there.views.forProject(projectId);
  await here.clientOf(projectId).deleteToolkit({ slug: "shop" });
  clock.advance(499);
  expect(await there.views.forProject(projectId)).toBe(view);
  clock.advance(1);
  const rebuilt = await there.views.forProject(projectId);
  expect(rebuilt.toolkits.has("shop")).toBe(false);
  clock.advance(500);
  expect(await there.views.forProject(projectId)).toBe(rebuilt);
});

test("dryRun checks and answers as a publication does, and keeps nothing", async () => {
  const node = createTestNode(db);
  const projectId = await addProject();
  const client = node.clientOf(projectId);
  const checked = await client.publishToolkit({ definitionJson: privateDefinition(), dryRun: true });
  expect(checked).toMatchObject({ toolSlugs: ["shop.read_order"], toolkit: { slug: "shop" } });
  const wrong = privateDefinition({ toolkit: { category: "fun" } });
  expect(await refusalOf(client.publishToolkit({ definitionJson: wrong, dryRun: true }))).toEqual([
    Code.InvalidArgument,
    "DEFINITION_INVALID",
    "definitionJson.toolkit.category",
  ]);
  expect(slugsOf((await client.listToolkits({ projectId })).toolkits)).not.toContain("shop");
  expect(await privateToolkitsForProject(db, projectId).version()).toBe(0);
});

test("an invalid definition is refused with one detail a fault, each with place and cure, and the kept one stays", async () => {
  const projectId = await addProject();
  const client = createTestNode(db).clientOf(projectId);
  await client.publishToolkit({ definitionJson: privateDefinition() });
  const source = privateSource({ toolkit: { category: "fun", baseUrl: "http://shop.example.com" } });
  source.tools.read_order.request = { method: "GET", path: "/orders" };
  const error = await errorOf(client.publishToolkit({ definitionJson: JSON.stringify(source) }));
  expect(error.code).toBe(Code.InvalidArgument);
  const details = error.findDetails(ErrorDetailSchema);
  expect(details.map(({ reason, field }) => [reason, field])).toEqual([
    ["DEFINITION_INVALID", "definitionJson.toolkit.category"],
    ["DEFINITION_INVALID", "definitionJson.toolkit.baseUrl"],
    ["DEFINITION_INVALID", "definitionJson.tools.read_order.input.properties.id"],
  ]);
  expect(details[2]?.help).toContain("place {{params.id}}");
  expect((await client.getToolkit({ slug: "shop", projectId })).toolkit?.category).toBe("sales");
});

test("a definition with more than 100 faults is refused with 100 details", async () => {
  const client = createTestNode(db).clientOf(await addProject());
  const names = Array.from({ length: 150 }, (_, index) => `x${index}`);
  const toolkit = Object.fromEntries(names.map((name) => [name, 1]));
  const error = await errorOf(client.publishToolkit({ definitionJson: privateDefinition({ toolkit }) }));
  expect(error.findDetails(ErrorDetailSchema)).toHaveLength(100);
  expect(error.rawMessage.length).toBeLessThan(4100);
});

test("a project's toolkit hides the shared one of its slug with all of its tools, until it is deleted", async () => {
  const shared = sharedSource();
  const { read_order } = shared.tools;
  if (read_order === undefined) throw new Error("the sample has read_order");
  const cancel = { ...read_order, description: "Stops an order that is not sent yet; what was paid goes back." };
  const toolkits = [{ ...shared, tools: { read_order, cancel_order: cancel } }];
  const projectId = await addProject();
  const client = createTestNode(db, { toolkits }).clientOf(projectId);
  const tool = { description: "Reads one order as our own service tells it, with its warehouse." };
  await client.publishToolkit({ definitionJson: privateDefinition({ toolkit: { name: "Our shop" }, tool }) });

  expect((await client.getToolkit({ slug: "shop", projectId })).toolkit?.name).toBe("Our shop");
  expect((await client.getToolkit({ slug: "shop" })).toolkit?.name).toBe("Shop");
  expect((await client.getTool({ slug: "shop.read_order", projectId })).tool?.description).toBe(tool.description);
  expect((await client.getTool({ slug: "shop.read_order" })).tool?.description).toBe(read_order.description);
  expect(await refusalOf(client.getTool({ slug: "shop.cancel_order", projectId }))).toEqual([
    Code.NotFound,
    "TOOL_NOT_FOUND",
    "slug",
  ]);
  expect((await client.getTool({ slug: "shop.cancel_order" })).tool?.slug).toBe("shop.cancel_order");
  const { tools } = await client.listTools({ projectId });
  expect(slugsOf(tools.filter(({ toolkitSlug }) => toolkitSlug !== "svc"))).toEqual(["shop.read_order"]);

  await client.deleteToolkit({ slug: "shop" });
  expect((await client.getToolkit({ slug: "shop", projectId })).toolkit).toMatchObject({
    name: "Shop",
    ownerProjectId: "",
  });
  expect((await client.getTool({ slug: "shop.cancel_order", projectId })).tool?.ownerProjectId).toBe("");
});

test("a private toolkit that shadows a registered slug is not registered, and sees no deployment value", async () => {
  const projectId = await addProject();
  const isOauthRegistered = (toolkit: { ownerProjectId: string }) => toolkit.ownerProjectId === "";
  const deployment = { toolkits: { payments: { scope_base: "https://scopes.example.com" } } };
  const client = createTestNode(db, { deployment, isOauthRegistered }).clientOf(projectId);
  const auth = [
    {
      type: "oauth2",
      authorizeUrl: "https://login.example.com/authorize",
      tokenUrl: "https://login.example.com/token",
      defaultScopes: ["orders"],
      refresh: true,
    },
  ];
  await client.publishToolkit({ definitionJson: privateDefinition({ slug: "payments", toolkit: { auth } }) });
  const connectabilityOf = async (project: string) => {
    return (await client.getToolkit({ slug: "payments", projectId: project })).toolkit?.connectability;
  };
  expect(await connectabilityOf("")).toBe(ToolkitConnectability.READY);
  expect(await connectabilityOf(projectId)).toBe(ToolkitConnectability.NEEDS_OAUTH_REGISTRATION);
  const { spec } = await client.getToolkitConnectSpec({ slug: "payments", projectId });
  expect(spec?.authSchemes[0]?.defaultScopes).toEqual(["orders"]);
});

test("a project keeps 100 private toolkits; one more is refused, over one of the same slug it is not", async () => {
  const projectId = await addProject();
  const client = createTestNode(db).clientOf(projectId);
  await withTransaction(db, async (tx) => {
    const repository = privateToolkitsForProject(tx, projectId);
    for (let number = 0; number < 99; number++) {
      const slug = `shop_${number}`;
      const definition = privateDefinition({ slug });
      await repository.put({ slug, definition, toolCount: 1, originDigest: Buffer.alloc(32), updatedAt: 1 });
    }
  });
  await client.publishToolkit({ definitionJson: privateDefinition() });
  const over = client.publishToolkit({ definitionJson: privateDefinition({ slug: "shop_100" }) });
  expect(await refusalOf(over)).toEqual([Code.ResourceExhausted, "QUOTA_PRIVATE_TOOLKITS", ""]);
  await client.publishToolkit({ definitionJson: privateDefinition({ toolkit: { name: "Renamed" } }) });
  expect((await client.getToolkit({ slug: "shop", projectId })).toolkit?.name).toBe("Renamed");
  await client.deleteToolkit({ slug: "shop_7" });
  await client.publishToolkit({ definitionJson: privateDefinition({ slug: "shop_100" }) });
});

test("DeleteToolkit refuses a slug that the project has no toolkit of, shared or another's", async () => {
  const node = createTestNode(db);
  const [projectId, otherId] = [await addProject(), await addProject()];
  await node.clientOf(otherId).publishToolkit({ definitionJson: privateDefinition() });
  const client = node.clientOf(projectId);
  for (const slug of ["shop", "payments", "", "nope"]) {
    const refused = [Code.NotFound, "PRIVATE_TOOLKIT_NOT_FOUND", "slug"];
    expect(await refusalOf(client.deleteToolkit({ slug })), slug).toEqual(refused);
  }
  expect((await node.clientOf(otherId).getToolkit({ slug: "shop", projectId: otherId })).toolkit?.slug).toBe("shop");
});

test("a kept definition that this version refuses is left out and reported, and the others are served", async () => {
  const projectId = await addProject();
  const node = createTestNode(db);
  await node.clientOf(projectId).publishToolkit({ definitionJson: privateDefinition() });
  const kept = { toolCount: 1, originDigest: Buffer.alloc(32), updatedAt: 1 };
  const definition = privateDefinition({ slug: "old", toolkit: { category: "gone" } });
  await privateToolkitsForProject(db, projectId).put({ slug: "old", definition, ...kept });
  const other = createTestNode(db);
  const { toolkits } = await other.clientOf(projectId).listToolkits({ projectId });
  expect(slugsOf(toolkits)).toContain("shop");
  expect(slugsOf(toolkits)).not.toContain("old");
  expect(other.broken).toEqual([{ projectId, slug: "old", message: expect.stringContaining("category") }]);
});

test("a kept definition that this version refuses still hides the shared toolkit of its slug", async () => {
  const projectId = await addProject();
  const definition = privateDefinition({ toolkit: { category: "gone" } });
  const kept = { toolCount: 1, originDigest: Buffer.alloc(32), updatedAt: 1 };
  await privateToolkitsForProject(db, projectId).put({ slug: "shop", definition, ...kept });
  const node = createTestNode(db, { toolkits: [sharedSource()] });
  const client = node.clientOf(projectId);
  expect((await client.getTool({ slug: "shop.read_order" })).tool?.slug).toBe("shop.read_order");
  const refused = [Code.NotFound, "TOOL_NOT_FOUND", "slug"];
  expect(await refusalOf(client.getTool({ slug: "shop.read_order", projectId }))).toEqual(refused);
  expect(slugsOf((await client.listToolkits({ projectId })).toolkits)).not.toContain("shop");
  expect(node.broken.map(({ slug }) => slug)).toEqual(["shop"]);
});

test("the effects of a stored definition on credentials and the compiler are checked again, regardless of the version that published it", async () => {
  const projectId = await addProject();
  const kept = { toolCount: 1, originDigest: Buffer.alloc(32), updatedAt: 1 };
  const allOf = Array.from({ length: 2000 }, () => ({ type: "string" }));
  const changes = {
    slashes: {
      toolkit: { baseUrl: "https:///{{account.h}}", account: [{ name: "h", description: "Host name of it." }] },
    },
    header: {
      tool: { request: { method: "GET", path: "/o/{{params.id}}", headers: { "X-HTTP-Method-Override": "DELETE" } } },
    },
    path: { tool: { request: { method: "GET", path: "/o/../{{params.id}}" } } },
    large: { tool: { output: { type: "object", properties: { id: { allOf } } } } },
    control: { toolkit: { name: "a\0b" } },
  };
  for (const [slug, change] of Object.entries(changes)) {
    const definition = privateDefinition({ slug, ...change });
    await privateToolkitsForProject(db, projectId).put({ slug, definition, ...kept });
  }
  const node = createTestNode(db);
  await node.views.forProject(projectId);
  expect(node.broken.map(({ slug }) => slug).toSorted()).toEqual(Object.keys(changes).toSorted());
});

test("publications of one project are checked one after the other, and others are served between their tools", async () => {
  const node = createTestNode(db);
  const client = node.clientOf(await addProject());
  const source = privateSource();
  const { read_order } = source.tools;
  const tools = Object.fromEntries(
    Array.from({ length: 100 }, (_, n) => [`t${n}`, { ...read_order, description: `${read_order.description} ${n}` }]),
  );
  let turns = 0;
  let isDone = false;
  const count = async () => {
    for (; !isDone; turns++) await setImmediate();
  };
  const counted = count();
  const calls = [1, 2, 3].map(() =>
    client.publishToolkit({ definitionJson: JSON.stringify({ ...source, tools }), dryRun: true }),
  );
  for (const { toolSlugs } of await Promise.all(calls)) expect(toolSlugs).toHaveLength(100);
  isDone = true;
  await counted;
  expect(turns).toBeGreaterThan(300);
});

test("a change compiles the toolkit that changed, and serves the others as they were", async () => {
  const projectId = await addProject();
  const { views } = createTestNode(db);
  const publish = async (slug: string, name: string) => {
    const definition = privateDefinition({ slug, toolkit: { name } });
    const made = { toolkit: await parsePrivateToolkit(definition, projectId), definitionJson: definition };
    return views.publish(projectId, made, { mustBeNew: false });
  };
  await publish("shop", "Shop");
  await publish("store", "Store");
  const before = (await views.forProject(projectId)).toolkits;
  await publish("store", "Renamed");
  const after = (await views.forProject(projectId)).toolkits;
  expect(after.get("shop")).toBe(before.get("shop"));
  expect(after.get("store")?.name).toBe("Renamed");
  await views.remove(projectId, "shop");
  expect([...(await views.forProject(projectId)).toolkits.keys()]).not.toContain("shop");
});

test("a read that races with a publication never hides it", async () => {
  const projectId = await addProject();
  const node = createTestNode(db);
  const made = {
    toolkit: await parsePrivateToolkit(privateDefinition(), projectId),
    definitionJson: privateDefinition(),
  };
  for (let round = 0; round < 20; round++) {
    // Starts reads before, during and after the write to the database, and does not wait for them.
    const reads = [node.views.forProject(projectId)];
    const published = node.views.publish(projectId, made, { mustBeNew: false });
    reads.push(node.views.forProject(projectId));
    await published;
    reads.push(node.views.forProject(projectId));
    expect((await node.views.forProject(projectId)).toolkits.has("shop")).toBe(true);
    await Promise.all(reads);
    expect((await node.views.forProject(projectId)).toolkits.has("shop")).toBe(true);

    const removed = node.views.remove(projectId, "shop");
    const late = node.views.forProject(projectId);
    await removed;
    expect((await node.views.forProject(projectId)).toolkits.has("shop")).toBe(false);
    await late;
    expect((await node.views.forProject(projectId)).toolkits.has("shop")).toBe(false);
  }
});

/** Returns the same database. The result of each statement sent as text arrives only after `gate` resolves. */
function answeringAfter(gate: () => Promise<void>): Database {
  const sql = new Proxy(db.sql, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (key !== "unsafe") return value;
      return (...query: Parameters<typeof target.unsafe>) => ({
        async execute() {
          const rows = await target.unsafe(...query);
          await gate();
          return rows;
        },
      });
    },
  });
  return { ...db, sql };
}

test("a read that started before a change and ends after it is not cached", async () => {
  const clock = createTestClock();
  const projectId = await addProject();
  let gate = async () => {};
  const { views } = createTestNode(
    answeringAfter(() => gate()),
    { clock },
  );
  const made = {
    toolkit: await parsePrivateToolkit(privateDefinition(), projectId),
    definitionJson: privateDefinition(),
  };
  await views.publish(projectId, made, { mustBeNew: false });
  expect((await views.forProject(projectId)).toolkits.has("shop")).toBe(true);
  clock.advance(500);
  const [isRead, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  gate = () => {
    isRead.resolve();
    return mayAnswer.promise;
  };
  const late = views.forProject(projectId);
  await isRead.promise;
  await views.remove(projectId, "shop");
  mayAnswer.resolve();
  await late;
  expect((await views.forProject(projectId)).toolkits.has("shop")).toBe(false);
});

test("if the database is unavailable, a project's reads and publications reject, and shared reads continue", async () => {
  const away = await createTestDatabase();
  const projectId = (await createProject(away.db, "away", 1)).id;
  const client = createTestNode(away.db).clientOf(projectId);
  await away.drop();
  await expect(client.listToolkits({ projectId })).rejects.toThrow();
  await expect(client.getTool({ slug: "watcher.changed", projectId })).rejects.toThrow();
  await expect(client.publishToolkit({ definitionJson: privateDefinition() })).rejects.toThrow();
  expect((await client.listToolkits({})).toolkits).toHaveLength(Object.keys(sampleToolkits).length);
  expect((await client.getTool({ slug: "watcher.changed" })).tool?.slug).toBe("watcher.changed");
});

test("the origin digest moves with base URL and authentication, and with nothing else", async () => {
  const projectId = await addProject();
  const digestOf = async (toolkit?: object, tool?: object) => {
    const definition = privateDefinition({ ...(toolkit && { toolkit }), ...(tool && { tool }) });
    return (await parsePrivateToolkit(definition, projectId)).originDigest;
  };
  const digest = await digestOf();
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect(await digestOf({ name: "Other", version: "0.2.0" })).toBe(digest);
  expect(await digestOf(undefined, { class: "read", scopes: ["orders"] })).toBe(digest);
  expect(await digestOf({ baseUrl: "https://shop.example.net/api" })).not.toBe(digest);
  expect(await digestOf({ auth: [{ type: "basic" }] })).not.toBe(digest);
});
