import type { CatalogViews, OwnEventType, SchemaFault } from "@svc/catalog";
import {
  type Clock,
  createSlices,
  type EventId,
  type Fault,
  isEntityId,
  isPrintableText,
  type ProjectId,
  type Turns,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { eventTypesForProject } from "@svc/db/event-types/repo";
import { findEventsByKey } from "@svc/db/events/find-by-key";
import { triggerFaults } from "../errors.ts";
import { type NormalizedEvent, type StoreOutcome, storableKey } from "../store.ts";
import { type NextTurn, readPayload } from "./payload.ts";
import { eventsToolkitSlug, eventTriggerSlug, eventTypesMax } from "./toolkit.ts";

/** An event that a project publishes. `occurredAtMs`: time of the event; if undefined, the time of receipt is used. */
export type PublishedEvent = {
  readonly type: string;
  readonly payloadJson: string;
  readonly entityId: string;
  readonly key: string;
  readonly occurredAtMs: number | undefined;
};

/**
 * Result of publishing one event. `stored`: the event is new. `duplicate`: an event with the same key was stored before, and `eventId` is
 * its id. `refused`: `fault` is the error, and `faults` lists where the payload does not fit the schema.
 */
export type PublishResult =
  | { readonly outcome: "stored" | "duplicate"; readonly eventId: EventId }
  | { readonly outcome: "refused"; readonly fault: Fault; readonly faults: readonly SchemaFault[] };

/** Dependencies of publishing the events that a project sends itself. */
export type PublishContext = {
  readonly db: Executor;
  readonly views: CatalogViews;
  readonly clock: Clock;
  readonly turns: Pick<Turns, "next">;
  /** Stores an event, in the same batch as other events and webhook posts. Rejects only if the database fails. */
  readonly storeEvent: (event: NormalizedEvent) => Promise<StoreOutcome>;
  /** Called with the outcome of each published event, so that metrics can count the events. */
  readonly onPublished?: ((outcome: PublishResult["outcome"]) => void) | undefined;
};

const keyCharactersMax = 200;
const namePattern = /^[\w-]+(?:\.[\w-]+)*$/;
const nameCharactersMax = 100;

/** True if a text can be the name of an event type. */
export function isEventTypeName(name: string): boolean {
  return name.length <= nameCharactersMax && namePattern.test(name);
}

/**
 * Publishes events of a project and returns one result for each, in order. Stored events are committed together with their deliveries.
 * Rejects if the database fails; some of the events may be stored in this case.
 */
export async function publishEvents(
  context: PublishContext,
  projectId: ProjectId,
  events: readonly PublishedEvent[],
): Promise<PublishResult[]> {
  const typeOf = await readTypes(context, projectId, new Set(events.map(({ type }) => type)));
  const receiver = { projectId, receivedAtMs: context.clock.now() };
  const read: Awaited<ReturnType<typeof readEvent>>[] = [];
  const slices = createSlices(() => context.turns.next(`project:${projectId}`));
  for (const event of events) {
    read.push(await readEvent(event, typeOf(event.type), receiver, slices.turn));
    await slices.rest();
  }
  // All events are awaited, even if one fails, so that nothing is still being stored after the call has been answered.
  const settled = await Promise.allSettled(read.map((one) => ("outcome" in one ? one : store(context, one))));
  const failed = settled.find((one) => one.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  const known = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const results = await findDuplicates(context, projectId, known);
  for (const { outcome } of results) context.onPublished?.(outcome);
  return results;
}

type KnownType = OwnEventType | { readonly refusal: Fault };

/**
 * Returns a function that returns the type of an event by its name. Types that this node does not know are read from the database, because
 * another node may just have created them. Unknown types are created if the project's settings allow this.
 */
async function readTypes(
  { db, views, clock }: PublishContext,
  projectId: ProjectId,
  names: ReadonlySet<string>,
): Promise<(name: string) => KnownType> {
  let view = await views.forProject(projectId);
  const refusals = new Map<string, Fault>();
  const find = (name: string) => view.triggers.get(eventTriggerSlug(name))?.own;
  const unknown: string[] = [];
  for (const name of names) {
    if (!isEventTypeName(name)) refusals.set(name, triggerFaults.EVENT_TYPE_NAME_INVALID("type", name));
    else if (find(name) === undefined) unknown.push(name);
  }
  if (unknown.length > 0) {
    const types = eventTypesForProject(db, projectId);
    const made = new Set((await types.find(unknown)).map(({ name }) => name));
    const missing = unknown.filter((name) => !made.has(name));
    const creates = missing.length > 0 && (await types.settings())?.unknownTypes === "create";
    for (const name of missing) {
      const refusal = creates
        ? await createType(types, name, clock.now())
        : triggerFaults.EVENT_TYPE_NOT_FOUND("type", name);
      if (refusal === undefined) made.add(name);
      else refusals.set(name, refusal);
    }
    if (made.size > 0) {
      views.forget(projectId);
      view = await views.forProject(projectId);
    }
  }
  return (name) => {
    const refusal = refusals.get(name);
    if (refusal !== undefined) return { refusal };
    const own = find(name);
    if (own === undefined) return { refusal: triggerFaults.EVENT_TYPE_NOT_FOUND("type", name) };
    return own.isArchived ? { refusal: triggerFaults.EVENT_TYPE_ARCHIVED(name) } : own;
  };
}

/** Creates an event type without a schema. Returns the error if it cannot be created. */
async function createType(
  types: ReturnType<typeof eventTypesForProject>,
  name: string,
  nowMs: number,
): Promise<Fault | undefined> {
  const made = { name, schema: "", description: "", sample: "", archivedAt: null, offered: false };
  const put = await types.put(made, nowMs, { most: eventTypesMax, isNew: true });
  if (put.outcome === "put") return undefined;
  return put.outcome === "other_case"
    ? triggerFaults.EVENT_TYPE_NAME_INVALID("type", name, put.name)
    : triggerFaults.EVENT_TYPES_TOO_MANY(eventTypesMax);
}

async function readEvent(
  { type, payloadJson, entityId, key, occurredAtMs }: PublishedEvent,
  known: KnownType,
  { projectId, receivedAtMs }: { readonly projectId: ProjectId; readonly receivedAtMs: number },
  turn: NextTurn,
): Promise<NormalizedEvent | Extract<PublishResult, { outcome: "refused" }>> {
  if ("refusal" in known) return refused(known.refusal);
  if (entityId !== "" && !isEntityId(entityId)) return refused(triggerFaults.ENTITY_ID_INVALID(entityId));
  if (key !== "" && !isPrintableText(key, keyCharactersMax)) return refused(triggerFaults.EVENT_KEY_INVALID(key));
  // Only times in the years 1 to 9999 can be stored.
  if (occurredAtMs !== undefined && !(occurredAtMs >= -62_135_596_800_000 && occurredAtMs < 253_402_300_800_000))
    return refused(triggerFaults.EVENT_TIME_INVALID());
  const payload = await readPayload(payloadJson, known.validate, turn);
  if ("faults" in payload) return refused(triggerFaults.EVENT_PAYLOAD_INVALID(type, payload.faults), payload.faults);
  return {
    toolkitSlug: eventsToolkitSlug,
    triggerSlug: eventTriggerSlug(type),
    to: { projectId, entityId },
    isOffered: known.isOffered,
    payload: payload.text,
    dedupe: key,
    occurredAtMs: occurredAtMs ?? receivedAtMs,
    receivedAtMs,
  };
}

function refused(fault: Fault, faults: readonly SchemaFault[] = []): Extract<PublishResult, { outcome: "refused" }> {
  return { outcome: "refused", fault, faults };
}

/**
 * Stores an event of the project and returns the result. If an event with the same key was stored before and its id is not known, returns
 * the given event. The caller must then look up the id.
 */
async function store({ storeEvent }: PublishContext, event: NormalizedEvent): Promise<PublishResult | NormalizedEvent> {
  const stored = await storeEvent(event);
  if (stored.outcome === "over_quota") return refused(stored.refusal);
  if (stored.outcome === "no_project") throw new Error("a published event has a receiver");
  const { fresh, eventId } = stored;
  if (eventId === undefined) return event;
  return { outcome: fresh > 0 ? "stored" : "duplicate", eventId };
}

/**
 * Number of tries to find or store an event that repeats an earlier event. A try fails if svc deletes the earlier event at the same time,
 * because its retention has ended.
 */
const lookupsMax = 5;

/** Finds the earlier events that duplicates repeat. Returns the results of publishing, which contain the ids of these earlier events. */
async function findDuplicates(
  context: PublishContext,
  projectId: ProjectId,
  found: readonly (PublishResult | NormalizedEvent)[],
): Promise<PublishResult[]> {
  const keyOf = ({ triggerSlug, dedupe }: NormalizedEvent) => ({ triggerSlug, dedupeKey: storableKey(dedupe) });
  let known = found;
  for (let lookup = 0; ; lookup++) {
    const wanted = known.flatMap((one) => ("outcome" in one ? [] : [keyOf(one)]));
    if (wanted.length === 0) return known.flatMap((one) => ("outcome" in one ? [one] : []));
    if (lookup === lookupsMax) throw new Error("the earlier events of duplicates were deleted again and again");
    const idOf = await findEventsByKey(context.db, projectId, wanted);
    const looked = known.map(async (one): Promise<PublishResult | NormalizedEvent> => {
      const eventId = "outcome" in one ? undefined : idOf(keyOf(one));
      if (eventId !== undefined) return { outcome: "duplicate", eventId };
      // The earlier event was deleted by retention between the two statements, so this event is stored now.
      return "outcome" in one ? one : store(context, one);
    });
    known = await Promise.all(looked);
  }
}
