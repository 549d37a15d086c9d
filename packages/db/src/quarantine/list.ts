import { firstUuidAt, idOfUuid, type QuarantineId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { quarantinedPosts } from "../schema/index.ts";
import { quarantineReasons } from "../schema/words.ts";
import { namesBut } from "../sql/codec.ts";
import { firstUuid, idBounds, lastUuid, newestIn, pageStatement } from "../sql/newest-in.ts";
import { selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import type { QuarantinedPost, QuarantineFilter } from "./repo.ts";

/**
 * Filter of quarantined posts to release. `toolkitSlug`: empty for all toolkits. The time of receipt must be at or after `sinceMs` and
 * before `untilMs`.
 */
export type HeldPostFilter = { toolkitSlug: string; sinceMs: number | undefined; untilMs: number | undefined };

// $1 to $3 are a HeldPostFilter. An id begins with the time of receipt, so a time range is a range of ids.
const filterText =
  "($1::text = '' or toolkit_slug = $1::text) and id >= $2::uuid and ($3::uuid is null or id < $3::uuid)";

/**
 * Returns the SQL query for the oldest posts that are still in quarantine. It scans an index once for each quarantine reason, and merges
 * the results. With an index in order of age only, it might skip many posts of other toolkits.
 */
function oldestHeld(columns: string, values: string): string {
  return `select h.id from unnest($1::text[]) as r(reason) cross join lateral (
      select id from quarantined_posts where released_at is null
        and (${columns}, id) >= (${values}, $2::uuid) and (${columns}, id) > (${values}, $3::uuid) and (${columns}, id) < (${values}, $4::uuid)
      order by ${columns}, id limit $5::int4) h
    order by h.id limit $5::int4`;
}

/** Finds posts in quarantine by the index quarantined_posts_held. */
const selectHeld = statement<{ id: string }>("list_held_posts", oldestHeld("reason", "r.reason"));

/** Finds posts of one toolkit in quarantine by the index quarantined_posts_held_toolkit. */
const selectHeldOfToolkit = statement<{ id: string }>(
  "list_held_posts_of_toolkit",
  oldestHeld("toolkit_slug, reason", "$6::text, r.reason"),
);

/** This statement finds the posts by the primary key of quarantined_posts. */
const selectGiven = statement<{ id: string; matches: boolean }>(
  "find_quarantined_ids",
  `select id, ${filterText} as matches from quarantined_posts where id = any($4::uuid[]) order by id`,
);

/** Returns the ids of posts that match and are still in quarantine, oldest first, beginning after the id `after`. */
export async function listHeldQuarantinedPosts(
  db: Executor,
  filter: HeldPostFilter,
  page: { after: QuarantineId | undefined; limit: number },
): Promise<QuarantineId[]> {
  const from = firstUuidAt(filter.sinceMs ?? 0);
  const until = filter.untilMs === undefined ? lastUuid : firstUuidAt(filter.untilMs);
  const after = page.after === undefined ? firstUuid : uuidOfId(page.after);
  const given = [arrayLiteral(quarantineReasons), from, after, until, page.limit];
  const rows = await (filter.toolkitSlug === ""
    ? selectHeld(db, given)
    : selectHeldOfToolkit(db, [...given, filter.toolkitSlug]));
  return rows.map((row) => idOfUuid("qrn", row.id));
}

/** Returns those of `ids` that exist, released or not, oldest first. `matches`: true if the post matches the filter. */
export async function findQuarantinedIds(
  db: Executor,
  filter: HeldPostFilter,
  ids: readonly QuarantineId[],
): Promise<{ id: QuarantineId; matches: boolean }[]> {
  const rows = await selectGiven(db, [...filterParameters(filter), arrayLiteral(ids.map(uuidOfId))]);
  return rows.map((row) => ({ id: idOfUuid("qrn", row.id), matches: row.matches }));
}

function filterParameters({ toolkitSlug, sinceMs, untilMs }: HeldPostFilter) {
  return [toolkitSlug, firstUuidAt(sinceMs ?? 0), untilMs === undefined ? null : firstUuidAt(untilMs)] as const;
}

const columns = selectList(quarantinedPosts, namesBut(quarantinedPosts), "q");
const page = { table: "quarantined_posts", columns, as: "q" };
const from = "$1::uuid";

/**
 * Returns the query for the newest posts: held ones with the reasons in `$4`, and released ones with the reasons in `$5`. Both kinds have
 * separate indexes. In one common index, all posts of one kind could come before the first post of the other kind.
 */
function newestPosts(key: Readonly<Record<string, string>>): string {
  const newest = (condition: string) =>
    newestIn("quarantined_posts", { key: { ...key, reason: "r.reason" }, condition, from });
  return `select h.id from unnest($4::text[]) as r(reason) cross join lateral (${newest("released_at is null")}) h
    union all select g.id from unnest($5::text[]) as r(reason) cross join lateral (${newest("released_at is not null")}) g`;
}

/** Reads posts by their primary key. */
const selectAll = pageStatement("list_quarantined_posts", {
  ...page,
  found: newestIn("quarantined_posts", { key: {}, from }),
});

/** Finds held posts by the index quarantined_posts_held, and released posts by quarantined_posts_released. */
const selectOfReasons = pageStatement("list_quarantined_posts_of_reasons", { ...page, found: newestPosts({}) });

/** Finds held posts by the index quarantined_posts_held_toolkit, and released posts by quarantined_posts_released_toolkit. */
const selectOfToolkit = pageStatement("list_quarantined_posts_of_toolkit", {
  ...page,
  found: newestPosts({ toolkit_slug: "$6::text" }),
});

/** Returns posts that match, newest first, beginning after the id `after`. */
export function listQuarantinedPosts(
  db: Executor,
  { toolkitSlug, reason, includeReleased, ...times }: QuarantineFilter,
  { after, limit }: { after: QuarantineId | undefined; limit: number },
): Promise<QuarantinedPost[]> {
  const { fromUuid, beforeUuid } = idBounds(times, after);
  const place = [fromUuid, beforeUuid, limit];
  if (toolkitSlug === "" && reason === "" && includeReleased) return selectAll(db, place);
  const reasons = arrayLiteral(reason === "" ? quarantineReasons : [reason]);
  const given = [...place, reasons, includeReleased ? reasons : arrayLiteral([])];
  return toolkitSlug === "" ? selectOfReasons(db, given) : selectOfToolkit(db, [...given, toolkitSlug]);
}
