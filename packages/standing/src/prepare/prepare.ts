import type { EventId, JsonObject, ProjectId, StandingProgramId, Work } from "@svc/core";
import { type ClaimedInboxEvent, type InboxEvent, readInboxEvents } from "@svc/db/standing/inbox";
import { readStandingPrograms, type StandingProgramRecord } from "@svc/db/standing/programs";
import type { StandingRunRecord } from "@svc/db/standing/runs";
import { findTriggerSubscriptions, type TriggerSubscription } from "@svc/db/standing/trigger-subscriptions";
import { readClosingStandingWindows, readLastStandingRunEvents, readStandingRunEvents } from "@svc/db/standing/windows";
import { prepareBackfills } from "../sources/backfill.ts";
import { eventOf, givenOfEvents, occurrenceOfEvent } from "../decide/event.ts";
import { givenOf } from "../decide/given.ts";
import type { ClosingWindow, Occurrence } from "../decide/occurrence.ts";
import { bounds } from "../definition/forms.ts";
import { preparePolls } from "../sources/poll.ts";
import { type CaughtUp, catchUp } from "../schedule/catch-up.ts";
import { fireTimeOf, jitterOf } from "../schedule/due.ts";
import type { LoadedVersion } from "../versions.ts";
import type { StandingContext } from "../context.ts";
import { type Drifted, lookAtDrift } from "./drift.ts";
import type { DecisionBatch, DueCandidate, Filtered, PreparedDecision, PreparedEvent, PreparedFire } from "./due.ts";
import type { Fired } from "../claim/bursts.ts";

/** Occurrences that one look goes through at most; it takes some seconds, and others have their turns. */
const lookMax = 100_000;

/** Pause between two parts of what is caught up with. */
const paceMs = 1_000;

const nothingDue: Fired = { occurrences: [], missed: undefined, nextAt: null, dueAt: null };

/** Bytes of events that one transaction decides about, and the event that passes them. */
const eventBytesMax = 8_388_608;

/** Finds out what is due of a batch, as the store stands. */
export async function prepare(context: StandingContext, batch: DecisionBatch): Promise<PreparedDecision> {
  const works = new Map<ProjectId, Work>();
  const workOf = (projectId: ProjectId) => {
    const work = works.get(projectId) ?? context.meter.begin({ projectId });
    works.set(projectId, work);
    return work;
  };
  const drifts = new Map<StandingProgramId, Drifted>();
  const fires = await prepareFires(context, batch, { workOf, drifts });
  const windows = await prepareWindows(context, batch);
  const { events, left } = await prepareEvents(context, batch, workOf);
  const heard = events.flatMap(({ candidates }) => candidates);
  const dueByEvent = new Set(heard.map(({ listener }) => listener.programId).filter((id) => !fires.has(id)));
  const filled = batch.tasks.filter(({ kind }) => kind === "backfill").map(({ ownerId }) => ownerId);
  const named = [...batch.calls.map(({ programId }) => programId), ...filled];
  const called = named.filter((id) => !fires.has(id));
  const others = await readStandingPrograms(context.db, [...new Set([...dueByEvent, ...called])]);
  await findDrifts(context, others, drifts);
  const polls = await preparePolls(batch, ({ loaded, atMs, task: { projectId } }, rows) => {
    return filterRows(context, loaded, { atMs, rows }, workOf(projectId));
  });
  const backfills = await prepareBackfills(context, batch.tasks, {
    workOf,
    ask: (version, occurrence, work) => filter(context, version, occurrence, work),
  });
  return { fires, drifts, windows, polls, backfills, events, left };
}

type WorkOf = (projectId: ProjectId) => Work;

/** Looks whether tools of programs have changed; answers those that follow them, as another version. */
async function findDrifts(
  context: StandingContext,
  programs: readonly StandingProgramRecord[],
  drifts: Map<StandingProgramId, Drifted>,
): Promise<StandingProgramId[]> {
  const names = programs.map(({ id: programId, projectId, version }) => ({ programId, projectId, version }));
  const versionOf = await context.versions.get(context.db, names);
  await context.starter.lookForDrift(
    names.map((name) => ({ projectId: name.projectId, digest: versionOf(name).record.programDigest })),
  );
  const moved: StandingProgramId[] = [];
  for (const [index, program] of programs.entries()) {
    const name = names[index];
    if (name === undefined || (program.state !== "active" && program.state !== "ended")) continue;
    const found = await lookAtDrift(context, program, versionOf(name));
    if (found === "moved") moved.push(program.id);
    else if (found !== "none") drifts.set(program.id, found);
  }
  return moved;
}

async function prepareFires(
  context: StandingContext,
  { tasks, isRefused }: DecisionBatch,
  { workOf, drifts }: { readonly workOf: WorkOf; readonly drifts: Map<StandingProgramId, Drifted> },
): Promise<Map<StandingProgramId, PreparedFire>> {
  const { db, versions, clock, meter } = context;
  const ids = tasks.filter(({ kind }) => kind === "fire").map(({ ownerId }) => ownerId);
  const fires = new Map<StandingProgramId, PreparedFire>();
  const standing = (await readStandingPrograms(db, ids)).filter(
    ({ state, deletedAt }) => state !== "paused" && deletedAt === null,
  );
  const moved = await findDrifts(context, standing, drifts);
  // What is due of them is due still, of their next version.
  const again = moved.length === 0 ? [] : await readStandingPrograms(db, moved);
  const programs = [...standing.filter(({ id }) => !moved.includes(id)), ...again];
  const versionOf = await versions.get(
    db,
    programs.map(({ id: programId, projectId, version }) => ({ programId, projectId, version })),
  );
  // Of many projects each takes little, and all of them too much.
  const all = meter.begin({ projectId: "" });
  for (const program of programs) {
    if (all.isSliceOver()) await all.turn();
    const { id: programId, projectId, version: number, nextAt, previousAt } = program;
    const version = versionOf({ programId, projectId, version: number });
    const fired = await firedOf(program, version, { nowMs: clock.now(), work: workOf(projectId) });
    const candidates: DueCandidate[] = [];
    for (const occurrence of fired.occurrences) {
      const filtered = isRefused ? couldNotBeDecided : await filter(context, version, occurrence, workOf(projectId));
      candidates.push({ occurrence, version, filtered });
    }
    fires.set(programId, { seen: { version: number, nextAt, previousAt }, fired, candidates });
  }
  return fires;
}

async function prepareEvents(
  context: StandingContext,
  { arrivals, isRefused }: DecisionBatch,
  workOf: WorkOf,
): Promise<Pick<PreparedDecision, "events" | "left">> {
  const { db, versions } = context;
  const found = await findTriggerSubscriptions(db, distinct(arrivals));
  const listeners = Map.groupBy<string, TriggerSubscription>(found, triggerKey);
  const wanted = arrivals.filter((arrival) => listeners.has(triggerKey(arrival)));
  const read = new Map((await readInboxEvents(db, wanted, eventBytesMax)).map((event) => [event.id, event]));
  const firstLeft = firstUnread(wanted, read);
  const versionOf = await versions.get(db, [...listeners.values()].flat());
  const events: PreparedEvent[] = [];
  const left: ClaimedInboxEvent[] = [];
  for (const arrival of arrivals) {
    const event = read.get(arrival.eventId);
    if (event === undefined && wanted.indexOf(arrival) >= firstLeft) {
      left.push(arrival);
      continue;
    }
    const own = (listeners.get(triggerKey(arrival)) ?? []).filter((listener) => hears(listener, arrival));
    const candidates: PreparedEvent["candidates"][number][] = [];
    const given = event && !isRefused ? eventOf(event) : {};
    for (const listener of event === undefined ? [] : own) {
      const version = versionOf(listener);
      const { source } = version.definition;
      if (event === undefined || source.kind !== "trigger") continue;
      if (source.entity !== undefined && source.entity !== event.entityId) continue;
      const occurrence = occurrenceOfEvent(event, given);
      const filtered = isRefused
        ? couldNotBeDecided
        : await filter(context, version, occurrence, workOf(arrival.projectId));
      candidates.push({ listener, candidate: { occurrence, version, filtered } });
    }
    events.push({ arrival, candidates });
  }
  return { events, left };
}

const couldNotBeDecided: Filtered = { error: "what was due could not be decided about", reason: "start_failed" };

/** Where in their order the first stands that was not read for the size of those before it; one that is gone was passed over. */
function firstUnread(wanted: readonly ClaimedInboxEvent[], read: ReadonlyMap<EventId, InboxEvent>): number {
  const last = wanted.findLastIndex(({ eventId }) => read.has(eventId));
  let bytes = 0;
  for (const event of read.values()) bytes += Buffer.byteLength(event.payload);
  return bytes < eventBytesMax ? wanted.length : last + 1;
}

function distinct(arrivals: readonly ClaimedInboxEvent[]): ClaimedInboxEvent[] {
  return [
    ...new Map(arrivals.map((arrival) => [`${triggerKey(arrival)} ${arrival.routingVersion}`, arrival])).values(),
  ];
}

function triggerKey({ projectId, triggerSlug }: Pick<ClaimedInboxEvent, "projectId" | "triggerSlug">): string {
  return `${projectId} ${triggerSlug}`;
}

function hears({ fromVersion, untilVersion }: TriggerSubscription, { routingVersion }: ClaimedInboxEvent): boolean {
  return fromVersion <= routingVersion && (untilVersion === null || routingVersion < untilVersion);
}

/** Windows that one transaction decides about at most, of each program. */
const windowsMax = 100;

/** Reads what windows hand over whose time is over. */
async function prepareWindows(
  { db, clock, versions }: StandingContext,
  { tasks }: DecisionBatch,
): Promise<ClosingWindow[]> {
  const ids = tasks.filter(({ kind }) => kind === "close").map(({ ownerId }) => ownerId);
  const all = await readClosingStandingWindows(db, ids, { nowMs: clock.now(), most: windowsMax });
  const runs = withinBytes(all);
  const versionOf = await versions.get(db, runs);
  const lasts = runs.filter((run) => versionOf(run).definition.collect?.take === "last").map(({ id }) => id);
  const others = runs.map(({ id }) => id).filter((id) => !lasts.includes(id));
  const eventIds = new Map([
    ...(await readLastStandingRunEvents(db, lasts)),
    ...(await readStandingRunEvents(db, others, bounds.collectMax.max)),
  ]);
  const wanted = runs.flatMap(({ id, projectId }) =>
    (eventIds.get(id) ?? []).map((eventId) => ({ projectId, eventId })),
  );
  const events = new Map((await readInboxEvents(db, wanted, Number.MAX_SAFE_INTEGER)).map((one) => [one.id, one]));
  return runs.map((run) => {
    const own = (eventIds.get(run.id) ?? []).flatMap((id) => events.get(id) ?? []);
    return { run, version: versionOf(run), given: givenOfEvents(own.map(eventOf)) };
  });
}

/** The first runs, as many as have so many bytes together, and one at least: the others are still due. */
function withinBytes(runs: readonly StandingRunRecord[]): StandingRunRecord[] {
  let bytes = 0;
  return runs.filter((run, index) => {
    bytes += run.bytes;
    return index === 0 || bytes <= eventBytesMax;
  });
}

/** What `when` of a version says of an occurrence, metered as every expression. */
export async function filter(
  { evaluator }: Pick<StandingContext, "evaluator">,
  { definition: { when, timeZone }, program: { params } }: Pick<LoadedVersion, "definition" | "program">,
  occurrence: Occurrence,
  work: Work,
): Promise<Filtered> {
  if (when === undefined) return { isDue: true };
  const { fire, event } = givenOf({ ...occurrence, previousAt: occurrence.previousAt ?? null }, timeZone);
  const bindings = { fire, event, params } as Parameters<typeof evaluator.test>[1];
  const outcome = await evaluator.test(when, bindings, work);
  return "error" in outcome ? { error: `when ${outcome.error}`, reason: "filter_error" } : { isDue: outcome.value };
}

/** What `when` of a version says of rows that were polled. */
async function filterRows(
  { evaluator }: StandingContext,
  { definition: { when, timeZone }, program: { params } }: LoadedVersion,
  { atMs, rows }: { readonly atMs: number; readonly rows: readonly JsonObject[] },
  work: Work,
): Promise<readonly Filtered[]> {
  if (when === undefined) return [];
  const { fire } = givenOf({ kind: "poll", fireAt: atMs, missed: 0, previousAt: null }, timeZone);
  const bindings = { fire, params } as Parameters<typeof evaluator.test>[1];
  const outcomes: Filtered[] = [];
  while (outcomes.length < rows.length) {
    // It stops at a row of which nothing can be told; the others are asked about all the same.
    const left = rows.slice(outcomes.length);
    for (const outcome of await evaluator.testRows(when, left, bindings, { work, isDue: () => false })) {
      outcomes.push(
        "error" in outcome ? { error: `when ${outcome.error}`, reason: "filter_error" } : { isDue: outcome.value },
      );
    }
  }
  return outcomes;
}

/** What is due of a schedule at a time, and when it is due again. */
async function firedOf(
  program: Pick<StandingProgramRecord, "id" | "nextAt" | "previousAt">,
  { definition: { source }, next }: Pick<LoadedVersion, "definition" | "next">,
  { nowMs, work }: { readonly nowMs: number; readonly work: Work },
): Promise<Fired> {
  if (source.kind !== "schedule") return nothingDue;
  const { schedule } = source;
  const due: { atMs: number; effectiveMs: number }[] = [];
  let at: number | undefined = program.nextAt ?? undefined;
  while (at !== undefined && due.length < lookMax) {
    const atMs = at;
    const effectiveMs = at + work.run(() => jitterOf(program.id, atMs, schedule.jitterMs));
    if (effectiveMs > nowMs) break;
    due.push({ atMs, effectiveMs });
    at = await next(at, work);
  }
  const { fire, missed, later } = catchUp(due, schedule.catchUp, nowMs);
  const nextAt = later[0] ?? at ?? null;
  const isLater = later.length > 0;
  let previousAt = program.previousAt;
  const occurrences = fire.map((firing): Occurrence => {
    const occurrence = occurrenceOf(firing, previousAt);
    previousAt = firing.atMs;
    return occurrence;
  });
  return {
    occurrences,
    missed,
    nextAt,
    dueAt: isLater ? nowMs + paceMs : fireTimeOf(program.id, nextAt, source),
  };
}

function occurrenceOf({ atMs, missed }: CaughtUp["fire"][number], previousAt: number | null): Occurrence {
  return {
    kind: "schedule",
    sourceKey: `s:${atMs}`,
    fireAt: atMs,
    missed,
    previousAt,
    callerKeyId: null,
    input: undefined,
  };
}
