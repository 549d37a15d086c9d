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
 * Returns the ids of a project's events with these keys, as a function from a key to the id. The function returns undefined if no event has
 * the key.
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
