import { readdirSync } from "node:fs";
import { create, type DescMethod, type DescService } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import {
  createId,
  createSealer,
  Fault,
  generateVaultKey,
  type Principal,
  parseVaultKeys,
  principalContext,
  systemClock,
} from "@svc/core";
import { deploymentProject, listAuditEvents } from "@svc/db/audit/list";
import { createTestDatabase } from "@svc/testing/database";
import { afterAll, expect, test } from "vitest";
import { enterCalls } from "./enter-calls.ts";
import { createAuditLog } from "./log.ts";
import { readAuditRule } from "./rules.ts";

/** Calls that must be recorded, by service. */
const entered: Readonly<Record<string, string>> = {
  AdminService:
    "CreateApiKey CreateInvitation CreateProject DeleteDeploymentSecret DeleteProject EraseEntity ExportEntity ParkJob PutDeploymentSecret ReleaseJob ReleaseQuarantinedPosts RemovePerson ResumeRestored RevokeApiKey RotateVault SetPersonRole SetProjectPolicy",
  CatalogService: "AcceptToolkitChanges DeleteToolkit ImportToolkit PublishToolkit PutToolkitPhrases RefreshToolkit",
  ConnectionsService:
    "CreateConnectLink DeleteConnection DeleteProjectCredential DeleteToolkitClient InitiateConnection PutToolkitClient SetAccountReferences SetProjectCredential",
  ConsoleService: "CreateSignInLink EndSession",
  ContactsService: "DeleteContact PutContact",
  GrantsService: "CreateAgentKey RevokeAgentKey RevokeGrant UpdateGrant",
  JobsService:
    "AnswerAsk BulkJobs CancelJob CreateAnswerLink CreateAskEndpoint DeleteAskEndpoint DeleteSkill PauseJob PromoteJob ResumeJob",
  SandboxService: "ConnectSandboxAccounts SendSampleEvent",
  SecretsService: "DeleteSecret PutSecret",
  StandingService:
    "CreateStandingProgram DeleteStandingProgram PauseStandingProgram ResumeStandingProgram UpdateStandingProgram",
  ToolsService: "CreateHook DeleteCallLimit DeleteHook PutCallLimit UpdateHook",
  TriggersService:
    "CreatePortalLink CreateSubscription DeleteSubscription DeleteWebhookSecret PutEventSettings PutEventType PutWebhookSecret ReleaseQuarantinedPosts RevokePortalLinks RotateSubscriptionSecret UpdateSubscription",
};

/** Calls that have effects and need not be recorded. */
const others: Readonly<Record<string, string>> = {
  CallTool: "a destructive call is entered with its row of the ledger, before it is sent",
  SubmitJob: "its calls are entered as they are sent, and what they need approval for is an answer",
  RerunJob: "as SubmitJob",
  RetryJob: "as SubmitJob",
  RunStandingProgram: "starts what was created, as its schedule does",
  BackfillStandingProgram: "as RunStandingProgram",
  CancelBackfill: "as RunStandingProgram",
  ReplayEvent: "delivers again, to whom it was delivered",
  ReplayEvents: "as ReplayEvent",
  StartReplay: "as ReplayEvent",
  UpdateReplay: "as ReplayEvent",
  CancelReplay: "as ReplayEvent",
  SendTestEvent: "delivers a sample",
  CreateInbox: "stores nothing; the address shows what is sent to it",
  PublishEvent: "stores an event, as a post does",
  PublishEvents: "as PublishEvent",
  TryNow: "delivers what waits, sooner",
  TestConnection: "reads once, as a call of a tool with its row of the ledger",
};

const reading = /^(Get|Poll|List|Search|Describe|Watch|Query|Check|Preview|Trace|Verify)/;

const services = await readServices();

async function readServices(): Promise<DescService[]> {
  const folder = new URL(".", import.meta.resolve("@svc/gen/admin"));
  const names = readdirSync(folder).map((file) => file.replace(/_pb\.ts$/, ""));
  const modules: Record<string, unknown>[] = await Promise.all(names.map((name) => import(`@svc/gen/${name}`)));
  return modules.flatMap((module) => Object.values(module).filter(isService));
}

function isService(value: unknown): value is DescService {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "service";
}

const { db, drop } = await createTestDatabase();
afterAll(drop);
const sealer = createSealer(parseVaultKeys(generateVaultKey()));
const log = createAuditLog({
  ...{ db, clock: systemClock, sealer },
  onError: (error) => {
    throw error;
  },
});

test("the table lists the recorded calls, and the reason for each call with effects that is not recorded", () => {
  const declared = services.flatMap(({ name, methods }) => {
    const names = methods.filter((method) => readAuditRule(method) !== undefined).map((method) => method.name);
    return names.length === 0 ? [] : [[name, names.toSorted().join(" ")]];
  });
  expect(Object.fromEntries(declared)).toEqual(entered);
  const silent = services.flatMap(({ methods }) =>
    methods.flatMap((method) =>
      readAuditRule(method) === undefined && !reading.test(method.name) ? [method.name] : [],
    ),
  );
  expect(silent.toSorted()).toEqual(Object.keys(others).toSorted());
});

const callers: Readonly<Record<string, Principal>> = {
  admin: { kind: "admin" },
  key: { kind: "project", projectId: createId("prj", 1), keyId: createId("key", 1), role: "approver" },
};

/** Calls a method with this implementation. Returns the audit rows that the call wrote. */
async function rowsOfCall(service: DescService, method: DescMethod, implement: () => Promise<unknown>) {
  const streamed = async function* () {
    yield await implement();
  };
  const implementation = enterCalls(
    service,
    { [method.localName]: method.methodKind === "unary" ? implement : streamed },
    log,
  );
  const called = Reflect.get(implementation, method.localName) as (
    request: unknown,
    context: HandlerContext,
  ) => unknown;
  const caller = callers[service.name === "AdminService" ? "admin" : "key"];
  const values = { get: (key: unknown) => (key === principalContext ? caller : undefined) };
  const before = new Set((await listAuditEvents(db, {}, { after: undefined, limit: 500 })).map(({ id }) => id));
  const context = { values, signal: new AbortController().signal } as unknown as HandlerContext;
  const answer = called(create(method.input), context);
  if (method.methodKind === "unary") await Promise.resolve(answer).catch(() => {});
  // A stream must be read to its end.
  else for await (const _message of answer as AsyncIterable<unknown>);
  const after = await listAuditEvents(db, {}, { after: undefined, limit: 500 });
  return after.filter(({ id }) => !before.has(id));
}

test.each(services)("a call of $name that is entered writes one row, and another none", async (service) => {
  for (const method of service.methods) {
    let rowsBefore = -1;
    const done = async () => {
      rowsBefore = (await listAuditEvents(db, {}, { after: undefined, limit: 500 })).filter(
        ({ outcome }) => outcome === null,
      ).length;
      return create(method.output);
    };
    const rows = await rowsOfCall(service, method, done);
    const isEntered = entered[service.name]?.split(" ").includes(method.name) === true;
    const one = {
      action: `${service.name}.${method.name}`,
      actor: service.name === "AdminService" ? "admin" : "key",
      outcome: "ok",
    };
    expect(rows, method.name).toEqual(isEntered ? [expect.objectContaining(one)] : []);
    // The row must exist before the action runs.
    expect(rowsBefore, method.name).toBe(isEntered ? 1 : 0);
  }
});

test("a refused call has its row with the code, and a call that cannot be recorded does nothing", async () => {
  const [service] = services.filter(({ name }) => name === "SecretsService") as [DescService];
  const method = service.method["putSecret"] as DescMethod;
  const refused = async () => {
    throw new Fault("not_found", "x", [{ reason: "X", help: "x" }]);
  };
  expect(await rowsOfCall(service, method, refused)).toEqual([expect.objectContaining({ outcome: "not_found" })]);
  const broken = async () => {
    throw new Error("x");
  };
  expect(await rowsOfCall(service, method, broken)).toEqual([expect.objectContaining({ outcome: "internal" })]);
  let isDone = false;
  const away = { ...log, enter: () => Promise.reject(new Error("the store is away")) };
  const implementation = enterCalls(
    service,
    {
      putSecret: async () => {
        isDone = true;
      },
    },
    away,
  );
  const values = { get: () => callers["key"] };
  const called = implementation.putSecret as (request: unknown, context: unknown) => Promise<unknown>;
  await expect(called(create(method.input), { values })).rejects.toThrow("away");
  expect(isDone).toBe(false);
});

test("an entity is named by its digest alone, and what a call made is its subject", async () => {
  const [service] = services.filter(({ name }) => name === "AdminService") as [DescService];
  const method = service.method["createApiKey"] as DescMethod;
  const projectId = createId("prj", systemClock.now());
  const apiKey = { id: createId("key", 5), projectId };
  const implementation = enterCalls(service, { createApiKey: async () => ({ apiKey }) }, log);
  const values = { get: () => callers["admin"] };
  const called = implementation.createApiKey as (request: unknown, context: unknown) => Promise<unknown>;
  await called({ projectId, entityId: "ada@example.com", name: "of Ada" }, { values });
  const [row] = await listAuditEvents(db, { projectId }, { after: undefined, limit: 5 });
  expect(row).toMatchObject({ subject: apiKey.id, entityDigest: sealer.entityDigest(projectId, "ada@example.com") });
  expect(JSON.stringify(row)).not.toMatch(/ada|of Ada/i);
  expect(method.name).toBe("CreateApiKey");
  await called({ projectId: "", entityId: "", name: "" }, { values });
  const [moved] = await listAuditEvents(db, { projectId }, { after: undefined, limit: 5 });
  expect(moved?.id).not.toBe(row?.id);
  expect(
    await listAuditEvents(
      db,
      { projectId: deploymentProject, action: "AdminService.CreateApiKey" },
      { after: undefined, limit: 5 },
    ),
  ).not.toContainEqual(expect.objectContaining({ subject: apiKey.id }));
});
