import { type DescService, fromJson, type JsonObject, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { AdminService } from "@svc/gen/admin";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { ConsoleService } from "@svc/gen/console";
import { ContactsService } from "@svc/gen/contacts";
import { GrantsService } from "@svc/gen/grants";
import { IdentityService } from "@svc/gen/identity";
import { JobsService } from "@svc/gen/jobs";
import { SandboxService } from "@svc/gen/sandbox";
import { SecretsService } from "@svc/gen/secrets";
import { StandingService } from "@svc/gen/standing";
import { StatsService } from "@svc/gen/stats";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { createSvcAdminClient, createSvcClient, svcErrorDetails } from "@svc/sdk";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { deskDefinition } from "@svc/testing/private-webhook";
import {
  adminToken,
  bootstrapKey,
  call,
  postCalendar,
  type ServerProcess,
  startServerProcess,
  until,
  vaultKey,
} from "@svc/testing/server-process";
import { type Subscriber, startSubscriber } from "@svc/testing/subscriber";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { masking, shapeOf } from "./golden/masked.ts";

// Tests every call of the running server as callers make it. Each case is sent once as a plain JSON POST and once with the client.

const noHook = "hok_01h455vb4pex5vsknk084sn02q";
let database: TestDatabase;
let server: ServerProcess;
let receiver: Subscriber;
const known: Record<string, string> = {};

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startSubscriber();
  server = await startServerProcess({
    SVC_DATABASE_URL: database.url,
    SVC_VAULT_KEY: vaultKey(),
    SVC_SANDBOX: "force",
  });
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
  known["theirKey"] = key;
  await fillReferences(other.project.id);
  await putTheirSecret(other.project.id);
  Object.assign(known, await fillJobs("", bootstrapKey), await fillJobs("their", key));
  const { subscription } = await call<{ subscription: { id: string } }>(server, "TriggersService/CreateSubscription", {
    endpointUrl: receiver.url,
    toolkitSlug: "calendar",
  });
  await call(server, "TriggersService/UpdateSubscription", { id: subscription.id, active: false });
  known["inactive"] = subscription.id;
});

afterAll(async () => {
  await server?.end("SIGTERM");
  await receiver?.close();
  await database?.drop();
});

/** Creates a subscription, an event and a finished delivery in a project. */
async function fill(prefix: string, key: string): Promise<Record<string, string>> {
  const { subscription } = await call<{ subscription: { id: string } }>(
    server,
    "TriggersService/CreateSubscription",
    { endpointUrl: receiver.url },
    key,
  );
  expect(await postCalendar(server, `channel-${prefix}`, 1)).toBe(202);
  const { events } = await call<{ events: { id: string }[] }>(
    server,
    "TriggersService/ListEvents",
    { pageSize: 1 },
    key,
  );
  const eventId = events[0]!.id;
  let deliveryId = "";
  await until(async () => {
    const found = await call<{ deliveries: { id: string; state: string }[] }>(
      server,
      "TriggersService/ListDeliveries",
      { eventId, subscriptionId: subscription.id },
      key,
    );
    deliveryId = found.deliveries[0]!.id;
    return found.deliveries[0]!.state === "delivered";
  });
  const linked = { entityId: `${prefix}linked` };
  const link = await call<{ linkId: string }>(server, "TriggersService/CreatePortalLink", linked, key);
  return {
    [`${prefix}subscription`]: subscription.id,
    [`${prefix}event`]: eventId,
    [`${prefix}delivery`]: deliveryId,
    [`${prefix}link`]: link.linkId,
    ...(await fillLedger(prefix, key)),
  };
}

/** Creates a connected account of the sandbox, a revoked account, and an executed call in a project. */
async function fillLedger(prefix: string, key: string): Promise<Record<string, string>> {
  const connectAs = async (entityId: string) => {
    const body = { toolkitSlug: "sales_crm", entityId };
    const { account } = await call<{ account: { id: string } }>(
      server,
      "ConnectionsService/InitiateConnection",
      body,
      key,
    );
    return account.id;
  };
  const account = await connectAs(`${prefix}ann`);
  const revoked = await connectAs(`${prefix}revoked`);
  await call(server, "ConnectionsService/DeleteConnection", { id: revoked }, key);
  const made = await call<{ callId: string; outcome: string }>(
    server,
    "ToolsService/CallTool",
    { toolSlug: "sales_crm.list_deals", entityId: `${prefix}ann`, idempotencyKey: "first" },
    key,
  );
  expect(made.outcome).toBe("ok");
  return { [`${prefix}account`]: account, [`${prefix}revoked`]: revoked, [`${prefix}call`]: made.callId };
}

const shopUrl = "https://shop.example.com/token";

/** Creates private toolkits, and an account of another project that has a reference. */
async function fillReferences(otherProjectId: string): Promise<void> {
  await call(server, "CatalogService/PublishToolkit", { definitionJson: privateToolkit("own_shop") });
  const login = { type: "oauth2", authorizeUrl: shopUrl, tokenUrl: shopUrl, defaultScopes: [], refresh: true };
  await call(server, "CatalogService/PublishToolkit", { definitionJson: privateToolkit("own_login", login) });
  await call(server, "CatalogService/PublishToolkit", { definitionJson: deskDefinition({ slug: "help_desk" }) });
  const { key } = await adminCall<{ key: string }>("CreateApiKey", {
    projectId: otherProjectId,
    role: "ROLE_APPROVER",
    name: "their approver",
  });
  const body = { id: known["theiraccount"] ?? "", references: ["theirs"] };
  await call(server, "ConnectionsService/SetAccountReferences", body, key);
}

/** Stores a secret in another project. */
async function putTheirSecret(projectId: string): Promise<void> {
  const { key } = await adminCall<{ key: string }>("CreateApiKey", { projectId, role: "ROLE_APPROVER", name: "vault" });
  await call(server, "SecretsService/PutSecret", { name: "theirs", value: "a-secret-of-theirs" }, key);
}

const waits = { version: 1, title: "Waits", steps: [{ id: "pause", wait: "1h" }] };
const asks = {
  version: 1,
  title: "Asks",
  steps: [{ id: "judge", judge: "sure" }],
  points: { sure: { question: "Sure?", continuations: ["proceed"], escalation: [{ principal: "owner" }] } },
};
const ends = {
  version: 1,
  title: "Ends",
  inputSchema: { type: "object", additionalProperties: false, properties: {} },
  steps: [{ id: "pause", wait: "1s" }],
};

/** Creates a waiting job, a job that asks with its question, and a successful job in a project. */
async function fillJobs(prefix: string, key: string): Promise<Record<string, string>> {
  type Read = { job: { id: string; status: string; pendingAsk?: object; park?: { judgment: { requestId: string } } } };
  const submit = async (program: object) => {
    const { job } = await call<Read>(server, "JobsService/SubmitJob", { programJson: JSON.stringify(program) }, key);
    return job.id;
  };
  const [waiting, asking, ended] = [await submit(waits), await submit(asks), await submit(ends)];
  const cancelled = await submit(waits);
  const statusOf = async (id: string) => (await call<Read>(server, "JobsService/GetJob", { id }, key)).job.status;
  await until(async () => (await statusOf(cancelled)) === "JOB_STATUS_PARKED", 25_000);
  await call(server, "JobsService/CancelJob", { id: cancelled }, key);
  let requestId = "";
  await until(async () => {
    const asked = await call<Read>(server, "JobsService/GetJob", { id: asking }, key);
    requestId = asked.job.park?.judgment.requestId ?? "";
    const done = await call<Read>(server, "JobsService/GetJob", { id: ended }, key);
    const parked = await call<Read>(server, "JobsService/GetJob", { id: waiting }, key);
    const isCancelled = (await statusOf(cancelled)) === "JOB_STATUS_CANCELLED";
    const hasEnded = done.job.status === "JOB_STATUS_SUCCEEDED" && isCancelled;
    const isReady = hasEnded && parked.job.status === "JOB_STATUS_PARKED";
    return requestId !== "" && isReady;
  }, 25_000);
  return {
    [`${prefix}job`]: waiting,
    [`${prefix}asking`]: asking,
    [`${prefix}ended`]: ended,
    [`${prefix}cancelled`]: cancelled,
    [`${prefix}ask`]: requestId,
  };
}

function adminCall<Answer>(method: string, body: object): Promise<Answer> {
  return call<Answer>(server, `AdminService/${method}`, body, adminToken);
}

type Outcome = { answer: JsonValue } | { code: string; reasons: string[] };

/** Replaces `$name` in a request by an id that only the running server knows. */
function resolve(value: JsonValue): JsonValue {
  if (typeof value === "string" && value.startsWith("$")) return known[value.slice(1)] ?? value;
  if (Array.isArray(value)) return value.map(resolve);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, resolve(child)]));
}

async function overJson(descriptor: DescService, method: string, body: JsonObject, bearer: string): Promise<Outcome> {
  const response = await fetch(`${server.url}/${descriptor.typeName}/${method}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(bearer === "" ? {} : { authorization: `Bearer ${bearer}` }) },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const answer = JSON.parse(text) as JsonObject;
  // The driver may end a cancelled job before or after the answer, so the status in the answer depends on the load of the machine.
  const isRaced = method === "CancelJob" && body["id"] === known["job"];
  const isShape = (isRaced || counting.has(method)) && response.status === 200;
  const shown = isShape ? JSON.stringify(shapeOf(answer)) : text;
  recorded.push(`${method} ${JSON.stringify(body)}\n${response.status} ${shown}\n`);
  if (response.status === 200) return { answer };
  const details = (answer["details"] ?? []) as { type: string; debug?: { reason?: string } }[];
  return { code: String(answer["code"]), reasons: details.map((detail) => detail.debug?.reason ?? "") };
}

async function overClient(descriptor: DescService, method: string, body: JsonObject, bearer: string): Promise<Outcome> {
  const project = createSvcClient({ baseUrl: server.url, apiKey: bearer });
  const admin = createSvcAdminClient({ baseUrl: server.url, adminToken: bearer });
  const clients = {
    TriggersService: project.triggers,
    CatalogService: project.catalog,
    ConnectionsService: project.connections,
    SecretsService: project.secrets,
    ToolsService: project.tools,
    JobsService: project.jobs,
    ContactsService: project.contacts,
    StandingService: project.standing,
    IdentityService: project.identity,
    StatsService: project.stats,
    ConsoleService: project.console,
    SandboxService: project.sandbox,
    GrantsService: project.grants,
    AdminService: admin.admin,
  };
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

const statsCases: Case[] = [
  [
    "GetBacklog",
    {},
    "ok at,pendingDeliveries,pendingByAge,worstSubscriptions,failingSubscriptions,givenUpSubscriptions,deadLetters,jobs,pendingAsks,oldestAskAt,expiredAccounts",
  ],
  ["GetStart", {}, "ok firstEventAt,firstCallAt,firstJobAt,sandbox,mcpUrl,publicUrl"],
  ["QuerySeries", {}, "ok since,stepSeconds,steps,lines,latencies,bucketBoundsMs"],
  ["QuerySeries", { stepSeconds: 7 }, "invalid_argument STEP_INVALID"],
  ["QuerySeries", { series: ["SERIES_JOBS"], toolSlug: "a.b" }, "invalid_argument SUBJECT_INVALID"],
  ["ListFailures", {}, "ok groups,hoursSince"],
  ["ListFailures", { kinds: ["TRACE_KIND_JOB"], since: "2026-03-14T09:00:00Z" }, "ok groups,hoursSince"],
  [
    "ListFailures",
    { since: "2026-03-14T09:00:00Z", until: "2026-03-13T09:00:00Z" },
    "invalid_argument TIME_RANGE_INVALID",
  ],
  ["Trace", { id: "$event" }, "ok focus,nodes,edges,gaps,why"],
  ["Trace", { id: "$call", maxNodes: 200 }, "ok focus,nodes,edges,gaps,why"],
  ["Trace", { id: "$call", maxNodes: 201 }, "invalid_argument MAX_NODES_INVALID"],
  ["Trace", { id: "nope" }, "invalid_argument TRACE_ID_UNKNOWN"],
  ["Trace", { id: "call_01h455vb4pex5vsknk084sn02q" }, "not_found TRACE_NOT_FOUND"],
  ["Trace", { id: "$theirjob" }, "not_found TRACE_NOT_FOUND"],
  ["Search", { query: "$job" }, "ok results,partial"],
  ["Search", { query: "waits", kinds: ["TRACE_KIND_JOB"], limit: 1 }, "ok results,partial"],
  ["Search", { query: "waits", limit: 51 }, "invalid_argument SEARCH_LIMIT_INVALID"],
  ["Search", { query: "w".repeat(201) }, "invalid_argument FILTER_TEXT_INVALID"],
];

const missing = {
  event: "evt_01h455vb4pex5vsknk084sn02q",
  subscription: "sub_01h455vb4pex5vsknk084sn02q",
  delivery: "dlv_01h455vb4pex5vsknk084sn02q",
  replay: "rpl_01h455vb4pex5vsknk084sn02q",
  backfill: "bkf_01h455vb4pex5vsknk084sn02q",
  account: "acc_01h455vb4pex5vsknk084sn02q",
  call: "call_01h455vb4pex5vsknk084sn02q",
  job: "job_01h455vb4pex5vsknk084sn02q",
  ask: "ask_01h455vb4pex5vsknk084sn02q",
  endpoint: "aep_01h455vb4pex5vsknk084sn02q",
};
const dayAgo = new Date(Date.now() - 86_400_000).toISOString();
const tomorrow = new Date(Date.now() + 86_400_000).toISOString();

const orderSchema = '{"type":"object","properties":{"total":{"type":"number"}}}';
const triggers: Case[] = [
  ["CreateSubscription", { endpointUrl: "https://example.com/hook" }, "ok subscription,signingSecret,warnings"],
  [
    "CreateSubscription",
    { endpointUrl: "https://example.com/hook", toolkitSlug: "calendar", triggerSlug: "events_changed" },
    "ok subscription,signingSecret,warnings",
  ],
  [
    "CreateSubscription",
    {
      endpointUrl: "https://example.com/hook",
      format: { kind: "standard" },
      credentials: { headers: [{ name: "x-team", value: "7" }] },
    },
    "ok subscription,signingSecret,warnings",
  ],
  [
    "CreateSubscription",
    { endpointUrl: "https://example.com", credentials: { headers: [{ name: "host", value: "x" }] } },
    "invalid_argument HEADER_NAME_REFUSED",
  ],
  [
    "CreateSubscription",
    { endpointUrl: "https://example.com", credentials: { headers: [{ name: "a", value: "" }] } },
    "invalid_argument ENDPOINT_AUTH_INVALID",
  ],
  ["PutEventType", { name: "a..b" }, "invalid_argument EVENT_TYPE_NAME_INVALID"],
  ["PutEventType", { name: "order.made", schemaJson: "[]" }, "invalid_argument EVENT_SCHEMA_INVALID"],
  ["PutEventType", { name: "order.made", sampleJson: "[]" }, "invalid_argument EVENT_SAMPLE_INVALID"],
  [
    "PutEventType",
    { name: "order.made", description: "x".repeat(1_001) },
    "invalid_argument EVENT_TYPE_DESCRIPTION_INVALID",
  ],
  [
    "PutEventType",
    { name: "order.made", description: "An order was made.", schemaJson: orderSchema },
    "ok eventType,checked,failing,failures",
  ],
  ["PutEventType", { name: "Order.Made" }, "invalid_argument EVENT_TYPE_NAME_INVALID"],
  ["PutEventType", { name: "order.made", updateMask: ["version"] }, "invalid_argument UPDATE_MASK_INVALID"],
  ["GetEventType", { name: "order.made" }, "ok eventType,versions"],
  ["GetEventType", { name: "order.made", version: 9 }, "not_found EVENT_TYPE_NOT_FOUND"],
  ["GetEventType", { name: "nope" }, "not_found EVENT_TYPE_NOT_FOUND"],
  ["ListEventTypes", {}, "ok eventTypes,nextPageToken,limitedTo"],
  ["ListEventTypes", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListEventTypes", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["PutEventSettings", { settings: { unknownTypes: "UNKNOWN_EVENT_TYPES_REFUSE" } }, "ok settings"],
  ["GetEventSettings", {}, "ok settings"],
  ["PutEventSettings", { settings: { portal: { name: "Acme", color: "#1a73e8" } } }, "ok settings"],
  ["PutEventSettings", { settings: { portal: { name: "x".repeat(61) } } }, "invalid_argument PORTAL_NAME_INVALID"],
  ["PutEventSettings", { settings: { portal: { color: "blue" } } }, "invalid_argument PORTAL_COLOR_INVALID"],
  ["PutEventSettings", { settings: { portal: { logo: "PHN2Zy8+" } } }, "invalid_argument PORTAL_LOGO_INVALID"],
  ["PutEventSettings", { settings: { portal: { origins: ["*"] } } }, "invalid_argument PORTAL_ORIGIN_INVALID"],
  ["CreatePortalLink", { entityId: "ann" }, "ok url,linkId,expiresAt"],
  ["CreatePortalLink", { entityId: "ann", expiresIn: "86400s", readOnly: true }, "ok url,linkId,expiresAt"],
  ["CreatePortalLink", {}, "invalid_argument ENTITY_ID_INVALID"],
  ["CreatePortalLink", { entityId: "ann", expiresIn: "299s" }, "invalid_argument LINK_EXPIRY_INVALID"],
  ["CreatePortalLink", { entityId: "ann", expiresIn: "2592001s" }, "invalid_argument LINK_EXPIRY_INVALID"],
  ["ListPortalLinks", {}, "ok links,nextPageToken"],
  ["ListPortalLinks", { entityId: "ann" }, "ok links,nextPageToken"],
  ["ListPortalLinks", { entityId: "\n" }, "invalid_argument ENTITY_ID_INVALID"],
  ["ListPortalLinks", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListPortalLinks", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["RevokePortalLinks", { linkId: "$theirlink" }, "not_found LINK_NOT_FOUND"],
  ["RevokePortalLinks", { linkId: "nope" }, "invalid_argument ID_MALFORMED"],
  ["RevokePortalLinks", {}, "invalid_argument FILTER_REQUIRED"],
  ["RevokePortalLinks", { entityId: "ann", linkId: "$theirlink" }, "invalid_argument FILTER_REQUIRED"],
  ["RevokePortalLinks", { entityId: "\n" }, "invalid_argument ENTITY_ID_INVALID"],
  ["RevokePortalLinks", { entityId: "ann" }, "ok revoked"],
  ["PublishEvent", { type: "order.made", payloadJson: '{"total":12}', key: "o1" }, "ok eventId,outcome"],
  ["PublishEvent", { type: "order.made", payloadJson: '{"total":"12"}' }, "invalid_argument EVENT_PAYLOAD_INVALID"],
  ["PublishEvent", { type: "order.made", payloadJson: "{}", key: "\n" }, "invalid_argument EVENT_KEY_INVALID"],
  ["PublishEvent", { type: "order.made", payloadJson: "{}", entityId: "\n" }, "invalid_argument ENTITY_ID_INVALID"],
  ["PublishEvent", { type: "a..b" }, "invalid_argument EVENT_TYPE_NAME_INVALID"],
  ["PublishEvent", { type: "nope" }, "not_found EVENT_TYPE_NOT_FOUND"],
  [
    "PublishEvents",
    {
      events: [
        { type: "order.made", payloadJson: '{"total":12}', key: "o1" },
        { type: "order.made", payloadJson: '{"total":"12"}' },
      ],
    },
    "ok results",
  ],
  ["PublishEvents", {}, "invalid_argument EVENTS_TOO_MANY"],
  [
    "PutEventType",
    { name: "order.made", schemaJson: '{"type":"object","required":["id"]}' },
    "failed_precondition EVENT_TYPE_BREAKING",
  ],
  [
    "PutEventType",
    { name: "order.made", schemaJson: orderSchema, archived: true, dryRun: true },
    "ok eventType,checked,failing,failures",
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
  ["ListSubscriptions", {}, "ok subscriptions,nextPageToken,limitedTo"],
  ["ListSubscriptions", { entityId: "ann" }, "ok subscriptions,nextPageToken,limitedTo"],
  ["ListSubscriptions", { entityId: "\n" }, "invalid_argument ENTITY_ID_INVALID"],
  ["ListSubscriptions", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListSubscriptions", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["GetSubscription", { id: "$subscription" }, "ok subscription"],
  ["GetSubscription", { id: "$subscription", statsSince: dayAgo }, "ok subscription,stats"],
  ["GetSubscription", { id: "$theirsubscription" }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["GetSubscription", { id: missing.subscription }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["GetSubscription", {}, "invalid_argument ID_MALFORMED"],
  ["UpdateSubscription", { id: "$subscription", active: true }, "ok subscription"],
  ["UpdateSubscription", { id: "$subscription", paused: true }, "ok subscription"],
  ["UpdateSubscription", { id: "$subscription", paused: false }, "ok subscription"],
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
  [
    "CreateSubscription",
    { endpointUrl: "https://example.com/", match: { filter: "amount > 1000" } },
    "invalid_argument SUBSCRIPTION_FILTER_INVALID",
  ],
  [
    "CreateSubscription",
    { endpointUrl: "https://example.com/", match: { filter: "event.payload.mail.matches('.*@example[.]com')" } },
    "invalid_argument SUBSCRIPTION_FILTER_TOO_EXPENSIVE",
  ],
  [
    "CreateSubscription",
    { endpointUrl: "https://example.com/", entityId: "a\nb" },
    "invalid_argument ENTITY_ID_INVALID",
  ],
  [
    "UpdateSubscription",
    { id: "$subscription", description: "two\nlines" },
    "invalid_argument SUBSCRIPTION_DESCRIPTION_INVALID",
  ],
  [
    "PreviewSubscription",
    { match: { filter: "event.payload.amount > 1000" } },
    "ok scanned,matched,faulty,fault,faultEventId,since,requests,samples",
  ],
  ["PreviewSubscription", { id: missing.subscription }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["PreviewSubscription", { id: "$theirsubscription" }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["PreviewSubscription", { toolkitSlug: "nope" }, "not_found TOOLKIT_NOT_FOUND"],
  [
    "CreateSubscription",
    { endpointUrl: "https://example.com/", format: { kind: "custom", bodyJson: '{"text":{"$ref":"amount"}}' } },
    "invalid_argument SUBSCRIPTION_BODY_INVALID",
  ],
  ["UpdateSubscription", { id: "$subscription", retry: { timeoutMs: 20_000 } }, "invalid_argument RETRY_INVALID"],
  ["UpdateSubscription", { id: "$subscription", pace: { max: 10 } }, "invalid_argument PACE_INVALID"],
  ["UpdateSubscription", { id: "$subscription", pace: { max: 10, per: "1s", concurrency: 2 } }, "ok subscription"],
  ["UpdateSubscription", { id: "$subscription", updateMask: ["pace.concurrency"] }, "ok subscription"],
  ["UpdateSubscription", { id: "$subscription", updateMask: ["pace"] }, "invalid_argument UPDATE_MASK_INVALID"],
  ["PreviewSubscription", { id: "$subscription", updateMask: ["id"] }, "invalid_argument UPDATE_MASK_INVALID"],
  ["UpdateSubscription", { id: "$subscription", pace: {} }, "ok subscription"],
  ["RotateSubscriptionSecret", { id: "$subscription", overlap: "0s" }, "ok signingSecret,subscription"],
  ["RotateSubscriptionSecret", { id: missing.subscription }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["RotateSubscriptionSecret", { id: "$theirsubscription" }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["RotateSubscriptionSecret", { id: "$subscription", secret: "hunter2" }, "invalid_argument SIGNING_SECRET_INVALID"],
  [
    "RotateSubscriptionSecret",
    { id: "$subscription", overlap: "604801s" },
    "invalid_argument ROTATION_OVERLAP_INVALID",
  ],
  ["RotateSubscriptionSecret", { id: "$subscription", overlap: "-1s" }, "invalid_argument ROTATION_OVERLAP_INVALID"],
  ["DeleteSubscription", { id: missing.subscription }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["DeleteSubscription", { id: "$theirsubscription" }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["DeleteSubscription", {}, "invalid_argument ID_MALFORMED"],
  ["ListEvents", {}, "ok events,nextPageToken,limitedTo"],
  [
    "ListEvents",
    { toolkitSlug: "calendar", triggerSlug: "events_changed", since: dayAgo, until: tomorrow },
    "ok events,nextPageToken,limitedTo",
  ],
  ["ListEvents", { triggerSlug: "events_changed" }, "invalid_argument TRIGGER_WITHOUT_TOOLKIT"],
  ["ListEvents", { since: tomorrow, until: dayAgo }, "invalid_argument TIME_RANGE_INVALID"],
  ["ListEvents", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListEvents", { pageToken: "AAAA" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["PollEvents", {}, "ok events,cursor,hasMore,truncated,limitedTo"],
  [
    "PollEvents",
    { toolkitSlug: "calendar", triggerSlugs: ["events_changed"], since: dayAgo, maxEvents: 1 },
    "ok events,cursor,hasMore,truncated,limitedTo",
  ],
  ["PollEvents", { triggerSlugs: ["events_changed"] }, "invalid_argument TRIGGER_WITHOUT_TOOLKIT"],
  ["PollEvents", { cursor: "AAAA" }, "invalid_argument CURSOR_INVALID"],
  ["GetEvent", { id: "$event" }, "ok event"],
  ["GetEvent", { id: missing.event }, "not_found EVENT_NOT_FOUND"],
  ["GetEvent", { id: "$theirevent" }, "not_found EVENT_NOT_FOUND"],
  ["GetEvent", { id: "" }, "invalid_argument ID_MALFORMED"],
  ["ListEvents", { payloadContains: "x".repeat(201) }, "invalid_argument FILTER_TEXT_INVALID"],
  ["GetDelivery", { id: "$delivery" }, "ok delivery"],
  ["GetDelivery", { id: "$theirdelivery" }, "not_found DELIVERY_NOT_FOUND"],
  ["GetDelivery", {}, "invalid_argument ID_MALFORMED"],
  ["ListDeliveries", { state: "delivered", since: dayAgo }, "ok deliveries,nextPageToken,limitedTo"],
  ["ListDeliveries", { onlyFailed: true, since: dayAgo }, "ok deliveries,nextPageToken,limitedTo"],
  ["ListDeliveries", { onlyFailed: true }, "invalid_argument FILTER_REQUIRED"],
  ["ListDeliveries", { state: "lost", since: dayAgo }, "invalid_argument DELIVERY_STATE_INVALID"],
  ["ListDeliveries", { states: ["retrying", "failed"] }, "ok deliveries,nextPageToken,limitedTo"],
  ["ListDeliveries", { states: ["lost"] }, "invalid_argument DELIVERY_STATE_INVALID"],
  ["ListDeliveries", { statusCode: 503 }, "invalid_argument FILTER_REQUIRED"],
  ["ListDeliveries", { eventId: "$event", withDetails: true }, "ok deliveries,nextPageToken,limitedTo"],
  ["ListDeliveries", { eventId: "$event" }, "ok deliveries,nextPageToken,limitedTo"],
  ["ListDeliveries", { subscriptionId: "$subscription" }, "ok deliveries,nextPageToken,limitedTo"],
  ["ListDeliveries", {}, "invalid_argument FILTER_REQUIRED"],
  ["ListDeliveries", { eventId: "nope" }, "invalid_argument ID_MALFORMED"],
  ["ListDeliveries", { eventId: "$event", pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListDeliveries", { eventId: "$event", pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["ListDeliveryAttempts", { deliveryId: "$delivery" }, "ok attempts,requestBody"],
  ["ListDeliveryAttempts", { deliveryId: "$delivery", withRequest: true }, "ok attempts,requestBody"],
  ["ListDeliveryAttempts", { deliveryId: missing.delivery }, "not_found DELIVERY_NOT_FOUND"],
  ["ListDeliveryAttempts", { deliveryId: "$theirdelivery" }, "not_found DELIVERY_NOT_FOUND"],
  ["ListDeliveryAttempts", { deliveryId: "$event" }, "invalid_argument ID_MALFORMED"],
  ["ReplayEvent", { eventId: "$event" }, "ok deliveries,warnings"],
  ["ReplayEvent", { eventId: missing.event }, "not_found EVENT_NOT_FOUND"],
  ["ReplayEvent", { eventId: "$theirevent" }, "not_found EVENT_NOT_FOUND"],
  ["ReplayEvents", { since: dayAgo, dryRun: true }, "ok count,deliveries,warnings"],
  [
    "ReplayEvents",
    { since: dayAgo, subscriptionId: "$subscription", onlyUndelivered: true },
    "ok count,deliveries,warnings",
  ],
  ["ReplayEvents", {}, "invalid_argument FILTER_REQUIRED"],
  ["ReplayEvents", { since: dayAgo, triggerSlug: "events_changed" }, "invalid_argument TRIGGER_WITHOUT_TOOLKIT"],
  ["ReplayEvents", { since: tomorrow, until: dayAgo }, "invalid_argument TIME_RANGE_INVALID"],
  ["ReplayEvents", { since: dayAgo, toolkitSlug: "nope" }, "not_found TOOLKIT_NOT_FOUND"],
  ["ReplayEvents", { since: dayAgo, subscriptionId: missing.subscription }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["ReplayEvents", { since: dayAgo, subscriptionId: "$theirsubscription" }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["ReplayEvents", { since: dayAgo, subscriptionId: "$inactive" }, "failed_precondition SUBSCRIPTION_INACTIVE"],
  ["StartReplay", { since: dayAgo, dryRun: true }, "ok total,counts,warnings,more"],
  ["StartReplay", { since: dayAgo, states: ["failed"], dryRun: true }, "ok total,counts,warnings,more"],
  ["StartReplay", { since: dayAgo, states: ["delivered"] }, "invalid_argument DELIVERY_STATE_INVALID"],
  [
    "StartReplay",
    { since: dayAgo, subscriptionId: "$subscription", onlyUndelivered: true },
    "ok replay,total,counts,warnings,more",
  ],
  ["StartReplay", {}, "invalid_argument FILTER_REQUIRED"],
  ["StartReplay", { since: dayAgo, perSecond: 5_001 }, "invalid_argument REPLAY_RATE_INVALID"],
  ["StartReplay", { since: dayAgo, triggerSlug: "events_changed" }, "invalid_argument TRIGGER_WITHOUT_TOOLKIT"],
  ["StartReplay", { since: tomorrow, until: dayAgo }, "invalid_argument TIME_RANGE_INVALID"],
  ["StartReplay", { since: dayAgo, toolkitSlug: "nope" }, "not_found TOOLKIT_NOT_FOUND"],
  ["StartReplay", { since: dayAgo, subscriptionId: "$theirsubscription" }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["StartReplay", { since: dayAgo, subscriptionId: "$inactive" }, "failed_precondition SUBSCRIPTION_INACTIVE"],
  ["GetReplay", { id: missing.replay }, "not_found REPLAY_NOT_FOUND"],
  ["GetReplay", { id: "$event" }, "invalid_argument ID_MALFORMED"],
  ["ListReplays", {}, "ok replays,nextPageToken,limitedTo"],
  ["ListReplays", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListReplays", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["UpdateReplay", { id: missing.replay, paused: true }, "not_found REPLAY_NOT_FOUND"],
  ["UpdateReplay", { id: missing.replay, perSecond: 0 }, "invalid_argument REPLAY_RATE_INVALID"],
  ["CancelReplay", { id: missing.replay }, "not_found REPLAY_NOT_FOUND"],
  ["SendTestEvent", { subscriptionId: "$subscription" }, "ok delivery"],
  ["SendTestEvent", { subscriptionId: "$theirsubscription" }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["SendTestEvent", { subscriptionId: "$inactive" }, "failed_precondition SUBSCRIPTION_INACTIVE"],
  ["TryNow", { subscriptionId: "$subscription" }, "ok count,subscription"],
  ["TryNow", {}, "invalid_argument FILTER_REQUIRED"],
  ["TryNow", { subscriptionId: "$theirsubscription" }, "not_found SUBSCRIPTION_NOT_FOUND"],
  ["TryNow", { subscriptionId: "$inactive" }, "failed_precondition SUBSCRIPTION_INACTIVE"],
  ["TryNow", { deliveryId: missing.delivery }, "not_found DELIVERY_NOT_FOUND"],
  ["ListIngestEndpoints", {}, "ok endpoints"],
  ["GetEventDocument", { format: "EVENT_DOCUMENT_FORMAT_OPENAPI_3_1", types: ["order.made"] }, "ok documentJson"],
  ["GetEventDocument", {}, "invalid_argument EVENT_DOCUMENT_FORMAT_INVALID"],
  [
    "GetEventDocument",
    { format: "EVENT_DOCUMENT_FORMAT_ASYNCAPI_3", types: ["nope"] },
    "not_found EVENT_TYPE_NOT_FOUND",
  ],
  ["ListIngestEndpoints", { projectId: "$otherProject" }, "not_found PROJECT_NOT_FOUND"],
  ["PutWebhookSecret", { toolkitSlug: "help_desk", value: "a-secret-of-calls", overlap: "0s" }, "ok secret,value"],
  ["PutWebhookSecret", { toolkitSlug: "calendar" }, "not_found TOOLKIT_NOT_FOUND"],
  ["PutWebhookSecret", { toolkitSlug: "own_shop" }, "failed_precondition TOOLKIT_WITHOUT_WEBHOOK"],
  ["PutWebhookSecret", { toolkitSlug: "help_desk", value: "short" }, "invalid_argument WEBHOOK_SECRET_INVALID"],
  ["PutWebhookSecret", { toolkitSlug: "help_desk", overlap: "-1s" }, "invalid_argument ROTATION_OVERLAP_INVALID"],
  ["DeleteWebhookSecret", { id: "wsc_01h455vb4pex5vsknk084sn02q" }, "not_found WEBHOOK_SECRET_NOT_FOUND"],
  ["ListQuarantinedPosts", {}, "ok posts,nextPageToken"],
  ["ListQuarantinedPosts", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["GetQuarantinedPost", { id: "qrn_01h455vb4pex5vsknk084sn02q" }, "not_found QUARANTINED_POST_NOT_FOUND"],
  ["ReleaseQuarantinedPosts", { toolkitSlug: "help_desk" }, "ok results,nextPageToken"],
  ["ReleaseQuarantinedPosts", {}, "invalid_argument FILTER_REQUIRED"],
  ["ReleaseQuarantinedPosts", { toolkitSlug: "nope" }, "not_found TOOLKIT_NOT_FOUND"],
];

const catalog: Case[] = [
  ["ListToolkits", {}, "ok toolkits,nextPageToken,limitedTo"],
  ["ListToolkits", { projectId: "$project" }, "ok toolkits,nextPageToken,limitedTo"],
  ["ListToolkits", { projectId: "$otherProject" }, "not_found PROJECT_NOT_FOUND"],
  ["ListToolkits", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListToolkits", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["GetToolkit", { slug: "calendar" }, "ok toolkit"],
  ["GetToolkit", { slug: "nope" }, "not_found TOOLKIT_NOT_FOUND"],
  ["GetToolkit", { slug: "calendar", projectId: "$otherProject" }, "not_found PROJECT_NOT_FOUND"],
  ["ListTools", { toolkitSlug: "calendar", kind: "TOOL_KIND_TRIGGER" }, "ok tools,nextPageToken,limitedTo"],
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
  ["PublishToolkit", { definitionJson: privateToolkit("shop") }, "ok toolkit,toolSlugs"],
  [
    "PublishToolkit",
    { definitionJson: privateToolkit("shop").replace("GET", "FETCH") },
    "invalid_argument DEFINITION_INVALID",
  ],
  ["PublishToolkit", { definitionJson: "{" }, "invalid_argument DEFINITION_INVALID"],
  ["PublishToolkit", {}, "invalid_argument DEFINITION_INVALID"],
  ["ImportToolkit", {}, "invalid_argument SOURCE_INVALID"],
  ["ImportToolkit", { openapi: { url: "http://example.com/x" } }, "invalid_argument SOURCE_URL_REFUSED"],
  ["ImportToolkit", { openapi: { document: "[]" } }, "invalid_argument OPENAPI_UNREADABLE"],
  [
    "ImportToolkit",
    { openapi: { document: openapiDocument("Shop"), server: "2" } },
    "invalid_argument BASE_URL_NEEDED",
  ],
  ["ImportToolkit", { openapi: { document: openapiDocument("Shop") } }, "already_exists TOOLKIT_SLUG_TAKEN"],
  [
    "ImportToolkit",
    { openapi: { document: openapiDocument("Shop") }, slug: "stall", only: ["none"] },
    "invalid_argument OPENAPI_NOTHING_SELECTED",
  ],
  [
    "ImportToolkit",
    { openapi: { document: openapiDocument("Shop") }, slug: "stall", overrides: [{ match: "none" }] },
    "invalid_argument OVERRIDE_UNKNOWN",
  ],
  [
    "ImportToolkit",
    { openapi: { document: openapiDocument("Shop") }, slug: "stall", dryRun: true },
    "ok toolkit,report,tools,digest",
  ],
  ["GetToolkitSource", { slug: "nope" }, "not_found PRIVATE_TOOLKIT_NOT_FOUND"],
  ["GetToolkitSource", { slug: "shop" }, "failed_precondition TOOLKIT_HAS_NO_SOURCE"],
  ["RefreshToolkit", { slug: "nope" }, "not_found PRIVATE_TOOLKIT_NOT_FOUND"],
  ["RefreshToolkit", { slug: "shop" }, "failed_precondition TOOLKIT_HAS_NO_SOURCE"],
  ["AcceptToolkitChanges", { slug: "nope" }, "not_found PRIVATE_TOOLKIT_NOT_FOUND"],
  ["AcceptToolkitChanges", { slug: "shop" }, "failed_precondition TOOLKIT_HAS_NO_SOURCE"],
  [
    "ImportToolkit",
    { openapi: { document: openapiDocument("Booth") }, slug: "booth" },
    "ok toolkit,report,tools,digest",
  ],
  ["GetToolkitSource", { slug: "booth" }, "ok source"],
  ["RefreshToolkit", { slug: "booth" }, "invalid_argument SOURCE_INVALID"],
  ["RefreshToolkit", { slug: "booth", document: "[]" }, "invalid_argument OPENAPI_UNREADABLE"],
  ["AcceptToolkitChanges", { slug: "booth" }, "not_found CHANGES_NOT_FOUND"],
  ["RefreshToolkit", { slug: "booth", document: openapiDocument("Large booth") }, "ok changes,report"],
  ["GetToolkitSource", { slug: "booth" }, "ok source,changes"],
  ["AcceptToolkitChanges", { slug: "booth", digest: "old" }, "failed_precondition CHANGES_OUTDATED"],
  ["PutToolkitPhrases", { slug: "booth", tools: [{ tool: "nope" }] }, "invalid_argument PHRASES_INVALID"],
  ["PutToolkitPhrases", { slug: "booth" }, "ok tools"],
  ["PutToolkitPhrases", { slug: "calendar" }, "not_found PRIVATE_TOOLKIT_NOT_FOUND"],
  ["DeleteToolkit", { slug: "booth" }, "ok "],
  ["ImportToolkit", { shared: { slug: "nope" } }, "not_found TOOLKIT_NOT_FOUND"],
  ["ImportToolkit", { shared: { slug: "sales_crm" }, slug: "crm" }, "invalid_argument SOURCE_INVALID"],
  [
    "ImportToolkit",
    { shared: { slug: "sales_crm", binding: { overlayJson: "[" } } },
    "invalid_argument SOURCE_INVALID",
  ],
  ["ImportToolkit", { shared: { slug: "sales_crm" } }, "invalid_argument BASE_URL_NEEDED"],
  [
    "ImportToolkit",
    { shared: { slug: "sales_crm", binding: { baseUrl: "ftp://crm.example.com" } } },
    "invalid_argument DEFINITION_INVALID",
  ],
  [
    "ImportToolkit",
    { shared: { slug: "sales_crm", binding: { baseUrl: "https://crm.example.com" } } },
    "ok toolkit,report,tools,digest",
  ],
  [
    "ImportToolkit",
    { shared: { slug: "sales_crm", binding: { baseUrl: "https://crm.example.com" } } },
    "already_exists TOOLKIT_SLUG_TAKEN",
  ],
  ["GetToolkitSource", { slug: "sales_crm" }, "ok source"],
  ["RefreshToolkit", { slug: "sales_crm" }, "invalid_argument SOURCE_INVALID"],
  ["AcceptToolkitChanges", { slug: "sales_crm" }, "not_found CHANGES_NOT_FOUND"],
  ["DeleteToolkit", { slug: "sales_crm" }, "ok "],
  ["DeleteToolkit", { slug: "nope" }, "not_found PRIVATE_TOOLKIT_NOT_FOUND"],
  ["DeleteToolkit", { slug: "calendar" }, "not_found PRIVATE_TOOLKIT_NOT_FOUND"],
  ["DeleteToolkit", { slug: "shop" }, "ok "],
];

/** Returns an OpenAPI document with one operation. */
function openapiDocument(title: string): string {
  const get = { operationId: "getOrder", summary: "Get an order", responses: {} };
  const servers = [{ url: "https://shop.example.com" }];
  return JSON.stringify({ openapi: "3.1.0", info: { title, version: "1" }, servers, paths: { "/order": { get } } });
}

/** Returns a definition that a project may publish. Its tools call the server itself. */
function privateToolkit(slug: string, auth: object = { type: "client_credentials", tokenUrl: shopUrl }): string {
  return JSON.stringify({
    toolkit: {
      slug,
      name: "Shop",
      description: "Orders of a shop of our own, for tests of every call.",
      version: "0.1.0",
      category: "sales",
      baseUrl: "https://shop.example.com/api",
      auth: [auth],
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
  });
}

const kept = "own_shop";
const secret = { toolkitSlug: kept, clientId: "c", clientSecret: "s" };
const client = { toolkitSlug: "own_login", clientId: "c", clientSecret: "s" };
const vectors = { hostname: "vectors.example.com", port: "6333" };
const connections: Case[] = [
  [
    "InitiateConnection",
    { toolkitSlug: "sales_crm", entityId: "bob", apiKey: "k" },
    "ok account,authorizeUrl,credentialTried",
  ],
  ["InitiateConnection", { toolkitSlug: "calendar", entityId: "bob" }, "ok account,authorizeUrl,credentialTried"],
  [
    "InitiateConnection",
    { toolkitSlug: "vector_db", entityId: "bob", apiKey: "k", accountVariables: vectors },
    "ok account,authorizeUrl,credentialTried",
  ],
  ["CreateConnectLink", { toolkitSlug: "sales_crm", entityId: "bob" }, "ok url,expiresAt"],
  ["CreateConnectLink", { toolkitSlug: "nope", entityId: "bob" }, "not_found TOOLKIT_NOT_FOUND"],
  ["CreateConnectLink", { toolkitSlug: "sales_crm" }, "invalid_argument ENTITY_ID_INVALID"],
  ["CreateConnectLink", { toolkitSlug: "scheduling", entityId: "bob" }, "invalid_argument SCHEME_REQUIRED"],
  [
    "CreateConnectLink",
    { toolkitSlug: "sales_crm", entityId: "bob", expiresAt: "2020-01-01T00:00:00Z" },
    "invalid_argument LINK_EXPIRY_INVALID",
  ],
  ["InitiateConnection", { toolkitSlug: "nope", entityId: "bob" }, "not_found TOOLKIT_NOT_FOUND"],
  ["InitiateConnection", { toolkitSlug: "sales_crm" }, "invalid_argument ENTITY_ID_INVALID"],
  ["InitiateConnection", { toolkitSlug: "scheduling", entityId: "bob" }, "invalid_argument SCHEME_REQUIRED"],
  [
    "InitiateConnection",
    { toolkitSlug: "calendar", entityId: "bob", scheme: "basic" },
    "invalid_argument SCHEME_NOT_DECLARED",
  ],
  [
    "InitiateConnection",
    { toolkitSlug: kept, entityId: "bob", scheme: "client_credentials" },
    "invalid_argument SCHEME_HELD_BY_PROJECT",
  ],
  [
    "InitiateConnection",
    { toolkitSlug: "vector_db", entityId: "bob" },
    "invalid_argument ACCOUNT_VARIABLE_MISSING,ACCOUNT_VARIABLE_MISSING",
  ],
  [
    "InitiateConnection",
    { toolkitSlug: "sales_crm", entityId: "bob", accountVariables: { one: "1" } },
    "invalid_argument ACCOUNT_VARIABLE_UNKNOWN",
  ],
  [
    "InitiateConnection",
    { toolkitSlug: "vector_db", entityId: "bob", accountVariables: { ...vectors, port: "http" } },
    "invalid_argument ACCOUNT_VARIABLE_INVALID",
  ],
  [
    "InitiateConnection",
    { toolkitSlug: "calendar", entityId: "bob", apiKey: "k" },
    "invalid_argument CREDENTIAL_UNEXPECTED",
  ],
  [
    "InitiateConnection",
    { toolkitSlug: "sales_crm", entityId: "bob", apiKey: "a\nb" },
    "invalid_argument CREDENTIAL_INVALID",
  ],
  [
    "InitiateConnection",
    { toolkitSlug: "calendar", entityId: "bob", redirectUrl: "https://evil.example" },
    "invalid_argument REDIRECT_URL_REFUSED",
  ],
  ["GetConnection", { id: "$account" }, "ok account"],
  ["GetConnection", { id: missing.account }, "not_found CONNECTION_NOT_FOUND"],
  ["GetConnection", { id: "$theiraccount" }, "not_found CONNECTION_NOT_FOUND"],
  ["GetConnection", { id: "nope" }, "invalid_argument ID_MALFORMED"],
  ["ListConnections", {}, "ok accounts,nextPageToken,limitedTo"],
  [
    "ListConnections",
    { toolkitSlug: "sales_crm", entityId: "ann", state: "active" },
    "ok accounts,nextPageToken,limitedTo",
  ],
  ["ListConnections", { state: "broken" }, "invalid_argument CONNECTION_STATE_INVALID"],
  ["ListConnections", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListConnections", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["SetAccountReferences", { id: "$account", references: ["mine"] }, "ok account"],
  ["SetAccountReferences", { id: missing.account }, "not_found CONNECTION_NOT_FOUND"],
  ["SetAccountReferences", { id: "$theiraccount", references: ["r"] }, "not_found CONNECTION_NOT_FOUND"],
  ["SetAccountReferences", { id: "$account", references: ["a", "a"] }, "invalid_argument REFERENCE_INVALID"],
  ["SetAccountReferences", { id: "$account", references: [""] }, "invalid_argument REFERENCE_INVALID"],
  ["SetAccountReferences", { id: "$account", references: ["theirs"] }, "already_exists REFERENCE_TAKEN"],
  ["SetAccountReferences", { id: "$revoked", references: ["r"] }, "failed_precondition CONNECTION_NOT_USABLE"],
  ["SetProjectCredential", secret, "ok account"],
  ["SetProjectCredential", { ...secret, toolkitSlug: "nope" }, "not_found TOOLKIT_NOT_FOUND"],
  ["SetProjectCredential", { ...secret, toolkitSlug: "calendar" }, "invalid_argument SCHEME_NOT_DECLARED"],
  ["SetProjectCredential", { ...secret, clientId: "" }, "invalid_argument CREDENTIAL_MISSING"],
  ["SetProjectCredential", { ...secret, clientSecret: "" }, "invalid_argument CREDENTIAL_MISSING"],
  ["SetProjectCredential", { ...secret, clientSecret: "a\nb" }, "invalid_argument CREDENTIAL_INVALID"],
  ["SetProjectCredential", { ...secret, accountVariables: { one: "1" } }, "invalid_argument ACCOUNT_VARIABLE_UNKNOWN"],
  ["DeleteProjectCredential", { toolkitSlug: kept }, "ok "],
  ["DeleteProjectCredential", { toolkitSlug: kept }, "not_found PROJECT_CREDENTIAL_NOT_FOUND"],
  ["DeleteProjectCredential", { toolkitSlug: "nope" }, "not_found PROJECT_CREDENTIAL_NOT_FOUND"],
  ["PutToolkitClient", { toolkitSlug: "own_login", dryRun: true }, "ok client,redirectUrl"],
  ["PutToolkitClient", client, "ok client,redirectUrl"],
  ["PutToolkitClient", { ...client, clientId: "" }, "invalid_argument CREDENTIAL_MISSING"],
  ["PutToolkitClient", { ...client, clientSecret: "a\nb" }, "invalid_argument CREDENTIAL_INVALID"],
  ["PutToolkitClient", { ...client, toolkitSlug: "nope" }, "not_found PRIVATE_TOOLKIT_NOT_FOUND"],
  ["PutToolkitClient", { ...client, toolkitSlug: "calendar" }, "not_found PRIVATE_TOOLKIT_NOT_FOUND"],
  ["PutToolkitClient", { ...client, toolkitSlug: kept }, "invalid_argument SCHEME_NOT_DECLARED"],
  ["PutToolkitClient", { ...client, issuer: "login" }, "failed_precondition ISSUER_UNUSABLE"],
  ["DeleteToolkitClient", { toolkitSlug: "own_login", dryRun: true }, "ok client"],
  ["DeleteToolkitClient", { toolkitSlug: "own_login" }, "ok client"],
  ["DeleteToolkitClient", { toolkitSlug: "own_login" }, "not_found TOOLKIT_CLIENT_NOT_FOUND"],
  // The sandbox answers, so no real credential is tested.
  ["TestConnection", { id: "$account" }, "ok outcome,message,toolSlug,providerStatus,testedAt,callId,account"],
  ["TestConnection", { id: "$revoked" }, "failed_precondition CONNECTION_NOT_USABLE"],
  ["TestConnection", { id: missing.account }, "not_found CONNECTION_NOT_FOUND"],
  ["TestConnection", { id: "$theiraccount" }, "not_found CONNECTION_NOT_FOUND"],
  ["TestConnection", { id: "nope" }, "invalid_argument ID_MALFORMED"],
  ["DeleteConnection", { id: "$revoked" }, "ok "],
  ["DeleteConnection", { id: missing.account }, "not_found CONNECTION_NOT_FOUND"],
  ["DeleteConnection", { id: "$theiraccount" }, "not_found CONNECTION_NOT_FOUND"],
  ["DeleteConnection", { id: "" }, "invalid_argument ID_MALFORMED"],
];

const answer = "callId,outcome,resultJson,message,retryable,providerStatus,warnings,sandbox,faults,replayed,jobId";
const deals = { toolSlug: "sales_crm.list_deals", entityId: "ann" };
const tools: Case[] = [
  ["SearchTools", { query: "list the deals" }, "ok results,confidence,limitedTo"],
  [
    "SearchTools",
    { query: "deals", toolkitSlug: "sales_crm", kind: "TOOL_KIND_ACTION", accessClass: "read", limit: 50 },
    "ok results,confidence,limitedTo",
  ],
  ["SearchTools", { query: "" }, "invalid_argument QUERY_INVALID"],
  ["SearchTools", { query: "x".repeat(1_001) }, "invalid_argument QUERY_INVALID"],
  ["SearchTools", { query: "deals", limit: 51 }, "invalid_argument LIMIT_INVALID"],
  ["SearchTools", { query: "deals", limit: -1 }, "invalid_argument LIMIT_INVALID"],
  ["SearchTools", { query: "deals", accessClass: "any" }, "invalid_argument ACCESS_CLASS_INVALID"],
  ["DescribeTool", { slug: "sales_crm.list_deals" }, "ok tool"],
  ["DescribeTool", { slug: "sales_crm.nope" }, "not_found TOOL_NOT_FOUND"],
  ["CallTool", deals, `ok ${answer}`],
  ["CallTool", { ...deals, idempotencyKey: "first" }, `ok ${answer}`],
  ["CallTool", { ...deals, entityId: "nobody" }, `ok ${answer}`],
  ["CallTool", { ...deals, entityId: "", connectedAccountId: "$theiraccount" }, `ok ${answer}`],
  ["CallTool", { ...deals, dryRun: true }, `ok ${answer.replace(",faults", ",request,faults")}`],
  ["CallTool", { ...deals, toolSlug: "sales_crm.nope" }, "not_found TOOL_NOT_FOUND"],
  ["CallTool", { ...deals, argumentsJson: "[]" }, "invalid_argument ARGUMENTS_MALFORMED"],
  ["CallTool", { ...deals, entityId: "x".repeat(201) }, "invalid_argument ENTITY_ID_INVALID"],
  ["CallTool", { ...deals, maxBytes: 5 }, "invalid_argument CALL_OPTION_INVALID"],
  ["CallTool", { ...deals, fields: [""] }, "invalid_argument CALL_OPTION_INVALID"],
  ["CallTool", { ...deals, idempotencyKey: "a\nb" }, "invalid_argument IDEMPOTENCY_KEY_INVALID"],
  ["CallTool", { ...deals, connectedAccountId: "nope" }, "invalid_argument ID_MALFORMED"],
  [
    "CallTool",
    { ...deals, idempotencyKey: "first", argumentsJson: '{"limit":1}' },
    "already_exists IDEMPOTENCY_KEY_REUSED",
  ],
  ["ListToolCalls", {}, "ok calls,nextPageToken,limitedTo"],
  [
    "ListToolCalls",
    { toolSlug: "sales_crm.list_deals", entityId: "ann", outcome: "ok", since: dayAgo, until: tomorrow },
    "ok calls,nextPageToken,limitedTo",
  ],
  ["ListToolCalls", { outcome: "good" }, "invalid_argument OUTCOME_INVALID"],
  ["ListToolCalls", { since: tomorrow, until: dayAgo }, "invalid_argument TIME_RANGE_INVALID"],
  ["ListToolCalls", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListToolCalls", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["GetToolCall", { id: "$call" }, "ok call"],
  ["GetToolCall", { id: missing.call }, "not_found TOOL_CALL_NOT_FOUND"],
  ["GetToolCall", { id: "$theircall" }, "not_found TOOL_CALL_NOT_FOUND"],
  ["GetToolCall", { id: "nope" }, "invalid_argument ID_MALFORMED"],
];

const limit = { name: "crm", toolkitSlug: "sales_crm", keyExpression: "accountId", concurrency: 4 };
const minute = { max: 600, per: "60s" };
const after = { phase: "after", endpointUrl: "http://127.0.0.1:9/x" };
tools.push(
  ["PutCallLimit", { limit: { ...limit, rate: minute } }, "ok limit"],
  ["PutCallLimit", {}, "invalid_argument CALL_LIMIT_NAME_INVALID"],
  ["PutCallLimit", { limit: { ...limit, toolkitSlug: "nope" } }, "not_found TOOLKIT_NOT_FOUND"],
  ["PutCallLimit", { limit: { ...limit, keyExpression: "1 +" } }, "invalid_argument KEY_EXPRESSION_INVALID"],
  ["PutCallLimit", { limit: { ...limit, concurrency: 0 } }, "invalid_argument CALL_LIMIT_BOUND_INVALID"],
  ["ListCallLimits", {}, "ok limits"],
  ["PutCallLimit", { limit: { ...limit, name: "pause", paused: true } }, "ok limit"],
  ["CallTool", deals, "resource_exhausted CALL_LIMIT_PAUSED"],
  ["DeleteCallLimit", { name: "pause" }, "ok "],
  ["DeleteCallLimit", { name: "pause" }, "not_found CALL_LIMIT_NOT_FOUND"],
  ["CreateHook", { ...after, toolkitSlugs: ["calendar"], accessClasses: ["destructive"] }, "ok hook,signingSecret"],
  ["CreateHook", { phase: "then", endpointUrl: "http://127.0.0.1:9/x" }, "invalid_argument HOOK_PHASE_INVALID"],
  ["CreateHook", { phase: "before" }, "invalid_argument ENDPOINT_URL_INVALID"],
  ["ListHooks", {}, "ok hooks"],
  ["UpdateHook", { id: noHook, active: false }, "not_found HOOK_NOT_FOUND"],
  ["UpdateHook", { id: "" }, "invalid_argument ID_MALFORMED"],
  ["DeleteHook", { id: noHook }, "not_found HOOK_NOT_FOUND"],
);

const waiting = { programJson: JSON.stringify(waits) };
const answered = { jobId: "$asking", requestId: "$ask", principalId: "owner", continuation: "proceed" };
const promoted = { jobId: "$ended", slug: "ends", description: "Ends" };
const jobs: Case[] = [
  ["SubmitJob", waiting, "ok job,notes"],
  ["SubmitJob", { ...waiting, idempotencyKey: "first" }, "ok job,notes"],
  ["SubmitJob", { ...waiting, idempotencyKey: "first", mode: "simulate" }, "already_exists IDEMPOTENCY_KEY_REUSED"],
  ["SubmitJob", { ...waiting, mode: "dry" }, "invalid_argument MODE_INVALID"],
  ["SubmitJob", { ...waiting, waitSeconds: 31 }, "invalid_argument WAIT_SECONDS_INVALID"],
  ["SubmitJob", { ...waiting, mode: "simulate", simulateFirst: true }, "invalid_argument MODE_CONFLICT"],
  ["SubmitJob", { ...waiting, idempotencyKey: "k".repeat(256) }, "invalid_argument IDEMPOTENCY_KEY_INVALID"],
  ["SubmitJob", { programJson: "" }, "invalid_argument PROGRAM_MALFORMED"],
  [
    "CheckProgram",
    { programJson: waiting.programJson },
    "ok faults,omittedFaults,programHash,estimate,needsApproval,notes",
  ],
  ["CheckProgram", { programJson: "" }, "ok faults,omittedFaults,programHash,needsApproval,notes"],
  [
    "DescribeProgram",
    { programJson: waiting.programJson },
    "ok faults,omittedFaults,programHash,title,steps,result,words",
  ],
  ["DescribeProgram", { programJson: "{" }, "ok faults,omittedFaults,programHash,title,steps,result,words"],
  ["DescribeProgram", { jobId: "$job" }, "ok faults,omittedFaults,programHash,title,steps,result,words"],
  ["DescribeProgram", {}, "invalid_argument DESCRIBED_PROGRAM_UNCLEAR"],
  ["DescribeProgram", { ...waiting, jobId: "$job" }, "invalid_argument DESCRIBED_PROGRAM_UNCLEAR"],
  ["DescribeProgram", { jobId: missing.job }, "not_found JOB_NOT_FOUND"],
  ["DescribeProgram", { jobId: "$theirjob" }, "not_found JOB_NOT_FOUND"],
  ["DescribeProgram", { jobId: "nope" }, "invalid_argument ID_MALFORMED"],
  ["SubmitJob", { programJson: " ".repeat(262_145) }, "invalid_argument PROGRAM_TOO_LARGE"],
  ["GetJob", { id: "$job" }, "ok job"],
  ["GetJob", { id: missing.job }, "not_found JOB_NOT_FOUND"],
  ["GetJob", { id: "$theirjob" }, "not_found JOB_NOT_FOUND"],
  ["GetJob", { id: "nope" }, "invalid_argument ID_MALFORMED"],
  ["ListJobs", {}, "ok jobs,nextPageToken,limitedTo"],
  ["ListJobs", { status: "JOB_STATUS_PARKED", mode: "live", skillSlug: "skills.x" }, "ok jobs,nextPageToken,limitedTo"],
  ["ListJobs", { parentJobId: "$job" }, "ok jobs,nextPageToken,limitedTo"],
  ["ListJobs", { parentJobId: "x" }, "invalid_argument ID_MALFORMED"],
  ["ListJobs", { mode: "dry" }, "invalid_argument MODE_INVALID"],
  ["ListJobs", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListJobs", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["CancelJob", { id: "$job" }, "ok job"],
  ["CancelJob", { id: "$cancelled" }, "ok job"],
  ["CancelJob", { id: "$ended" }, "failed_precondition JOB_FINISHED"],
  ["CancelJob", { id: missing.job }, "not_found JOB_NOT_FOUND"],
  ["CancelJob", { id: "$theirjob" }, "not_found JOB_NOT_FOUND"],
  ["CancelJob", {}, "invalid_argument ID_MALFORMED"],
  ["RetryJob", { id: "$ended" }, "failed_precondition JOB_NOT_RETRYABLE"],
  ["RetryJob", { id: "$ended", paramsJson: "[]" }, "invalid_argument OVERRIDES_INVALID"],
  ["RetryJob", { id: "$ended", idempotencyKey: "k".repeat(256) }, "invalid_argument IDEMPOTENCY_KEY_INVALID"],
  ["RetryJob", { id: missing.job }, "not_found JOB_NOT_FOUND"],
  ["RetryJob", { id: "$theirjob" }, "not_found JOB_NOT_FOUND"],
  [
    "BulkJobs",
    { action: "BULK_JOBS_ACTION_RETRY", filter: { status: "JOB_STATUS_FAILED" }, dryRun: true },
    "ok matched,done,refused,refusals,until,hasMore,summary,next",
  ],
  [
    "BulkJobs",
    { action: "BULK_JOBS_ACTION_CANCEL", jobIds: [missing.job, "$theirjob"] },
    "ok matched,done,refused,refusals,until,hasMore,summary,next",
  ],
  ["BulkJobs", { filter: {} }, "invalid_argument BULK_JOBS_UNCLEAR"],
  ["BulkJobs", { action: "BULK_JOBS_ACTION_RETRY" }, "invalid_argument BULK_JOBS_UNCLEAR"],
  [
    "BulkJobs",
    { action: "BULK_JOBS_ACTION_RETRY", filter: {}, jobIds: [missing.job] },
    "invalid_argument BULK_JOBS_UNCLEAR",
  ],
  [
    "BulkJobs",
    { action: "BULK_JOBS_ACTION_CANCEL", jobIds: Array.from({ length: 1_001 }, () => missing.job) },
    "invalid_argument BULK_JOBS_TOO_MANY",
  ],
  ["BulkJobs", { action: "BULK_JOBS_ACTION_RETRY", filter: { mode: "dry" } }, "invalid_argument MODE_INVALID"],
  ["RerunJob", { id: "$ended" }, "ok job,drift"],
  ["RerunJob", { id: "$ended", inputJson: "[]" }, "invalid_argument PROGRAM_ARGUMENT_INVALID"],
  ["RerunJob", { id: "$ended", paramsJson: '{"x": 1}' }, "invalid_argument OVERRIDES_INVALID"],
  ["RerunJob", { id: "$ended", idempotencyKey: "k".repeat(256) }, "invalid_argument IDEMPOTENCY_KEY_INVALID"],
  ["RerunJob", { id: missing.job }, "not_found JOB_NOT_FOUND"],
  ["RerunJob", { id: "$theirjob" }, "not_found JOB_NOT_FOUND"],
  ["ListUndoEntries", { jobId: "$ended" }, "ok entries,nextPageToken"],
  ["ListUndoEntries", { jobId: missing.job }, "not_found JOB_NOT_FOUND"],
  ["ListUndoEntries", { jobId: "$theirjob" }, "not_found JOB_NOT_FOUND"],
  ["ListUndoEntries", { jobId: "$ended", pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["ListSteps", { jobId: "$ended" }, "ok steps,overridesJson"],
  ["ListSteps", { jobId: missing.job }, "not_found JOB_NOT_FOUND"],
  ["ListSteps", { jobId: "$theirjob" }, "not_found JOB_NOT_FOUND"],
  [
    "GetStep",
    { jobId: "$ended", stepId: "pause" },
    "ok step,receipt,arguments,output,outputRows,rows,hasMoreRows,canRetry,retryWhy",
  ],
  ["GetStep", { jobId: "$ended", stepId: "none" }, "not_found STEP_NOT_FOUND"],
  ["GetStep", { jobId: missing.job, stepId: "none" }, "not_found JOB_NOT_FOUND"],
  ["GetStep", { jobId: "$theirjob", stepId: "none" }, "not_found JOB_NOT_FOUND"],
  ["PauseJob", { id: "$asking" }, "ok job"],
  ["PauseJob", { id: "$ended" }, "failed_precondition JOB_FINISHED"],
  ["PauseJob", { id: missing.job }, "not_found JOB_NOT_FOUND"],
  ["PauseJob", { id: "$theirasking" }, "not_found JOB_NOT_FOUND"],
  ["ResumeJob", { id: "$asking" }, "ok job"],
  ["ResumeJob", { id: "$asking" }, "failed_precondition JOB_NOT_PAUSED"],
  ["ResumeJob", { id: "$ended" }, "failed_precondition JOB_FINISHED"],
  ["ResumeJob", { id: missing.job }, "not_found JOB_NOT_FOUND"],
  ["ResumeJob", { id: "$theirasking" }, "not_found JOB_NOT_FOUND"],
  ["ListJobEvents", { jobId: "$ended" }, "ok events,nextPageToken"],
  ["ListJobEvents", { jobId: missing.job }, "not_found JOB_NOT_FOUND"],
  ["ListJobEvents", { jobId: "$theirjob" }, "not_found JOB_NOT_FOUND"],
  ["ListJobEvents", { jobId: "$ended", pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListJobEvents", { jobId: "$ended", pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["PromoteJob", { ...promoted, jobId: missing.job }, "not_found JOB_NOT_FOUND"],
  ["PromoteJob", { ...promoted, jobId: "$theirended" }, "not_found JOB_NOT_FOUND"],
  ["PromoteJob", { ...promoted, jobId: "$asking" }, "failed_precondition JOB_NOT_PROMOTABLE"],
  ["PromoteJob", { ...promoted, slug: "Ends" }, "invalid_argument SKILL_SLUG_INVALID"],
  ["PromoteJob", { ...promoted, description: "" }, "invalid_argument SKILL_DESCRIPTION_INVALID"],
  ["PromoteJob", { ...promoted, newVersion: true }, "not_found SKILL_NOT_FOUND"],
  ["PromoteJob", promoted, "ok tool,version"],
  ["PromoteJob", promoted, "already_exists SKILL_SLUG_TAKEN"],
  ["ListSkills", {}, "ok skills,nextPageToken"],
  ["ListSkills", { slug: "ends" }, "ok skills,nextPageToken"],
  ["ListSkills", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListSkills", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["GetSkill", { slug: "ends" }, "ok skill"],
  ["GetSkill", { slug: "ends", version: 99 }, "not_found SKILL_NOT_FOUND"],
  ["DeleteSkill", { slug: "ends", version: 99 }, "not_found SKILL_NOT_FOUND"],
  ["DeleteSkill", { slug: "ends" }, "ok "],
  ["DeleteSkill", { slug: "ends" }, "not_found SKILL_NOT_FOUND"],
  ["GetAsk", { jobId: "$asking", requestId: "$ask" }, "ok ask"],
  ["GetAsk", { requestId: "$ask" }, "ok ask"],
  ["GetAsk", { requestId: "$theirask" }, "not_found ASK_NOT_FOUND"],
  ["GetAsk", { jobId: missing.job, requestId: "$ask" }, "not_found JOB_NOT_FOUND"],
  ["GetAsk", { jobId: "$theirasking", requestId: "$theirask" }, "not_found JOB_NOT_FOUND"],
  ["GetAsk", { jobId: "$asking", requestId: missing.ask }, "not_found ASK_NOT_FOUND"],
  ["GetAsk", { jobId: "$asking", requestId: "$theirask" }, "not_found ASK_NOT_FOUND"],
  ["ListAsks", {}, "ok asks,nextPageToken,limitedTo"],
  [
    "ListAsks",
    { state: "ASK_STATE_PENDING", principalId: "owner", jobId: "$asking" },
    "ok asks,nextPageToken,limitedTo",
  ],
  ["ListAsks", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListAsks", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["CreateAnswerLink", { jobId: "$asking", principalId: "owner" }, "ok url,expiresAt"],
  ["CreateAnswerLink", { jobId: missing.job, principalId: "owner" }, "not_found JOB_NOT_FOUND"],
  ["CreateAnswerLink", { jobId: "$theirasking", principalId: "owner" }, "not_found JOB_NOT_FOUND"],
  ["CreateAnswerLink", { jobId: "$asking", requestId: missing.ask }, "failed_precondition ASK_STALE"],
  ["CreateAnswerLink", { jobId: "$ended" }, "failed_precondition ASK_SETTLED"],
  ["CreateAnswerLink", { jobId: "$asking", principalId: "lead" }, "permission_denied PRINCIPAL_NOT_REACHED"],
  ["CreateAnswerLink", { expiresAt: "2020-01-01T00:00:00Z", jobId: "$asking" }, "invalid_argument LINK_EXPIRY_INVALID"],
  ["AnswerAsk", { ...answered, jobId: missing.job }, "not_found JOB_NOT_FOUND"],
  ["AnswerAsk", { ...answered, jobId: "$theirasking", requestId: "$theirask" }, "not_found JOB_NOT_FOUND"],
  ["AnswerAsk", { ...answered, requestId: missing.ask }, "failed_precondition ASK_STALE"],
  ["AnswerAsk", { ...answered, jobId: "$ended", requestId: "" }, "failed_precondition ASK_SETTLED"],
  ["AnswerAsk", { ...answered, principalId: "lead" }, "permission_denied PRINCIPAL_NOT_REACHED"],
  ["AnswerAsk", { ...answered, continuation: "abort" }, "invalid_argument CONTINUATION_NOT_DECLARED"],
  ["AnswerAsk", { ...answered, overridesJson: "{}" }, "invalid_argument OVERRIDES_INVALID"],
  ["AnswerAsk", { ...answered, note: "n".repeat(2_001) }, "invalid_argument NOTE_TOO_LONG"],
  ["CreateAskEndpoint", { endpointUrl: "https://example.com/asks" }, "ok askEndpoint,signingSecret"],
  ["CreateAskEndpoint", { endpointUrl: "" }, "invalid_argument ENDPOINT_URL_INVALID"],
  [
    "CreateAskEndpoint",
    { endpointUrl: "https://example.com/asks", eventTypes: ["all"] },
    "invalid_argument EVENT_TYPE_UNKNOWN",
  ],
  ["CreateAskEndpoint", { endpointUrl: "http://example.com" }, "invalid_argument ENDPOINT_URL_NOT_HTTPS"],
  ["CreateAskEndpoint", { endpointUrl: "https://10.0.0.1" }, "invalid_argument ENDPOINT_ADDRESS_REFUSED"],
  ["ListAskEndpoints", {}, "ok askEndpoints,nextPageToken"],
  ["ListAskEndpoints", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListAskEndpoints", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["DeleteAskEndpoint", { id: missing.endpoint }, "not_found ASK_ENDPOINT_NOT_FOUND"],
  ["DeleteAskEndpoint", { id: "nope" }, "invalid_argument ID_MALFORMED"],
];

const contact = { principalId: "ada", name: "Ada", approver: false };
const reach = {
  toolSlug: "messaging_bot.send_message",
  entityId: "ann",
  argsJson: '{"chat_id":"@x","text":"{question}"}',
};
const contacts: Case[] = [
  ["PutContact", { contact }, "ok contact"],
  ["PutContact", { contact: { ...contact, reach } }, "ok contact"],
  ["PutContact", {}, "invalid_argument PRINCIPAL_ID_INVALID"],
  ["PutContact", { contact: { ...contact, name: "" } }, "invalid_argument CONTACT_NAME_INVALID"],
  ["PutContact", { contact: { ...contact, reach: { ...reach, toolSlug: "nope.x" } } }, "not_found TOOL_NOT_FOUND"],
  [
    "PutContact",
    { contact: { ...contact, reach: { ...reach, toolSlug: "messaging_bot.delete_message" } } },
    "invalid_argument REACH_TOOL_UNSUITABLE",
  ],
  ["PutContact", { contact: { ...contact, reach: { ...reach, entityId: "" } } }, "invalid_argument ENTITY_ID_INVALID"],
  [
    "PutContact",
    { contact: { ...contact, reach: { ...reach, argsJson: "[]" } } },
    "invalid_argument REACH_ARGS_INVALID",
  ],
  ["PutContact", { contact: { ...contact, principalId: "owner" } }, "failed_precondition LAST_APPROVER"],
  ["ListContacts", {}, "ok contacts,nextPageToken"],
  ["ListContacts", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListContacts", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["DeleteContact", { principalId: "ada" }, "ok "],
  ["DeleteContact", { principalId: "ada" }, "not_found CONTACT_NOT_FOUND"],
  ["DeleteContact", { principalId: "owner" }, "failed_precondition LAST_APPROVER"],
];

const identity: Case[] = [
  [
    "GetIdentity",
    {},
    "ok projectId,projectName,keyId,role,keyName,deployment,entityId,accessClasses,toolkitSlugs,confirm",
  ],
];

const consoleCases: Case[] = [
  ["CreateSignInLink", {}, "ok url,expiresAt"],
  ["ListSessions", {}, "ok sessions"],
  ["EndSession", { id: "" }, "invalid_argument ID_MALFORMED"],
  ["EndSession", { id: "ses_01h455vb4pex5vsknk084sn02q" }, "not_found SESSION_NOT_FOUND"],
];

const inboxId = "AZw3";
const sandboxCases: Case[] = [
  ["SendSampleEvent", { triggerSlug: "calendar.nope" }, "not_found TRIGGER_NOT_FOUND"],
  ["SendSampleEvent", { triggerSlug: "svc.nope" }, "not_found TRIGGER_NOT_FOUND"],
  ["CreateInbox", {}, "ok inboxId,url"],
  ["ListInboxRequests", { inboxId }, "not_found INBOX_NOT_FOUND"],
  ["ListInboxRequests", {}, "not_found INBOX_NOT_FOUND"],
  ["ConnectSandboxAccounts", { entityId: "demo", toolkitSlugs: ["messaging_bot"] }, "ok accounts"],
  ["ConnectSandboxAccounts", { entityId: "demo" }, "invalid_argument TOOLKIT_SLUGS_INVALID"],
  ["ConnectSandboxAccounts", { toolkitSlugs: ["messaging_bot"] }, "invalid_argument ENTITY_ID_INVALID"],
  ["ConnectSandboxAccounts", { entityId: "demo", toolkitSlugs: ["nope"] }, "not_found TOOLKIT_NOT_FOUND"],
];

const noGrant = "grt_01h455vb4pex5vsknk084sn02q";
// Calls with an existing grant are tested in packages/cli/src/topics/grants.test.ts and test/authorization.
const grantCases: Case[] = [
  ["ListGrants", {}, "ok grants,nextPageToken"],
  ["ListGrants", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListGrants", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["UpdateGrant", { id: "" }, "invalid_argument ID_MALFORMED"],
  ["UpdateGrant", { id: noGrant, accessClasses: ["read"] }, "not_found GRANT_NOT_FOUND"],
  ["RevokeGrant", { id: "" }, "invalid_argument ID_MALFORMED"],
  ["RevokeGrant", { id: noGrant }, "not_found GRANT_NOT_FOUND"],
  // The other refusals are tested in test/agent-keys.test.ts.
  ["CreateAgentKey", { name: "agent", entityId: "ada" }, "ok apiKey,key"],
  ["CreateAgentKey", { name: "agent" }, "invalid_argument AGENT_KEY_UNSCOPED"],
  ["CreateAgentKey", { name: "", entityId: "ada" }, "invalid_argument NAME_INVALID"],
  ["CreateAgentKey", { name: "agent", entityId: "ada", lifetime: "90000s" }, "invalid_argument LIFETIME_INVALID"],
  ["ListAgentKeys", {}, "ok apiKeys,nextPageToken"],
  ["ListAgentKeys", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListAgentKeys", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["RevokeAgentKey", { id: "" }, "invalid_argument ID_MALFORMED"],
  ["RevokeAgentKey", { id: "key_01h455vb4pex5vsknk084sn02q" }, "not_found AGENT_KEY_NOT_FOUND"],
];

const noProject = "prj_01h455vb4pex5vsknk084sn02q";
const noPerson = "per_01h455vb4pex5vsknk084sn02q";
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
  [
    "CreateApiKey",
    { projectId: "$project", role: "ROLE_MEMBER", name: "k", confirm: { person: "writes", contact: "nobody" } },
    "invalid_argument CONFIRM_INVALID",
  ],
  ["ListApiKeys", { projectId: "$project" }, "ok apiKeys,nextPageToken"],
  ["ListApiKeys", { projectId: "$project", ofPortalLinks: true }, "ok apiKeys,nextPageToken"],
  ["ListApiKeys", { projectId: noProject }, "not_found PROJECT_NOT_FOUND"],
  ["RevokeApiKey", { id: "key_01h455vb4pex5vsknk084sn02q" }, "not_found API_KEY_NOT_FOUND"],
  ["ListPeople", {}, "ok people,nextPageToken"],
  ["ListPeople", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListPeople", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["CreateInvitation", { projectId: noProject, role: "ROLE_MEMBER" }, "not_found PROJECT_NOT_FOUND"],
  ["CreateInvitation", { projectId: "$project" }, "invalid_argument ROLE_INVALID"],
  ["CreateInvitation", { projectId: "$project", role: "ROLE_MEMBER" }, "failed_precondition COMPANY_ACCOUNTS_OFF"],
  ["SetPersonRole", { personId: noPerson, projectId: "$project", role: "ROLE_MEMBER" }, "not_found PERSON_NOT_FOUND"],
  ["RemovePerson", { id: noPerson }, "not_found PERSON_NOT_FOUND"],
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
  ["SetProjectPolicy", { projectId: "$project", quotas: { calls: -2 } }, "invalid_argument QUOTA_INVALID"],
  ["SetProjectPolicy", { projectId: "$project", http: { hosts: ["*.a.b"] } }, "invalid_argument HTTP_HOST_INVALID"],
  ["GetProjectUsage", { projectId: "$project" }, "ok quotas,calls,posts,postsBeyond,nodeId"],
  ["GetProjectUsage", { projectId: noProject }, "not_found PROJECT_NOT_FOUND"],
  ["ListQuarantinedPosts", {}, "ok posts,nextPageToken"],
  ["ListQuarantinedPosts", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["GetQuarantinedPost", { id: "qrn_01h455vb4pex5vsknk084sn02q" }, "not_found QUARANTINED_POST_NOT_FOUND"],
  ["ReleaseQuarantinedPosts", { toolkitSlug: "calendar" }, "ok results,nextPageToken"],
  ["ReleaseQuarantinedPosts", {}, "invalid_argument FILTER_REQUIRED"],
  ["ReleaseQuarantinedPosts", { toolkitSlug: "nope" }, "not_found TOOLKIT_NOT_FOUND"],
  ["ReleaseQuarantinedPosts", { since: tomorrow, until: dayAgo }, "invalid_argument TIME_RANGE_INVALID"],
  [
    "ReleaseQuarantinedPosts",
    { ids: Array.from({ length: 501 }, () => "qrn_01h455vb4pex5vsknk084sn02q") },
    "invalid_argument TOO_MANY_IDS",
  ],
  ["ParkJob", { projectId: "$project", jobId: missing.job }, "not_found JOB_NOT_FOUND"],
  ["ParkJob", { projectId: "$project", jobId: "$theirjob" }, "not_found JOB_NOT_FOUND"],
  ["ParkJob", { projectId: "$project", jobId: "$ended" }, "failed_precondition JOB_FINISHED"],
  ["ParkJob", { projectId: "$otherProject", jobId: "$theirasking" }, "failed_precondition JOB_NOT_PARKABLE"],
  ["ReleaseJob", { projectId: "$project", jobId: missing.job }, "not_found JOB_NOT_FOUND"],
  ["ReleaseJob", { projectId: "$project", jobId: "$ended" }, "failed_precondition JOB_FINISHED"],
  ["ReleaseJob", { projectId: "$otherProject", jobId: "$theirasking" }, "failed_precondition JOB_NOT_RELEASABLE"],
  ["EraseEntity", { projectId: "$project", entityId: "nobody" }, "ok erasure"],
  ["EraseEntity", { projectId: "$project" }, "invalid_argument ENTITY_ID_INVALID"],
  ["EraseEntity", { projectId: noProject, entityId: "ada" }, "not_found PROJECT_NOT_FOUND"],
  ["DeleteProject", { projectId: noProject }, "not_found PROJECT_NOT_FOUND"],
  ["GetErasure", { id: "ers_01h455vb4pex5vsknk084sn02q" }, "not_found ERASURE_NOT_FOUND"],
  ["RotateVault", {}, "failed_precondition VAULT_KEY_UNCHANGED"],
  ["GetVaultRotation", {}, "ok "],
  ["PutDeploymentSecret", { name: "embeddings_key", value: "a-key-of-calls" }, "ok secret"],
  [
    "PutDeploymentSecret",
    { name: "billing_token", value: "a-key-of-calls" },
    "invalid_argument DEPLOYMENT_SECRET_UNKNOWN",
  ],
  ["PutDeploymentSecret", { name: "embeddings_key", value: "short" }, "invalid_argument DEPLOYMENT_SECRET_INVALID"],
  [
    "PutDeploymentSecret",
    { name: "embeddings_key", value: "a-key-of\ncalls" },
    "invalid_argument DEPLOYMENT_SECRET_INVALID",
  ],
  ["ListDeploymentSecrets", {}, "ok secrets"],
  ["DeleteDeploymentSecret", { name: "billing_token" }, "invalid_argument DEPLOYMENT_SECRET_UNKNOWN"],
  ["DeleteDeploymentSecret", { name: "embeddings_key" }, "ok "],
  ["DeleteDeploymentSecret", { name: "embeddings_key" }, "not_found DEPLOYMENT_SECRET_NOT_FOUND"],
  ["GetRestore", {}, "ok "],
  ["ResumeRestored", {}, "failed_precondition STORE_NOT_HELD"],
  ["ListAuditEvents", { projectId: "$project" }, "ok events,nextPageToken"],
  ["ListAuditEvents", { projectId: "x" }, "invalid_argument ID_MALFORMED"],
  ["ListAuditEvents", { actor: "nobody" }, "invalid_argument ACTOR_INVALID"],
  ["ListAuditEvents", { action: "x".repeat(201) }, "invalid_argument FILTER_TEXT_INVALID"],
  ["ListAuditEvents", { since: tomorrow, until: dayAgo }, "invalid_argument TIME_RANGE_INVALID"],
  ["ListAuditEvents", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["ListAuditEvents", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
  ["VerifyAuditLog", {}, "ok checked,faults,heads,nextPageToken"],
  ["VerifyAuditLog", { pageToken: "x" }, "invalid_argument PAGE_TOKEN_INVALID"],
];

const secrets: Case[] = [
  ["PutSecret", { name: "billing_token", value: "a-secret-of-calls" }, "ok secret"],
  ["PutSecret", { name: "Billing", value: "a-secret-of-calls" }, "invalid_argument SECRET_NAME_INVALID"],
  ["PutSecret", { value: "a-secret-of-calls" }, "invalid_argument SECRET_NAME_INVALID"],
  ["PutSecret", { name: "billing_token", value: "short" }, "invalid_argument SECRET_VALUE_INVALID"],
  ["PutSecret", { name: "billing_token", value: "x".repeat(8_193) }, "invalid_argument SECRET_VALUE_INVALID"],
  ["ListSecrets", {}, "ok secrets"],
  ["DeleteSecret", { name: "theirs" }, "not_found SECRET_NOT_FOUND"],
  ["DeleteSecret", { name: "a/b" }, "not_found SECRET_NOT_FOUND"],
  ["DeleteSecret", { name: "billing_token" }, "ok "],
];

const standingDefinition = JSON.stringify({
  version: 1,
  source: { schedule: { every: "1d" } },
  program: {
    version: 1,
    title: "Look",
    steps: [{ id: "pause", wait: "1m" }],
  },
});
const nextDefinition = standingDefinition.replace("1d", "2d");
const noProgram = "not_found STANDING_PROGRAM_NOT_FOUND";
const standing: Case[] = [
  [
    "CreateStandingProgram",
    { slug: "A", definitionJson: standingDefinition },
    "invalid_argument STANDING_SLUG_INVALID",
  ],
  ["CreateStandingProgram", { slug: "look", definitionJson: "{" }, "invalid_argument DEFINITION_MALFORMED"],
  ["CreateStandingProgram", { slug: "look", definitionJson: standingDefinition }, "ok standingProgram,notes"],
  ["CreateStandingProgram", { slug: "look", definitionJson: nextDefinition }, "already_exists STANDING_SLUG_TAKEN"],
  ["GetStandingProgram", { id: "look" }, "ok standingProgram,versions,passedOver"],
  ["GetStandingProgram", { id: "none" }, noProgram],
  ["ListStandingPrograms", { state: "STANDING_STATE_ACTIVE" }, "ok standingPrograms,nextPageToken,limitedTo"],
  ["ListStandingPrograms", { pageSize: -1 }, "invalid_argument PAGE_SIZE_NEGATIVE"],
  ["UpdateStandingProgram", { id: "look", definitionJson: nextDefinition }, "ok standingProgram,notes"],
  [
    "UpdateStandingProgram",
    { id: "look", definitionJson: nextDefinition, expectedVersion: 7 },
    "failed_precondition STANDING_VERSION_STALE",
  ],
  ["UpdateStandingProgram", { id: "none", definitionJson: nextDefinition }, noProgram],
  ["RunStandingProgram", { id: "look", inputJson: "[]" }, "invalid_argument INPUT_MISMATCH"],
  ["RunStandingProgram", { id: "look" }, "ok run"],
  ["BackfillStandingProgram", { id: "look", since: dayAgo, dryRun: true }, "ok backfill"],
  ["BackfillStandingProgram", { id: "look" }, "invalid_argument FILTER_REQUIRED"],
  ["BackfillStandingProgram", { id: "look", since: dayAgo, perMinute: 601 }, "invalid_argument BACKFILL_RATE_INVALID"],
  ["BackfillStandingProgram", { id: "look", since: dayAgo, policy: "none" }, "invalid_argument POLICY_INVALID"],
  ["BackfillStandingProgram", { id: "none", since: dayAgo }, noProgram],
  ["GetBackfill", { id: missing.backfill }, "not_found BACKFILL_NOT_FOUND"],
  ["CancelBackfill", { id: missing.backfill }, "not_found BACKFILL_NOT_FOUND"],
  ["ListStandingRuns", { standingProgramId: "look" }, "ok runs,nextPageToken"],
  ["ListStandingRuns", { standingProgramId: "none" }, noProgram],
  ["GetStandingRun", { id: "srn_00000000000000000000000000" }, "not_found STANDING_RUN_NOT_FOUND"],
  ["PauseStandingProgram", { id: "look" }, "ok standingProgram"],
  ["RunStandingProgram", { id: "look" }, "failed_precondition STANDING_PROGRAM_NOT_ACTIVE"],
  ["ResumeStandingProgram", { id: "look" }, "ok standingProgram"],
  ["ResumeStandingProgram", { id: "none" }, noProgram],
  [
    "PreviewStandingProgram",
    { id: "look" },
    "ok nextTimes,tzVersion,estimate,needsApproval,seen,matched,passedOver,timeZone,notes",
  ],
  ["PreviewStandingProgram", { id: "look", count: 101 }, "invalid_argument PREVIEW_COUNT_INVALID"],
  ["DeleteStandingProgram", { id: "look" }, "ok "],
  ["DeleteStandingProgram", { id: "look" }, noProgram],
];

const transports = { "JSON POST": overJson, "the client": overClient };
const tables: [DescService, Case[], () => string][] = [
  [TriggersService, triggers, () => bootstrapKey],
  [CatalogService, catalog, () => bootstrapKey],
  [ConnectionsService, connections, () => bootstrapKey],
  [SecretsService, secrets, () => bootstrapKey],
  [ToolsService, tools, () => bootstrapKey],
  [JobsService, jobs, () => bootstrapKey],
  [ContactsService, contacts, () => bootstrapKey],
  [StandingService, standing, () => bootstrapKey],
  [IdentityService, identity, () => bootstrapKey],
  [ConsoleService, consoleCases, () => bootstrapKey],
  [GrantsService, grantCases, () => bootstrapKey],
  [StatsService, statsCases, () => bootstrapKey],
  [SandboxService, sandboxCases, () => bootstrapKey],
  [AdminService, admin, () => adminToken],
];

/** Methods whose answers depend on the progress of the engines. Only the form of their answers is recorded. */
const counting: ReadonlySet<string> = new Set([
  "GetBacklog",
  "GetStart",
  "CreateInbox",
  "QuerySeries",
  "ListFailures",
  "Trace",
  "Search",
  "GetProjectUsage",
  "VerifyAuditLog",
  "ListJobs",
  "ListReplays",
  "TryNow",
]);

/** Requests and answers as plain JSON since this list was last emptied, as they were sent. */
const recorded: string[] = [];
const mask = masking();

for (const [descriptor, cases, bearer] of tables) {
  for (const [transport, send] of Object.entries(transports)) {
    describe(`${descriptor.name} over ${transport}`, () => {
      test.each(cases)("%s %j: %s", async (method, body, expected) => {
        const outcome = await send(descriptor, method, resolve(body) as JsonObject, bearer());
        expect(describeOutcome(outcome)).toBe(expected);
      });
      if (send !== overJson) return;
      test("requests and answers are those that are recorded", async () => {
        const texts = recorded.splice(0).map((text) => mask(text.replaceAll(/"value":"[^"]*"/g, '"value":"BYTES"')));
        await expect(texts.join("\n")).toMatchFileSnapshot(`golden/calls/${descriptor.name}.txt`);
      });
    });
  }
}

function describeOutcome(outcome: Outcome): string {
  if ("answer" in outcome) return `ok ${Object.keys(outcome.answer as JsonObject).join(",")}`;
  return `${outcome.code} ${outcome.reasons.join(",")}`;
}

test("every call of the services stands in the tables", () => {
  for (const [descriptor, cases] of tables) {
    const covered = new Set(cases.map(([method]) => method));
    // A stream has no single answer to compare. test/jobs/answers.test.ts tests the streams of jobs.
    const unary = descriptor.methods.filter(({ methodKind }) => methodKind === "unary");
    expect(unary.filter((method) => !covered.has(method.name)).map((method) => method.name)).toEqual([]);
  }
});

const missingKey = "unauthenticated API_KEY_INVALID";
const approverCalls: [DescService, string, JsonObject][] = [
  [CatalogService, "PublishToolkit", { definitionJson: "{}" }],
  [CatalogService, "ImportToolkit", { openapi: { document: "{}" } }],
  [CatalogService, "RefreshToolkit", { slug: "own_shop" }],
  [CatalogService, "AcceptToolkitChanges", { slug: "own_shop" }],
  [CatalogService, "PutToolkitPhrases", { slug: "own_shop" }],
  [CatalogService, "DeleteToolkit", { slug: "own_shop" }],
  [ConnectionsService, "SetAccountReferences", { id: "$theiraccount" }],
  [ConnectionsService, "SetProjectCredential", { toolkitSlug: "own_shop" }],
  [JobsService, "CreateAskEndpoint", { endpointUrl: "https://example.com" }],
  [JobsService, "ListAskEndpoints", {}],
  [JobsService, "DeleteAskEndpoint", { id: missing.endpoint }],
  [ContactsService, "PutContact", { contact }],
  [ContactsService, "DeleteContact", { principalId: "owner" }],
  [SecretsService, "PutSecret", { name: "s", value: "a-secret-of-calls" }],
  [SecretsService, "DeleteSecret", { name: "s" }],
  [TriggersService, "PutEventType", { name: "order.made" }],
  [TriggersService, "PutEventSettings", {}],
  [TriggersService, "PutWebhookSecret", { toolkitSlug: "help_desk" }],
  [TriggersService, "DeleteWebhookSecret", { id: "wsc_01h455vb4pex5vsknk084sn02q" }],
  [TriggersService, "GetQuarantinedPost", { id: "qrn_01h455vb4pex5vsknk084sn02q" }],
  [TriggersService, "ReleaseQuarantinedPosts", { toolkitSlug: "help_desk" }],
  [ToolsService, "PutCallLimit", { limit }],
  [ToolsService, "DeleteCallLimit", { name: "crm" }],
  [ToolsService, "CreateHook", { phase: "before", endpointUrl: "http://127.0.0.1:9/x" }],
  [ToolsService, "UpdateHook", { id: noHook }],
  [ToolsService, "DeleteHook", { id: noHook }],
  [ConnectionsService, "DeleteProjectCredential", { toolkitSlug: "own_shop" }],
  [ConnectionsService, "PutToolkitClient", { toolkitSlug: "own_login" }],
  [ConnectionsService, "DeleteToolkitClient", { toolkitSlug: "own_login" }],
  [GrantsService, "CreateAgentKey", { name: "agent", entityId: "ada" }],
  [GrantsService, "ListAgentKeys", {}],
  [GrantsService, "RevokeAgentKey", { id: "key_01h455vb4pex5vsknk084sn02q" }],
];

describe.each(Object.entries(transports))("keys and roles over %s", (_name, send) => {
  test.each(approverCalls)("$name: %s takes an approver", async (descriptor, method, body) => {
    const refused = await send(descriptor, method, resolve(body) as JsonObject, known["theirKey"] ?? "");
    expect(describeOutcome(refused)).toBe("permission_denied ROLE_REQUIRED");
  });

  test("an origin-deciding variable takes an approver", async () => {
    const body = { toolkitSlug: "vector_db", entityId: "eve", apiKey: "k", accountVariables: vectors };
    const refused = await send(ConnectionsService, "InitiateConnection", body, known["theirKey"] ?? "");
    expect(describeOutcome(refused)).toBe("permission_denied ORIGIN_NEEDS_APPROVER");
  });

  test("the new services take project keys only", async () => {
    for (const [descriptor, method] of [
      [ConnectionsService, "ListConnections"],
      [ToolsService, "ListToolCalls"],
      [SecretsService, "ListSecrets"],
      [IdentityService, "GetIdentity"],
      [JobsService, "ListJobs"],
      [ContactsService, "ListContacts"],
      [ConsoleService, "ListSessions"],
    ] as const) {
      expect(describeOutcome(await send(descriptor, method, {}, adminToken))).toBe("permission_denied ROLE_REQUIRED");
      expect(describeOutcome(await send(descriptor, method, {}, `svc_${"0".repeat(43)}_000000`))).toBe(missingKey);
    }
  });

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

  test("a revoked key is refused", async () => {
    const { key, apiKey } = await adminCall<{ key: string; apiKey: { id: string } }>("CreateApiKey", {
      projectId: known["project"]!,
      role: "ROLE_MEMBER",
      name: "short-lived",
    });
    expect(describeOutcome(await send(TriggersService, "ListEvents", {}, key))).toContain("ok");
    await adminCall("RevokeApiKey", { id: apiKey.id });
    expect(describeOutcome(await send(TriggersService, "ListEvents", {}, key))).toBe(missingKey);
  });

  test("another project's deliveries are an empty list", async () => {
    for (const body of [{ eventId: known["theirevent"]! }, { subscriptionId: known["theirsubscription"]! }]) {
      expect(await send(TriggersService, "ListDeliveries", body, bootstrapKey)).toEqual({
        answer: { deliveries: [], nextPageToken: "", limitedTo: "" },
      });
    }
  });
});

test("no key at all", async () => {
  expect(describeOutcome(await overJson(TriggersService, "ListEvents", {}, ""))).toBe(
    "unauthenticated API_KEY_MISSING",
  );
});
