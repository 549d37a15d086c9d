import { firstUuidAt, idOfUuid, type QuarantineId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { arrayLiteral } from "../sql/array-literal.ts";
import { statement } from "../sql/statement.ts";

/** Which posts to release: by toolkit (empty: any) and by the time of their receipt, from `sinceMs` on and before `untilMs`. */
export type ReleaseFilter = { toolkitSlug: string; sinceMs: number | undefined; untilMs: number | undefined };

// $1 to $3 are a ReleaseFilter. An id begins with the time of the receipt, so a range of times is a range of ids.
const filterText =
  "($1::text = '' or toolkit_slug = $1::text) and id >= $2::uuid and ($3::uuid is null or id < $3::uuid)";

/** Served by quarantined_posts_held in its order; a toolkit is picked out while it is read. */
const selectHeld = statement<{ id: string }>(
  "list_held_posts",
  `select id from quarantined_posts
   where released_at is null and ${filterText} and ($4::uuid is null or id > $4::uuid)
   order by id limit $5::int4`,
);

/** Served by the primary key. */
const selectGiven = statement<{ id: string; matches: boolean }>(
  "find_quarantined_ids",
  `select id, ${filterText} as matches from quarantined_posts where id = any($4::uuid[]) order by id`,
);

/** Posts still in quarantine, the oldest first, from after `after`. */
export async function listHeldQuarantinedPosts(
  db: Executor,
  filter: ReleaseFilter,
  page: { after: QuarantineId | undefined; limit: number },
): Promise<QuarantineId[]> {
  const after = page.after === undefined ? null : uuidOfId(page.after);
  const rows = await selectHeld(db, [...filterParameters(filter), after, page.limit]);
  return rows.map((row) => idOfUuid("qrn", row.id));
}

/** Those of `ids` that there are, released or not, the oldest first, and whether they match the filter. */
export async function findQuarantinedIds(
  db: Executor,
  filter: ReleaseFilter,
  ids: readonly QuarantineId[],
): Promise<{ id: QuarantineId; matches: boolean }[]> {
  const rows = await selectGiven(db, [...filterParameters(filter), arrayLiteral(ids.map(uuidOfId))]);
  return rows.map((row) => ({ id: idOfUuid("qrn", row.id), matches: row.matches }));
}

function filterParameters({ toolkitSlug, sinceMs, untilMs }: ReleaseFilter) {
  return [toolkitSlug, firstUuidAt(sinceMs ?? 0), untilMs === undefined ? null : firstUuidAt(untilMs)] as const;
}
