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
import { signInToConsole } from "@svc/testing/console-session";
import { createTestMcpClient, taskCapabilities } from "@svc/testing/mcp-client";
import { startTestServer, type TestAnswer, type TestServer } from "@svc/testing/server";
import { calendarSecret, postCalendar } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// Tests every call and every MCP tool with a key that is scoped to the entity ada, on data of the entity bob. The data were created with a
// key without scope and with a key that is scoped to bob.

let svc: TestServer;
let adaKey: string;
let approverKey: string;
let projectId: string;
const ids: Record<string, string> = {};
/** Texts that no answer to ada's key may contain. */
const bobs = () => [
  ...Object.entries(ids).flatMap(([name, id]) => (name.startsWith("bob") ? [id] : [])),
  '"bob"',
  "of-bob",
];

const json = JSON.stringify;
const deals = (entity: string) => ({ id: "deals", call: "sales_crm.list_deals", entity, args: {} });
const readsOf = (entity: string) => json({ version: 1, title: `reads of-${entity}`, steps: [deals(entity)] });
const asksOf = (entity: string) =>
  json({
    version: 1,
    title: `asks of-${entity}`,
    steps: [deals(entity), { id: "judge", judge: "sure" }],
    points: { sure: { question: "Sure?", continuations: ["proceed"], escalation: [{ principal: "owner" }] } },
  });
const skillOf = (entity: string) =>
  json({
    ...{ version: 1, title: `skill of-${entity}`, steps: [deals(entity)] },
    inputSchema: { type: "object", additionalProperties: false, properties: {} },
  });
const standingOf = (entity: string) =>
  json({ version: 1, source: { schedule: { every: "1d" } }, program: JSON.parse(readsOf(entity)) });
const listeningFor = (entity?: string) =>
  json({
    ...{ version: 1, program: JSON.parse(readsOf("ada")) },
    source: { trigger: { slug: "calendar.events_changed", ...(entity && { entity }) } },
  });

async function call(method: string, body: object, bearer: string): Promise<TestAnswer> {
  return svc.call(`svc.v1.${method}`, body, { bearer });
}

async function made(method: string, body: object, bearer: string = svc.key) {
  const answer = await call(method, body, bearer);
  if (answer.status !== 200) throw new Error(`${method}: ${json(answer.json)}`);
  return answer.json;
}

async function createKey(role: string, binding: object): Promise<string> {
  const body = { projectId, role, name: `key ${json(binding)}`, ...binding };
  return (await svc.admin("CreateApiKey", body)).json.key;
}

/** Creates an account, a call, jobs, a question and a standing program of an entity, with a key. */
async function plant(name: string, entity: string, bearer: string): Promise<void> {
  const { account } = await made(
    "ConnectionsService/InitiateConnection",
    { toolkitSlug: "sales_crm", entityId: entity },
    bearer,
  );
  ids[`${name}Account`] = account.id;
  const toolCall = { toolSlug: "sales_crm.list_deals", entityId: entity, idempotencyKey: `${name}-k` };
  ids[`${name}Call`] = (await made("ToolsService/CallTool", toolCall, bearer)).callId;
  const byAccount = { toolSlug: "sales_crm.list_deals", connectedAccountId: account.id, idempotencyKey: `${name}-a` };
  await made("ToolsService/CallTool", byAccount, bearer);
  const submit = async (programJson: string) =>
    (await made("JobsService/SubmitJob", { programJson, idempotencyKey: `${name} ${programJson.length}` }, bearer)).job
      .id;
  ids[`${name}Job`] = await submit(skillOf(entity));
  ids[`${name}Asking`] = await submit(asksOf(entity));
  const standing = { slug: `standing_${name.toLowerCase()}`, definitionJson: standingOf(entity) };
  ids[`${name}Standing`] = (await made("StandingService/CreateStandingProgram", standing, bearer)).standingProgram.id;
  const run = { id: ids[`${name}Standing`] };
  ids[`${name}Run`] = (await made("StandingService/RunStandingProgram", run, bearer)).run.id;
  await until(async () => {
    const { job } = await made("JobsService/GetJob", { id: ids[`${name}Asking`] }, bearer);
    ids[`${name}Ask`] = job.park?.judgment?.requestId ?? "";
    const done = await made("JobsService/GetJob", { id: ids[`${name}Job`] }, bearer);
    return ids[`${name}Ask`] !== "" && done.job.status === "JOB_STATUS_SUCCEEDED";
  }, "an ask and a job of each that ended");
}

async function plantEvent(name: string, entity: string): Promise<void> {
  expect(await postCalendar({ url: svc.url }, `channel-of-${name}`, 1)).toBe(202);
  const { events } = await made("TriggersService/ListEvents", { pageSize: 1 });
  ids[`${name}Event`] = events[0].id;
  await svc.database.db.sql.unsafe(
    "update events set entity_id = $1 where id = (select id from events order by id desc limit 1)",
    [entity],
  );
}

beforeAll(async () => {
  svc = await startTestServer({
    variables: { SVC_SANDBOX: "force", SVC_WEBHOOK_SECRET_CALENDAR: calendarSecret },
  });
  ({ projectId } = await made("IdentityService/GetIdentity", {}));
  adaKey = await createKey("ROLE_MEMBER", { entityId: "ada" });
  approverKey = await createKey("ROLE_APPROVER", { entityId: "ada" });
  const bobKey = await createKey("ROLE_MEMBER", { entityId: "bob" });
  await plantEvent("ada", "ada");
  await plantEvent("bob", "bob");
  const { subscription } = await made("TriggersService/CreateSubscription", {
    endpointUrl: "http://127.0.0.1:9/nobody",
  });
  ids["subscription"] = subscription.id;
  ids["delivery"] = (await made("TriggersService/SendTestEvent", { subscriptionId: subscription.id })).delivery.id;
  await made("SecretsService/PutSecret", { name: "bob_token", value: "a-secret-of-bob" });
  await Promise.all([plant("ada", "ada", adaKey), plant("bobFree", "bob", svc.key)]);
  await plant("bobBound", "bob", bobKey);
  const byAccount = { connectedAccountId: ids["bobBoundAccount"], idempotencyKey: "named" };
  expect((await made("ToolsService/CallTool", { toolSlug: "sales_crm.list_deals", ...byAccount })).outcome).toBe("ok");
  const promotion = { jobId: ids["bobFreeJob"], slug: "deals_daily", description: "Reads the deals of the day." };
  await made("JobsService/PromoteJob", promotion);
  const backfill = { id: ids["bobFreeStanding"], since: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z" };
  ids["bobBackfill"] = (await made("StandingService/BackfillStandingProgram", backfill)).backfill.id;
}, 120_000);
afterAll(() => svc?.stop());

const bound = "permission_denied ENTITY_BOUND";
const refused: Row[] = [[{}, bound]];
type Row = readonly [body: Record<string, unknown>, expected: string];
/** Returns a case for each id of bob's data, with a call that names this id. */
const missing = (field: string, kind: string, reason: string, more: object = {}): Row[] =>
  ["bobFree", "bobBound"].map((name) => [{ ...more, [field]: `$${name}${kind}` }, `not_found ${reason}`]);
const noJob = (field: string, more: object = {}) => missing(field, "Job", "JOB_NOT_FOUND", more);
const noProgram = (field: string, more: object = {}) => missing(field, "Standing", "STANDING_PROGRAM_NOT_FOUND", more);

const table: Readonly<Record<string, readonly Row[]>> = {
  "CatalogService/ListToolkits": [[{}, "ok"]],
  "CatalogService/GetToolkit": [[{ slug: "sales_crm" }, "ok"]],
  "CatalogService/ListTools": [[{ projectId: "$project", view: "TOOL_VIEW_SUMMARY" }, "ok"]],
  "CatalogService/GetTool": [[{ slug: "sales_crm.list_deals" }, "ok"]],
  "CatalogService/GetToolkitConnectSpec": [[{ slug: "sales_crm" }, "ok"]],
  "CatalogService/PublishToolkit": refused,
  "CatalogService/ImportToolkit": refused,
  "CatalogService/GetToolkitSource": refused,
  "CatalogService/RefreshToolkit": refused,
  "CatalogService/AcceptToolkitChanges": refused,
  "CatalogService/PutToolkitPhrases": refused,
  "CatalogService/DeleteToolkit": refused,
  "ConnectionsService/InitiateConnection": [[{ toolkitSlug: "sales_crm", entityId: "bob" }, bound]],
  "ConnectionsService/CreateConnectLink": [[{ toolkitSlug: "sales_crm", entityId: "bob" }, bound]],
  "ConnectionsService/GetConnection": missing("id", "Account", "CONNECTION_NOT_FOUND"),
  "ConnectionsService/ListConnections": [
    [{}, "ok"],
    [{ entityId: "bob" }, "ok"],
    [{ toolkitSlug: "sales_crm" }, "ok"],
  ],
  "ConnectionsService/TestConnection": missing("id", "Account", "CONNECTION_NOT_FOUND"),
  "ConnectionsService/DeleteConnection": missing("id", "Account", "CONNECTION_NOT_FOUND"),
  "ConnectionsService/SetAccountReferences": refused,
  "ConnectionsService/SetProjectCredential": refused,
  "ConnectionsService/DeleteProjectCredential": refused,
  "ConnectionsService/PutToolkitClient": refused,
  "ConnectionsService/DeleteToolkitClient": refused,
  "ConsoleService/CreateSignInLink": [[{}, "ok"]],
  "ConsoleService/ListSessions": [[{}, "ok"]],
  "ConsoleService/EndSession": [[{ id: "ses_00000000000000000000000000" }, "not_found SESSION_NOT_FOUND"]],
  "ContactsService/PutContact": refused,
  "ContactsService/ListContacts": refused,
  "ContactsService/DeleteContact": refused,
  "GrantsService/ListGrants": refused,
  "GrantsService/UpdateGrant": refused,
  "GrantsService/RevokeGrant": refused,
  // The same calls with an approver's scoped key are tested in test/agent-keys.test.ts.
  "GrantsService/CreateAgentKey": [[{ name: "agent", entityId: "bob" }, "permission_denied ROLE_REQUIRED"]],
  "GrantsService/ListAgentKeys": [[{}, "permission_denied ROLE_REQUIRED"]],
  "GrantsService/RevokeAgentKey": [[{ id: "key_01h455vb4pex5vsknk084sn02q" }, "permission_denied ROLE_REQUIRED"]],
  "IdentityService/GetIdentity": [[{}, "ok"]],
  "JobsService/SubmitJob": [
    [{ programJson: readsOf("bob") }, "invalid_argument PROGRAM_ENTITY_BOUND"],
    [{ programJson: readsOf("ADA") }, "invalid_argument PROGRAM_ENTITY_BOUND"],
    // Bob used this idempotency key before. The answer to bob's request must not be returned to ada.
    [
      { programJson: skillOf("bob"), idempotencyKey: `bobFree ${skillOf("bob").length}` },
      "already_exists IDEMPOTENCY_KEY_REUSED",
    ],
  ],
  "JobsService/CheckProgram": [[{ programJson: readsOf("carol") }, "ok"]],
  "JobsService/DescribeProgram": [[{ programJson: readsOf("carol") }, "ok"], ...noJob("jobId")],
  "JobsService/GetJob": noJob("id"),
  "JobsService/ListJobs": [
    [{}, "ok"],
    [{ titleContains: "of-" }, "ok"],
    [{ standingProgramId: "$bobFreeStanding" }, "ok"],
  ],
  "JobsService/CancelJob": noJob("id"),
  "JobsService/RerunJob": noJob("id"),
  "JobsService/PauseJob": noJob("id"),
  "JobsService/ResumeJob": noJob("id"),
  "JobsService/RetryJob": noJob("id"),
  "JobsService/BulkJobs": [[{ action: "BULK_JOBS_ACTION_RETRY", filter: {}, dryRun: true }, "ok"]],
  "JobsService/ListSteps": noJob("jobId"),
  "JobsService/GetStep": noJob("jobId"),
  "JobsService/ListUndoEntries": noJob("jobId"),
  "JobsService/ListJobEvents": noJob("jobId"),
  "JobsService/WatchJob": [],
  "JobsService/PromoteJob": refused,
  "JobsService/ListSkills": refused,
  "JobsService/GetSkill": refused,
  "JobsService/DeleteSkill": refused,
  "JobsService/AnswerAsk": missing("jobId", "Asking", "JOB_NOT_FOUND", {
    principalId: "owner",
    continuation: "proceed",
  }),
  "JobsService/CreateAnswerLink": missing("jobId", "Asking", "JOB_NOT_FOUND", { principalId: "owner" }),
  "JobsService/ListAsks": [
    [{}, "ok"],
    [{ jobId: "$bobFreeAsking" }, "ok"],
  ],
  "JobsService/GetAsk": [
    ...missing("requestId", "Ask", "ASK_NOT_FOUND"),
    [{ jobId: "$bobFreeAsking", requestId: "$bobFreeAsk" }, "not_found JOB_NOT_FOUND"],
  ],
  "JobsService/CreateAskEndpoint": refused,
  "JobsService/ListAskEndpoints": refused,
  "JobsService/DeleteAskEndpoint": refused,
  "SecretsService/PutSecret": refused,
  "SecretsService/DeleteSecret": refused,
  "SecretsService/ListSecrets": refused,
  "StandingService/CreateStandingProgram": [
    [{ slug: "new", definitionJson: standingOf("bob") }, "invalid_argument PROGRAM_ENTITY_BOUND"],
    [{ slug: "new", definitionJson: listeningFor("bob") }, "invalid_argument SOURCE_NOT_GRANTED"],
    [{ slug: "new", definitionJson: listeningFor() }, "invalid_argument SOURCE_NOT_GRANTED"],
    [{ slug: "standing_bobfree", definitionJson: standingOf("bob") }, "already_exists STANDING_SLUG_TAKEN"],
  ],
  "StandingService/GetStandingProgram": [
    ...noProgram("id"),
    [{ id: "standing_bobfree" }, "not_found STANDING_PROGRAM_NOT_FOUND"],
  ],
  "StandingService/ListStandingPrograms": [[{}, "ok"]],
  "StandingService/UpdateStandingProgram": [
    ...noProgram("id", { definitionJson: standingOf("ada") }),
    [{ id: "$adaStanding", definitionJson: standingOf("bob") }, "invalid_argument PROGRAM_ENTITY_BOUND"],
  ],
  "StandingService/PauseStandingProgram": noProgram("id"),
  "StandingService/ResumeStandingProgram": noProgram("id"),
  "StandingService/DeleteStandingProgram": noProgram("id"),
  "StandingService/RunStandingProgram": noProgram("id"),
  "StandingService/BackfillStandingProgram": noProgram("id", { since: "2026-01-01T00:00:00Z" }),
  "StandingService/GetBackfill": [[{ id: "$bobBackfill" }, "not_found BACKFILL_NOT_FOUND"]],
  "StandingService/CancelBackfill": [[{ id: "$bobBackfill" }, "not_found BACKFILL_NOT_FOUND"]],
  "StandingService/ListStandingRuns": noProgram("standingProgramId"),
  "StandingService/GetStandingRun": missing("id", "Run", "STANDING_RUN_NOT_FOUND"),
  "StandingService/PreviewStandingProgram": [
    ...noProgram("id"),
    [{ definitionJson: standingOf("bob") }, "invalid_argument PROGRAM_ENTITY_BOUND"],
  ],
  "SandboxService/SendSampleEvent": refused,
  "SandboxService/CreateInbox": refused,
  "SandboxService/ListInboxRequests": refused,
  "SandboxService/ConnectSandboxAccounts": refused,
  "StatsService/GetBacklog": refused,
  "StatsService/GetStart": refused,
  "StatsService/QuerySeries": refused,
  "StatsService/ListFailures": refused,
  "StatsService/WatchProject": [],
  "StatsService/Search": [
    ...["$bobFreeJob", "$bobBoundCall", "$bobFreeAsk", "$bobEvent", "$delivery", "$subscription"].map(
      (query): Row => [{ query }, "ok"],
    ),
    [{ query: "of-" }, "ok"],
    [{ query: "standing_" }, "ok"],
  ],
  "StatsService/Trace": [
    ...["Job", "Call", "Account", "Ask", "Run", "Standing"].flatMap((kind) => missing("id", kind, "TRACE_NOT_FOUND")),
    [{ id: "$bobEvent" }, "not_found TRACE_NOT_FOUND"],
    [{ id: "$subscription" }, "not_found TRACE_NOT_FOUND"],
    [{ id: "$delivery" }, "not_found TRACE_NOT_FOUND"],
    [{ id: "$adaEvent" }, "ok"],
  ],
  "ToolsService/SearchTools": [[{ query: "deals of the day" }, "ok"]],
  "ToolsService/DescribeTool": [[{ slug: "skills.deals_daily" }, "ok"]],
  // Listed before CallTool, because the ledger later quotes the requests of ada.
  "ToolsService/ListToolCalls": [
    [{}, "ok"],
    [{ entityId: "bob" }, "ok"],
    [{ connectedAccountId: "$bobFreeAccount" }, "ok"],
    [{ jobId: "$bobFreeJob" }, "ok"],
  ],
  "ToolsService/CallTool": [
    ...["bob", "ADA", "ada ", "ａｄａ", "ad\u0430"].map(
      (entityId): Row => [{ toolSlug: "sales_crm.list_deals", entityId }, bound],
    ),
    [{ toolSlug: "sales_crm.list_deals", connectedAccountId: "$bobFreeAccount" }, "ok no_account"],
    [{ toolSlug: "sales_crm.list_deals", connectedAccountId: "$bobFreeAccount", dryRun: true }, "ok no_account"],
    [{ toolSlug: "sales_crm.list_deals", connectedAccountId: "$bobFreeAccount", entityId: "bob" }, bound],
    // The idempotency keys of bob's calls: their answers must not be returned to ada.
    [
      { toolSlug: "sales_crm.list_deals", connectedAccountId: "$bobBoundAccount", idempotencyKey: "named" },
      "already_exists IDEMPOTENCY_KEY_REUSED",
    ],
    [{ toolSlug: "skills.deals_daily", argumentsJson: "{}" }, "ok not_callable"],
    [{ toolSlug: "skills.deals_daily@1", argumentsJson: "{}" }, "ok not_callable"],
  ],
  "ToolsService/GetToolCall": missing("id", "Call", "TOOL_CALL_NOT_FOUND"),
  "ToolsService/PutCallLimit": refused,
  "ToolsService/DeleteCallLimit": refused,
  "ToolsService/ListCallLimits": refused,
  "ToolsService/CreateHook": refused,
  "ToolsService/ListHooks": refused,
  "ToolsService/UpdateHook": refused,
  "ToolsService/DeleteHook": refused,
  "TriggersService/CreateSubscription": refused,
  "TriggersService/ListSubscriptions": refused,
  "TriggersService/GetSubscription": refused,
  "TriggersService/UpdateSubscription": refused,
  "TriggersService/PreviewSubscription": refused,
  "TriggersService/RotateSubscriptionSecret": refused,
  "TriggersService/DeleteSubscription": refused,
  "TriggersService/ListEvents": [
    [{}, "ok"],
    [{ entityId: "bob" }, "ok"],
    [{ payloadContains: "channel" }, "ok"],
  ],
  "TriggersService/PollEvents": [
    [{ since: "2026-01-01T00:00:00Z" }, "ok"],
    [{ since: "2026-01-01T00:00:00Z", entityId: "bob" }, "ok"],
  ],
  "TriggersService/GetEvent": [[{ id: "$bobEvent" }, "not_found EVENT_NOT_FOUND"]],
  "TriggersService/GetDelivery": refused,
  "TriggersService/ListDeliveries": refused,
  "TriggersService/ListDeliveryAttempts": refused,
  "TriggersService/ReplayEvent": refused,
  "TriggersService/ReplayEvents": refused,
  "TriggersService/StartReplay": refused,
  "TriggersService/GetReplay": refused,
  "TriggersService/ListReplays": refused,
  "TriggersService/UpdateReplay": refused,
  "TriggersService/CancelReplay": refused,
  "TriggersService/SendTestEvent": refused,
  "TriggersService/TryNow": refused,
  "TriggersService/ListIngestEndpoints": refused,
  "TriggersService/PutWebhookSecret": refused,
  "TriggersService/DeleteWebhookSecret": refused,
  "TriggersService/ListQuarantinedPosts": refused,
  "TriggersService/GetQuarantinedPost": refused,
  "TriggersService/ReleaseQuarantinedPosts": refused,
  "TriggersService/PublishEvent": refused,
  "TriggersService/PublishEvents": refused,
  "TriggersService/PutEventType": refused,
  "TriggersService/GetEventType": refused,
  "TriggersService/ListEventTypes": refused,
  "TriggersService/GetEventDocument": refused,
  "TriggersService/PutEventSettings": refused,
  "TriggersService/GetEventSettings": refused,
  "TriggersService/CreatePortalLink": refused,
  "TriggersService/ListPortalLinks": refused,
  "TriggersService/RevokePortalLinks": refused,
};

const services = [
  ...[
    CatalogService,
    ConnectionsService,
    ConsoleService,
    ContactsService,
    GrantsService,
    IdentityService,
    JobsService,
    SandboxService,
    SecretsService,
  ],
  ...[StandingService, StatsService, ToolsService, TriggersService],
];

test("the table has every call of every service, and nothing else", () => {
  const calls = services.flatMap(({ name, methods }) => methods.map((method) => `${name}/${method.name}`));
  expect(Object.keys(table).toSorted()).toEqual(calls.toSorted());
});

/** Replaces `$name` in a request by an id that only the running server knows. */
function resolve(body: Record<string, unknown>): Record<string, unknown> {
  const known: Record<string, string> = { ...ids, project: projectId };
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      if (typeof value !== "string" || !value.startsWith("$")) return [name, value];
      const id = known[value.slice(1)];
      if (id === undefined) throw new Error(`nothing was planted as ${value}`);
      return [name, id];
    }),
  );
}

function outcomeOf({ status, code, reason, json: answer }: TestAnswer): string {
  if (status !== 200) return `${code} ${reason}`;
  return answer.outcome === undefined ? "ok" : `ok ${answer.outcome}`;
}

/** Checks that an answer contains nothing of bob's data, except parts of the request itself. */
function expectNothingOfBob(answer: TestAnswer, body: object): void {
  const text = json(answer.json);
  const asked = json(body);
  for (const one of bobs()) if (!asked.includes(one.replaceAll('"', ""))) expect(text).not.toContain(one);
}

const rows = Object.entries(table).flatMap(([name, of]) =>
  of.map(([body, expected]) => [name, body, expected] as const),
);

test.each(rows)("%s %j by a key of ada's: %s", async (name, given, expected) => {
  const body = resolve(given);
  // Calls for approvers only are refused to an approver's scoped key because of its scope.
  const bearer = expected === bound && given === refused[0]?.[0] ? approverKey : adaKey;
  const answer = await call(name, body, bearer);
  expect(outcomeOf(answer)).toBe(expected);
  expectNothingOfBob(answer, body);
});

test("no call of the administrator's takes a bound key", async () => {
  for (const { name, methodKind } of AdminService.methods) {
    const method = `AdminService/${name}`;
    if (methodKind === "unary") {
      expect(outcomeOf(await call(method, {}, approverKey))).toBe("permission_denied ROLE_REQUIRED");
    } else expect(await streamOf(method, {}, approverKey)).toContain("ROLE_REQUIRED");
  }
});

/** Returns the first message of a stream, or its error if it ends with one. */
async function streamOf(name: string, body: object, bearer: string): Promise<string> {
  const message = Buffer.from(json(body));
  const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]);
  const response = await fetch(`${svc.url}/svc.v1.${name}`, {
    method: "POST",
    headers: { "content-type": "application/connect+json", authorization: `Bearer ${bearer}` },
    body: frame,
  });
  return response.text();
}

test("streams tell a bound key nothing of bob", async () => {
  for (const id of [ids["bobFreeJob"], ids["bobBoundJob"]]) {
    expect(await streamOf("JobsService/WatchJob", { jobId: id }, adaKey)).toContain("JOB_NOT_FOUND");
  }
  expect(await streamOf("StatsService/WatchProject", {}, adaKey)).toContain("ENTITY_BOUND");
  expect(await streamOf("JobsService/WatchJob", { jobId: ids["adaJob"] }, adaKey)).toContain("job-submitted");
});

test("what is ada's is found: lists are not empty because nothing is", async () => {
  const of = async (name: string, body: object = {}) => (await call(name, body, adaKey)).json;
  expect((await of("ConnectionsService/ListConnections")).accounts.map(({ id }: { id: string }) => id)).toEqual([
    ids["adaAccount"],
  ]);
  expect((await of("TriggersService/ListEvents")).events.map(({ id }: { id: string }) => id)).toEqual([
    ids["adaEvent"],
  ]);
  const jobs = (await of("JobsService/ListJobs")).jobs.map(({ id }: { id: string }) => id);
  expect(jobs).toEqual(expect.arrayContaining([ids["adaJob"], ids["adaAsking"]]));
  expect((await of("JobsService/ListAsks")).asks.map(({ requestId }: { requestId: string }) => requestId)).toEqual([
    ids["adaAsk"],
  ]);
  expect((await of("ToolsService/ListToolCalls")).calls.length).toBeGreaterThan(2);
  const standing = (await of("StandingService/ListStandingPrograms")).standingPrograms;
  expect(standing.map(({ id }: { id: string }) => id)).toEqual([ids["adaStanding"]]);
  expect(outcomeOf(await call("ToolsService/CallTool", { toolSlug: "sales_crm.list_deals" }, adaKey))).toBe("ok ok");
});

test("a bound key is told how the deliveries of its own events stand, and nothing of others'", async () => {
  for (const name of ["adaEvent", "bobEvent"]) await made("TriggersService/ReplayEvent", { eventId: ids[name] });
  const listed = async (bearer: string) =>
    (await made("TriggersService/ListEvents", { withDeliveries: true }, bearer)).events.map(
      ({ id, deliveries }: { id: string; deliveries: Record<string, number> }) => [
        id,
        Number(deliveries["pending"]) + Number(deliveries["deadLetter"]),
      ],
    );
  expect(await listed(adaKey)).toEqual([[ids["adaEvent"], 1]]);
  expect(await listed(await createKey("ROLE_MEMBER", { toolkitSlugs: ["sales_crm"] }))).toEqual([]);
  expect(await listed(svc.key)).toContainEqual([ids["bobEvent"], 1]);
});

test("lists of a bound key lead to nothing of bob on any of their pages, by tokens of others either", async () => {
  const lists = [
    "JobsService/ListJobs",
    "JobsService/ListAsks",
    "TriggersService/ListEvents",
    "ToolsService/ListToolCalls",
  ];
  for (const name of [...lists, "ConnectionsService/ListConnections", "StandingService/ListStandingPrograms"]) {
    const theirs = (await call(name, { pageSize: 1 }, svc.key)).json.nextPageToken;
    for (let pageToken = theirs, pages = 0; pages < 50 && pageToken; pages++) {
      const body = { pageSize: 1, pageToken };
      const answer = await call(name, body, adaKey);
      if (answer.status !== 200) {
        expect(answer.reason).toBe("PAGE_TOKEN_INVALID");
        break;
      }
      expectNothingOfBob(answer, {});
      pageToken = answer.json.nextPageToken;
    }
  }
});

/**
 * For each list, the rows that a key may read which is scoped to ada, to reads and to the CRM, by the parts of the scope that limit the
 * list.
 */
const limitedLists: Readonly<Record<string, { body?: object; limitedTo: string }>> = {
  "CatalogService/ListToolkits": { limitedTo: "tools of sales_crm" },
  "CatalogService/ListTools": { limitedTo: "read tools of sales_crm" },
  "ConnectionsService/ListConnections": { limitedTo: 'the entity "ada" and tools of sales_crm' },
  "JobsService/ListJobs": { limitedTo: 'the entity "ada" and read tools of sales_crm' },
  "JobsService/ListAsks": { limitedTo: 'the entity "ada" and read tools of sales_crm' },
  "StandingService/ListStandingPrograms": { limitedTo: 'the entity "ada" and read tools of sales_crm' },
  "ToolsService/ListToolCalls": { limitedTo: 'the entity "ada" and read tools of sales_crm' },
  "ToolsService/SearchTools": { body: { query: "deals" }, limitedTo: "read tools of sales_crm" },
  "TriggersService/ListEvents": { limitedTo: 'the entity "ada" and tools of sales_crm' },
  "TriggersService/PollEvents": { limitedTo: 'the entity "ada" and tools of sales_crm' },
};

/** Lists that show all rows to a scoped key: those of one job or program that it can access, or of the key itself. */
const wholeLists = [
  ...[
    "ConsoleService/ListSessions",
    "GrantsService/ListAgentKeys",
    "JobsService/ListJobEvents",
    "JobsService/ListSteps",
  ],
  ...["JobsService/ListUndoEntries", "StandingService/ListStandingRuns"],
];

test("each list and search is refused to bound keys, says what they may read of it, or leaves nothing out", () => {
  const lists = Object.entries(table).flatMap(([name, of]) =>
    /\/(?:List|Poll|Search)[A-Z]/.test(name) && of !== refused ? [name] : [],
  );
  expect(lists.toSorted()).toEqual([...Object.keys(limitedLists), ...wholeLists].toSorted());
});

test.each(Object.entries(limitedLists))(
  "%s says what a bound key may read of it",
  async (name, { body = {}, limitedTo }) => {
    const said = async (bearer: string, more: object = {}) =>
      (await made(name, { ...body, ...more }, bearer)).limitedTo;
    expect(await said(svc.key)).toBe("");
    const whole = { entityId: "ada", accessClasses: ["read"], toolkitSlugs: ["sales_crm"] };
    const key = await createKey("ROLE_MEMBER", whole);
    expect(await said(key)).toBe(limitedTo);
    expect(await said(await createKey("ROLE_APPROVER", whole))).toBe(limitedTo);
    const ofEntity = limitedTo.includes("entity") ? 'the entity "ada"' : "";
    expect(await said(adaKey)).toBe(ofEntity);
    const ofClass = limitedTo.includes("read") ? "read tools" : "";
    expect(await said(await createKey("ROLE_MEMBER", { accessClasses: ["read"] }))).toBe(ofClass);
    const ofToolkit = await createKey("ROLE_MEMBER", { toolkitSlugs: ["sales_crm"] });
    expect(await said(ofToolkit)).toBe("tools of sales_crm");
    // Also if a filter asks for rows of another entity, the answer says that the list is limited.
    if (limitedTo.includes("entity") && "entityId" in (table[name]?.[1]?.[0] ?? {})) {
      expect(await said(key, { entityId: "bob" })).toBe(limitedTo);
    }
    // An answer that several callers share is not changed by a scoped caller.
    expect(await said(svc.key)).toBe("");
  },
);

describe("what a bound key began stays bound", () => {
  const find = async (id: string, bearer = adaKey) => (await call("JobsService/GetJob", { id }, bearer)).json.job;

  test("a job that is run again by a key that is bound to nothing is ada's still", async () => {
    const { job } = await made("JobsService/RerunJob", { id: ids["adaJob"] });
    expect((await find(job.id)).id).toBe(job.id);
  });

  test("jobs of ada's standing program are ada's, whoever runs it", async () => {
    await made("StandingService/RunStandingProgram", { id: ids["adaStanding"] });
    const list = { standingProgramId: ids["adaStanding"] };
    await until(async () => (await call("JobsService/ListJobs", list, adaKey)).json.jobs.length === 2);
    const update = { id: ids["adaStanding"], definitionJson: standingOf("bob") };
    expect(outcomeOf(await call("StandingService/UpdateStandingProgram", update, svc.key))).toBe(
      "invalid_argument PROGRAM_ENTITY_BOUND",
    );
  });

  test("its program runs no skill that names another entity, names no secret, and asks nothing of who has an account", async () => {
    const steps = (...of: object[]) => json({ version: 1, title: "of-ada", steps: of });
    const check = async (programJson: string) =>
      (await call("JobsService/CheckProgram", { programJson }, adaKey)).json.faults.map(
        ({ reason }: { reason: string }) => reason,
      );
    expect(await check(steps({ id: "run", run: "skills.deals_daily", input: {} }))).toEqual(["PROGRAM_ENTITY_BOUND"]);
    expect(await check(readsOf("nobody-who-has-one"))).toEqual(["PROGRAM_ENTITY_BOUND"]);
    expect(await check(readsOf("bob"))).toEqual(["PROGRAM_ENTITY_BOUND"]);
  });

  test("a session of the console that its link opened is bound as it is", async () => {
    const { url } = await made("ConsoleService/CreateSignInLink", {}, adaKey);
    const session = await signInToConsole(svc, { link: url.split("#link=")[1] });
    const seat = session.seats[0]?.keyId ?? "";
    expect((await session.call(seat, "svc.v1.StatsService/GetBacklog")).reason).toBe("ENTITY_BOUND");
    expect((await session.call(seat, "svc.v1.JobsService/GetJob", { id: ids["bobFreeJob"] })).reason).toBe(
      "JOB_NOT_FOUND",
    );
    expect((await session.call(seat, "svc.v1.IdentityService/GetIdentity")).json.entityId).toBe("ada");
    // A scoped session does not see the grants of others in the project, and it can make no key, link or answer for bob.
    for (const [method, body, reason] of [
      ["GrantsService/ListGrants", {}, "ENTITY_BOUND"],
      ["TriggersService/ReplayEvent", { eventId: ids["bobEvent"] }, "ENTITY_BOUND"],
      ["JobsService/CreateAnswerLink", { jobId: ids["bobFreeAsking"], principalId: "owner" }, "JOB_NOT_FOUND"],
      ["JobsService/RerunJob", { id: ids["bobBoundJob"] }, "JOB_NOT_FOUND"],
      ["ToolsService/CallTool", { toolSlug: "sales_crm.list_deals", entityId: "bob" }, "ENTITY_BOUND"],
    ] as const)
      expect([method, (await session.call(seat, `svc.v1.${method}`, body)).reason]).toEqual([method, reason]);
    const exported = await session.call(seat, "svc.v1.AdminService/ListProjects");
    expect(exported.status).not.toBe(200);
  });
});

describe("classes and toolkits", () => {
  test("a call of another class or toolkit is refused, and says what the key may use; it finds and describes nothing else", async () => {
    const key = await createKey("ROLE_MEMBER", {
      entityId: "ada",
      accessClasses: ["read"],
      toolkitSlugs: ["sales_crm"],
    });
    const create = await call(
      "ToolsService/CallTool",
      { toolSlug: "sales_crm.create_deal", argumentsJson: '{"title":"t"}' },
      key,
    );
    expect(outcomeOf(create)).toBe("permission_denied TOOL_NOT_GRANTED");
    expect(create.json.message).toContain("read tools of sales_crm");
    const mail = { toolSlug: "calendar.list_events", argumentsJson: '{"calendar_id":"primary"}' };
    expect(outcomeOf(await call("ToolsService/CallTool", mail, key))).toBe("permission_denied TOOL_NOT_GRANTED");
    expect(outcomeOf(await call("ToolsService/CallTool", { toolSlug: "sales_crm.list_deals" }, key))).toBe("ok ok");
    const { results } = (await call("ToolsService/SearchTools", { query: "create a deal or an event", limit: 50 }, key))
      .json;
    for (const { tool } of results) expect([tool.toolkitSlug, tool.accessClass]).toEqual(["sales_crm", "read"]);
    const { tools } = (await call("CatalogService/ListTools", {}, key)).json;
    expect(
      new Set(
        tools.map((tool: { toolkitSlug: string; accessClass: string }) => `${tool.toolkitSlug} ${tool.accessClass}`),
      ),
    ).toEqual(new Set(["sales_crm read"]));
    expect(
      (await call("CatalogService/ListToolkits", {}, key)).json.toolkits.map(({ slug }: { slug: string }) => slug),
    ).toEqual(["sales_crm"]);
    for (const slug of ["sales_crm.create_deal", "calendar.list_events"]) {
      expect(outcomeOf(await call("ToolsService/DescribeTool", { slug }, key))).toBe("not_found TOOL_NOT_FOUND");
      expect(outcomeOf(await call("CatalogService/GetTool", { slug }, key))).toBe("not_found TOOL_NOT_FOUND");
    }
    // A scoped key does not see the work of a wider key of the same entity either, because that work may contain data that the scoped key
    // may not read.
    expect(outcomeOf(await call("JobsService/GetJob", { id: ids["adaJob"] }, key))).toBe("not_found JOB_NOT_FOUND");
    expect(outcomeOf(await call("TriggersService/GetEvent", { id: ids["adaEvent"] }, key))).toBe(
      "not_found EVENT_NOT_FOUND",
    );
    const write = { id: "write", call: "sales_crm.create_deal", entity: "ada", args: { title: "t" } };
    const program = { programJson: json({ version: 1, title: "writes", steps: [write] }) };
    expect(outcomeOf(await call("JobsService/SubmitJob", program, key))).toBe(
      "invalid_argument PROGRAM_TOOL_NOT_GRANTED",
    );
  });
});

describe("agents", () => {
  let agentKey: string;
  beforeAll(async () => {
    agentKey = await createKey("ROLE_MEMBER", {
      entityId: "ada",
      agentTools: ["programs", "connect", "operate", "repair"],
    });
  });
  const mcp = async (name: string, args: object, query = "") => {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
    const headers = { accept: "application/json, text/event-stream", authorization: `Bearer ${agentKey}` };
    const response = await fetch(`${svc.url}/mcp${query}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: json(body),
    });
    return response.json() as Promise<{ result: { structuredContent: Record<string, never>; isError?: boolean } }>;
  };
  const attacks: Readonly<Record<string, readonly object[]>> = {
    search_tools: [{ query: "deals of the day" }],
    describe_tool: [{ slug: "skills.deals_daily" }],
    read_tool: [{ slug: "sales_crm.list_deals", entity_id: "bob" }],
    call_tool: [
      { slug: "sales_crm.list_deals", entity_id: "bob" },
      { slug: "sales_crm.list_deals", entity_id: "Ada" },
      { slug: "sales_crm.list_deals", connected_account_id: "$bobFreeAccount" },
      { slug: "sales_crm.list_deals", connected_account_id: "$bobBoundAccount", idempotency_key: "named" },
      { slug: "skills.deals_daily", arguments: {} },
    ],
    check_program: [{ program: JSON.parse(readsOf("bob")) }, { program: JSON.parse(readsOf("carol")) }],
    run_program: [
      { program: JSON.parse(readsOf("bob")) },
      { program: { version: 1, title: "runs", steps: [{ id: "run", run: "skills.deals_daily", input: {} }] } },
      { job_id: "$bobFreeJob" },
      { job_id: "$bobBoundJob" },
      { job_id: "$bobFreeAsking" },
    ],
    connect_account: [{ toolkit: "sales_crm", entity_id: "bob" }],
  };

  test("the attacks have every MCP tool, and none of them reaches what is bob's", async () => {
    const body = json({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
    const headers = {
      ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
      authorization: `Bearer ${agentKey}`,
    };
    const listed = (await (await fetch(`${svc.url}/mcp`, { method: "POST", headers, body })).json()) as {
      result: { tools: { name: string }[] };
    };
    expect(listed.result.tools.map(({ name }) => name).toSorted()).toEqual(Object.keys(attacks).toSorted());
    for (const [name, each] of Object.entries(attacks)) {
      for (const given of each) {
        const args = resolve(given as Record<string, unknown>);
        const { result } = await mcp(name, args);
        if (!["search_tools", "describe_tool"].includes(name)) expect([given, result.isError]).toEqual([given, true]);
        for (const one of bobs())
          if (!json(args).includes(one.replaceAll('"', ""))) expect(json(result)).not.toContain(one);
      }
    }
    for (const name of ["call_tool", "read_tool"]) {
      expect((await mcp(name, { slug: "sales_crm.list_deals" })).result.isError).not.toBe(true);
    }
    const own = { program: JSON.parse(readsOf("ada")) };
    expect((await mcp("run_program", own)).result.isError).toBe(false);
    expect(json(await mcp("connect_account", { toolkit: "sales_crm" }))).toContain("/connect#");
    // Tools that show the whole project are refused to every scoped key, even if the key was given these tools.
    for (const name of ["where_is_event", "explain_delivery", "why", "retry_delivery", "release_post"])
      for (const query of ["", `?tools=${name}`])
        expect(json(await mcp(name, { delivery_id: ids["delivery"] }, query))).toContain("Unknown tool");
    for (const name of ["bobFreeJob", "bobFreeAsking", "bobBoundJob"]) {
      const client = createTestMcpClient({ url: svc.url, key: agentKey, capabilities: taskCapabilities });
      for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
        const { error } = await client.request(method, { taskId: ids[name], inputResponses: {} });
        expect(error.message).toBe("Task not found");
      }
    }
    // The MCP methods for events are refused as well.
    const name = "calendar.events_changed";
    const secret = `whsec_${Buffer.alloc(32).toString("base64")}`;
    const delivery = { mode: "webhook", url: "http://127.0.0.1:9/nobody", secret };
    const events: Record<string, Record<string, unknown>[]> = {
      "events/list": [{}],
      "events/poll": [
        { name, arguments: { entity_id: "bob" } },
        { name, cursor: null },
      ],
      "events/subscribe": [{ name, arguments: { entity_id: "bob" }, delivery }],
      "events/unsubscribe": [{ name, arguments: { entity_id: "bob" }, delivery }],
      "events/stream": [{ name }],
    };
    for (const [method, each] of Object.entries(events)) {
      for (const params of each) {
        const request = json({ jsonrpc: "2.0", id: 1, method, params });
        const sent = await fetch(`${svc.url}/mcp`, { method: "POST", headers, body: request });
        const answer = (await sent.json()) as { error?: { code: number } };
        const isNamed = json(params).includes("bob");
        expect([method, isNamed, answer.error?.code === -32_012]).toEqual([method, isNamed, isNamed]);
        for (const one of bobs()) expect(json(answer)).not.toContain(one);
      }
    }
    // The scope applies to the entity of a step even if the program computes it, and names of calls and jobs in the program do not matter.
    const stepOf = (more: object) => ({ program: { version: 1, title: "t", steps: [{ ...deals("ada"), ...more }] } });
    const byInput = {
      ...{ version: 1, title: "t", input: { who: "bob" }, steps: [deals("{input.who}")] },
      inputSchema: { type: "object", properties: { who: { type: "string" } } },
    };
    const overRows = {
      ...{ version: 1, title: "t", input: { rows: [{ who: "bob" }] } },
      inputSchema: { type: "object", properties: { rows: { type: "array", items: { type: "object" } } } },
      steps: [
        { id: "rows", take: "input.rows", key: "who", keep: ["who"] },
        { id: "each", map: "rows", do: [deals("{row.who}")] },
      ],
    };
    const accountId = ids["bobFreeAccount"];
    const escapes = [
      ...["{'bo' + 'b'}", { $ref: "input.who" }, "ada\u200b", "*", ""].map((entity) => stepOf({ entity })),
      ...[{ account: accountId }, { connectedAccountId: accountId }, { connected_account_id: accountId }].map(stepOf),
      ...[{ program: byInput }, { program: overRows }],
      { ...stepOf({ entity: "bob" }), idempotency_key: `bobFree ${skillOf("bob").length}` },
    ];
    const reasons: string[] = [];
    for (const attempt of escapes) {
      const { result } = await mcp("run_program", attempt);
      expect([attempt, result.isError]).toEqual([attempt, true]);
      expect(json(result)).not.toContain(accountId);
      reasons.push((result.structuredContent as { error?: { reason?: string } }).error?.reason ?? json(result));
    }
    const [isBound, isMalformed] = ["PROGRAM_ENTITY_BOUND", "PROGRAM_MALFORMED"];
    expect(reasons).toEqual([
      ...[isBound, isMalformed, isBound, isBound, isMalformed],
      ...[isMalformed, isMalformed, isMalformed],
      ...[isBound, isBound, "IDEMPOTENCY_KEY_REUSED"],
    ]);
    // The scope also applies if the address names tools and another entity.
    const direct = await mcp("sales_crm__list_deals", {}, "?tools=sales_crm.list_deals&entity_id=bob");
    expect(json(direct)).toContain("ENTITY_BOUND");
  });
});
