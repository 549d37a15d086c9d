import { type DescField, type DescMessage, type DescMethod, getOption } from "@bufbuild/protobuf";
import { AdminService } from "@svc/gen/admin";
import { CatalogService } from "@svc/gen/catalog";
import { ConnectionsService } from "@svc/gen/connections";
import { ConsoleService } from "@svc/gen/console";
import { ContactsService } from "@svc/gen/contacts";
import { GrantsService } from "@svc/gen/grants";
import { IdentityService } from "@svc/gen/identity";
import { JobsService } from "@svc/gen/jobs";
import { payload, Role, required_role } from "@svc/gen/options";
import { SandboxService } from "@svc/gen/sandbox";
import { SecretsService } from "@svc/gen/secrets";
import { StandingService } from "@svc/gen/standing";
import { StatsService } from "@svc/gen/stats";
import { ToolsService } from "@svc/gen/tools";
import { TriggersService } from "@svc/gen/triggers";
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
    GetConnection: "allowed",
    ListConnections: "allowed",
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
    GetBacklog: "allowed",
    QuerySeries: "allowed",
    GetStart: "allowed",
    WatchProject: "masked",
    Trace: "allowed",
    ListFailures: "allowed",
    Search: "allowed",
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
    ListSubscriptions: "allowed",
    GetSubscription: "allowed",
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
    const isMasked = [...fieldsOf(method.output)].some((field) => getOption(field, payload));
    const decision = !isOfViewers(method) ? "refused" : isMasked ? "masked" : "allowed";
    found[method.parent.name] = { ...found[method.parent.name], [method.name]: decision };
  }
  expect(found).toEqual(decisions);
});

test("every field of JSON and of bytes that a viewer may receive is a payload, or is known to have none", () => {
  const open = methods
    .filter(isOfViewers)
    .flatMap((method) => [...fieldsOf(method.output)])
    .filter((field) => !getOption(field, payload))
    .filter(({ name, parent }) => name.endsWith("_json") && !harmless.includes(name) && parent !== undefined)
    .map(({ name, parent }) => `${parent.name}.${name}`);
  expect([...new Set(open)]).toEqual([]);
});

let svc: TestServer;
let viewer: string;
let reader: string;
beforeAll(async () => {
  svc = await startTestServer();
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
