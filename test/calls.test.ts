import { type DescService, fromJson, type JsonObject, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { createTestDatabase, type TestDatabase } from "@svc/db/testing";
import { AdminService } from "@svc/gen/admin";
import { CatalogService } from "@svc/gen/catalog";
import { TriggersService } from "@svc/gen/triggers";
import { createSvcAdminClient, createSvcClient, svcErrorDetails } from "@svc/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Receiver, startReceiver } from "./receiver.ts";
import {
  adminToken,
  bootstrapKey,
  call,
  postCalendar,
  type ServiceProcess,
  startServiceProcess,
  until,
  vaultKey,
} from "./service-process.ts";

// Every call of the running service, as callers reach it: each case goes once as a plain JSON POST and once through the client.

let database: TestDatabase;
let service: ServiceProcess;
let receiver: Receiver;
const known: Record<string, string> = {};

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startReceiver();
  service = await startServiceProcess({ SVC_DATABASE_URL: database.url, SVC_VAULT_KEY: vaultKey() });
  const other = await adminCall<{ project: { id: string } }>("CreateProject", { name: "other" });
  const { key } = await adminCall<{ key: string }>("CreateApiKey", {
    projectId: other.project.id,
    role: "ROLE_MEMBER",
    name: "theirs",
  });
  const { projects } = await adminCall<{ projects: { id: string; name: string }[] }>("ListProjects", {});
  known["otherProject"] = other.project.id;
  known["project"] = projects.find((project) => project.name === "default")?.id ?? "";
  Object.assign(known, await fill("", bootstrapKey), await fill("their", key));
  const { subscription } = await call<{ subscription: { id: string } }>(service, "TriggersService/CreateSubscription", {
    endpointUrl: receiver.url,
    toolkitSlug: "calendar",
  });
  await call(service, "TriggersService/UpdateSubscription", { id: subscription.id, active: false });
  known["inactive"] = subscription.id;
});

afterAll(async () => {
  await service?.end("SIGTERM");
  await receiver?.close();
  await database?.drop();
});

/** Gives a project a subscription, an event and a delivered delivery. */
async function fill(prefix: string, key: string): Promise<Record<string, string>> {
  const { subscription } = await call<{ subscription: { id: string } }>(
    service,
    "TriggersService/CreateSubscription",
    { endpointUrl: receiver.url },
    key,
  );
  expect(await postCalendar(service, `channel-${prefix}`, 1)).toBe(202);
  const { events } = await call<{ events: { id: string }[] }>(
    service,
    "TriggersService/ListEvents",
    { pageSize: 1 },
    key,
  );
  const eventId = events[0]!.id;
  let deliveryId = "";
  await until(async () => {
    const found = await call<{ deliveries: { id: string; state: string }[] }>(
      service,
      "TriggersService/ListDeliveries",
      { eventId, subscriptionId: subscription.id },
      key,
    );
    deliveryId = found.deliveries[0]!.id;
    return found.deliveries[0]!.state === "delivered";
  });
  return { [`${prefix}subscription`]: subscription.id, [`${prefix}event`]: eventId, [`${prefix}delivery`]: deliveryId };
}

function adminCall<Answer>(method: string, body: object): Promise<Answer> {
  return call<Answer>(service, `AdminService/${method}`, body, adminToken);
}

type Outcome = { answer: JsonValue } | { code: string; reasons: string[] };

/** `$name` in a request stands for an id that only the running service knows. */
function resolve(value: JsonValue): JsonValue {
  if (typeof value === "string" && value.startsWith("$")) return known[value.slice(1)] ?? value;
  if (Array.isArray(value)) return value.map(resolve);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, resolve(child)]));
}

async function overJson(descriptor: DescService, method: string, body: JsonObject, bearer: string): Promise<Outcome> {
  const response = await fetch(`${service.url}/${descriptor.typeName}/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(bearer === "" ? {} : { authorization: `Bearer ${bearer}` }) },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as JsonObject;
  if (response.status === 200) return { answer };
  const details = (answer["details"] ?? []) as { type: string; debug?: { reason?: string } }[];
  return { code: String(answer["code"]), reasons: details.map((detail) => detail.debug?.reason ?? "") };
}

async function overClient(descriptor: DescService, method: string, body: JsonObject, bearer: string): Promise<Outcome> {
  const project = createSvcClient({ baseUrl: service.url, apiKey: bearer });
  const admin = createSvcAdminClient({ baseUrl: service.url, adminToken: bearer });
  const clients = { TriggersService: project.triggers, CatalogService: project.catalog, AdminService: admin.admin };
  const client = clients[descriptor.name as keyof typeof clients] as unknown as Record<
    string,
    (request: Message) => Promise<Message>
  >;
  const schema = descriptor.methods.find((candidate) => candidate.name === method)!;
  try {
    const answer = await client[schema.localName]!(fromJson(schema.input, body));
    return { answer: toJson(schema.output, answer, { alwaysEmitImplicit: true }) };
  } catch (error) {
    const fault = ConnectError.from(error);
    return {
      code: Code[fault.code].replaceAll(/(?<=.)([A-Z])/g, "_$1").toLowerCase(),
      reasons: svcErrorDetails(fault).map((detail) => detail.reason),
    };
  }
}

type Case = [method: string, body: JsonObject, expected: string];

const missing = {
  event: "evt_01h455vb4pex5vsknk084sn02q",
  subscription: "sub_01h455vb4pex5vsknk084sn02q",
  delivery: "dlv_01h455vb4pex5vsknk084sn02q",
};
const dayAgo = new Date(Date.now() - 86_400_000).toISOString();
const tomorrow = new Date(Date.now() + 86_400_000).toISOString();

const triggers: Case[] = [
  ["CreateSubscription", { endpointUrl: "https://example.com/hook" }, "ok subscription,signingSecret"],
  [
    "CreateSubscription",
    { endpointUrl: "https://example.com/hook", toolkitSlug: "calendar", triggerSlug: "events_changed" },
    "ok subscription,signingSecret",
  ],
  ["CreateSubscription", { endpointUrl: "" }, "invalid_argument ENDPOINT_URL_INVALID"],
  ["CreateSubscription", { endpointUrl: "https://a:b@example.com" }, "invalid_argument ENDPOINT_URL_INVALID"],
  ["CreateSubscription", { endpointUrl: "https://example.com/#x" }, "invalid_argument ENDPOINT_URL_INVALID"],
  ["CreateSubscription", { endpointUrl: "ftp://example.com" }, "invalid_argument ENDPOINT_URL_INVALID"],
  ["CreateSubscription", { endpointUrl: "http://example.com" }, "invalid_argument ENDPOINT_URL_NOT_HTTPS"],
  ["CreateSubscription", { endpointUrl: "https://10.0.0.1/hook" }, "invalid_argument ENDPOINT_ADDRESS_REFUSED"],
  [
    "CreateSubscription",
    { endpointUrl: "https://example.com", triggerSlug: "events_changed" },
    "invalid_argument TRIGGER_WITHOUT_TOOLKIT",
  ],
  ["CreateSubscription", { endpointUrl: "https://example.com", toolkitSlug: "nope" }, "not_found TOOLKIT_NOT_FOUND"],
  [
    "CreateSubscription",
    { endpointUrl: "https://example.com", toolkitSlug: "calendar", triggerSlug: "nope" },
    "not_found TRIGGER_NOT_FOUND",
  ],
  ["ListSubscriptions", {}, "ok subscriptions,nextPageToken"],
  ["ListSubscriptions", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListSubscriptions", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["UpdateSubscription", { id: "$subscription", active: true }, "ok subscription"],
  ["UpdateSubscription", { id: missing.subscription }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["UpdateSubscription", { id: "$theirsubscription", active: false }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["UpdateSubscription", { id: "nope" }, "invalid_argument ID_MALFORMED"],
  ["UpdateSubscription", { id: "$subscription", endpointUrl: "nope" }, "invalid_argument ENDPOINT_URL_INVALID"],
  [
    "UpdateSubscription",
    { id: "$subscription", endpointUrl: "http://example.com" },
    "invalid_argument ENDPOINT_URL_NOT_HTTPS",
  ],
  [
    "UpdateSubscription",
    { id: "$subscription", endpointUrl: "https://192.168.0.1" },
    "invalid_argument ENDPOINT_ADDRESS_REFUSED",
  ],
  ["DeleteSubscription", { id: missing.subscription }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["DeleteSubscription", { id: "$theirsubscription" }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["DeleteSubscription", {}, "invalid_argument ID_MALFORMED"],
  ["ListEvents", {}, "ok events,nextPageToken"],
  [
    "ListEvents",
    { toolkitSlug: "calendar", triggerSlug: "events_changed", since: dayAgo, until: tomorrow },
    "ok events,nextPageToken",
  ],
  ["ListEvents", { triggerSlug: "events_changed" }, "invalid_argument TRIGGER_WITHOUT_TOOLKIT"],
  ["ListEvents", { since: tomorrow, until: dayAgo }, "invalid_argument TIME_RANGE_INVALID"],
  ["ListEvents", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListEvents", { pageToken: "AAAA" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["GetEvent", { id: "$event" }, "ok event"],
  ["GetEvent", { id: missing.event }, "not_found EVENT_NOT_FOUND"],
  ["GetEvent", { id: "$theirevent" }, "not_found EVENT_NOT_FOUND"],
  ["GetEvent", { id: "" }, "invalid_argument ID_MALFORMED"],
  ["ListDeliveries", { eventId: "$event" }, "ok deliveries,nextPageToken"],
  ["ListDeliveries", { subscriptionId: "$subscription" }, "ok deliveries,nextPageToken"],
  ["ListDeliveries", {}, "invalid_argument FILTER_REQUIRED"],
  ["ListDeliveries", { eventId: "nope" }, "invalid_argument ID_MALFORMED"],
  ["ListDeliveries", { eventId: "$event", pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListDeliveries", { eventId: "$event", pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["ListDeliveryAttempts", { deliveryId: "$delivery" }, "ok attempts"],
  ["ListDeliveryAttempts", { deliveryId: missing.delivery }, "not_found DELIVERY_NOT_FOUND"],
  ["ListDeliveryAttempts", { deliveryId: "$theirdelivery" }, "not_found DELIVERY_NOT_FOUND"],
  ["ListDeliveryAttempts", { deliveryId: "$event" }, "invalid_argument ID_MALFORMED"],
  ["ReplayEvent", { eventId: "$event" }, "ok deliveries"],
  ["ReplayEvent", { eventId: missing.event }, "not_found EVENT_NOT_FOUND"],
  ["ReplayEvent", { eventId: "$theirevent" }, "not_found EVENT_NOT_FOUND"],
  ["ReplayEvents", { since: dayAgo, dryRun: true }, "ok count,deliveries"],
  ["ReplayEvents", { since: dayAgo, subscriptionId: "$subscription", onlyUndelivered: true }, "ok count,deliveries"],
  ["ReplayEvents", {}, "invalid_argument FILTER_REQUIRED"],
  ["ReplayEvents", { since: dayAgo, triggerSlug: "events_changed" }, "invalid_argument TRIGGER_WITHOUT_TOOLKIT"],
  ["ReplayEvents", { since: tomorrow, until: dayAgo }, "invalid_argument TIME_RANGE_INVALID"],
  ["ReplayEvents", { since: dayAgo, subscriptionId: missing.subscription }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["ReplayEvents", { since: dayAgo, subscriptionId: "$theirsubscription" }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["ReplayEvents", { since: dayAgo, subscriptionId: "$inactive" }, "failed_precondition SUBSCRIPTION_INACTIVE"],
  ["SendTestEvent", { subscriptionId: "$subscription" }, "ok delivery"],
  ["SendTestEvent", { subscriptionId: "$theirsubscription" }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["SendTestEvent", { subscriptionId: "$inactive" }, "failed_precondition SUBSCRIPTION_INACTIVE"],
  ["ListIngestEndpoints", {}, "ok endpoints"],
];

const catalog: Case[] = [
  ["ListToolkits", {}, "ok toolkits,nextPageToken"],
  ["ListToolkits", { projectId: "$project" }, "ok toolkits,nextPageToken"],
  ["ListToolkits", { projectId: "$otherProject" }, "not_found PROJECT_NOT_FOUND"],
  ["ListToolkits", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListToolkits", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["GetToolkit", { slug: "calendar" }, "ok toolkit"],
  ["GetToolkit", { slug: "nope" }, "not_found TOOLKIT_NOT_FOUND"],
  ["GetToolkit", { slug: "calendar", projectId: "$otherProject" }, "not_found PROJECT_NOT_FOUND"],
  ["ListTools", { toolkitSlug: "calendar", kind: "TOOL_KIND_TRIGGER" }, "ok tools,nextPageToken"],
  ["ListTools", { projectId: "$otherProject" }, "not_found PROJECT_NOT_FOUND"],
  ["ListTools", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListTools", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["GetTool", { slug: "calendar.list_events" }, "ok tool"],
  ["GetTool", { slug: "calendar.events_changed", projectId: "$project" }, "ok tool"],
  ["GetTool", { slug: "calendar.nope" }, "not_found TOOL_NOT_FOUND"],
  ["GetTool", { slug: "calendar.list_events", projectId: "$otherProject" }, "not_found PROJECT_NOT_FOUND"],
  ["GetToolkitConnectSpec", { slug: "calendar" }, "ok spec"],
  ["GetToolkitConnectSpec", { slug: "nope" }, "not_found TOOLKIT_NOT_FOUND"],
  ["GetToolkitConnectSpec", { slug: "calendar", projectId: "$otherProject" }, "not_found PROJECT_NOT_FOUND"],
];

const noProject = "prj_01h455vb4pex5vsknk084sn02q";
const admin: Case[] = [
  ["CreateProject", { name: "" }, "invalid_argument NAME_INVALID"],
  ["CreateProject", { name: "default" }, "already_exists PROJECT_NAME_TAKEN"],
  ["ListProjects", {}, "ok projects,nextPageToken"],
  ["ListProjects", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListProjects", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["CreateApiKey", { projectId: "$project", role: "ROLE_MEMBER", name: "k" }, "ok apiKey,key"],
  ["CreateApiKey", { projectId: noProject, role: "ROLE_MEMBER", name: "k" }, "not_found PROJECT_NOT_FOUND"],
  ["CreateApiKey", { projectId: "$project", name: "k" }, "invalid_argument ROLE_INVALID"],
  ["CreateApiKey", { projectId: "$project", role: "ROLE_MEMBER" }, "invalid_argument NAME_INVALID"],
  [
    "CreateApiKey",
    { projectId: "$project", role: "ROLE_MEMBER", name: "k", expiresAt: dayAgo },
    "invalid_argument EXPIRES_AT_PAST",
  ],
  ["ListApiKeys", { projectId: "$project" }, "ok apiKeys,nextPageToken"],
  ["ListApiKeys", { projectId: noProject }, "not_found PROJECT_NOT_FOUND"],
  ["RevokeApiKey", { id: "key_01h455vb4pex5vsknk084sn02q" }, "not_found API_KEY_NOT_FOUND"],
  [
    "SetProjectPolicy",
    { projectId: "$project", planApproval: "always", redirectUrls: ["https://example.com/done"] },
    "ok project",
  ],
  ["SetProjectPolicy", { projectId: noProject }, "not_found PROJECT_NOT_FOUND"],
  ["SetProjectPolicy", { projectId: "$project", planApproval: "maybe" }, "invalid_argument PLAN_APPROVAL_INVALID"],
  [
    "SetProjectPolicy",
    { projectId: "$project", redirectUrls: ["http://example.com"] },
    "invalid_argument REDIRECT_URL_INVALID",
  ],
  ["ListQuarantinedPosts", {}, "ok posts,nextPageToken"],
  ["ListQuarantinedPosts", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["GetQuarantinedPost", { id: "qrn_01h455vb4pex5vsknk084sn02q" }, "not_found QUARANTINED_POST_NOT_FOUND"],
  ["ReleaseQuarantinedPosts", { toolkitSlug: "calendar" }, "ok results,nextPageToken"],
  ["ReleaseQuarantinedPosts", {}, "invalid_argument FILTER_REQUIRED"],
  ["ReleaseQuarantinedPosts", { since: tomorrow, until: dayAgo }, "invalid_argument TIME_RANGE_INVALID"],
  [
    "ReleaseQuarantinedPosts",
    { ids: Array.from({ length: 501 }, () => "qrn_01h455vb4pex5vsknk084sn02q") },
    "invalid_argument TOO_MANY_IDS",
  ],
];

const transports = { "JSON POST": overJson, "the client": overClient };
const tables: [DescService, Case[], () => string][] = [
  [TriggersService, triggers, () => bootstrapKey],
  [CatalogService, catalog, () => bootstrapKey],
  [AdminService, admin, () => adminToken],
];

for (const [descriptor, cases, bearer] of tables) {
  for (const [transport, send] of Object.entries(transports)) {
    describe(`${descriptor.name} over ${transport}`, () => {
      test.each(cases)("%s %j: %s", async (method, body, expected) => {
        const outcome = await send(descriptor, method, resolve(body) as JsonObject, bearer());
        expect(describeOutcome(outcome)).toBe(expected);
      });
    });
  }
}

function describeOutcome(outcome: Outcome): string {
  if ("answer" in outcome) return `ok ${Object.keys(outcome.answer as JsonObject).join(",")}`;
  return `${outcome.code} ${outcome.reasons.join(",")}`;
}

test("every call of the three services stands in the tables", () => {
  for (const [descriptor, cases] of tables) {
    const covered = new Set(cases.map(([method]) => method));
    expect(descriptor.methods.filter((method) => !covered.has(method.name)).map((method) => method.name)).toEqual([]);
  }
});

describe.each(Object.entries(transports))("keys and roles over %s", (_name, send) => {
  test("a wrong key, a project key on AdminService, the admin token on a project call", async () => {
    const wrong = `svc_${"0".repeat(43)}_000000`;
    expect(describeOutcome(await send(TriggersService, "ListEvents", {}, wrong))).toBe(
      "unauthenticated API_KEY_INVALID",
    );
    expect(describeOutcome(await send(AdminService, "ListProjects", {}, bootstrapKey))).toBe(
      "permission_denied ROLE_REQUIRED",
    );
    expect(describeOutcome(await send(TriggersService, "ListEvents", {}, adminToken))).toBe(
      "permission_denied ROLE_REQUIRED",
    );
  });

  test("a revoked key is refused within a second", async () => {
    const { key, apiKey } = await adminCall<{ key: string; apiKey: { id: string } }>("CreateApiKey", {
      projectId: known["project"]!,
      role: "ROLE_MEMBER",
      name: "short-lived",
    });
    expect(describeOutcome(await send(TriggersService, "ListEvents", {}, key))).toContain("ok");
    await adminCall("RevokeApiKey", { id: apiKey.id });
    await until(
      async () => describeOutcome(await send(TriggersService, "ListEvents", {}, key)).includes("API_KEY_INVALID"),
      1_500,
    );
  });

  test("another project's deliveries are an empty list", async () => {
    for (const body of [{ eventId: known["theirevent"]! }, { subscriptionId: known["theirsubscription"]! }]) {
      expect(await send(TriggersService, "ListDeliveries", body, bootstrapKey)).toEqual({
        answer: { deliveries: [], nextPageToken: "" },
      });
    }
  });
});

test("no key at all", async () => {
  expect(describeOutcome(await overJson(TriggersService, "ListEvents", {}, ""))).toBe(
    "unauthenticated API_KEY_MISSING",
  );
});
