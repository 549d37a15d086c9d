import {
  type AppNames,
  type Binding,
  type Clock,
  type Id,
  type IdPrefix,
  isRowInScope,
  isWithin,
  type ProjectId,
  type ProjectPrincipal,
  parseId,
  type StandingProgramId,
} from "@svc/core";
import {
  readAsksOfJobs,
  readCallsOfJobs,
  readChildJobIds,
  readEndpoints,
  readEventsOfRun,
  readLineage,
  readRunsOfEvent,
  readTracedJobs,
  tracedMax,
  tracedParentsMax,
} from "@svc/db/activity/trace";
import { asksForProject } from "@svc/db/asks/repo";
import type { ToolCallSummary } from "@svc/db/calls/list-page";
import { toolCallsForProject } from "@svc/db/calls/repo";
import type { Executor } from "@svc/db/connect";
import { connectedAccountsForProject } from "@svc/db/connections/repo";
import { type Delivery, deliveriesForProject } from "@svc/db/deliveries/repo";
import { type Event, eventsForProject } from "@svc/db/events/repo";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import { readStandingPrograms, type StandingProgramRecord } from "@svc/db/standing/programs";
import { type StandingRunRecord, standingRunsForProject } from "@svc/db/standing/runs";
import { Relation, TraceGapReason, TraceKind, type TraceRequest, type TraceResponse } from "@svc/gen/stats";
import { serverFaults } from "../../errors.ts";
import { TraceGraph } from "./graph.ts";
import {
  accountNode,
  accountOutcomes,
  askNode,
  callNode,
  deliveryNode,
  endpointNode,
  eventNode,
  jobNode,
  postNode,
  runNode,
  scheduleNode,
  type TracedNode,
} from "./nodes.ts";

/**
 * Dependencies of Trace. `appNames`: returns the names of apps for the sentences about failures. `titleOf`: returns the title of a job's
 * program. `messageOf`: returns the message of a call as plain text, because the database stores both encrypted.
 */
export type TraceContext = {
  readonly db: Executor;
  readonly clock: Clock;
  readonly titleOf: (job: ListedJob) => string;
  readonly messageOf: (call: ToolCallSummary) => string;
  readonly appNames: AppNames;
};

/** Default and largest number of nodes of a trace. */
const nodesDefault = 60;
const nodesMax = 200;
/** Maximum difference between the clocks of two nodes, in milliseconds. */
const skewMs = 5_000;
/** Maximum number of deliveries of an event that a trace reads. Those that failed are shown first. */
const deliveriesMax = 200;

const { DELETED, NOT_PERMITTED, NOT_SEARCHED } = TraceGapReason;

/**
 * Returns the answer of Trace: the graph of causes and effects of a resource. Each kind of resource is read for all nodes together, so a
 * trace takes at most 12 statements. Throws TRACE_ID_UNKNOWN, MAX_NODES_INVALID and TRACE_NOT_FOUND.
 */
export async function readTrace(
  context: TraceContext,
  { projectId, binding }: Pick<ProjectPrincipal, "projectId" | "binding">,
  { id, maxNodes }: TraceRequest,
): Promise<TraceResponse> {
  if (maxNodes > nodesMax) throw serverFaults.MAX_NODES_INVALID(maxNodes, nodesMax);
  const graph = new TraceGraph(id, maxNodes || nodesDefault);
  const tracing: Tracing = { ...context, projectId, binding, graph };
  const found = await begin(tracing, id);
  if (found === undefined) throw serverFaults.TRACE_ID_UNKNOWN(id);
  if (!found) throw serverFaults.TRACE_NOT_FOUND(id);
  return graph.answer();
}

type Tracing = TraceContext & {
  readonly projectId: ProjectId;
  readonly binding: Binding | undefined;
  readonly graph: TraceGraph;
};

/** Makes the graph of a resource. Returns false if the caller can see no such resource, and undefined if the text is not such an id. */
function begin(tracing: Tracing, text: string): Promise<boolean> | undefined {
  const of = <P extends IdPrefix>(prefix: P, from: (tracing: Tracing, id: Id<P>) => Promise<boolean>) => {
    const id = parseId(prefix, text);
    return id === undefined ? undefined : from(tracing, id);
  };
  return (
    of("evt", fromEvent) ??
    of("dlv", fromDelivery) ??
    of("sub", fromSubscription) ??
    of("stp", fromSchedule) ??
    of("srn", fromRun) ??
    of("job", fromJob) ??
    of("ask", fromAsk) ??
    of("call", fromCall) ??
    of("acc", fromAccount)
  );
}

async function fromEvent(tracing: Tracing, id: Id<"evt">): Promise<boolean> {
  const event = await eventsForProject(tracing.db, tracing.projectId).find(id);
  if (event === undefined || !isRowInScope(event, tracing.binding)) return false;
  tracing.graph.add(eventNode(event));
  addPost(tracing, event);
  await addDeliveries(tracing, event);
  const { runs, isPartial } = await readRunsOfEvent(tracing.db, tracing.projectId, event);
  if (isPartial) tracing.graph.gap(id, TraceKind.RUN, NOT_SEARCHED);
  await addRuns(tracing, runs.toReversed(), id);
  return true;
}

async function fromDelivery(tracing: Tracing, id: Id<"dlv">): Promise<boolean> {
  const { db, projectId, binding, graph } = tracing;
  const delivery = binding === undefined ? await deliveriesForProject(db, projectId).find(id) : undefined;
  if (delivery === undefined) return false;
  const [endpoint] = await readEndpoints(db, projectId, [delivery.subscriptionId]);
  graph.add(deliveryNode(delivery, endpoint));
  if (endpoint === undefined) graph.gap(id, TraceKind.SUBSCRIPTION, DELETED);
  else graph.addCause(id, endpointNode(endpoint), Relation.RECEIVED);
  const event = await eventsForProject(db, projectId).find(delivery.eventId);
  if (event === undefined) graph.gap(id, TraceKind.EVENT, DELETED);
  else addEventCause(tracing, id, event, Relation.DELIVERED_AS);
  return true;
}

async function fromSubscription({ db, projectId, binding, graph }: Tracing, id: Id<"sub">): Promise<boolean> {
  const [endpoint] = binding === undefined ? await readEndpoints(db, projectId, [id]) : [];
  if (endpoint === undefined) return false;
  graph.add(endpointNode(endpoint));
  const filter = { subscriptionId: id, eventId: undefined };
  const rows = await deliveriesForProject(db, projectId).list(filter, { after: undefined, limit: tracedMax });
  const nodes = rows.reverse().map((row) => deliveryNode(row, endpoint));
  graph.addEffects(id, nodes, Relation.RECEIVED, `subscriptionId=${id}`);
  return true;
}

async function fromSchedule(tracing: Tracing, id: Id<"stp">): Promise<boolean> {
  const { db, projectId } = tracing;
  const program = await findSchedule(tracing, id);
  if (program === undefined) return false;
  tracing.graph.add(scheduleNode(program));
  const filter = { state: undefined, reason: undefined, sinceMs: undefined, untilMs: undefined };
  const runs = await standingRunsForProject(db, projectId).list(id, filter, { after: undefined, limit: tracedMax });
  await addRunJobs(tracing, runs.reverse(), id);
  return true;
}

async function fromRun(tracing: Tracing, id: Id<"srn">): Promise<boolean> {
  const run = await standingRunsForProject(tracing.db, tracing.projectId).find(id);
  const program = run && (await findSchedule(tracing, run.programId));
  if (run === undefined || program === undefined) return false;
  tracing.graph.add(runNode(run));
  await addRunCauses(tracing, run, program);
  await addJobsOfRuns(tracing, [run]);
  return true;
}

async function fromJob(tracing: Tracing, id: Id<"job">): Promise<boolean> {
  const job = await addLineage(tracing, id, undefined);
  if (job !== undefined) await addJobEffects(tracing, [job]);
  return job !== undefined;
}

async function fromAsk(tracing: Tracing, id: Id<"ask">): Promise<boolean> {
  const ask = await asksForProject(tracing.db, tracing.projectId).find(id);
  if (ask === undefined) return false;
  return (await addLineage(tracing, ask.jobId, { node: askNode(ask), relation: Relation.ASKED })) !== undefined;
}

async function fromCall(tracing: Tracing, id: Id<"call">): Promise<boolean> {
  const { db, projectId, binding, graph } = tracing;
  const call = await toolCallsForProject(db, projectId).find(id);
  if (call === undefined || !isRowInScope(call, binding)) return false;
  const node = callNode(call, tracing.messageOf(call), tracing.appNames);
  graph.add(node);
  if (call.accountId !== null) await addAccount(tracing, call.accountId, [id]);
  if (call.jobId === null) return true;
  const job = await addLineage(tracing, call.jobId, { node, relation: Relation.CALLED });
  if (job === undefined) graph.gap(id, TraceKind.JOB, binding === undefined ? DELETED : NOT_PERMITTED);
  return true;
}

async function fromAccount(
  { db, clock, projectId, binding, graph, messageOf, appNames }: Tracing,
  id: Id<"acc">,
): Promise<boolean> {
  const account = await connectedAccountsForProject(db, projectId).find(id);
  if (account === undefined || !isRowInScope(account, binding)) return false;
  graph.add(accountNode(account, clock.now()));
  const none = { toolSlug: undefined, entityId: undefined, outcome: undefined, jobId: undefined, keyId: undefined };
  const filter = { ...none, accountId: id, sinceMs: account.createdAt - skewMs, untilMs: undefined };
  const page = { after: undefined, limit: tracedMax };
  const { rows, walkedTo } = await toolCallsForProject(db, projectId).walk(filter, page);
  const calls = rows.reverse().filter((row) => isRowInScope(row, binding));
  if (calls.length < rows.length) graph.gap(id, TraceKind.CALL, NOT_PERMITTED);
  const nodes = calls.map((call) => callNode(call, messageOf(call), appNames));
  graph.addEffects(id, nodes, Relation.USED_FOR, `connectedAccountId=${id}`);
  if (walkedTo !== undefined) graph.gap(id, TraceKind.CALL, NOT_SEARCHED);
  return true;
}

function addPost({ graph }: Tracing, event: Omit<Event, "payload">): void {
  const post = postNode(event);
  if (post !== undefined) graph.addCause(event.id, post, Relation.BECAME);
}

/** Adds an event as the cause of a delivery or a run, with the post that became the event. */
function addEventCause(tracing: Tracing, to: string, event: Omit<Event, "payload">, relation: Relation): void {
  if (!isRowInScope(event, tracing.binding)) {
    tracing.graph.gap(to, TraceKind.EVENT, NOT_PERMITTED);
    return;
  }
  tracing.graph.addCause(to, eventNode(event), relation);
  addPost(tracing, event);
}

async function addDeliveries({ db, projectId, binding, graph }: Tracing, { id }: Pick<Event, "id">): Promise<void> {
  if (binding !== undefined) {
    graph.gap(id, TraceKind.DELIVERY, NOT_PERMITTED);
    return;
  }
  const filter = { eventId: id, subscriptionId: undefined };
  const rows = await deliveriesForProject(db, projectId).list(filter, { after: undefined, limit: deliveriesMax });
  const ids = rows.map(({ subscriptionId }) => subscriptionId);
  const endpoints = new Map((await readEndpoints(db, projectId, ids)).map((one) => [one.id, one]));
  const endpointOf = ({ subscriptionId }: Delivery) => endpoints.get(subscriptionId);
  const nodes = rows.reverse().map((row) => deliveryNode(row, endpointOf(row)));
  const shown = graph.addEffects(id, nodes, Relation.DELIVERED_AS, `eventId=${id}`);
  for (const row of rows.filter((one) => shown.has(one.id))) {
    const endpoint = endpointOf(row);
    if (endpoint === undefined) graph.gap(row.id, TraceKind.SUBSCRIPTION, DELETED);
    else graph.addCause(row.id, endpointNode(endpoint), Relation.RECEIVED);
  }
}

/** Adds the runs that an event started, with their schedules and jobs. Leaves out runs of schedules that the caller may not see. */
async function addRuns(tracing: Tracing, runs: readonly StandingRunRecord[], eventId: Id<"evt">): Promise<void> {
  const { db, projectId, binding, graph } = tracing;
  const found = await readStandingPrograms(db, [...new Set(runs.map(({ programId }) => programId))]);
  const own = found.filter((one) => one.projectId === projectId && isWithin(one, binding));
  const schedules = new Map(own.map((one) => [one.id, one]));
  const seen = runs.filter(({ programId }) => schedules.has(programId));
  if (seen.length < runs.length) graph.gap(eventId, TraceKind.RUN, binding === undefined ? DELETED : NOT_PERMITTED);
  await addRunJobs(tracing, seen, eventId, (run) => {
    const program = schedules.get(run.programId);
    return program && scheduleNode(program);
  });
}

/**
 * Adds runs below the event or the schedule that started them, with their jobs. `scheduleOf`: the schedule of a run, if it is to be added.
 */
async function addRunJobs(
  tracing: Tracing,
  runs: readonly StandingRunRecord[],
  from: Id<"evt"> | StandingProgramId,
  scheduleOf: (run: StandingRunRecord) => TracedNode | undefined = () => undefined,
): Promise<void> {
  const filter = from.startsWith("stp_") ? `standingProgramId=${from}` : "";
  const ids = tracing.graph.addEffects(from, runs.map(runNode), Relation.STARTED, filter);
  const shown = runs.filter(({ id }) => ids.has(id));
  for (const run of shown) {
    const schedule = scheduleOf(run);
    if (schedule !== undefined) tracing.graph.addCause(run.id, schedule, Relation.STARTED);
  }
  await addJobsOfRuns(tracing, shown);
}

/** Adds the schedule and the events that started a run. */
async function addRunCauses(tracing: Tracing, run: StandingRunRecord, program: StandingProgramRecord): Promise<void> {
  const { db, projectId, graph } = tracing;
  graph.addCause(run.id, scheduleNode(program), Relation.STARTED);
  if (run.kind !== "event") return;
  const eventId = parseId("evt", run.sourceKey.slice(run.sourceKey.lastIndexOf("e:") + 2));
  const events = await readEventsOfRun(db, projectId, { runId: run.id, eventId });
  if (events.length === 0) graph.gap(run.id, TraceKind.EVENT, DELETED);
  for (const event of events.reverse().slice(-20)) addEventCause(tracing, run.id, event, Relation.STARTED);
  if (events.length === tracedMax) graph.gap(run.id, TraceKind.EVENT, NOT_SEARCHED);
}

async function findSchedule(
  { db, projectId, binding }: Tracing,
  id: StandingProgramId,
): Promise<StandingProgramRecord | undefined> {
  const [program] = await readStandingPrograms(db, [id]);
  return program?.projectId === projectId && isWithin(program, binding) ? program : undefined;
}

/** Adds the jobs of runs and the effects of these jobs. */
async function addJobsOfRuns(tracing: Tracing, runs: readonly StandingRunRecord[]): Promise<void> {
  const { db, projectId, graph } = tracing;
  const ids = runs.flatMap(({ jobId }) => jobId ?? []);
  const found = new Map((await readTracedJobs(db, projectId, ids)).map((job) => [job.id, job]));
  const added: ListedJob[] = [];
  for (const { id, jobId } of runs) {
    const job = jobId === null ? undefined : found.get(jobId);
    if (jobId !== null && job === undefined) graph.gap(id, TraceKind.JOB, DELETED);
    if (job !== undefined && addJob(tracing, id, job)) added.push(job);
  }
  await addJobEffects(tracing, added);
}

/** Adds a job below its cause. Returns false, and adds a gap, if the caller may not see the job. */
function addJob({ graph, binding, titleOf }: Tracing, from: string, job: ListedJob): boolean {
  if (!isWithin(job, binding)) {
    graph.gap(from, TraceKind.JOB, NOT_PERMITTED);
    return false;
  }
  graph.addEffect(from, jobNode(job, titleOf(job)), Relation.RAN);
  return true;
}

/**
 * Adds a job, its parent jobs, and the run, the schedule and the events that started the first of them. `effect`: the ask or call from
 * which the trace begins. Returns the job; undefined if the caller can see no such job.
 */
async function addLineage(
  tracing: Tracing,
  id: Id<"job">,
  effect: { readonly node: TracedNode; readonly relation: Relation } | undefined,
): Promise<ListedJob | undefined> {
  const { db, projectId, binding, graph, titleOf } = tracing;
  const ids = await readLineage(db, projectId, id);
  const found = new Map((await readTracedJobs(db, projectId, ids)).map((job) => [job.id, job]));
  const lineage = ids.flatMap((one) => found.get(one) ?? []);
  const [job] = lineage;
  if (job === undefined || !isWithin(job, binding)) return undefined;
  if (effect !== undefined) graph.add(effect.node);
  let below = effect && { id: effect.node.id, relation: effect.relation };
  for (const one of lineage) {
    if (!isWithin(one, binding)) {
      graph.gap(below?.id ?? id, TraceKind.JOB, NOT_PERMITTED);
      return job;
    }
    const node = jobNode(one, titleOf(one));
    if (below === undefined) graph.add(node);
    else graph.addCause(below.id, node, below.relation);
    below = { id: one.id, relation: Relation.RAN };
  }
  const first = lineage.at(-1);
  if (first === undefined) return job;
  if (first.parentJobId === null) await addRunOfJob(tracing, first);
  else graph.gap(first.id, TraceKind.JOB, lineage.length > tracedParentsMax ? NOT_SEARCHED : DELETED);
  return job;
}

async function addRunOfJob(tracing: Tracing, { id, standingRunId }: ListedJob): Promise<void> {
  if (standingRunId === null) return;
  const { db, projectId, graph, binding } = tracing;
  const run = await standingRunsForProject(db, projectId).find(standingRunId);
  const program = run && (await findSchedule(tracing, run.programId));
  if (run === undefined || program === undefined) {
    graph.gap(id, TraceKind.RUN, run !== undefined && binding !== undefined ? NOT_PERMITTED : DELETED);
    return;
  }
  graph.addCause(id, runNode(run), Relation.RAN);
  await addRunCauses(tracing, run, program);
}

/** Adds the child jobs of jobs, and the asks and calls of all of them. Reads each kind for all jobs together. */
async function addJobEffects(tracing: Tracing, jobs: readonly ListedJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const { db, projectId, graph } = tracing;
  const all = [...jobs, ...(await addChildren(tracing, jobs))];
  const ids = all.map(({ id }) => id);
  const asks = await readAsksOfJobs(db, projectId, ids);
  for (const [jobId, own] of Map.groupBy(asks, (ask) => ask.jobId)) {
    graph.addEffects(jobId, own.map(askNode), Relation.ASKED, `jobId=${jobId}`);
  }
  await addCalls(tracing, all);
}

/** Adds the newest child jobs of jobs and returns them. Their own child jobs are not searched. */
async function addChildren(tracing: Tracing, jobs: readonly ListedJob[]): Promise<readonly ListedJob[]> {
  const { db, projectId, graph } = tracing;
  const parentIds = jobs.map(({ id }) => id);
  const ids = await readChildJobIds(db, projectId, parentIds);
  const read = new Map((await readTracedJobs(db, projectId, ids.slice(0, tracedMax - 1))).map((job) => [job.id, job]));
  const children = ids.toReversed().flatMap((id) => read.get(id) ?? []);
  const added = children.filter((child) => addJob(tracing, child.parentJobId ?? "", child));
  // The statement reads the newest children of all jobs together, so any of the jobs may have more.
  for (const id of ids.length === tracedMax ? parentIds : []) graph.gap(id, TraceKind.JOB, NOT_SEARCHED);
  for (const { id, park } of added) if (park?.reason === "child") graph.gap(id, TraceKind.JOB, NOT_SEARCHED);
  return added;
}

/** Adds the newest calls of jobs, and the account of the newest call that failed because of its account. */
async function addCalls(tracing: Tracing, jobs: readonly ListedJob[]): Promise<void> {
  const { db, projectId, graph, binding, clock, messageOf, appNames } = tracing;
  const spans = jobs.map((job) => spanOf(job, clock.now()));
  const { calls, unscanned } = await readCallsOfJobs(db, projectId, spans);
  for (const jobId of unscanned) graph.gap(jobId, TraceKind.CALL, NOT_SEARCHED);
  const shown: ToolCallSummary[] = [];
  for (const [jobId, all] of Map.groupBy(calls, (call) => call.jobId ?? "")) {
    const own = all.filter((call) => isRowInScope(call, binding));
    if (own.length < all.length) graph.gap(jobId, TraceKind.CALL, NOT_PERMITTED);
    const nodes = own.map((call) => callNode(call, messageOf(call), appNames));
    const ids = graph.addEffects(jobId, nodes, Relation.CALLED, `jobId=${jobId}`);
    shown.push(...own.filter(({ id }) => ids.has(id)));
  }
  const refused = shown.filter(({ outcome }) => accountOutcomes.has(outcome));
  const accountId = refused.findLast((call) => call.accountId !== null)?.accountId ?? null;
  for (const call of refused) {
    if (call.accountId !== null && call.accountId !== accountId) graph.gap(call.id, TraceKind.ACCOUNT, NOT_SEARCHED);
  }
  if (accountId === null) return;
  const users = refused.filter((call) => call.accountId === accountId);
  await addAccount(
    tracing,
    accountId,
    users.map(({ id }) => id),
  );
}

/** Returns the time in which a job made its calls, with room for clocks that differ. */
function spanOf({ id, createdAt, finishedAt }: ListedJob, nowMs: number) {
  return { id, sinceMs: createdAt - skewMs, untilMs: (finishedAt ?? nowMs) + skewMs };
}

/** Adds the account that calls used. */
async function addAccount(
  { db, clock, projectId, binding, graph }: Tracing,
  id: Id<"acc">,
  callIds: readonly string[],
): Promise<void> {
  const account = await connectedAccountsForProject(db, projectId).find(id);
  const node = account && isRowInScope(account, binding) ? accountNode(account, clock.now()) : undefined;
  for (const callId of callIds) {
    if (node !== undefined) graph.addCause(callId, node, Relation.USED_FOR);
    else graph.gap(callId, TraceKind.ACCOUNT, account === undefined ? DELETED : NOT_PERMITTED);
  }
}
