import { deskDefinition } from "@svc/testing/private-webhook";
import { startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/server-process";
import { openBrowser } from "../tools/browser.ts";
import type { Playing } from "./leaks-playing.ts";

/** Creates projects, keys, and credentials of every kind. */
export async function useKeys({ call, server, secrets }: Playing): Promise<void> {
  const admin = (method: string, body: object) => call(`AdminService/${method}`, body, server.adminToken);
  const name = "embeddings_key";
  await admin("PutDeploymentSecret", { name, value: secrets["otherKey"] });
  await admin("DeleteDeploymentSecret", { name });
  for (const value of [secrets["embeddingsKey"], `${secrets["embeddingsKey"]}\0`])
    await admin("PutDeploymentSecret", { name, value });
  const { project } = await admin("CreateProject", { name: "other" });
  const { apiKey } = await admin("CreateApiKey", { projectId: project.id, role: "ROLE_MEMBER", name: "theirs" });
  await admin("RevokeApiKey", { id: apiKey.id });
  await admin("SetProjectPolicy", { projectId: project.id, redirectUrls: ["https://app.example/back"] });
  const { erasure } = await admin("EraseEntity", { projectId: project.id, entityId: "nobody" });
  await admin("GetErasure", { id: erasure.id });
  const { project: gone } = await admin("CreateProject", { name: "gone" });
  await admin("DeleteProject", { projectId: gone.id });
  await call("AdminService/ListProjects", {}, secrets["otherKey"]);
  for (const [toolkitSlug, apiKeyText] of [
    ["bank_link", secrets["apiKey"]],
    ["sales_crm", secrets["apiKey"]],
    ["messaging_bot", secrets["apiKey"]],
    ["sales_crm", secrets["otherKey"]],
    ["sales_crm", `${secrets["otherKey"]}\r\n`],
  ]) {
    await call("ConnectionsService/InitiateConnection", {
      toolkitSlug,
      entityId: "ann",
      scheme: "api_key",
      apiKey: apiKeyText,
    });
  }
  const login = { authorizeUrl: "https://127.0.0.1:1/authorize", tokenUrl: "https://127.0.0.1:1/token" };
  for (const [slug, auth] of [
    ["own_basic", { type: "basic" }],
    ["own_client", { type: "client_credentials", tokenUrl: "https://127.0.0.1:1/token" }],
    ["own_login", { type: "oauth2", ...login, defaultScopes: [], refresh: true }],
    ["own_gone", { type: "oauth2", ...login, defaultScopes: [], refresh: true }],
  ] as const) {
    const definitionJson = JSON.stringify(ownToolkit(slug, auth));
    await call("CatalogService/PublishToolkit", { definitionJson });
  }
  const document = JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Own import" },
    servers: [{ url: "https://own.example.com" }],
    paths: { "/order": { get: { responses: {} } } },
  });
  await call("CatalogService/ImportToolkit", { slug: "own_import", openapi: { document } });
  await call("CatalogService/GetToolkitSource", { slug: "own_import" });
  const newer = document.replace("Own import", "Own newer import");
  const { changes } = await call("CatalogService/RefreshToolkit", { slug: "own_import", document: newer });
  await call("CatalogService/AcceptToolkitChanges", { slug: "own_import", digest: changes.digest });
  const tools = [{ tool: "get_order", phrases: ["where is my parcel"] }];
  await call("CatalogService/PutToolkitPhrases", { slug: "own_import", tools });
  const basic = { username: secrets["username"], password: secrets["password"] };
  await call("ConnectionsService/InitiateConnection", {
    toolkitSlug: "own_basic",
    entityId: "ann",
    scheme: "basic",
    basic,
  });
  const client = { toolkitSlug: "own_client", clientId: "client", clientSecret: secrets["projectSecret"] };
  await call("ConnectionsService/SetProjectCredential", client);
  for (const toolkitSlug of ["own_login", "own_gone"])
    await call("ConnectionsService/PutToolkitClient", { ...client, toolkitSlug });
  await call("ConnectionsService/InitiateConnection", { toolkitSlug: "own_login", entityId: "ann", scheme: "oauth2" });
  for (const value of [secrets["vaultValue"], `${secrets["vaultValue"]}\0`]) {
    await call("SecretsService/PutSecret", { name: "own_function", value });
  }
  for (const toolSlug of ["own_basic.read", "own_client.read"])
    await call("ToolsService/CallTool", { toolSlug, entityId: "ann" });
}

const ownToolkit = (slug: string, auth: object) => ({
  toolkit: {
    slug,
    name: "Own app",
    description: "An app of our own for tests of secrets, which refuses all it is asked.",
    version: "0.1.0",
    category: "scheduling",
    baseUrl: "https://127.0.0.1:1",
    auth: [auth],
  },
  tools: {
    read: {
      kind: "action",
      class: "read",
      description: "Reads something from the app of our own, for tests of secrets in errors.",
      intents: ["read something", "look it up", "what is there"],
      input: { type: "object", additionalProperties: false, properties: {} },
      output: { type: "object", properties: {} },
      request: { method: "GET", path: "/things" },
    },
  },
});

/** Makes tool calls with every outcome over RPC and MCP: successful, repeated, held, dry run, refused by svc, and refused by the app. */
export async function useTools({ call, secrets, words, server, pages }: Playing): Promise<void> {
  const exchange = "bank_link.exchange_public_token";
  const args = { public_token: secrets["argument"] };
  const tool = (toolSlug: string, values: object, changes: object = {}) =>
    call("ToolsService/CallTool", { toolSlug, entityId: "ann", argumentsJson: JSON.stringify(values), ...changes });
  await tool(exchange, args, { idempotencyKey: "first" });
  await tool(exchange, args, { idempotencyKey: "first" });
  await tool(exchange, args, { dryRun: true });
  const remove = { access_token: secrets["argument"] };
  await tool("bank_link.remove_item", remove);
  await tool("bank_link.remove_item", { ...remove, confirm: true });
  await tool(exchange, { public_token: [secrets["argument"]] });
  await tool(exchange, { ...args, secret_key: secrets["unknownName"] });
  const deal = { title: words["plainArgument"], api_key: { deep: [secrets["unknownName"]] } };
  await tool("sales_crm.create_deal", { ...deal, currency: words["plainArgument"] });
  await tool("sales_crm.create_deal", { title: words["plainArgument"] });
  await tool("sales_crm.list_deals", {});
  const limit = { name: "bank", toolkitSlug: "bank_link", keyExpression: "entityId", concurrency: 2 };
  await call("ToolsService/PutCallLimit", { limit });
  await tool(exchange, args);
  await call("ToolsService/ListCallLimits", {});
  await using receiver = await startTestReceiver();
  receiver.script({ body: JSON.stringify({ decision: "edit", arguments: { currency: words["plainArgument"] } }) });
  const asked = { phase: "before", endpointUrl: receiver.url, toolkitSlugs: ["sales_crm"], accessClasses: ["write"] };
  const { hook } = await call("ToolsService/CreateHook", asked);
  await tool("sales_crm.create_deal", { title: words["plainArgument"] });
  await call("ToolsService/UpdateHook", { id: hook.id, active: false });
  await call("ToolsService/ListHooks", {});
  const { hook: other } = await call("ToolsService/CreateHook", { ...asked, phase: "after" });
  await call("ToolsService/DeleteHook", { id: other.id });
  await call("ToolsService/DeleteCallLimit", { name: "bank" });
  const argumentsJson = `{"public_token":"${secrets["argument"]}"`;
  await call("ToolsService/CallTool", { toolSlug: exchange, entityId: "ann", argumentsJson });
  for (const values of [
    { ...args, key: secrets["unknownName"] },
    { public_token: 5, key: secrets["unknownName"] },
  ]) {
    const params = { name: "call_tool", arguments: { slug: exchange, entity_id: "ann", arguments: values } };
    const res = await fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${server.key}`,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    });
    pages.push(await res.text());
  }
}

/** Connects an account through a consent, and makes calls with its token. */
export async function useOauth({ call, server, secrets, pages }: Playing): Promise<void> {
  const calendar = { toolkitSlug: "calendar", entityId: "ann", scheme: "oauth2" };
  for (const tail of [`code=${secrets["code"]}`, `error=access_denied&code=${secrets["code"]}`]) {
    const { authorizeUrl } = await call("ConnectionsService/InitiateConnection", calendar);
    const browser = openBrowser();
    const asked = new URL((await browser.open(authorizeUrl)).location);
    const state = encodeURIComponent(asked.searchParams.get("state") ?? "");
    const ended = await browser.open(`${server.url}/oauth/callback?${tail}&state=${state}`);
    pages.push(ended.text + JSON.stringify([...ended.headers]));
  }
  const list = { toolSlug: "calendar.list_events", entityId: "ann", argumentsJson: '{"calendar_id":"primary"}' };
  await call("ToolsService/CallTool", list);
}

/** Creates subscriptions, an event with its delivery, and a post that becomes no event. */
export async function usePosts({ call, server, secrets, words, receiver, pages }: Playing): Promise<void> {
  const endpointUrl = receiver.url;
  const { subscription } = await call("TriggersService/CreateSubscription", { endpointUrl, toolkitSlug: "calendar" });
  await call("TriggersService/CreateSubscription", { endpointUrl, toolkitSlug: "messaging_bot" });
  await call("TriggersService/UpdateSubscription", { id: subscription.id, active: true });
  const changed = {
    "x-calendar-channel-id": "channel",
    "x-calendar-message-number": "1",
    "x-calendar-resource-id": "resource-1",
    "x-calendar-resource-state": "exists",
    "x-calendar-resource-uri": "https://calendar.example/calendar/v3/calendars/primary/events?alt=json",
  };
  const post = (headers: Record<string, string>, body: string) =>
    fetch(`${server.url}/webhooks/calendar?token=${secrets["webhookSecret"]}`, { method: "POST", headers, body });
  await (await post(changed, "")).text();
  await (
    await post({ authorization: `Bearer ${secrets["webhookSecret"]}` }, JSON.stringify({ odd: words["quarantined"] }))
  ).text();
  await (await fetch(`${server.url}/webhooks/calendar?token=wrong-${secrets["otherKey"]}`, { method: "POST" })).text();
  await usePrivatePosts({ call, server, secrets, words });
  await call("TriggersService/SendTestEvent", { subscriptionId: subscription.id });
  await publishEvents({ call, secrets, words });
  await subscribeAsAgent({ server, secrets, pages });
}

/** Publishes events of the project to an endpoint with credentials, and rotates its signing secret. */
async function publishEvents({ call, secrets, words }: Pick<Playing, "call" | "secrets" | "words">): Promise<void> {
  await using receiver = await startTestReceiver();
  const credentials = {
    headers: [{ name: "x-team", value: secrets["headerValue"] }],
    bearer: { token: secrets["bearerToken"] },
  };
  const { subscription } = await call("TriggersService/CreateSubscription", {
    endpointUrl: receiver.url,
    toolkitSlug: "events",
    credentials,
  });
  await call("TriggersService/RotateSubscriptionSecret", { id: subscription.id });
  await call("TriggersService/PutEventSettings", { settings: { unknownTypes: "UNKNOWN_EVENT_TYPES_REFUSE" } });
  const portal = { name: "Acme", color: "#1a73e8" };
  await call("TriggersService/PutEventSettings", { settings: { portal } });
  await call("TriggersService/CreatePortalLink", { entityId: "ada" });
  await call("TriggersService/RevokePortalLinks", { entityId: "ada" });
  await call("TriggersService/PutEventType", { name: "invoice.paid", schemaJson: '{"type":"object"}' });
  const payloadJson = JSON.stringify({ total: 12 });
  await call("TriggersService/PublishEvent", { type: "invoice.paid", payloadJson });
  await call("TriggersService/PublishEvents", { events: [{ type: "invoice.paid", payloadJson: words["appSaid"] }] });
  await until(() =>
    receiver.requests.some(({ headers }) => headers.authorization === `Bearer ${secrets["bearerToken"]}`),
  );
}

/** A private toolkit that receives posts, its secrets, and a post that becomes no event. */
async function usePrivatePosts({
  call,
  server,
  secrets,
  words,
}: Pick<Playing, "call" | "server" | "secrets" | "words">): Promise<void> {
  const webhook = { scheme: "token_query", header: "x-desk-token" };
  await call("CatalogService/PublishToolkit", { definitionJson: deskDefinition({ webhook }) });
  const made = await call("TriggersService/PutWebhookSecret", { toolkitSlug: "desk" });
  const value = secrets["webhookSecret"] ?? "";
  await call("TriggersService/PutWebhookSecret", { toolkitSlug: "desk", value });
  await call("TriggersService/DeleteWebhookSecret", { id: made.secret.id });
  const { projectId } = await call("IdentityService/GetIdentity");
  const { endpoints } = await call("TriggersService/ListIngestEndpoints", { projectId });
  const { path } = endpoints.find((one: { projectId: string }) => one.projectId === projectId);
  const headers = { "x-desk-token": value, "content-type": "application/json" };
  const body = JSON.stringify({ odd: words["quarantined"] });
  await (await fetch(`${server.url}${path}`, { method: "POST", headers, body })).text();
}

/** Creates an agent's subscription over MCP, and changes its secret. */
async function subscribeAsAgent({
  server,
  secrets,
  pages,
}: Pick<Playing, "server" | "secrets" | "pages">): Promise<void> {
  await using callback = await startTestReceiver();
  callback.script((_req, res) => {
    const { challenge } = JSON.parse(callback.requests.at(-1)?.body.toString() ?? "{}");
    res.end(JSON.stringify({ challenge }));
  });
  for (const planted of [secrets["argument"] ?? "", secrets["unknownName"] ?? ""]) {
    const secret = `whsec_${Buffer.from(planted.padEnd(32, "-").slice(0, 64)).toString("base64")}`;
    const delivery = { mode: "webhook", url: callback.url, secret };
    const params = { name: "calendar.events_changed", delivery };
    const res = await fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${server.key}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "events/subscribe", params }),
    });
    const text = await res.text();
    if (!text.includes("refreshBefore")) throw new Error(text);
    pages.push(text);
  }
}
