import { Remedy } from "@svc/gen/failures";
import { Relation, Tone, TraceGapReason, TraceKind, type TraceResponse } from "@svc/gen/stats";
import { createSvcClient, JobStatus, type SvcClient, svcErrorDetails } from "@svc/sdk";
import { programText } from "@svc/testing/jobs-node";
import { startTestReceiver, type TestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { calendarSecret, postCalendar } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";

// The trace of one post: the event, its delivery to an endpoint that fails, the run of a schedule, its job and the job's calls.

const variables = { SVC_WEBHOOK_SECRET_CALENDAR: calendarSecret, SVC_SANDBOX: "force", SVC_RETRY_SCHEDULE: "1h" };
let server: TestServer;
let receiver: TestReceiver;
let client: SvcClient;
const ids = { event: "", delivery: "", subscription: "", program: "", run: "", job: "", call: "", ok: "", account: "" };

const program = {
  version: 1,
  title: "Copy the deals",
  steps: [
    { id: "deals", call: "sales_crm.list_deals", entity: "ada" },
    // The sandbox answers every call of this entity with an error.
    { id: "lost", call: "sales_crm.get_deal", entity: "sandbox:error", args: { deal_id: 1 } },
  ],
};
const definition = { version: 1, source: { trigger: { slug: "calendar.events_changed" } }, program };

beforeAll(async () => {
  server = await startTestServer({ variables });
  receiver = await startTestReceiver();
  receiver.script({ status: 500 });
  client = createSvcClient({ baseUrl: server.url, apiKey: server.key });
  const { account } = await client.connections.initiateConnection({ toolkitSlug: "sales_crm", entityId: "ada" });
  await client.connections.initiateConnection({ toolkitSlug: "sales_crm", entityId: "sandbox:error" });
  const { subscription } = await client.triggers.createSubscription({ endpointUrl: `${receiver.url}/secret-path` });
  const definitionJson = JSON.stringify(definition);
  const { standingProgram } = await client.standing.createStandingProgram({ slug: "copy", definitionJson });
  expect(await postCalendar(server, "channel", 1)).toBe(202);
  const [event] = (await client.triggers.listEvents({})).events;
  const { id: eventId = "" } = event ?? {};
  await until(async () => {
    const { runs } = await client.standing.listStandingRuns({ standingProgramId: standingProgram?.id ?? "" });
    const { deliveries } = await client.triggers.listDeliveries({ eventId });
    ids.run = runs[0]?.id ?? "";
    ids.job = runs[0]?.jobId ?? "";
    ids.delivery = deliveries[0]?.id ?? "";
    const job = ids.job === "" ? undefined : (await client.jobs.getJob({ id: ids.job })).job;
    return job?.status === JobStatus.FAILED && deliveries[0]?.attempts === 1;
  });
  const { calls } = await client.tools.listToolCalls({ jobId: ids.job });
  ids.call = calls.find(({ outcome }) => outcome === "provider_error")?.id ?? "";
  ids.ok = calls.find(({ outcome }) => outcome === "ok")?.id ?? "";
  Object.assign(ids, {
    event: eventId,
    subscription: subscription?.id,
    program: standingProgram?.id,
    account: account?.id,
  });
}, 180_000);
afterAll(async () => {
  await server?.stop();
  await receiver?.[Symbol.asyncDispose]();
});

async function reasonOf(call: Promise<unknown>): Promise<string | undefined> {
  const error = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return svcErrorDetails(error)[0]?.reason;
}

const kindsOf = ({ nodes }: TraceResponse) =>
  nodes.map(({ kind }) => Object.entries(TraceKind).find(([, value]) => value === kind)?.[0] ?? "").sort();
const hasEdge = ({ edges }: TraceResponse, from: string, to: string, relation: Relation) =>
  edges.some((edge) => edge.from === from && edge.to === to && edge.relation === relation);

test("the trace of an event shows its post, delivery, run, job and calls, and why it was not delivered", async () => {
  const trace = await client.stats.trace({ id: ids.event });
  expect(kindsOf(trace)).toEqual(
    ["POST", "EVENT", "DELIVERY", "SUBSCRIPTION", "SCHEDULE", "RUN", "JOB", "CALL", "CALL"].sort(),
  );
  expect(hasEdge(trace, `post_of_${ids.event}`, ids.event, Relation.BECAME)).toBe(true);
  expect(hasEdge(trace, ids.event, ids.delivery, Relation.DELIVERED_AS)).toBe(true);
  expect(hasEdge(trace, ids.subscription, ids.delivery, Relation.RECEIVED)).toBe(true);
  expect(hasEdge(trace, ids.event, ids.run, Relation.STARTED)).toBe(true);
  expect(hasEdge(trace, ids.program, ids.run, Relation.STARTED)).toBe(true);
  expect(hasEdge(trace, ids.run, ids.job, Relation.RAN)).toBe(true);
  expect(hasEdge(trace, ids.job, ids.call, Relation.CALLED)).toBe(true);
  expect(hasEdge(trace, ids.job, ids.ok, Relation.CALLED)).toBe(true);
  expect(trace.gaps).toEqual([]);
  const job = trace.nodes.find(({ id }) => id === ids.job);
  expect(job).toMatchObject({ title: "Job Copy the deals", state: "failed", tone: Tone.BAD, count: 1 });
  expect(JSON.stringify(trace.nodes.map(({ title, summary }) => [title, summary]))).not.toContain("secret-path");
});

test("a failed job is traced down to the call that failed, and up to the post", async () => {
  const trace = await client.stats.trace({ id: ids.job });
  expect(trace.why.map(({ nodeId }) => nodeId)).toEqual([ids.job, ids.call]);
  expect(trace.why[1]).toMatchObject({ remedy: Remedy.EDIT_PROGRAM, command: `svc tool-calls show ${ids.call}` });
  expect(trace.why[1]?.sentence).toMatch(/^Call of sales_crm\.get_deal: Sales CRM refused the call: "\w+/);
  expect(kindsOf(trace)).toEqual(["POST", "EVENT", "SCHEDULE", "RUN", "JOB", "CALL", "CALL"].sort());
});

test("a failed job, its call, a delivery and its attempt have the same sentence everywhere", async () => {
  const { job } = await client.jobs.getJob({ id: ids.job });
  const { call } = await client.tools.getToolCall({ id: ids.call });
  const title = expect.stringMatching(/^Sales CRM refused the call: "/);
  const remedy = [Remedy.EDIT_PROGRAM, Remedy.RETRY_JOB];
  expect(job?.failure).toMatchObject({
    title,
    remedy,
    code: "provider_error",
    stepId: "lost",
    toolSlug: "sales_crm.get_deal",
  });
  expect(call?.failure).toMatchObject({ title, remedy, callId: ids.call, appMessage: expect.stringMatching(/\w/) });
  const { calls } = await client.tools.listToolCalls({ jobId: ids.job });
  expect(calls.find(({ id }) => id === ids.ok)?.failure).toBeUndefined();
  const { delivery } = await client.triggers.getDelivery({ id: ids.delivery });
  const { attempts } = await client.triggers.listDeliveryAttempts({ deliveryId: ids.delivery });
  const tries = { code: "http_500", httpStatus: 500, subscriptionId: ids.subscription };
  expect(delivery?.failure).toMatchObject({
    ...tries,
    title: expect.stringMatching(/^Your endpoint answers 500 to everything since 20/),
  });
  expect(attempts[0]?.failure).toMatchObject({ ...tries, title: expect.stringMatching(/^Your endpoint answered 500/) });
  expect(delivery?.failure?.remedy).toEqual([Remedy.TRY_ENDPOINT_NOW, Remedy.REPAIR_ENDPOINT]);
});

test("what failed is counted in groups: the delivery and the job, but not the call of the job", async () => {
  const list = async () => (await client.stats.listFailures({})).groups;
  await until(async () => (await list()).length === 2, "the counts of the node", 20_000);
  const groups = await list();
  const members = groups.map(({ kind, newestId, count }) => [kind, newestId, count]);
  expect(members).toContainEqual([TraceKind.JOB, ids.job, 1]);
  expect(members).toContainEqual([TraceKind.DELIVERY, ids.delivery, 1]);
  const { job } = await client.jobs.getJob({ id: ids.job });
  expect(groups.find(({ kind }) => kind === TraceKind.JOB)).toMatchObject({
    fingerprint: job?.failure?.fingerprint,
    title: job?.failure?.title,
  });
});

test("a call that succeeded is traced up to the post with which everything began", async () => {
  const trace = await client.stats.trace({ id: ids.ok });
  const chain = [ids.ok, ids.job, ids.run, ids.event, `post_of_${ids.event}`];
  expect(trace.why.map(({ nodeId }) => nodeId)).toEqual(chain);
  expect(hasEdge(trace, ids.account, ids.ok, Relation.USED_FOR)).toBe(true);
});

test("a delivery, an endpoint, a schedule, a run and an account are traced too", async () => {
  const delivery = await client.stats.trace({ id: ids.delivery });
  expect(kindsOf(delivery)).toEqual(["POST", "EVENT", "DELIVERY", "SUBSCRIPTION"].sort());
  expect(delivery.why[0]?.sentence).toMatch(
    /^Delivery to 127\.0\.0\.1:\d+: Your endpoint answered 500\. svc tried once/,
  );
  expect(kindsOf(await client.stats.trace({ id: ids.subscription }))).toEqual(["DELIVERY", "SUBSCRIPTION"]);
  expect(kindsOf(await client.stats.trace({ id: ids.program }))).toEqual(["CALL", "CALL", "JOB", "RUN", "SCHEDULE"]);
  expect(kindsOf(await client.stats.trace({ id: ids.run }))).toContain("POST");
  expect(kindsOf(await client.stats.trace({ id: ids.account }))).toEqual(["ACCOUNT", "CALL"]);
});

test("a question leads to its job, and its job waits for the answer", async () => {
  const asking = {
    title: "Ask first",
    steps: [{ id: "gate", judge: "sure" }],
    points: { sure: { question: "Sure?", continuations: ["proceed", "abort"], escalation: [{ principal: "lead" }] } },
  };
  await client.contacts.putContact({ contact: { principalId: "lead", name: "Lead" } });
  const { job } = await client.jobs.submitJob({ programJson: programText(asking) });
  const jobId = job?.id ?? "";
  await until(async () => (await client.jobs.listAsks({ jobId })).asks.length === 1);
  const askId = (await client.jobs.listAsks({ jobId })).asks[0]?.requestId ?? "";
  const trace = await client.stats.trace({ id: jobId });
  expect(trace.why.map(({ nodeId }) => nodeId)).toEqual([jobId, askId]);
  expect(trace.why[1]).toMatchObject({ remedy: Remedy.ANSWER_ASK });
  const ask = await client.stats.trace({ id: askId });
  expect(hasEdge(ask, jobId, askId, Relation.ASKED)).toBe(true);
});

test("a call whose failure the program handled is not the cause of a job that failed later", async () => {
  const handled = {
    title: "Handle it",
    steps: [
      {
        id: "lost",
        call: "sales_crm.get_deal",
        entity: "sandbox:error",
        args: { deal_id: 1 },
        // biome-ignore lint/suspicious/noThenProperty: programs have a field of this name
        onError: { then: "continue" },
      },
      { id: "enough", fail: "It is enough" },
    ],
  };
  const { job } = await client.jobs.submitJob({ programJson: programText(handled), waitSeconds: 30 });
  const id = job?.id ?? "";
  await until(async () => (await client.jobs.getJob({ id })).job?.status === JobStatus.FAILED);
  const trace = await client.stats.trace({ id });
  expect(trace.nodes.map(({ kind, tone }) => [kind, tone])).toContainEqual([TraceKind.CALL, Tone.BAD]);
  expect(trace.why.map(({ nodeId }) => nodeId)).toEqual([id]);
});

test("a trace says which runs and endpoints it leaves out", async () => {
  const { subscription } = await client.triggers.createSubscription({ endpointUrl: `${receiver.url}/gone` });
  expect(await postCalendar(server, "channel", 3)).toBe(202);
  const [event] = (await client.triggers.listEvents({})).events;
  const id = event?.id ?? "";
  await until(async () => (await client.triggers.listDeliveries({ eventId: id })).deliveries.length === 2);
  await client.triggers.deleteSubscription({ id: subscription?.id ?? "" });
  // As many listeners as a trace searches: the versions of a schedule that listen to the trigger.
  const { sql } = server.database.db;
  await sql.unsafe(`insert into standing_listeners (program_id, from_version, project_id, trigger_slug, version)
    select program_id, from_version + n, project_id, trigger_slug, version from standing_listeners, generate_series(1, 50) n`);
  const { gaps } = await client.stats.trace({ id });
  await sql.unsafe(
    "delete from standing_listeners where from_version > (select min(from_version) from standing_listeners)",
  );
  expect(gaps).toMatchObject([
    { kind: TraceKind.SUBSCRIPTION, reason: TraceGapReason.DELETED },
    { nodeId: id, kind: TraceKind.RUN, reason: TraceGapReason.NOT_SEARCHED },
  ]);
});

test("more than 20 deliveries of an event are folded, and a small graph says that it is full", async () => {
  await Promise.all(
    Array.from({ length: 22 }, (_, index) =>
      client.triggers.createSubscription({ endpointUrl: `${receiver.url}/${index}` }),
    ),
  );
  expect(await postCalendar(server, "channel", 2)).toBe(202);
  const [event] = (await client.triggers.listEvents({})).events;
  const id = event?.id ?? "";
  await until(async () => (await client.triggers.listDeliveries({ eventId: id })).deliveries.length === 23);
  const trace = await client.stats.trace({ id, maxNodes: 200 });
  const deliveries = trace.nodes.filter(({ kind }) => kind === TraceKind.DELIVERY);
  expect(deliveries).toHaveLength(21);
  expect(deliveries.find(({ isFolded }) => isFolded)).toMatchObject({ listFilter: `eventId=${id}`, count: 3 });
  const small = await client.stats.trace({ id, maxNodes: 5 });
  expect(small.nodes).toHaveLength(5);
  expect(small.gaps.map(({ reason }) => reason)).toContain(TraceGapReason.NODE_LIMIT);
  expect(
    small.edges.every(({ from, to }) => [from, to].every((one) => small.nodes.some((node) => node.id === one))),
  ).toBe(true);
});

test("a scoped key sees its own part of a trace, and what is left out", async () => {
  const { json: made } = await server.admin("CreateApiKey", {
    ...{
      projectId: (await client.identity.getIdentity({})).projectId,
      role: "ROLE_MEMBER",
      name: "ada",
      entityId: "ada",
    },
  });
  const ada = createSvcClient({ baseUrl: server.url, apiKey: made.key });
  const trace = await ada.stats.trace({ id: ids.ok });
  expect(kindsOf(trace)).toEqual(["ACCOUNT", "CALL"]);
  expect(trace.gaps).toMatchObject([{ nodeId: ids.ok, kind: TraceKind.JOB, reason: TraceGapReason.NOT_PERMITTED }]);
  const { event, delivery, subscription, program: schedule, run, job, call } = ids;
  for (const id of [event, delivery, subscription, schedule, run, job, call]) {
    expect(await reasonOf(ada.stats.trace({ id })), id).toBe("TRACE_NOT_FOUND");
  }
});

test("another project finds nothing, and a request that does not fit is refused", async () => {
  const { json: other } = await server.admin("CreateProject", { name: "other" });
  const { json: made } = await server.admin("CreateApiKey", {
    projectId: other.project.id,
    role: "ROLE_MEMBER",
    name: "t",
  });
  const stranger = createSvcClient({ baseUrl: server.url, apiKey: made.key });
  for (const id of Object.values(ids)) expect(await reasonOf(stranger.stats.trace({ id })), id).toBe("TRACE_NOT_FOUND");
  expect(await reasonOf(client.stats.trace({ id: "key_01h455vb4pex5vsknk084sn02q" }))).toBe("TRACE_ID_UNKNOWN");
  expect(await reasonOf(client.stats.trace({ id: "" }))).toBe("TRACE_ID_UNKNOWN");
  expect(await reasonOf(client.stats.trace({ id: ids.job, maxNodes: 201 }))).toBe("MAX_NODES_INVALID");
});

const foundIds = async (svc: SvcClient, query: string, more: object = {}) =>
  (await svc.stats.search({ query, ...more })).results.map(({ id }) => id);

test("a search finds an id, its beginning and its end, and texts of jobs, endpoints, schedules and people", async () => {
  for (const id of Object.values(ids)) expect(await foundIds(client, id), id).toEqual([id]);
  expect(await foundIds(client, ids.job.slice(0, -2))).toEqual([ids.job]);
  expect(await foundIds(client, ids.event.slice(0, 26))).toEqual([ids.event]);
  for (const id of [ids.event, ids.delivery, ids.job, ids.ok])
    expect(await foundIds(client, id.slice(-6))).toEqual([id]);
  expect(await foundIds(client, "COPY the", { kinds: [TraceKind.JOB] })).toContain(ids.job);
  expect(await foundIds(client, "SECRET-path")).toEqual([ids.subscription]);
  expect(await foundIds(client, "copy", { kinds: [TraceKind.SCHEDULE] })).toEqual([ids.program]);
  await client.contacts.putContact({ contact: { principalId: "desk", name: "Zora" } });
  expect(await foundIds(client, "zor")).toEqual(["desk"]);
  expect(await foundIds(client, "127.0.0.1", { limit: 1 })).toHaveLength(1);
  expect(await foundIds(client, "no such thing at all")).toEqual([]);
  expect(await foundIds(client, "x")).toEqual([]);
});

test("a search shows a scoped key and another project only what their lists show", async () => {
  const { json: made } = await server.admin("CreateApiKey", {
    projectId: (await client.identity.getIdentity({})).projectId,
    ...{ role: "ROLE_MEMBER", name: "ada too", entityId: "ada" },
  });
  const ada = createSvcClient({ baseUrl: server.url, apiKey: made.key });
  expect(await foundIds(ada, ids.ok)).toEqual([ids.ok]);
  expect(await foundIds(ada, ids.ok.slice(-6))).toEqual([ids.ok]);
  const { json: project } = await server.admin("CreateProject", { name: "search" });
  const theirs = { projectId: project.project.id, role: "ROLE_MEMBER", name: "theirs" };
  const stranger = createSvcClient({
    baseUrl: server.url,
    apiKey: (await server.admin("CreateApiKey", theirs)).json.key,
  });
  for (const query of [
    ...Object.values(ids).filter((id) => id !== ids.ok && id !== ids.account),
    "copy",
    "127.0",
    "zor",
  ]) {
    expect(await foundIds(ada, query), query).toEqual([]);
    expect(await foundIds(stranger, query), query).toEqual([]);
  }
  expect(await foundIds(stranger, ids.ok)).toEqual([]);
  expect(await reasonOf(client.stats.search({ query: "copy", limit: 51 }))).toBe("SEARCH_LIMIT_INVALID");
  expect(await reasonOf(client.stats.search({ query: "a".repeat(201) }))).toBe("FILTER_TEXT_INVALID");
});

test("a search shares its results among the kinds, and names those of which more may match", async () => {
  for (const path of ["/one", "/two", "/three"]) {
    await client.triggers.createSubscription({ endpointUrl: `${receiver.url}/shared${path}` });
  }
  await client.contacts.putContact({ contact: { principalId: "night", name: "Shared phone" } });
  const { results, partial } = await client.stats.search({ query: "shared", limit: 3 });
  const { SUBSCRIPTION, PERSON } = TraceKind;
  expect(results.map(({ kind }) => kind)).toEqual([SUBSCRIPTION, SUBSCRIPTION, PERSON]);
  expect(partial).toEqual([SUBSCRIPTION]);
  expect((await client.stats.search({ query: "shared", limit: 4 })).partial).toEqual([]);
});

test("a saved tool and a person with the same name are both found", async () => {
  const programJson = programText({
    title: "x",
    inputSchema: { type: "object" },
    steps: [{ id: "deals", call: "sales_crm.list_deals", entity: "ada" }],
  });
  const { job } = await client.jobs.submitJob({ programJson, waitSeconds: 30 });
  const id = job?.id ?? "";
  await until(async () => (await client.jobs.getJob({ id })).job?.status === JobStatus.SUCCEEDED);
  await client.jobs.promoteJob({ jobId: id, slug: "weekly", description: "Reads deals" });
  await client.contacts.putContact({ contact: { principalId: "weekly", name: "Weekly" } });
  const { results } = await client.stats.search({ query: "weekly" });
  expect(results.map(({ kind, id: found }) => [kind, found])).toEqual([
    [TraceKind.SAVED_TOOL, "weekly"],
    [TraceKind.PERSON, "weekly"],
  ]);
});

test("a search of titles reads at most 8 MiB of programs", async () => {
  const { json: project } = await server.admin("CreateProject", { name: "large" });
  const { json: made } = await server.admin("CreateApiKey", {
    projectId: project.project.id,
    role: "ROLE_MEMBER",
    name: "l",
  });
  const large = createSvcClient({ baseUrl: server.url, apiKey: made.key });
  const submit = (title: string, bytes: number) =>
    large.jobs.submitJob({
      programJson: programText({ title, steps: [{ id: "end", fail: "x" }], input: { text: "x".repeat(bytes) } }),
    });
  await submit("Needle", 0);
  for (let n = 0; n < 34; n += 1) await submit("Hay", 250_000);
  expect(await large.stats.search({ query: "needle" })).toMatchObject({ results: [], partial: [TraceKind.JOB] });
});
