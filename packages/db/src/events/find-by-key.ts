import type { EventId, ProjectId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { dedupeDigest, events } from "../schema/triggers.ts";
import { fieldsOf, type Row } from "../sql/codec.ts";
import { compose, query } from "../sql/compose.ts";
import { type RawRow, rows, selectList } from "../sql/select-list.ts";

const columns = selectList(events, ["id", "triggerSlug", "dedupeKey"], "e");

/**
 * Finds stored events by project, trigger and dedupe key (the text by which a repeated event is recognized). Uses the index events_dedupe,
 * with one lookup per key. `offset 0` prevents PostgreSQL from using a join, which would read all keys.
 */
const selectByKey = compose(
  "find_events_by_key",
  { wanted: rows(fieldsOf(events, "projectId", "triggerSlug", "dedupeKey")) },
  ({ wanted }) => query<RawRow<Row<typeof events, "id" | "triggerSlug" | "dedupeKey">>>`
    select ${columns.text} from (select ${dedupeDigest} as digest from ${wanted.from("wanted")}) w
    cross join lateral (select * from events where ${dedupeDigest} = w.digest and dedupe_key <> '' offset 0) e`,
);

/** A dedupe key of a trigger's events. */
type EventKey = { readonly triggerSlug: string; readonly dedupeKey: string };

/**
 * Finds the project's events that have one of these keys (trigger and dedupe key). Returns a function that returns the id of the event with
 * a key; undefined if there is none.
 */
export async function findEventsByKey(
  db: Executor,
  projectId: ProjectId,
  wanted: readonly EventKey[],
): Promise<(key: EventKey) => EventId | undefined> {
  const textOf = ({ triggerSlug, dedupeKey }: EventKey) => `${triggerSlug} ${dedupeKey}`;
  const given = wanted.map(({ triggerSlug, dedupeKey }) => ({ projectId, triggerSlug, dedupeKey }));
  const found = (await selectByKey(db, { wanted: given })).map(columns.read);
  const ids = new Map(found.map((row) => [textOf(row), row.id]));
  return (key) => ids.get(textOf(key));
}

const traceColumns = selectList(events, ["id", "traceparent"], "e");

/** Finds events by the primary key of events. `offset 0` keeps the lookups apart, so that PostgreSQL reads no other event. */
const selectTraces = compose(
  "read_event_traces",
  { wanted: rows(fieldsOf(events, "projectId", "id")) },
  ({ wanted }) => query<RawRow<Row<typeof events, "id" | "traceparent">>>`
    select ${traceColumns.text} from ${wanted.from("w")} cross join lateral (
      select * from events where project_id = w.project_id and id = w.id and traceparent is not null offset 0) e`,
);

/** Returns the trace context (W3C `traceparent`) in which each of these events was stored, by event id. Events without one are absent. */
export async function readTraceparents(
  db: Executor,
  wanted: readonly Pick<Row<typeof events>, "projectId" | "id">[],
): Promise<ReadonlyMap<EventId, string>> {
  if (wanted.length === 0) return new Map();
  const found = (await selectTraces(db, { wanted })).map(traceColumns.read);
  return new Map(found.flatMap(({ id, traceparent }) => (traceparent === null ? [] : [[id, traceparent] as const])));
}
