import {
  type EventId,
  firstUuidAt,
  type JsonObject,
  type ProjectId,
  type StandingProgramId,
  type Work,
} from "@svc/core";
import { uuidAfterEvent } from "@svc/db/events/repo";
import type { StandingRunState } from "@svc/db/schema/words";
import { type BackfillRecord, type BackfillWalk, findSourceRuns, walkBackfillEvents } from "@svc/db/standing/backfills";
import { readInboxEvents } from "@svc/db/standing/inbox";
import type { StandingContext } from "../context.ts";
import { eventOf, occurrenceOfEvent } from "../decide/event.ts";
import type { Occurrence } from "../decide/occurrence.ts";
import type { ProgramSource } from "../definition/definition.ts";
import { bounds } from "../definition/forms.ts";
import type { LoadedVersion } from "../versions.ts";

/** The position of a backfill: the last item (a time or an event) that the backfill has decided. */
type BackfillPosition = Pick<BackfillRecord, "positionAt" | "positionEventId">;

/** An item of a backfill's range: a time of a schedule, or an event. */
export type PastItem = {
  /** The position of the backfill after svc has decided if this time or event starts a run. */
  readonly position: BackfillPosition;
  /**
   * The occurrence (due time or event) for which the backfill starts the program. Undefined if the item does not start the program, for
   * example an event of another account.
   */
  readonly occurrence: Occurrence | undefined;
  /** The event, and the time at which svc received it (epoch milliseconds). Undefined if the backfill is of a schedule with times. */
  readonly event: { readonly id: EventId; readonly receivedAt: number } | undefined;
};

/** The range of a backfill, and the position that the backfill has reached in the range. */
type BackfillRange = BackfillPosition & {
  readonly programId: StandingProgramId;
  readonly projectId: ProjectId;
  /**
   * Start of the time range of a backfill, in epoch milliseconds. A time or event at exactly `since` belongs to the range. A time or event
   * at exactly `until`, the end of the range, does not.
   */
  readonly since: number;
  readonly until: number;
};

/**
 * Returns the parameters of a walk over the events of a range. The walk is the query that reads them page by page, from the backfill's
 * position to the end of the range.
 */
export function walkOf(
  { projectId, positionEventId, since, until }: BackfillRange,
  source: TriggerSource,
): BackfillWalk {
  const fromUuid = positionEventId === null ? firstUuidAt(since) : uuidAfterEvent(positionEventId);
  return { projectId, triggerSlug: source.slug, entityId: source.entity, fromUuid, beforeUuid: firstUuidAt(until) };
}

type TriggerSource = Extract<ProgramSource, { kind: "trigger" }>;

/** Maximum number of events that one query returns while svc reads the range of a backfill. */
const walkedMax = 200;
/**
 * Maximum bytes of the events that one query reads while svc reads the range of a backfill. Events that do not fit are read by the next
 * query.
 */
const bytesMax = 8_388_608;

/**
 * Yields the past times or events of a backfill's range, in the order in which they were due. It begins after the position that the
 * backfill has already reached.
 */
export async function* walkRange(
  { db }: Pick<StandingContext, "db">,
  range: BackfillRange,
  version: Pick<LoadedVersion, "definition" | "next">,
  work: Work,
): AsyncGenerator<PastItem> {
  const { source } = version.definition;
  if (source.kind === "schedule") yield* times(range, version.next, work);
  if (source.kind === "trigger") yield* events(db, range, source);
}

async function* times(
  { since, until, positionAt }: BackfillRange,
  next: LoadedVersion["next"],
  work: Work,
): AsyncGenerator<PastItem> {
  let previousAt = positionAt;
  let at = await next(positionAt ?? since - 1, work);
  while (at !== undefined && at < until) {
    const occurrence = { kind: "schedule", sourceKey: `s:${at}`, fireAt: at, missed: 0, previousAt } as const;
    const position = { positionAt: at, positionEventId: null };
    yield { position, occurrence: { ...occurrence, callerKeyId: null, input: undefined }, event: undefined };
    previousAt = at;
    at = await next(at, work);
  }
}

async function* events(
  db: StandingContext["db"],
  range: BackfillRange,
  source: TriggerSource,
): AsyncGenerator<PastItem> {
  const walk = walkOf(range, source);
  let fromUuid = walk.fromUuid;
  for (;;) {
    const walked = await walkBackfillEvents(db, { ...walk, fromUuid }, walkedMax);
    const own = walked.filter(({ isOwn }) => isOwn).map(({ id: eventId }) => ({ projectId: walk.projectId, eventId }));
    const read = new Map((await readInboxEvents(db, own, bytesMax)).map((event) => [event.id, event]));
    const cut = firstUnread(own, read);
    for (const { id, isOwn, receivedAt } of walked) {
      if (id === cut) break;
      const event = isOwn ? read.get(id) : undefined;
      const given: JsonObject = event === undefined ? {} : eventOf(event);
      yield {
        position: { positionAt: null, positionEventId: id },
        occurrence: event && occurrenceOfEvent(event, given),
        event: { id, receivedAt },
      };
      fromUuid = uuidAfterEvent(id);
    }
    if (walked.length < walkedMax && cut === undefined) return;
  }
}

/**
 * Returns the first event that a query left out because it had already read `bytesMax` bytes. Undefined if the query did not reach this
 * limit.
 */
function firstUnread(
  own: readonly { readonly eventId: EventId }[],
  read: ReadonlyMap<EventId, { readonly payload: string }>,
): EventId | undefined {
  let bytes = 0;
  for (const { payload } of read.values()) bytes += Buffer.byteLength(payload);
  if (bytes < bytesMax) return undefined;
  return own[own.findLastIndex(({ eventId }) => read.has(eventId)) + 1]?.eventId;
}

/** States of runs that were started or will be started. If a time or event has a run in one of these states, it gets no second run. */
const runningStates: ReadonlySet<StandingRunState> = new Set(["collecting", "closing", "queued", "started", "ended"]);

/**
 * True if an occurrence (a due time or event) has a run that was started or will be started. False if it has no run, or if its run was
 * skipped or refused.
 */
export function hasItsRun(run: { readonly state: StandingRunState } | undefined): boolean {
  return run !== undefined && runningStates.has(run.state);
}

/** Number of past times or events of a backfill for which one statement reads the existing runs. */
const chunk = 100;

/**
 * Yields the past times or events in the range of a backfill. `hasRun`: true if a run for this time or event exists. If the backfill is to
 * run everything again, `hasRun` is always false.
 */
export async function* withRuns(
  { db }: Pick<StandingContext, "db">,
  { programId, again }: Pick<BackfillRecord, "programId" | "again">,
  items: AsyncGenerator<PastItem>,
): AsyncGenerator<{ readonly item: PastItem; readonly hasRun: boolean }> {
  let held: PastItem[] = [];
  const take = async () => {
    const keys = again ? [] : held.flatMap(({ occurrence }) => occurrence?.sourceKey ?? []);
    const runs = await findSourceRuns(db, programId, keys);
    const all = held.map((item) => ({ item, hasRun: hasItsRun(runs.get(item.occurrence?.sourceKey ?? "")) }));
    held = [];
    return all;
  };
  for await (const item of items) {
    held.push(item);
    if (held.length === chunk) yield* await take();
  }
  yield* await take();
}

/**
 * Returns the program version with the rules that apply to a backfill's runs: the overlap policy of the backfill, and no `dedupe`, because
 * the backfill finds duplicates itself.
 */
export function byPolicyOf({ policy }: Pick<BackfillRecord, "policy">, version: LoadedVersion): LoadedVersion {
  const { overlap } = version.definition;
  const isWidened = policy === "allow" && overlap.policy !== "allow";
  const max = isWidened ? bounds.overlapMax.max : overlap.max;
  return { ...version, definition: { ...version.definition, overlap: { ...overlap, policy, max }, dedupe: undefined } };
}
