import { firstUuidAt, idOfUuid, type QuarantineId, uuidOfId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { quarantinedPosts } from "../schema/index.ts";
import { quarantineReasons } from "../schema/words.ts";
import { namesBut } from "../sql/codec.ts";
import { firstUuid, idBounds, lastUuid, newestIn, pageStatement } from "../sql/newest-in.ts";
import { selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import type { PostOwner, QuarantinedPost, QuarantineFilter } from "./repo.ts";

/**
 * Filter of quarantined webhook posts (which svc could not turn into events) to release. `toolkitSlug`: empty for the posts of all apps.
 * The time of receipt must be at or after `sinceMs` and before `untilMs`.
 */
export type HeldPostFilter = {
  owner: PostOwner;
  toolkitSlug: string;
  sinceMs: number | undefined;
  untilMs: number | undefined;
};

// $1 to $3 are a HeldPostFilter without its owner. An id begins with the time of receipt, so a time range is a range of ids.
const filterText =
  "($1::text = '' or toolkit_slug = $1::text) and id >= $2::uuid and ($3::uuid is null or id < $3::uuid)";

/** SQL condition for quarantined webhook posts that belong to the whole deployment. */
const ofDeployment = "project_id is null";
const ofProject = "project_id is not null";

/**
 * Returns the SQL query for the oldest webhook posts in quarantine (posts that svc could not read exactly). Scans an index once for each
 * quarantine reason, and merges the results.
 */
function oldestHeld(columns: string, values: string, owned: string): string {
  return `select h.id from unnest($1::text[]) as r(reason) cross join lateral (
      select id from quarantined_posts where released_at is null and ${owned}
        and (${columns}, id) >= (${values}, $2::uuid) and (${columns}, id) > (${values}, $3::uuid) and (${columns}, id) < (${values}, $4::uuid)
      order by ${columns}, id limit $5::int4) h
    order by h.id limit $5::int4`;
}

/** Finds webhook posts in quarantine (which svc could not turn into events) by the index quarantined_posts_held. */
const selectHeld = statement<{ id: string }>("list_held_posts", oldestHeld("reason", "r.reason", ofDeployment));

/**
 * Finds webhook posts of one toolkit (app) in quarantine (which svc could not turn into events) by the index
 * quarantined_posts_held_toolkit.
 */
const selectHeldOfToolkit = statement<{ id: string }>(
  "list_held_posts_of_toolkit",
  oldestHeld("toolkit_slug, reason", "$6::text, r.reason", ofDeployment),
);

/** Finds webhook posts of a project in quarantine (which svc could not turn into events) by the index quarantined_posts_project_held. */
const selectHeldOfProject = statement<{ id: string }>(
  "list_held_posts_of_project",
  oldestHeld("project_id, reason", "$6::uuid, r.reason", ofProject),
);

/**
 * Finds the quarantined webhook posts of a private toolkit by the index quarantined_posts_project_held_toolkit. svc could not turn these
 * posts into events.
 */
const selectHeldOfPrivateToolkit = statement<{ id: string }>(
  "list_held_posts_of_private_toolkit",
  oldestHeld("toolkit_slug, project_id, reason", "$7::text, $6::uuid, r.reason", ofProject),
);

/**
 * Finds the given quarantined posts that belong to the project $5, or to the deployment if $5 is null. Says for each if it matches the
 * filter.
 */
const selectGiven = statement<{ id: string; matches: boolean }>(
  "find_quarantined_ids",
  `select id, ${filterText} as matches from quarantined_posts
   where id = any($4::uuid[]) and project_id is not distinct from $5::uuid order by id`,
);

/**
 * Returns the ids of webhook posts in quarantine (which svc could not turn into events) that match the filter, oldest first. The result
 * begins after the id `after`.
 */
export async function listHeldQuarantinedPosts(
  db: Executor,
  filter: HeldPostFilter,
  page: { after: QuarantineId | undefined; limit: number },
): Promise<QuarantineId[]> {
  const { owner, toolkitSlug } = filter;
  const from = firstUuidAt(filter.sinceMs ?? 0);
  const until = filter.untilMs === undefined ? lastUuid : firstUuidAt(filter.untilMs);
  const after = page.after === undefined ? firstUuid : uuidOfId(page.after);
  const given = [arrayLiteral(quarantineReasons), from, after, until, page.limit];
  const select = chosen(owner, toolkitSlug, {
    all: selectHeld,
    ofToolkit: selectHeldOfToolkit,
    ofProject: selectHeldOfProject,
    ofPrivateToolkit: selectHeldOfPrivateToolkit,
  });
  const rows = await select(db, [...given, ...ownedBy(owner, toolkitSlug)]);
  return rows.map((row) => idOfUuid("qrn", row.id));
}

/**
 * Returns those of the quarantined posts `ids` that belong to `filter.owner`, oldest first, also released ones. `matches`: true if the post
 * also matches the other fields of the filter.
 */
export async function findQuarantinedIds(
  db: Executor,
  filter: HeldPostFilter,
  ids: readonly QuarantineId[],
): Promise<{ id: QuarantineId; matches: boolean }[]> {
  const { owner, toolkitSlug, sinceMs, untilMs } = filter;
  const rows = await selectGiven(db, [
    ...[toolkitSlug, firstUuidAt(sinceMs ?? 0), untilMs === undefined ? null : firstUuidAt(untilMs)],
    ...[arrayLiteral(ids.map(uuidOfId)), owner === undefined ? null : uuidOfId(owner)],
  ]);
  return rows.map((row) => ({ id: idOfUuid("qrn", row.id), matches: row.matches }));
}

/**
 * The SQL statements for one list of quarantined webhook posts (which svc could not turn into events). `all`, `ofToolkit`: posts of the
 * deployment, for all toolkits (apps) or for one. `ofProject`, `ofPrivateToolkit`: posts of a project, for all its private toolkits or for
 * one.
 */
type Lists<Select> = {
  readonly all: Select;
  readonly ofToolkit: Select;
  readonly ofProject: Select;
  readonly ofPrivateToolkit: Select;
};

function chosen<Select>(owner: PostOwner, toolkitSlug: string, lists: Lists<Select>): Select {
  if (owner === undefined) return toolkitSlug === "" ? lists.all : lists.ofToolkit;
  return toolkitSlug === "" ? lists.ofProject : lists.ofPrivateToolkit;
}

/**
 * Returns the SQL parameters for the owner of the quarantined webhook posts and for the toolkit (app), if they are given. They come last in
 * the list of parameters.
 */
function ownedBy(owner: PostOwner, toolkitSlug: string): string[] {
  return [...(owner === undefined ? [] : [uuidOfId(owner)]), ...(toolkitSlug === "" ? [] : [toolkitSlug])];
}

const columns = selectList(quarantinedPosts, namesBut(quarantinedPosts), "q");
const page = { table: "quarantined_posts", columns, as: "q" };
const from = "$1::uuid";

/**
 * Returns the SQL query for the newest quarantined webhook posts (which svc could not turn into events): unreleased ones with the reasons
 * in `$4`, and released ones with the reasons in `$5`. Both kinds have separate indexes. In one common index, all posts of one kind could
 * come before the first post of the other kind.
 */
function newestPosts(key: Readonly<Record<string, string>>, owned: string): string {
  const newest = (condition: string) =>
    newestIn("quarantined_posts", {
      key: { ...key, reason: "r.reason" },
      condition: `${condition} and ${owned}`,
      from,
    });
  return `select h.id from unnest($4::text[]) as r(reason) cross join lateral (${newest("released_at is null")}) h
    union all select g.id from unnest($5::text[]) as r(reason) cross join lateral (${newest("released_at is not null")}) g`;
}

/**
 * Reads quarantined webhook posts (which svc could not turn into events) by the indexes quarantined_posts_held and
 * quarantined_posts_released.
 */
const selectAll = pageStatement("list_quarantined_posts", { ...page, found: newestPosts({}, ofDeployment) });

/**
 * Finds quarantined webhook posts (refused posts kept for inspection) of one app's toolkit. Posts that were not released are found by the
 * index quarantined_posts_held_toolkit, released posts by quarantined_posts_released_toolkit.
 */
const selectOfToolkit = pageStatement("list_quarantined_posts_of_toolkit", {
  ...page,
  found: newestPosts({ toolkit_slug: "$6::text" }, ofDeployment),
});

/**
 * Returns a page of one project's quarantined posts: verified webhook posts that could not become events. Uses the indexes
 * quarantined_posts_project_held and quarantined_posts_project_released.
 */
const selectOfProject = pageStatement("list_quarantined_posts_of_project", {
  ...page,
  found: newestPosts({ project_id: "$6::uuid" }, ofProject),
});

/**
 * Returns a page of the quarantined posts (refused webhook posts kept for inspection) of a project's private toolkit (an app that it
 * defined itself). Reads the posts by the indexes quarantined_posts_project_held_toolkit and quarantined_posts_project_released_toolkit.
 */
const selectOfPrivateToolkit = pageStatement("list_quarantined_posts_of_private_toolkit", {
  ...page,
  found: newestPosts({ toolkit_slug: "$7::text", project_id: "$6::uuid" }, ofProject),
});

/** Returns quarantined posts of an owner (a project, or the deployment) that match, newest first, beginning after the id `after`. */
export function listQuarantinedPosts(
  db: Executor,
  { owner, toolkitSlug, reason, includeReleased, ...times }: QuarantineFilter,
  { after, limit }: { after: QuarantineId | undefined; limit: number },
): Promise<QuarantinedPost[]> {
  const { fromUuid, beforeUuid } = idBounds(times, after);
  const reasons = arrayLiteral(reason === "" ? quarantineReasons : [reason]);
  const given = [fromUuid, beforeUuid, limit, reasons, includeReleased ? reasons : arrayLiteral([])];
  const select = chosen(owner, toolkitSlug, {
    all: selectAll,
    ofToolkit: selectOfToolkit,
    ofProject: selectOfProject,
    ofPrivateToolkit: selectOfPrivateToolkit,
  });
  return select(db, [...given, ...ownedBy(owner, toolkitSlug)]);
}
