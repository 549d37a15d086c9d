import { idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { events } from "../schema/index.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { endOf, scanOf, scanOrder, type WalkedPage, walkRowsMax } from "../sql/filter.ts";
import { firstUuid, lastUuid } from "../sql/newest-in.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { statement } from "../sql/statement.ts";

const columns = selectList(events, namesBut(events), "w");

/** Filter for a scan of events that uses no index. A field with an empty text does not restrict the scan. */
export type WalkedEventFilter = {
  readonly toolkitSlug: string;
  readonly triggerSlug: string;
  readonly entityId: string;
  readonly payloadContains: string;
};

/** Range of a scan of events: from `fromUuid` (inclusive) to `beforeUuid` (exclusive), at most `limit` rows. */
export type EventWalk = { readonly fromUuid: string; readonly beforeUuid: string; readonly limit: number };

const max = String(walkRowsMax);
const bounds = { from: "$2::uuid", before: "$3::uuid", max };
const ofProject = { project_id: "$1::uuid" };

/**
 * SQL conditions by which a list of events keeps a scanned event. The payload is compared last, because PostgreSQL may store it outside the
 * row, which makes it slow to read.
 */
const fits = `w.kind = 'event' and ($5::text = '' or w.toolkit_slug = $5::text) and ($6::text = '' or w.entity_id = $6::text)
  and ($7::text = '' or strpos(w.payload, $7::text) > 0)`;

/** Lists events of a project by the primary key events_key, newest event first, until the page is full. */
const selectWalked = statement<RawRow<Row<typeof events>>>(
  "walk_events",
  `select ${columns.text} from (${scanOf("events", "*", { key: ofProject, ...bounds })}) w where ${fits}
   order by ${scanOrder(ofProject)} limit $4::int4`,
);

const ofTrigger = { trigger_slug: "$8::text", ...ofProject };

/** Reads the events of one trigger by the index events_trigger. */
const selectWalkedOfTrigger = statement<RawRow<Row<typeof events>>>(
  "walk_events_of_trigger",
  `select ${columns.text} from (${scanOf("events", "*", { key: ofTrigger, ...bounds })}) w where ${fits}
   order by ${scanOrder(ofTrigger)} limit $4::int4`,
);

/** Returns the id of the last event that the scan reached. Returns it only if the scan stopped at its maximum number of events. */
const selectEnd = statement<{ id: string }>("end_event_walk", endOf("events", { key: ofProject, ...bounds }));

const selectEndOfTrigger = statement<{ id: string }>(
  "end_event_walk_of_trigger",
  endOf("events", { key: { trigger_slug: "$4::text", ...ofProject }, ...bounds }),
);

/** Returns the newest events that match the filter, among the newest 20,000 events of a project. Test events are left out. */
export async function walkEvents(
  db: Executor,
  projectId: ProjectId,
  { toolkitSlug, triggerSlug, entityId, payloadContains }: WalkedEventFilter,
  { fromUuid, beforeUuid, limit }: EventWalk,
): Promise<WalkedPage<Row<typeof events>>> {
  const place = [uuidOfId(projectId), fromUuid, beforeUuid];
  const given = [...place, limit, toolkitSlug, entityId, payloadContains];
  const isOfTrigger = triggerSlug !== "";
  const found = isOfTrigger ? selectWalkedOfTrigger(db, [...given, triggerSlug]) : selectWalked(db, given);
  const rows = (await found).map((row) => columns.read(row));
  if (rows.length >= limit) return { rows, walkedTo: undefined };
  const endUuid = await findWalkEnd(db, place, triggerSlug);
  return { rows, walkedTo: endUuid === undefined ? undefined : idOfUuid("evt", endUuid) };
}

/** Returns the UUID of the oldest event that a search reads. Undefined if the search reads its whole range. */
async function findWalkEnd(db: Executor, place: readonly string[], triggerSlug: string): Promise<string | undefined> {
  const [end] = await (triggerSlug === "" ? selectEnd(db, place) : selectEndOfTrigger(db, [...place, triggerSlug]));
  return end?.id;
}

/**
 * Yields the events that match the filter in pages, newest first. Reads only the newest 20,000 events of the project or trigger. `limit`:
 * maximum number of events on a page.
 */
export async function* walkNewestEvents(
  db: Executor,
  projectId: ProjectId,
  filter: WalkedEventFilter,
  limit: number,
): AsyncGenerator<readonly Row<typeof events>[]> {
  const place = [uuidOfId(projectId), firstUuid, lastUuid];
  const fromUuid = (await findWalkEnd(db, place, filter.triggerSlug)) ?? firstUuid;
  let beforeUuid = lastUuid;
  let found: number;
  do {
    const { rows } = await walkEvents(db, projectId, filter, { fromUuid, beforeUuid, limit });
    yield rows;
    found = rows.length;
    beforeUuid = uuidOfId(rows.at(-1)?.id ?? idOfUuid("evt", firstUuid));
  } while (found >= limit);
}
