import { Code } from "@connectrpc/connect";
import { createId } from "@svc/core";
import { createProject } from "@svc/db/projects/repo";
import { ToolKind, ToolkitConnectability, ToolView } from "@svc/gen/catalog";
import { ErrorDetailSchema } from "@svc/gen/errors";
import type { ToolkitSource } from "@svc/testing/catalog";
import { createTestDatabase } from "@svc/testing/database";
import { sampleToolkits } from "@svc/testing/sample-toolkits";
import { afterAll, expect, test } from "vitest";
import { createTestNode, errorOf, refusalOf } from "./test-client.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

const ownProject = (await createProject(db, "own", 1)).id;
const otherProject = createId("prj", 2);

function clientOf(options: { toolkits?: ToolkitSource[]; deployment?: object; registered?: string[] } = {}) {
  const { registered = [], ...rest } = options;
  return createTestNode(db, { ...rest, isOauthRegistered: ({ slug }) => registered.includes(slug) }).clientOf(
    ownProject,
  );
}

const slugsOf = (items: { slug: string }[]) => items.map(({ slug }) => slug);

test("ListToolkits returns the shared catalog ordered by slug, with every declared scheme", async () => {
  const { toolkits, nextPageToken } = await clientOf().listToolkits({});
  expect(slugsOf(toolkits)).toEqual(["code_host", "payments", "team_chat", "watcher"]);
  expect(nextPageToken).toBe("");
  expect(toolkits[1]).toMatchObject({
    name: "Payments",
    version: "0.1.0",
    category: "payments-and-banking",
    ownerProjectId: "",
    authSchemes: ["oauth2", "api_key", "client_credentials"],
  });
});

test("connectability follows the declared schemes and the registrations held", async () => {
  const { toolkit, tools } = structuredClone(sampleToolkits.payments) as unknown as {
    toolkit: { slug: string; auth: object[] };
    tools: object;
  };
  const [oauth2, , clientCredentials] = toolkit.auth;
  const withAuth = (slug: string, auth: unknown[]) =>
    ({ toolkit: { ...toolkit, slug, auth }, tools }) as unknown as ToolkitSource;
  const toolkits = [
    withAuth("only_oauth", [oauth2]),
    withAuth("only_credentials", [clientCredentials]),
    sampleToolkits.payments,
    sampleToolkits.teamChat,
    sampleToolkits.watcher,
  ];
  const read = async (registered: string[]) => {
    const answer = await clientOf({ toolkits, registered }).listToolkits({});
    return Object.fromEntries(answer.toolkits.map((found) => [found.slug, [found.connectable, found.connectability]]));
  };
  const { READY, NEEDS_OAUTH_REGISTRATION, OAUTH_PENDING } = ToolkitConnectability;
  expect(await read([])).toEqual({
    only_credentials: [false, NEEDS_OAUTH_REGISTRATION],
    only_oauth: [false, NEEDS_OAUTH_REGISTRATION],
    payments: [true, OAUTH_PENDING],
    team_chat: [true, READY],
    watcher: [true, READY],
  });
  expect(await read(["only_oauth", "payments"])).toMatchObject({
    only_oauth: [true, READY],
    payments: [true, READY],
  });
});

test("GetToolkit returns one toolkit and refuses an unknown slug", async () => {
  const client = clientOf();
  expect((await client.getToolkit({ slug: "team_chat" })).toolkit).toMatchObject({ slug: "team_chat" });
  expect(await refusalOf(client.getToolkit({ slug: "nope" }))).toEqual([Code.NotFound, "TOOLKIT_NOT_FOUND", "slug"]);
});

test("ListTools filters by toolkit and kind, and what nothing matches is an empty list", async () => {
  const client = clientOf();
  const list = async (request: { toolkitSlug?: string; kind?: ToolKind }) =>
    slugsOf((await client.listTools(request)).tools);
  expect(await list({})).toHaveLength(6);
  expect(await list({ toolkitSlug: "payments" })).toEqual(["payments.payment_changed", "payments.refund_payment"]);
  expect(await list({ toolkitSlug: "payments", kind: ToolKind.TRIGGER })).toEqual(["payments.payment_changed"]);
  expect(await list({ kind: ToolKind.ACTION })).toEqual(["payments.refund_payment"]);
  expect(await list({ kind: ToolKind.CODE })).toEqual([]);
  expect(await list({ toolkitSlug: "nope" })).toEqual([]);
});

test("a summary of ListTools leaves out what is large of each tool, and nothing else", async () => {
  const client = clientOf();
  const large = { inputSchemaJson: "", outputSchemaJson: "", pagingJson: "", pollJson: "" };
  for (const request of [{}, { toolkitSlug: "payments" }, { kind: ToolKind.ACTION, pageSize: 1 }]) {
    const whole = await client.listTools(request);
    const { tools, nextPageToken } = await client.listTools({ ...request, view: ToolView.SUMMARY });
    expect(tools).toEqual(whole.tools.map((tool) => ({ ...tool, ...large })));
    expect(whole.tools.every(({ inputSchemaJson }) => inputSchemaJson !== "")).toBe(true);
    expect(nextPageToken === "").toBe(whole.nextPageToken === "");
  }
});

test("GetTool returns the full definition of an action", async () => {
  const { tool } = await clientOf().getTool({ slug: "payments.refund_payment" });
  expect(tool).toMatchObject({
    toolkitSlug: "payments",
    kind: ToolKind.ACTION,
    accessClass: "destructive",
    callable: true,
    requiredScopes: ["{scope_base}/payments.refund"],
  });
  expect(JSON.parse(tool?.inputSchemaJson ?? "")).toMatchObject({
    additionalProperties: false,
    properties: { payment_id: { type: "string" }, confirm: { type: "boolean" } },
  });
  expect(JSON.parse(tool?.outputSchemaJson ?? "")).toHaveProperty("properties.state");
});

test("GetTool returns a trigger as a read that takes nothing and cannot be called", async () => {
  const { tool } = await clientOf().getTool({ slug: "team_chat.message_posted" });
  expect(tool).toMatchObject({ kind: ToolKind.TRIGGER, accessClass: "read", callable: false });
  expect(JSON.parse(tool?.inputSchemaJson ?? "")).toEqual({
    type: "object",
    properties: {},
    additionalProperties: false,
  });
});

test("GetTool knows catalog-wide slugs only", async () => {
  const client = clientOf();
  for (const slug of ["message_posted", "team_chat", "team_chat.", "", "constructor"]) {
    expect(await refusalOf(client.getTool({ slug })), slug).toEqual([Code.NotFound, "TOOL_NOT_FOUND", "slug"]);
  }
});

test("GetToolkitConnectSpec returns the data for a form, and no endpoint or credential", async () => {
  const client = clientOf();
  const { spec } = await client.getToolkitConnectSpec({ slug: "payments" });
  expect(spec).toMatchObject({
    toolkitSlug: "payments",
    baseUrlTemplate: "https://{{account.prefix}}.payments.example.com",
    accountVariables: [
      { name: "prefix", description: "Prefix of your live address", example: "shop-1", decidesOrigin: false },
    ],
    authSchemes: [
      { type: "oauth2", defaultScopes: ["{scope_base}/payments"], keyPlacement: "", keyName: "" },
      { type: "api_key", defaultScopes: [], keyPlacement: "query", keyName: "key" },
    ],
  });
  expect(JSON.stringify(spec)).not.toMatch(/token_url|auth_url|credential\./);
  const watcher = await client.getToolkitConnectSpec({ slug: "watcher" });
  expect(watcher.spec?.accountVariables.map(({ decidesOrigin }) => decidesOrigin)).toEqual([true, true]);
  const unknown = await refusalOf(client.getToolkitConnectSpec({ slug: "nope" }));
  expect(unknown).toEqual([Code.NotFound, "TOOLKIT_NOT_FOUND", "slug"]);
});

test("a deployment's values fill the definition's placeholders", async () => {
  const deployment = { toolkits: { payments: { scope_base: "https://scopes.example.com" } } };
  const { spec } = await clientOf({ deployment }).getToolkitConnectSpec({ slug: "payments" });
  expect(spec?.authSchemes[0]?.defaultScopes).toEqual(["https://scopes.example.com/payments"]);
});

test("every call takes the key's own project, and another's reads as missing", async () => {
  const client = clientOf();
  const calls = (projectId: string) => [
    client.listToolkits({ projectId }),
    client.getToolkit({ slug: "watcher", projectId }),
    client.listTools({ projectId }),
    client.getTool({ slug: "watcher.changed", projectId }),
    client.getToolkitConnectSpec({ slug: "watcher", projectId }),
  ];
  await Promise.all(calls(ownProject));
  for (const call of [...calls(otherProject), ...calls("default")]) {
    expect(await refusalOf(call)).toEqual([Code.NotFound, "PROJECT_NOT_FOUND", "projectId"]);
  }
});

test("pages follow each other without gap or repeat, and only the last has no token", async () => {
  const client = clientOf();
  const found: string[] = [];
  let pageToken = "";
  do {
    const page = await client.listTools({ pageSize: 2, pageToken });
    expect(page.tools.length).toBeGreaterThan(0);
    found.push(...slugsOf(page.tools));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(found).toEqual(slugsOf((await client.listTools({})).tools));
  const toolkits = await client.listToolkits({ pageSize: 3 });
  expect(slugsOf((await client.listToolkits({ pageToken: toolkits.nextPageToken })).toolkits)).toEqual(["watcher"]);
});

test("a page token fits its own call and filters only", async () => {
  const client = clientOf();
  const { nextPageToken: pageToken } = await client.listTools({ pageSize: 1 });
  const invalid = [Code.InvalidArgument, "PAGE_TOKEN_INVALID", "pageToken"];
  expect(await refusalOf(client.listTools({ pageToken, toolkitSlug: "payments" }))).toEqual(invalid);
  expect(await refusalOf(client.listTools({ pageToken, kind: ToolKind.ACTION }))).toEqual(invalid);
  expect(await refusalOf(client.listTools({ pageToken, projectId: ownProject }))).toEqual(invalid);
  expect(await refusalOf(client.listToolkits({ pageToken }))).toEqual(invalid);
  expect(await refusalOf(client.listTools({ pageToken: "x" }))).toEqual(invalid);
  const negative = [Code.InvalidArgument, "PAGE_SIZE_NEGATIVE", "pageSize"];
  expect(await refusalOf(client.listTools({ pageSize: -1 }))).toEqual(negative);
  expect(await refusalOf(client.listToolkits({ pageSize: -1 }))).toEqual(negative);
});

test("a slug that is nearly one names the one that was meant, of what the caller sees", async () => {
  const client = clientOf();
  const helpOf = async (call: Promise<unknown>) => (await errorOf(call)).findDetails(ErrorDetailSchema)[0]?.help;
  expect(await helpOf(client.getToolkit({ slug: "team-chat" }))).toBe(
    "Did you mean team_chat? ListToolkits lists the slugs.",
  );
  expect(await helpOf(client.getToolkitConnectSpec({ slug: "teamchat" }))).toMatch(/^Did you mean team_chat\? /);
  const [tool] = (await client.listTools({ toolkitSlug: "team_chat" })).tools;
  expect(await helpOf(client.getTool({ slug: `${tool?.slug}s` }))).toContain(`Did you mean ${tool?.slug}? Send a`);
  expect(await helpOf(client.getTool({ slug: "frobnicate" }))).toMatch(/^Send a catalog-wide slug/);
});
