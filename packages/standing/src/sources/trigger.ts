import type { EventId, StandingProgramId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { StandingRunReason } from "@svc/db/schema/words";
import {
  type ClaimedInboxEvent,
  deleteFromInbox,
  type InboxEvent,
  lockInboxLeases,
  readInboxEvents,
} from "@svc/db/standing/inbox";
import { readStandingPrograms, type StandingProgramRecord } from "@svc/db/standing/programs";
import { findTriggerSubscriptions, type TriggerSubscription } from "@svc/db/standing/trigger-subscriptions";
import type { StandingContext } from "../context.ts";
import type { DecisionContext, ProgramHold } from "../decide/decision-context.ts";
import { eventOf, occurrenceOfEvent } from "../decide/event.ts";
import { type DueCandidate, isWanted } from "../decide/occurrence.ts";
import { findDrifts } from "../prepare/drift.ts";
import { couldNotBeDecided, testWhen } from "../prepare/when.ts";
import { type DecisionBatch, nothingPrepared, type Preparation, type Source, type SourceDue } from "./source.ts";

/** Maximum bytes of events that one transaction reads. The event that exceeds this maximum is still read. */
const eventBytesMax = 8_388_608;

/** An event to process. `candidates`: the programs that were subscribed to the event's trigger when the event was stored. */
type PreparedEvent = {
  readonly arrival: ClaimedInboxEvent;
  readonly candidates: readonly { readonly subscription: TriggerSubscription; readonly candidate: DueCandidate }[];
};

/**
 * An event for one program. `skipped`: reason why the event starts no run (the program is no longer subscribed). Undefined if the event may
 * start a run.
 */
type DueEvent = { readonly candidate: DueCandidate; readonly skipped: StandingRunReason | undefined };

/**
 * Finds the runs that incoming events can start. An event can start runs of the programs that were subscribed to its trigger when svc
 * stored the event.
 */
export const triggers: Source = async (context, batch, preparation) => {
  if (batch.arrivals.length === 0) return nothingPrepared;
  const { events, left } = await prepareEvents(context, batch, preparation);
  const subscribed = events.flatMap(({ candidates }) => candidates.map(({ subscription }) => subscription.programId));
  const programIds = [...new Set(subscribed)];
  await findDrifts(context, await readStandingPrograms(context.db, programIds), preparation.drifts);
  return {
    ...{ programIds, left },
    due: async (tx, { programs }) => {
      const due = await dueEventsOf(tx, events, programs);
      return new Map([...due].map(([id, own]) => [id, dueOf(own)]));
    },
    end: (tx) =>
      deleteFromInbox(
        tx,
        events.map(({ arrival }) => arrival),
      ),
  };
};

async function prepareEvents(
  context: StandingContext,
  { arrivals, isRefused }: DecisionBatch,
  { workOf }: Preparation,
): Promise<{ readonly events: readonly PreparedEvent[]; readonly left: readonly ClaimedInboxEvent[] }> {
  const { db, versions } = context;
  const found = await findTriggerSubscriptions(db, distinct(arrivals));
  const subscriptions = Map.groupBy<string, TriggerSubscription>(found, triggerKey);
  const wanted = arrivals.filter((arrival) => subscriptions.has(triggerKey(arrival)));
  const read = new Map((await readInboxEvents(db, wanted, eventBytesMax)).map((event) => [event.id, event]));
  const firstLeft = firstUnread(wanted, read);
  const versionOf = await versions.get(db, [...subscriptions.values()].flat());
  const events: PreparedEvent[] = [];
  const left: ClaimedInboxEvent[] = [];
  for (const arrival of arrivals) {
    const event = read.get(arrival.eventId);
    if (event === undefined && wanted.indexOf(arrival) >= firstLeft) {
      left.push(arrival);
      continue;
    }
    const own = (subscriptions.get(triggerKey(arrival)) ?? []).filter((subscription) =>
      isSubscribed(subscription, arrival),
    );
    const candidates: PreparedEvent["candidates"][number][] = [];
    const given = event && !isRefused ? eventOf(event) : {};
    for (const subscription of event === undefined ? [] : own) {
      const version = versionOf(subscription);
      const { source } = version.definition;
      if (event === undefined || source.kind !== "trigger") continue;
      if (source.entity !== undefined && source.entity !== event.entityId) continue;
      const occurrence = occurrenceOfEvent(event, given);
      const when = isRefused
        ? couldNotBeDecided
        : await testWhen(context, version, occurrence, workOf(arrival.projectId));
      candidates.push({ subscription, candidate: { occurrence, version, when } });
    }
    events.push({ arrival, candidates });
  }
  return { events, left };
}

/**
 * Returns the index of the first event that was left unread because of the limit of bytes. Returns the number of events if the limit was
 * not reached.
 */
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

function isSubscribed(
  { fromVersion, untilVersion }: TriggerSubscription,
  { routingVersion }: ClaimedInboxEvent,
): boolean {
  return fromVersion <= routingVersion && (untilVersion === null || routingVersion < untilVersion);
}

/** Returns, for each program, its due events whose lease (time-limited right) this node still has. */
async function dueEventsOf(
  tx: Executor,
  events: readonly PreparedEvent[],
  programs: readonly StandingProgramRecord[],
): Promise<ReadonlyMap<StandingProgramId, readonly DueEvent[]>> {
  const leases = await lockInboxLeases(
    tx,
    events.map(({ arrival }) => arrival),
  );
  const isHeld = new Set(leases.map(({ eventId, projectId }) => `${projectId} ${eventId}`));
  const own = events.filter(({ arrival }) => isHeld.has(`${arrival.projectId} ${arrival.eventId}`));
  // The subscriptions are read again, because a program may have been paused or deleted during the preparation.
  const subscriptions = new Map(
    (
      await findTriggerSubscriptions(
        tx,
        own.flatMap(({ arrival, candidates }) => (candidates.length === 0 ? [] : [arrival])),
      )
    ).map((subscription) => [subscriptionKey(subscription), subscription]),
  );
  const byId = new Map(programs.map((program) => [program.id, program]));
  const due = own.flatMap(({ candidates }) =>
    candidates.flatMap(({ subscription, candidate }) => {
      const program = byId.get(subscription.programId);
      if (program === undefined) return [];
      return {
        id: program.id,
        candidate,
        skipped: whySkipped(program, subscriptions.get(subscriptionKey(subscription)) ?? subscription),
      };
    }),
  );
  return Map.groupBy(due, ({ id }) => id);
}

function subscriptionKey({ programId, fromVersion }: Pick<TriggerSubscription, "programId" | "fromVersion">): string {
  return `${programId} ${fromVersion}`;
}

function whySkipped(
  { state, deletedAt }: StandingProgramRecord,
  { endReason }: TriggerSubscription,
): StandingRunReason | undefined {
  if (deletedAt !== null) return "deleted";
  return endReason === "paused" || state === "paused" ? "paused" : undefined;
}

function dueOf(events: readonly DueEvent[]): SourceDue {
  return {
    candidates: events.flatMap(({ skipped, candidate }) => (skipped === undefined ? [candidate] : [])),
    isDue: events.some(({ candidate }) => isWanted(candidate)),
    decide: (decisions, hold) => decideEvents(decisions, events, hold),
  };
}

function decideEvents(
  decisions: DecisionContext,
  events: readonly DueEvent[],
  hold: ProgramHold | undefined,
): undefined {
  for (const { candidate, skipped } of events) {
    const { occurrence, version } = candidate;
    if (skipped !== undefined) decisions.skip(occurrence, skipped, version);
    else if (decisions.state === "paused" && hold === undefined) decisions.skip(occurrence, "paused", version);
    else decisions.decide(candidate, hold);
    decisions.pauseAfterFailures();
  }
}
