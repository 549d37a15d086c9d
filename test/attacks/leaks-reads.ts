import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createSvcAdminClient, createSvcClient } from "@svc/sdk";
import { letIn, registerAgent } from "@svc/testing/agent";
import { signInToConsole } from "@svc/testing/console-session";
import { until } from "@svc/testing/server-process";
import type { Json, Playing } from "./leaks-playing.ts";

/** Encrypts everything again with another vault key. The steps that follow read that. */
export async function rotateVault({ call, server }: Playing): Promise<void> {
  await call("AdminService/RotateVault", {}, server.adminToken);
  const state = async () => (await call("AdminService/GetVaultRotation", {}, server.adminToken)).rotation;
  await until(async () => (await state()).state === "done", 60_000, "the end of the rotation");
}

/** Makes every call that reads, with all stored data, and calls that end something. */
export async function readAll(scene: Playing): Promise<void> {
  const { app, call, server, pages } = scene;
  const admin = (method: string, body: object = {}) => call(`AdminService/${method}`, body, server.adminToken);
  const { projectId } = await call("IdentityService/GetIdentity");
  await admin("ListProjects");
  await admin("GetVaultRotation");
  await admin("GetRestore");
  await admin("ListDeploymentSecrets");
  await admin("ListAuditEvents");
  await admin("VerifyAuditLog");
  await admin("ListPeople");
  await admin("ListApiKeys", { projectId });
  await admin("GetProjectUsage", { projectId });
  const { posts } = await admin("ListQuarantinedPosts");
  await Promise.all(posts.map(({ id }: Json) => admin("GetQuarantinedPost", { id })));
  await admin("ReleaseQuarantinedPosts", { toolkitSlug: "calendar" });
  await call("CatalogService/ListToolkits", { projectId });
  for (const slug of ["bank_link", "calendar", "own_basic", "skills"]) {
    await call("CatalogService/GetToolkit", { slug, projectId });
    await call("CatalogService/ListTools", { toolkitSlug: slug, projectId });
    await call("CatalogService/GetToolkitConnectSpec", { slug, projectId });
  }
  await call("CatalogService/GetTool", { slug: "bank_link.get_item" });
  // Waits until the endpoint was asked, which happens when the tools have vectors.
  await until(async () => {
    await call("ToolsService/SearchTools", { query: "exchange a token of a bank" });
    return app.seen.some(({ path, body }) => path === "/embeddings" && body.includes("token of a bank"));
  });
  await call("ToolsService/DescribeTool", { slug: "skills.use" });
  const { calls } = await call("ToolsService/ListToolCalls", { pageSize: 500 });
  await Promise.all(calls.map(({ id }: Json) => call("ToolsService/GetToolCall", { id })));
  const { accounts } = await call("ConnectionsService/ListConnections", {});
  await Promise.all(accounts.map(({ id }: Json) => call("ConnectionsService/GetConnection", { id })));
  const active = accounts.find((account: Json) => account.state === "active" && account.toolkitSlug === "sales_crm");
  await call("ConnectionsService/TestConnection", { id: active.id });
  await call("ConnectionsService/SetAccountReferences", { id: active.id, references: ["ref-1"] });
  await call("SecretsService/ListSecrets", {});
  await call("SecretsService/PutSecret", { name: "spare", value: "not-planted" });
  await call("SecretsService/DeleteSecret", { name: "spare" });
  await readTriggers(call);
  await readJobs(call);
  await readStanding(call);
  await readPolls(call);
  await call("ContactsService/ListContacts", {});
  await call("ConnectionsService/CreateConnectLink", { toolkitSlug: "sales_crm", entityId: "ada" });
  await readConsole(call, server);
  await readGrants(call, server);
  await readStats(scene);
  await exportAnn(scene, projectId);
  pages.push(await (await fetch(`${server.url}/metrics`)).text());
  await call("JobsService/ListSkills");
  await call("JobsService/GetSkill", { slug: "use" });
  await call("JobsService/DeleteSkill", { slug: "use" });
  await call("ContactsService/DeleteContact", { principalId: "lead" });
  await call("ConnectionsService/DeleteProjectCredential", { toolkitSlug: "own_client" });
  await call("ConnectionsService/DeleteToolkitClient", { toolkitSlug: "own_gone" });
  await call("ConnectionsService/DeleteConnection", { id: active.id });
  await call("CatalogService/DeleteToolkit", { slug: "own_client" });
}

/** Reads the backlog, the counts, and the first message of a watch. */
async function readStats({ call, server, answers }: Playing): Promise<void> {
  await call("StatsService/GetBacklog");
  await call("StatsService/GetStart");
  await call("StatsService/QuerySeries");
  await call("StatsService/ListFailures");
  for (const query of ["a", "http", "sub_0"]) await call("StatsService/Search", { query, limit: 50 });
  const { calls } = await call("ToolsService/ListToolCalls", { pageSize: 500 });
  await Promise.all(calls.map(({ id }: Json) => call("StatsService/Trace", { id, maxNodes: 200 })));
  const { stats } = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  for await (const { notice } of stats.watchProject({ since: timestampFromMs(Date.now() - 300_000) })) {
    if (notice?.event === undefined) continue;
    const text = JSON.stringify([notice.id, notice.state, notice.event.payloadJson]);
    answers.push({ method: "StatsService/WatchProject", isOk: true, text });
    break;
  }
}

/** Exports all data of the entity whose accounts have the credentials. */
async function exportAnn({ server, answers }: Playing, projectId: string): Promise<void> {
  const { admin } = createSvcAdminClient({ baseUrl: server.url, adminToken: server.adminToken });
  const lines: string[] = [];
  for await (const message of admin.exportEntity({ projectId, entityId: "ann" })) lines.push(...message.lines);
  answers.push({ method: "AdminService/ExportEntity", isOk: true, text: lines.join("\n") });
}

/** Creates a link for signing in, a session of the key, and ends it. */
async function readConsole(call: Playing["call"], server: Playing["server"]): Promise<void> {
  await call("ConsoleService/CreateSignInLink");
  await signInToConsole(server, { key: server.key });
  const { sessions } = await call("ConsoleService/ListSessions");
  await call("ConsoleService/EndSession", { id: sessions[0].id });
}

/** Gives a grant to an agent, narrows and ends it, and makes a key for another agent. */
async function readGrants(call: Playing["call"], server: Playing["server"]): Promise<void> {
  const agent = await registerAgent(server.url);
  await agent.change((await letIn(server, agent)).get("code") ?? "");
  const { grants } = await call("GrantsService/ListGrants");
  await call("GrantsService/UpdateGrant", { id: grants[0].id, accessClasses: ["read"] });
  await call("GrantsService/RevokeGrant", { id: grants[0].id });
  const { apiKey } = await call("GrantsService/CreateAgentKey", { name: "agent of ann", entityId: "ann" });
  await call("GrantsService/ListAgentKeys");
  await call("GrantsService/RevokeAgentKey", { id: apiKey.id });
}

async function readTriggers(call: Playing["call"]): Promise<void> {
  const { subscriptions } = await call("TriggersService/ListSubscriptions");
  await call("TriggersService/ListIngestEndpoints");
  const { posts } = await call("TriggersService/ListQuarantinedPosts");
  await Promise.all(posts.map(({ id }: Json) => call("TriggersService/GetQuarantinedPost", { id })));
  await call("TriggersService/ReleaseQuarantinedPosts", { toolkitSlug: "desk" });
  const own = subscriptions.find((one: Json) => one.toolkitSlug === "calendar" && one.agent === undefined);
  await call("TriggersService/GetSubscription", { id: own.id });
  await call("TriggersService/PreviewSubscription", { match: { filter: "has(event.payload.amount)" } });
  const { events } = await call("TriggersService/ListEvents", {});
  await Promise.all(events.map(({ id }: Json) => call("TriggersService/GetEvent", { id })));
  await call("TriggersService/PollEvents", {});
  await call("TriggersService/ListEventTypes", {});
  await call("TriggersService/GetEventType", { name: "invoice.paid" });
  await call("TriggersService/GetEventDocument", { format: "EVENT_DOCUMENT_FORMAT_OPENAPI_3_1" });
  await call("TriggersService/GetEventSettings", {});
  await call("TriggersService/ListPortalLinks", {});
  const { deliveries } = await call("TriggersService/ListDeliveries", { eventId: events[0].id });
  await call("TriggersService/GetDelivery", { id: deliveries[0].id });
  await call("TriggersService/ListDeliveryAttempts", { deliveryId: deliveries[0].id });
  await call("TriggersService/ReplayEvent", { eventId: events[0].id });
  await call("TriggersService/ReplayEvents", { subscriptionId: own.id, since: "2026-01-01T00:00:00Z" });
  await call("TriggersService/TryNow", { subscriptionId: own.id });
  const { replay } = await call("TriggersService/StartReplay", {
    subscriptionId: own.id,
    since: "2026-01-01T00:00:00Z",
  });
  await call("TriggersService/GetReplay", { id: replay.id });
  await call("TriggersService/ListReplays", {});
  await call("TriggersService/UpdateReplay", { id: replay.id, perSecond: 100 });
  await call("TriggersService/CancelReplay", { id: replay.id });
  await call("TriggersService/DeleteSubscription", { id: own.id });
}

async function readJobs(call: Playing["call"]): Promise<void> {
  for (const mode of ["", "simulate"]) {
    const { jobs } = await call("JobsService/ListJobs", { mode });
    await Promise.all(jobs.map(({ id }: Json) => call("JobsService/GetJob", { id })));
    await Promise.all(jobs.map(({ id }: Json) => call("JobsService/ListJobEvents", { jobId: id })));
    const listed = await Promise.all(jobs.map(({ id }: Json) => call("JobsService/ListSteps", { jobId: id })));
    for (const [index, { steps }] of listed.entries()) {
      const jobId = jobs[index].id;
      await Promise.all(steps.map(({ stepId }: Json) => call("JobsService/GetStep", { jobId, stepId })));
    }
    await Promise.all(jobs.map(({ id }: Json) => call("JobsService/DescribeProgram", { jobId: id })));
    await Promise.all(jobs.map(({ id }: Json) => call("JobsService/ListUndoEntries", { jobId: id })));
  }
  const { asks } = await call("JobsService/ListAsks", {});
  await Promise.all(asks.map(({ jobId, requestId }: Json) => call("JobsService/GetAsk", { jobId, requestId })));
  const { askEndpoints } = await call("JobsService/ListAskEndpoints", {});
  for (const { id } of askEndpoints) await call("JobsService/DeleteAskEndpoint", { id });
}

async function readStanding(call: Playing["call"]): Promise<void> {
  const steps = [{ id: "pause", wait: "1m" }];
  const definition = {
    version: 1,
    source: { schedule: { every: "1d" } },
    program: { version: 1, title: "Look", inputSchema: { type: "object" }, input: {}, steps },
  };
  const definitionJson = JSON.stringify(definition);
  const id = "look-daily";
  await call("StandingService/PreviewStandingProgram", { definitionJson });
  await call("StandingService/CreateStandingProgram", { slug: id, definitionJson });
  await call("StandingService/UpdateStandingProgram", { id, definitionJson });
  const { run } = await call("StandingService/RunStandingProgram", { id, inputJson: '{"by":"hand"}' });
  await call("StandingService/GetStandingRun", { id: run.id });
  await call("StandingService/ListStandingRuns", { standingProgramId: id });
  await call("StandingService/PauseStandingProgram", { id });
  await call("StandingService/ResumeStandingProgram", { id });
  const { backfill } = await call("StandingService/BackfillStandingProgram", { id, since: "2026-01-05T00:00:00Z" });
  await call("StandingService/GetBackfill", { id: backfill.id });
  await call("StandingService/CancelBackfill", { id: backfill.id });
  await call("StandingService/GetStandingProgram", { id });
  await call("StandingService/ListStandingPrograms", {});
  await call("StandingService/DeleteStandingProgram", { id });
}

/** Polls that find nothing, and polls that the app refuses with a text of its own. */
async function readPolls(call: Playing["call"]): Promise<void> {
  const polls = {
    "new-events": { call: "calendar.list_events", args: { calendar_id: "primary" } },
    "new-deals": { call: "sales_crm.list_deals", args: { status: "open" } },
  };
  const steps = [{ id: "pause", wait: "1m" }];
  for (const [slug, poll] of Object.entries(polls)) {
    const source = { poll: { ...poll, entity: "ann", every: "5m" } };
    const definition = { version: 1, source, program: { version: 1, title: "Look", steps } };
    await call("StandingService/CreateStandingProgram", { slug, definitionJson: JSON.stringify(definition) });
    await until(async () => {
      const { standingProgram } = await call("StandingService/GetStandingProgram", { id: slug });
      return standingProgram.lastPollAt !== undefined;
    });
  }
}
