import { runTestCommand } from "@svc/cli/test-command";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type McpEra, startMcpServer, type TestMcpServer } from "./mcp-server.ts";
import { connect } from "./project.ts";

// An MCP server that shows other tools to each account: svc lists them with one account, and never silently with another one.

const tool = (name: string) => ({
  ...{ name, description: `Does ${name} in the tracker of the team.`, inputSchema: { type: "object" } },
  annotations: { readOnlyHint: true },
});

let svc: TestServer;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_SANDBOX: "off" } });
});
afterAll(() => svc?.stop());

describe.each<McpEra>(["2025-11-25", "2026-07-28"])("a server of %s", (era) => {
  let app: TestMcpServer;
  let slug = "";
  /** Tools that a key sees. Other keys are refused. */
  let toolsOf: Record<string, string[]>;
  /** Keys of the requests since the last look. */
  let keys: Set<string>;
  let count = 0;
  beforeEach(async () => {
    app = await startMcpServer(era, []);
    slug = `team_${era.slice(0, 4)}_${++count}`;
    [toolsOf, keys] = [{ "key-ann": ["list_issues"], "key-bob": ["list_issues", "list_notes"] }, new Set()];
    app.isAuthorized = (headers) => {
      const key = String(headers["x-api-key"]);
      keys.add(key);
      app.tools = (toolsOf[key] ?? []).map(tool);
      return Object.hasOwn(toolsOf, key);
    };
    const mcp = { url: app.url, header: "X-Api-Key" };
    expect((await catalog("ImportToolkit", { mcp })).json.report).toMatchObject({ operations: 0 });
  });
  afterEach(() => app?.close());

  const catalog = (name: string, request: object = {}) =>
    svc.call(`svc.v1.CatalogService/${name}`, { slug, ...request });
  const source = async () => (await catalog("GetToolkitSource")).json.source;
  const connectAs = async (entityId: string, apiKey = `key-${entityId}`) =>
    (await connect(svc, slug, { entityId, scheme: "api_key", apiKey })).account.id;
  /** Reads the list again. Returns the names of the tools that are new, and the keys with which svc asked. */
  const refresh = async (request: object = {}) => {
    keys.clear();
    const { json, reason } = await catalog("RefreshToolkit", request);
    const added = (json.changes?.added ?? []) as { name: string }[];
    return { reason, message: String(json.message), added: added.map(({ name }) => name), keys: [...keys] };
  };

  test("the account that listed the tools first lists them further, until an approver names another one", async () => {
    const ann = await connectAs("ann");
    const bob = await connectAs("bob");
    expect((await source()).listingAccountId).toBe("");
    expect(await refresh()).toMatchObject({ added: ["list_issues"], keys: ["key-ann"] });
    expect((await source()).listingAccountId).toBe(ann);
    const named = { listingAccountId: bob };
    expect(await refresh({ ...named, dryRun: true })).toMatchObject({ added: ["list_issues", "list_notes"] });
    expect((await source()).listingAccountId).toBe(ann);
    expect(await refresh(named)).toMatchObject({ added: ["list_issues", "list_notes"], keys: ["key-bob"] });
    expect(await refresh()).toMatchObject({ added: ["list_issues", "list_notes"], keys: ["key-bob"] });
    expect((await source()).listingAccountId).toBe(bob);
  });

  test("an account that the server refuses lists nothing, and no other one takes its place until it connects again", async () => {
    await connectAs("ann");
    const bob = await connectAs("bob");
    await refresh({ listingAccountId: bob });
    delete toolsOf["key-bob"];
    const refused = await refresh();
    expect(refused).toMatchObject({ reason: "SOURCE_UNREACHABLE", keys: ["key-bob"] });
    expect(refused.message).toContain(`the account that lists the tools cannot be used: ${bob} is expired`);
    expect(await refresh()).toMatchObject({ reason: "SOURCE_UNREACHABLE", keys: [] });
    expect(await source()).toMatchObject({ listingAccountId: bob, lastError: expect.stringContaining("is expired") });
    expect((await catalog("GetToolkitSource")).json.changes.added).toHaveLength(2);
    toolsOf["new-key"] = ["list_notes"];
    const again = await connectAs("bob", "new-key");
    expect((await source()).listingAccountId).toBe(again);
    expect(await refresh()).toMatchObject({ added: ["list_notes"], keys: ["new-key"] });
    expect((await source()).lastError).toBe("");
  });

  test("after the account is deleted, the first active account lists the tools", async () => {
    const ann = await connectAs("ann");
    const bob = await connectAs("bob");
    await refresh({ listingAccountId: bob });
    await svc.call("svc.v1.ConnectionsService/DeleteConnection", { id: bob });
    expect((await source()).listingAccountId).toBe("");
    expect(await refresh()).toMatchObject({ added: ["list_issues"], keys: ["key-ann"] });
    expect((await source()).listingAccountId).toBe(ann);
    const deleted = await refresh({ listingAccountId: bob });
    expect(deleted).toMatchObject({ reason: "SOURCE_UNREACHABLE", keys: [] });
    expect(deleted.message).toContain(`${bob} was deleted`);
  });

  test("an account of another toolkit is refused, and one of a source that is not an MCP server", async () => {
    const ann = await connectAs("ann");
    const other = `${slug}_other`;
    const mcp = { url: app.url, header: "X-Api-Key" };
    await svc.call("svc.v1.CatalogService/ImportToolkit", { mcp, slug: other });
    const wrong = { code: "invalid_argument", reason: "SOURCE_INVALID" };
    for (const listingAccountId of [ann, "ann", ann.replace(/.$/, ann.endsWith("0") ? "1" : "0")])
      expect(await catalog("RefreshToolkit", { slug: other, listingAccountId })).toMatchObject(wrong);
    expect(await catalog("ImportToolkit", { slug: "brand_new", mcp: { ...mcp, listingAccountId: ann } })).toMatchObject(
      wrong,
    );
    expect([...keys]).not.toContain("key-ann");
    const openapi = { document: JSON.stringify(shop), server: "https://shop.example.com" };
    expect((await catalog("ImportToolkit", { slug: `${slug}_shop`, openapi })).code).toBe("ok");
    const request = { slug: `${slug}_shop`, document: JSON.stringify(shop), listingAccountId: ann };
    expect(await catalog("RefreshToolkit", request)).toMatchObject(wrong);
  });

  test("the commands list the tools with the account that was just connected, or with a chosen one", async () => {
    const variables = { SVC_URL: svc.url, SVC_API_KEY: svc.key, TEAM_KEY: "key-bob" };
    const run = (...argv: string[]) => runTestCommand(["toolkits", ...argv], variables);
    await catalog("DeleteToolkit");
    const options = ["--slug", slug, "--header", "X-Api-Key", "--entity", "bob", "--key-env", "TEAM_KEY"];
    const connected = await run("connect-mcp", app.url, ...options);
    expect(connected.printed.join("\n"), connected.noted.join("\n")).toContain("2 of 2 tools");
    const bob = String((await source()).listingAccountId);
    expect((await run("source", slug)).printed).toContainEqual(expect.stringMatching(`^listed with +${bob}$`));
    const ann = await connectAs("ann");
    keys.clear();
    const refreshed = await run("refresh", slug, "--account", ann);
    expect([refreshed.code, ...keys]).toEqual([0, "key-ann"]);
    expect(refreshed.printed.join("\n")).toMatch(/gone +list_notes/);
    const { noted } = await run("refresh", slug, "--account", "acc_none");
    expect(noted.join("\n")).toContain(`"acc_none" is not an account of the toolkit "${slug}"`);
  });
});

const shop = {
  openapi: "3.1.0",
  info: { title: "Shop", version: "1.0.0" },
  paths: {
    "/orders": { get: { operationId: "list_orders", summary: "Lists the orders of the shop.", responses: {} } },
  },
};
