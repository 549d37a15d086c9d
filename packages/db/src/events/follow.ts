import { idOfUuid, type ProjectId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { events } from "../schema/index.ts";
import { namesBut, type Row } from "../sql/codec.ts";
import { walkRowsMax } from "../sql/filter.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import type { Event } from "./repo.ts";

const columns = selectList(events, namesBut(events), "w");

/** Which events of one trigger come next; an empty entity matches all. */
export type EventsToFollow = {
  readonly triggerSlug: string;
  readonly entityId: string;
  /** From this one on. */
  readonly fromUuid: string;
  /** Below this one. */
  readonly beforeUuid: string;
  /** Those that are known already. */
  readonly exceptUuids: readonly string[];
  readonly limit: number;
};

/** Forward over events_trigger. Rows are compared as the index orders them, so that nothing else fits. */
const scan = (names: string) => `select ${names} from events
  where (trigger_slug, project_id, id) >= ($1::text, $2::uuid, $3::uuid)
    and (trigger_slug, project_id, id) < ($1::text, $2::uuid, $4::uuid)
  order by trigger_slug, project_id, id limit ${walkRowsMax}`;

/** The oldest first, of the first 20,000 that there are. */
const selectNext = statement<RawRow<Row<typeof events>>>(
  "follow_events",
  `select ${columns.text} from (${scan("*")}) w
   where w.kind = 'event' and ($5::text = '' or w.entity_id = $5::text) and w.id <> all($6::uuid[])
   order by w.trigger_slug, w.project_id, w.id limit $7::int4`,
);

/** The keys alone. */
const selectEnd = statement<{ id: string }>(
  "end_followed_events",
  `select id from (${scan("id")}) e offset ${walkRowsMax} - 1 limit 1`,
);

/** Events that follow, the oldest first; and where more are to be looked for, when fewer than asked for were found among 20,000. */
export type FollowedEvents = { readonly rows: Event[]; readonly walkedTo: Event["id"] | undefined };

/** Reads those that come next. What is committed later than its time says may come before them: who follows looks back. */
export async function followEvents(
  db: Executor,
  projectId: ProjectId,
  { triggerSlug, entityId, fromUuid, beforeUuid, exceptUuids, limit }: EventsToFollow,
): Promise<FollowedEvents> {
  const place = [triggerSlug, uuidOfId(projectId), fromUuid, beforeUuid];
  const found = await selectNext(db, [...place, entityId, arrayLiteral(exceptUuids), limit]);
  const rows = found.map((row) => columns.read(row));
  if (rows.length >= limit) return { rows, walkedTo: undefined };
  const [end] = await selectEnd(db, place);
  return { rows, walkedTo: end && idOfUuid("evt", end.id) };
}
