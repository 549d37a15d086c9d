import {
  type EventId,
  firstUuidAt,
  type JsonObject,
  type ProjectId,
  type StandingProgramId,
  type Work,
} from "@svc/core";
import { uuidAfterEvent } from "@svc/db/events/repo";
import { type BackfillRecord, type BackfillWalk, walkBackfillEvents } from "@svc/db/standing/backfills";
import { readInboxEvents } from "@svc/db/standing/inbox";
import { eventOf, occurrenceOfEvent } from "../decide/event.ts";
import type { Occurrence } from "../decide/occurrence.ts";
import type { ProgramSource } from "../definition/definition.ts";
import type { StandingContext } from "../context.ts";
import type { LoadedVersion } from "../versions.ts";

/** How far a backfill came. */
export type BackfillPosition = Pick<BackfillRecord, "positionAt" | "positionEventId">;

/** Something of the past that a backfill comes to. */
export type Looked = {
  /** How far it came with that. */
  readonly position: BackfillPosition;
  /** Undefined: nothing is to be decided, such as of an event of another account. */
  readonly occurrence: Occurrence | undefined;
  /** Of an event: which, and when it was received. */
  readonly event: { readonly id: EventId; readonly receivedAt: number } | undefined;
};

/** The range of a backfill, and how far it came. */
export type BackfillRange = BackfillPosition & {
  readonly programId: StandingProgramId;
  readonly projectId: ProjectId;
  /** Epoch milliseconds: the first, and the first that is not in it. */
  readonly since: number;
  readonly until: number;
};

/** The events of a range, from its position on. */
export function walkOf(
  { projectId, positionEventId, since, until }: BackfillRange,
  source: TriggerSource,
): BackfillWalk {
  const fromUuid = positionEventId === null ? firstUuidAt(since) : uuidAfterEvent(positionEventId);
  return { projectId, triggerSlug: source.slug, entityId: source.entity, fromUuid, beforeUuid: firstUuidAt(until) };
}

type TriggerSource = Extract<ProgramSource, { kind: "trigger" }>;

/** Events that are walked over at once. */
const walkedMax = 200;
/** Bytes of events that are read at once, and the event that passes them. */
const bytesMax = 8_388_608;

/** What a backfill comes to after its position, in the order in which it was due. */
export async function* lookThrough(
  { db }: Pick<StandingContext, "db">,
  range: BackfillRange,
  version: Pick<LoadedVersion, "definition" | "next">,
  work: Work,
): AsyncGenerator<Looked> {
  const { source } = version.definition;
  if (source.kind === "schedule") yield* times(range, version.next, work);
  if (source.kind === "trigger") yield* events(db, range, source);
}

async function* times(
  { since, until, positionAt }: BackfillRange,
  next: LoadedVersion["next"],
  work: Work,
): AsyncGenerator<Looked> {
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

async function* events(db: StandingContext["db"], range: BackfillRange, source: TriggerSource): AsyncGenerator<Looked> {
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

/** The first event that was not read for the size of those before it; one that is gone was passed over. */
function firstUnread(
  own: readonly { readonly eventId: EventId }[],
  read: ReadonlyMap<EventId, { readonly payload: string }>,
): EventId | undefined {
  let bytes = 0;
  for (const { payload } of read.values()) bytes += Buffer.byteLength(payload);
  if (bytes < bytesMax) return undefined;
  return own[own.findLastIndex(({ eventId }) => read.has(eventId)) + 1]?.eventId;
}
