import { call, postCalendar, type ServerProcess, until } from "@svc/testing/server-process";
import { consent, openBrowser } from "../tools/browser.ts";
import type { RecordedCall } from "./database-recording.ts";
import { administrator } from "./service-under-test.ts";

/** What a deployment is filled with, and the keys to it. */
export type Deployment = {
  readonly keys: Readonly<Record<string, string>>;
  readonly signingSecrets: Readonly<Record<string, string>>;
  readonly calls: readonly RecordedCall[];
};

/** Calls a method with a key; throws with the answer when it is refused. */
// biome-ignore lint/suspicious/noExplicitAny: whoever calls knows what is answered
export const callAs = (service: ServerProcess, key: string, method: string, body: object = {}): Promise<any> =>
  call(service, method, body, key);

/** Fills a new deployment with everything but jobs: a project with keys of both roles, accounts, endpoints, contacts, calls. */
export async function fillDeployment(
  service: ServerProcess,
  receivers: { readonly good: string; readonly bad: string },
): Promise<Deployment> {
  const admin = (method: string, body: object) => callAs(service, administrator, `AdminService/${method}`, body);
  const { project } = await admin("CreateProject", { name: "acme" });
  await admin("SetProjectPolicy", { projectId: project.id, planApproval: "destructive" });
  const keyOf = async (role: string) => {
    const created = await admin("CreateApiKey", { projectId: project.id, role, name: role });
    return created as { key: string; apiKey: { id: string } };
  };
  const [approver, member, revoked] = [
    await keyOf("ROLE_APPROVER"),
    await keyOf("ROLE_MEMBER"),
    await keyOf("ROLE_MEMBER"),
  ];
  await admin("RevokeApiKey", { id: revoked.apiKey.id });
  const keys = { approver: approver.key, member: member.key };
  const as = (method: string, body: object = {}) => callAs(service, keys.approver, method, body);
  const calls = await fillAccounts(as);
  await fillContacts(as);
  const signingSecrets = await fillEndpoints(as, receivers);
  await fillLedger(as);
  await postAll(service);
  return { keys, signingSecrets, calls };
}

// biome-ignore lint/suspicious/noExplicitAny: whoever calls knows what is answered
type Call = (method: string, body?: object) => Promise<any>;

const entities = [
  "ops",
  "sandbox:error",
  "sandbox:cut",
  "sandbox:500",
  "sandbox:slow",
  "sandbox:pages=1",
  "sandbox:pages=14",
];

/** Accounts of every scheme and state, and what is called with them. */
async function fillAccounts(as: Call): Promise<RecordedCall[]> {
  const connect = (body: object) => as("ConnectionsService/InitiateConnection", body);
  for (const toolkitSlug of ["sales_crm", "messaging_bot"]) {
    for (const entityId of entities) await connect({ toolkitSlug, entityId, scheme: "api_key", apiKey: "recorded" });
  }
  const { authorizeUrl } = await connect({ toolkitSlug: "calendar", entityId: "ann", scheme: "oauth2" });
  const browser = openBrowser();
  await browser.open(await consent(browser, authorizeUrl, "allow"));
  await connect({ toolkitSlug: "calendar", entityId: "ben", scheme: "oauth2" });
  const { account } = await connect({
    toolkitSlug: "sales_crm",
    entityId: "gone",
    scheme: "api_key",
    apiKey: "recorded",
  });
  await as("ConnectionsService/DeleteConnection", { id: account.id });
  await connect({ toolkitSlug: "sales_crm", entityId: "ops", scheme: "api_key", apiKey: "recorded anew" });
  await as("CatalogService/PublishToolkit", { definitionJson: JSON.stringify(ownToolkit) });
  const secret = { toolkitSlug: "own_shop", clientId: "sandbox", clientSecret: "recorded" };
  await as("ConnectionsService/SetProjectCredential", secret);
  const { accounts } = await as("ConnectionsService/ListConnections", { entityId: "ann" });
  await as("ConnectionsService/SetAccountReferences", { id: accounts[0].id, references: ["channel-of-ann"] });
  const calling = (toolSlug: string, entityId: string, args: object, ...outcomes: string[]) => {
    return { key: "approver", request: { toolSlug, entityId, argumentsJson: JSON.stringify(args) }, outcomes };
  };
  const calls = [
    calling("sales_crm.list_deals", "ops", { limit: 2 }, "ok"),
    calling("messaging_bot.send_message", "ops", { chat_id: "@team", text: "Still here" }, "ok"),
    calling("own_shop.list_orders", "ops", {}, "ok"),
    // Of a consent the sandbox's own tokens are over after 30 days: that they are shown to it is what shows that they open.
    calling("calendar.list_events", "ann", { calendar_id: "primary" }, "ok", "account_unusable"),
    calling("sales_crm.list_deals", "gone", { limit: 2 }, "no_account"),
  ];
  for (const { request, outcomes } of calls) {
    const answer = await as("ToolsService/CallTool", request);
    if (answer.outcome !== outcomes[0]) throw new Error(`${JSON.stringify(request)}: ${JSON.stringify(answer)}`);
  }
  return calls;
}

async function fillContacts(as: Call): Promise<void> {
  const reach = (entityId: string) => ({
    toolSlug: "messaging_bot.send_message",
    entityId,
    argsJson: '{"chat_id": "@lead", "text": "{question} {requestId}"}',
  });
  await as("ContactsService/PutContact", { contact: { principalId: "lead", name: "Lead", reach: reach("ops") } });
  await as("ContactsService/PutContact", { contact: { principalId: "head", name: "Head", approver: true } });
  await as("ContactsService/PutContact", { contact: { principalId: "far", name: "Far", reach: reach("sandbox:500") } });
}

async function fillEndpoints(
  as: Call,
  { good, bad }: { readonly good: string; readonly bad: string },
): Promise<Record<string, string>> {
  const subscribe = (body: object) => as("TriggersService/CreateSubscription", body);
  const made = [
    await subscribe({ endpointUrl: `${good}/hook` }),
    await subscribe({ endpointUrl: `${bad}/hook`, toolkitSlug: "calendar", triggerSlug: "events_changed" }),
  ];
  const inactive = await subscribe({ endpointUrl: `${good}/off`, toolkitSlug: "calendar" });
  await as("TriggersService/UpdateSubscription", { id: inactive.subscription.id, active: false });
  const endpoint = await as("JobsService/CreateAskEndpoint", { endpointUrl: `${good}/asks` });
  return {
    ...Object.fromEntries(made.map(({ subscription, signingSecret }) => [subscription.id, signingSecret])),
    [endpoint.askEndpoint.id]: endpoint.signingSecret,
  };
}

/** Calls of every outcome that the ledger knows. */
async function fillLedger(as: Call): Promise<void> {
  const made = (toolSlug: string, args: object, changes: object = {}) =>
    as("ToolsService/CallTool", { toolSlug, entityId: "ops", argumentsJson: JSON.stringify(args), ...changes });
  await made("sales_crm.list_deals", { limit: 1 });
  await made("messaging_bot.send_message", { chat_id: "@team", text: "Hello" }, { idempotencyKey: "hello" });
  await made("messaging_bot.send_message", { chat_id: "@team", text: "Hello" }, { idempotencyKey: "hello" });
  await made("messaging_bot.send_message", { chat_id: "@team", text: "Cut" }, { entityId: "sandbox:cut" });
  await made("sales_crm.delete_deal", { deal_id: 3 });
  await made("sales_crm.get_deal", { deal_id: "three" });
  await made("sales_crm.get_deal", { deal_id: 3 }, { entityId: "nobody" });
}

/** Posts that become events, one twice, and two that are quarantined. */
async function postAll(service: ServerProcess): Promise<void> {
  for (const [channel, message] of [
    ["channel-of-ann", 1],
    ["channel-of-ann", 2],
    ["channel-of-ann", 2],
    ["another", 1],
  ] as const) {
    await postCalendar(service, channel, message);
  }
  await postCalendar(service, "another", 1.5);
  await postCalendar(service, "x".repeat(70), 1);
}

/** Waits until the deliveries of every event have come to where they stay. */
export async function untilDelivered(
  service: ServerProcess,
  key: string,
  isDone: (states: string[]) => boolean,
): Promise<void> {
  const as: Call = (method, body) => callAs(service, key, method, body);
  await until(
    async () => {
      const { events = [] } = await as("TriggersService/ListEvents", {});
      const lists = await Promise.all(
        events.map(({ id }: { id: string }) => as("TriggersService/ListDeliveries", { eventId: id })),
      );
      return isDone(lists.flatMap(({ deliveries = [] }) => deliveries.map(({ state }: { state: string }) => state)));
    },
    60_000,
    "deliveries",
  );
}

const ownToolkit = {
  toolkit: {
    slug: "own_shop",
    name: "Shop",
    description: "Orders of a shop of the project's own, for recordings.",
    version: "0.1.0",
    category: "sales",
    baseUrl: "https://shop.example.com/api",
    auth: [{ type: "client_credentials", tokenUrl: "https://shop.example.com/token" }],
  },
  tools: {
    list_orders: {
      kind: "action",
      class: "read",
      description: "Lists the orders of the shop, the newest first, with their state of payment.",
      intents: ["what was ordered", "show the purchases", "list the orders"],
      input: { type: "object", additionalProperties: false, properties: {} },
      output: { type: "object", properties: { orders: { type: "array", items: { type: "object" } } } },
      request: { method: "GET", path: "/orders" },
    },
  },
};
