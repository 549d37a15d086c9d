import { type DescField, type DescMessage, type DescMethod, getOption } from "@bufbuild/protobuf";
import { AdminService } from "@svc/gen/admin";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { ConsoleService } from "@svc/gen/console";
import { ContactsService } from "@svc/gen/contacts";
import { GrantsService } from "@svc/gen/grants";
import { IdentityService } from "@svc/gen/identity";
import { JobsService } from "@svc/gen/jobs";
import { payload, quotes_payload, Role, required_role } from "@svc/gen/options";
import { SandboxService } from "@svc/gen/sandbox";
import { SecretsService } from "@svc/gen/secrets";
import { StandingService } from "@svc/gen/standing";
import { StatsService } from "@svc/gen/stats";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
import { startTestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

const services = [
  ...[
    AdminService,
    CatalogService,
    ConnectionsService,
    ConsoleService,
    ContactsService,
    GrantsService,
    IdentityService,
  ],
  ...[JobsService, SandboxService, SecretsService, StandingService, StatsService, ToolsService, TriggersService],
];

/**
 * What a viewer gets from each call. `allowed`: the answer has no payload. `masked`: the answer has payloads, and `***` replaces them.
 * `refused`: ROLE_REQUIRED. A new call needs a decision here.
 */
const decisions: Record<string, Record<string, "allowed" | "masked" | "refused">> = {
  AdminService: {
    CreateProject: "refused",
    ListProjects: "refused",
    CreateApiKey: "refused",
    ListApiKeys: "refused",
    RevokeApiKey: "refused",
    ListPeople: "refused",
    CreateInvitation: "refused",
    SetPersonRole: "refused",
    RemovePerson: "refused",
    SetProjectPolicy: "refused",
    GetProjectUsage: "refused",
    ListQuarantinedPosts: "refused",
    GetQuarantinedPost: "refused",
    ReleaseQuarantinedPosts: "refused",
    ParkJob: "refused",
    ReleaseJob: "refused",
    RotateVault: "refused",
    GetVaultRotation: "refused",
    PutDeploymentSecret: "refused",
    DeleteDeploymentSecret: "refused",
    ListDeploymentSecrets: "refused",
    GetRestore: "refused",
    ResumeRestored: "refused",
    ListAuditEvents: "refused",
    VerifyAuditLog: "refused",
    EraseEntity: "refused",
    DeleteProject: "refused",
    ExportEntity: "refused",
    GetErasure: "refused",
  },
  CatalogService: {
    ListToolkits: "allowed",
    GetToolkit: "allowed",
    ListTools: "allowed",
    GetTool: "allowed",
    GetToolkitConnectSpec: "allowed",
    PublishToolkit: "refused",
    ImportToolkit: "refused",
    GetToolkitSource: "allowed",
    RefreshToolkit: "refused",
    AcceptToolkitChanges: "refused",
    PutToolkitPhrases: "refused",
    DeleteToolkit: "refused",
  },
  ConnectionsService: {
    InitiateConnection: "refused",
    CreateConnectLink: "refused",
    GetConnection: "masked",
    ListConnections: "masked",
    TestConnection: "refused",
    DeleteConnection: "refused",
    SetAccountReferences: "refused",
    SetProjectCredential: "refused",
    DeleteProjectCredential: "refused",
    PutToolkitClient: "refused",
    DeleteToolkitClient: "refused",
  },
  ConsoleService: {
    CreateSignInLink: "refused",
    ListSessions: "allowed",
    EndSession: "allowed",
  },
  ContactsService: {
    PutContact: "refused",
    ListContacts: "masked",
    DeleteContact: "refused",
  },
  GrantsService: {
    ListGrants: "allowed",
    UpdateGrant: "refused",
    RevokeGrant: "refused",
    CreateAgentKey: "refused",
    ListAgentKeys: "refused",
    RevokeAgentKey: "refused",
  },
  IdentityService: {
    GetIdentity: "allowed",
  },
  JobsService: {
    SubmitJob: "refused",
    CheckProgram: "allowed",
    DescribeProgram: "allowed",
    GetJob: "masked",
    ListJobs: "masked",
    CancelJob: "refused",
    BulkJobs: "refused",
    RerunJob: "refused",
    PauseJob: "refused",
    ResumeJob: "refused",
    RetryJob: "refused",
    ListSteps: "masked",
    GetStep: "masked",
    ListUndoEntries: "allowed",
    ListJobEvents: "masked",
    WatchJob: "masked",
    PromoteJob: "refused",
    ListSkills: "allowed",
    GetSkill: "allowed",
    DeleteSkill: "refused",
    AnswerAsk: "refused",
    CreateAnswerLink: "refused",
    ListAsks: "masked",
    GetAsk: "masked",
    CreateAskEndpoint: "refused",
    ListAskEndpoints: "refused",
    DeleteAskEndpoint: "refused",
  },
  SandboxService: {
    SendSampleEvent: "refused",
    CreateInbox: "refused",
    ListInboxRequests: "refused",
    ConnectSandboxAccounts: "refused",
  },
  SecretsService: {
    PutSecret: "refused",
    DeleteSecret: "refused",
    ListSecrets: "allowed",
  },
  StandingService: {
    CreateStandingProgram: "refused",
    GetStandingProgram: "masked",
    ListStandingPrograms: "masked",
    UpdateStandingProgram: "refused",
    PauseStandingProgram: "refused",
    ResumeStandingProgram: "refused",
    DeleteStandingProgram: "refused",
    RunStandingProgram: "refused",
    BackfillStandingProgram: "refused",
    GetBackfill: "allowed",
    CancelBackfill: "refused",
    ListStandingRuns: "masked",
    GetStandingRun: "masked",
    PreviewStandingProgram: "refused",
  },
  StatsService: {
    GetBacklog: "masked",
    QuerySeries: "allowed",
    GetStart: "allowed",
    WatchProject: "masked",
    Trace: "masked",
    ListFailures: "masked",
    Search: "masked",
  },
  ToolsService: {
    SearchTools: "allowed",
    DescribeTool: "allowed",
    CallTool: "refused",
    ListToolCalls: "masked",
    GetToolCall: "masked",
    PutCallLimit: "refused",
    DeleteCallLimit: "refused",
    ListCallLimits: "allowed",
    CreateHook: "refused",
    ListHooks: "allowed",
    UpdateHook: "refused",
    DeleteHook: "refused",
  },
  TriggersService: {
    CreateSubscription: "refused",
    ListSubscriptions: "masked",
    GetSubscription: "masked",
    UpdateSubscription: "refused",
    PreviewSubscription: "refused",
    RotateSubscriptionSecret: "refused",
    DeleteSubscription: "refused",
    ListEvents: "masked",
    PollEvents: "refused",
    GetEvent: "masked",
    GetDelivery: "masked",
    ListDeliveries: "masked",
    ListDeliveryAttempts: "masked",
    ReplayEvent: "refused",
    ReplayEvents: "refused",
    StartReplay: "refused",
    GetReplay: "allowed",
    ListReplays: "allowed",
    UpdateReplay: "refused",
    CancelReplay: "refused",
    SendTestEvent: "refused",
    TryNow: "refused",
    ListIngestEndpoints: "allowed",
    PutWebhookSecret: "refused",
    DeleteWebhookSecret: "refused",
    ListQuarantinedPosts: "refused",
    GetQuarantinedPost: "refused",
    ReleaseQuarantinedPosts: "refused",
    PublishEvent: "refused",
    PublishEvents: "refused",
    PutEventType: "refused",
    GetEventType: "allowed",
    ListEventTypes: "allowed",
    GetEventDocument: "allowed",
    PutEventSettings: "refused",
    GetEventSettings: "allowed",
    CreatePortalLink: "refused",
    ListPortalLinks: "allowed",
    RevokePortalLinks: "refused",
  },
};

/** Fields with JSON that a viewer sees, because they describe the set-up and have no data of customers. */
const harmless = [
  ...["answer_schema_json", "input_schema_json", "output_schema_json", "schema_json", "sample_json", "document_json"],
  ...["paging_json", "poll_json", "verifier_json", "overlay_json", "definition_json", "program_json", "body_json"],
];

const methods: readonly DescMethod[] = services.flatMap((service) => service.methods);
const isHidden = (field: DescField) => getOption(field, payload) || getOption(field, quotes_payload);
const isOfViewers = (method: DescMethod) => getOption(method, required_role) === Role.VIEWER;

function* fieldsOf(desc: DescMessage, seen = new Set<DescMessage>()): Generator<DescField> {
  if (seen.has(desc)) return;
  seen.add(desc);
  for (const field of desc.fields) {
    yield field;
    if (field.message !== undefined) yield* fieldsOf(field.message, seen);
  }
}

test("every call has a decision for viewers, and the contract says the same", () => {
  const found: typeof decisions = {};
  for (const method of methods) {
    const isMasked = [...fieldsOf(method.output)].some(isHidden);
    const decision = !isOfViewers(method) ? "refused" : isMasked ? "masked" : "allowed";
    found[method.parent.name] = { ...found[method.parent.name], [method.name]: decision };
  }
  expect(found).toEqual(decisions);
});

/** Texts without data of customers, although fields with these names have such data in other messages. */
const harmlessTexts = [
  "ExpressionWord.summary",
  "ProgramFault.message",
  "ProgramNote.message",
  "StandingVersion.note",
  "ToolkitSource.last_error",
];
const telling =
  /(?:_json|_headers|_body|^body|^glance|^detail|_detail|^sentence|^summary|^message|^note|^sample|^text|last_error|_message)$/;

test("every field that may have data, and that a viewer may receive, is hidden or is known to have none", () => {
  const open = methods
    .filter(isOfViewers)
    .flatMap((method) => [...fieldsOf(method.output)])
    .filter((field) => !isHidden(field))
    .filter(({ name, fieldKind }) => telling.test(name) && fieldKind !== "message" && !harmless.includes(name))
    .map(({ name, parent }) => `${parent?.name}.${name}`)
    .filter((name) => !harmlessTexts.includes(name));
  expect([...new Set(open)]).toEqual([]);
});

let svc: TestServer;
let viewer: string;
let reader: string;
beforeAll(async () => {
  svc = await startTestServer({ variables: { SVC_SANDBOX: "force", SVC_RETRY_SCHEDULE: "1h" } });
  const { projectId } = (await svc.call("svc.v1.IdentityService/GetIdentity")).json;
  const keyOf = async (role: string) => (await svc.admin("CreateApiKey", { projectId, role, name: role })).json.key;
  [viewer, reader] = [await keyOf("ROLE_VIEWER"), await keyOf("ROLE_READER")];
});
afterAll(() => svc.stop());

test("svc refuses a viewer exactly the calls that the table refuses", async () => {
  for (const method of methods) {
    if (method.methodKind !== "unary") continue;
    const name = `${method.parent.typeName}/${method.name}`;
    const { reason } = await svc.call(name, {}, { bearer: viewer });
    const isRefused = decisions[method.parent.name]?.[method.name] === "refused";
    expect([name, reason === "ROLE_REQUIRED"]).toEqual([name, isRefused]);
  }
});

test("a viewer reads events and calls without their payloads, a reader with them, and neither changes anything", async () => {
  const marker = "marker-of-a-payload";
  await svc.call("svc.v1.TriggersService/PutEventType", { name: "order.paid" });
  const published = await svc.call("svc.v1.TriggersService/PublishEvent", {
    ...{ type: "order.paid", payloadJson: JSON.stringify({ note: marker }), key: "order-1" },
  });
  expect(published.status).toBe(200);
  const read = async (bearer: string, call = "ListEvents", body = {}) =>
    svc.call(`svc.v1.TriggersService/${call}`, body, { bearer });
  await until(async () => (await read(reader)).json.events?.length > 0);
  expect(JSON.stringify((await read(reader)).json)).toContain(marker);
  const { events } = (await read(viewer)).json;
  expect(events).toMatchObject([{ triggerSlug: expect.stringContaining("order.paid"), payloadJson: '"***"' }]);
  const one = await read(viewer, "GetEvent", { id: events[0].id });
  expect(JSON.stringify(one.json)).not.toContain(marker);
  expect(await read(viewer, "ListEvents", { payloadContains: "marker" })).toMatchObject({
    ...{ status: 403, reason: "PAYLOADS_HIDDEN", field: "payloadContains" },
  });
  for (const bearer of [viewer, reader])
    expect((await read(bearer, "PublishEvent", { type: "order.paid" })).reason).toBe("ROLE_REQUIRED");
});

/**
 * Plants texts in a payload, in an argument, in the answer of an endpoint and in the words of a job. Returns the calls of a viewer that
 * read them.
 */
async function plant(url: string): Promise<[string, object][]> {
  const call = async (name: string, body: object) => {
    const answer = await svc.call(`svc.v1.${name}`, body);
    expect([name, answer.status, answer.status === 200 ? "" : answer.json.message]).toEqual([name, 200, ""]);
    return answer.json;
  };
  const schema = { type: "object", properties: { note: { type: "string" } } };
  await call("TriggersService/PutEventType", { name: "order.lost", schemaJson: JSON.stringify(schema) });
  const { subscription } = await call("TriggersService/CreateSubscription", { endpointUrl: url });
  const program = {
    ...{ version: 1, title: "Stop", inputSchema: { ...schema, required: ["note"] } },
    steps: [{ id: "stop", fail: "Lost {input.note}", pause: true }],
  };
  const { standingProgram } = await call("StandingService/CreateStandingProgram", {
    slug: "stop",
    definitionJson: JSON.stringify({
      ...{ version: 1, source: { trigger: { slug: "events.order.lost" } } },
      ...{ input: { note: { $ref: "event.payload.note" } }, program },
    }),
  });
  await call("ConnectionsService/InitiateConnection", { toolkitSlug: "sales_crm", entityId: "ada", apiKey: "any-key" });
  for (const args of [{ deal_id: "planted-argument" }, { deal_id: 1, "planted-argument": true }])
    await call("ToolsService/CallTool", {
      ...{ toolSlug: "sales_crm.get_deal", entityId: "ada", argumentsJson: JSON.stringify(args) },
    });
  const { eventId } = await call("TriggersService/PublishEvent", {
    ...{ type: "order.lost", payloadJson: JSON.stringify({ note: "planted-payload" }) },
  });
  const found = { job: "", run: "", delivery: "", call: "" };
  await until(async () => {
    const [run] =
      (await call("StandingService/ListStandingRuns", { standingProgramId: standingProgram.id })).runs ?? [];
    const { deliveries = [] } = await call("TriggersService/ListDeliveries", { eventId });
    const { calls = [] } = await call("ToolsService/ListToolCalls", {});
    Object.assign(found, { job: run?.jobId, run: run?.id, delivery: deliveries[0]?.id, call: calls[0]?.id });
    return run?.jobStatus === "failed" && deliveries[0]?.attempts > 0;
  });
  const ids = [eventId, found.job, found.run, found.delivery, found.call, subscription.id, standingProgram.id];
  return [
    ...["event.lost", ...ids].map((id): [string, object] => ["StatsService/Search", { query: id }]),
    ...ids.map((id): [string, object] => ["StatsService/Trace", { id }]),
    ["StatsService/ListFailures", {}],
    ["StatsService/GetBacklog", {}],
    ["TriggersService/ListEvents", { withGlance: true, withDeliveries: true }],
    ["TriggersService/GetEvent", { id: eventId }],
    ["TriggersService/GetEventType", { name: "order.lost" }],
    ["TriggersService/GetDelivery", { id: found.delivery }],
    ["TriggersService/ListDeliveries", { eventId, withDetails: true }],
    ["TriggersService/ListDeliveryAttempts", { deliveryId: found.delivery, withRequest: true }],
    ["TriggersService/ListSubscriptions", {}],
    ["TriggersService/GetSubscription", { id: subscription.id }],
    ["ToolsService/ListToolCalls", {}],
    ["ToolsService/GetToolCall", { id: found.call }],
    ["StandingService/ListStandingPrograms", {}],
    ["StandingService/GetStandingProgram", { id: standingProgram.id }],
    ["StandingService/ListStandingRuns", { standingProgramId: standingProgram.id }],
    ["StandingService/GetStandingRun", { id: found.run }],
    ["JobsService/ListJobs", {}],
    ["JobsService/GetJob", { id: found.job }],
    ["JobsService/ListSteps", { jobId: found.job }],
    ["JobsService/GetStep", { jobId: found.job, stepId: "stop" }],
    ["JobsService/ListJobEvents", { jobId: found.job }],
    ["JobsService/DescribeProgram", { jobId: found.job }],
  ];
}

test("no answer to a viewer quotes a payload, an argument, an endpoint or a job, and its sentences stay readable", async () => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500, body: "planted-answer" });
  const calls = await plant(receiver.url);
  const seen: string[] = [];
  for (const [name, body] of calls) {
    const answers = await Promise.all([viewer, reader].map((bearer) => svc.call(`svc.v1.${name}`, body, { bearer })));
    const [hidden, whole] = answers.map(({ json }) => JSON.stringify(json));
    expect([name, answers.map(({ status }) => status)]).toEqual([name, [200, 200]]);
    expect([name, /planted-\w+|Lost \w+/.exec(hidden ?? "")?.[0]]).toEqual([name, undefined]);
    if (/planted-\w+/.test(whole ?? "")) seen.push(name);
    if (name.endsWith("/ListDeliveryAttempts")) expect(hidden).toContain('"Your endpoint answered 500"');
    if (name.endsWith("/GetJob")) expect(hidden).toContain('"Step stop ended the job"');
  }
  // A reader sees the planted texts in the same answers.
  for (const name of [
    "StatsService/Trace",
    "TriggersService/ListEvents",
    "ToolsService/ListToolCalls",
    "JobsService/GetJob",
  ])
    expect(seen).toContain(name);
});

test("the keys of viewers and readers open no MCP session, and give no grants", async () => {
  for (const bearer of [viewer, reader]) {
    const answer = await fetch(`${svc.url}/mcp`, {
      method: "POST",
      headers: {
        ...{ authorization: `Bearer ${bearer}`, "content-type": "application/json" },
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
    });
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining("role member")]);
  }
});
