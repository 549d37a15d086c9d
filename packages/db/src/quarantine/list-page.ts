import type { QuarantineId } from "@svc/core";
import type { Executor } from "../connect.ts";
import { quarantinedPosts } from "../schema/index.ts";
import { quarantineReasons } from "../schema/words.ts";
import { namesBut } from "../sql/codec.ts";
import { idBounds, newestIn, pageOfFound } from "../sql/newest-in.ts";
import { type RawRow, selectList } from "../sql/select-list.ts";
import { arrayLiteral, statement } from "../sql/statement.ts";
import type { QuarantinedPost, QuarantineFilter } from "./repo.ts";

const columns = selectList(quarantinedPosts, namesBut(quarantinedPosts), "q");
const page = { columns: columns.text, table: "quarantined_posts", as: "q" };
const from = "$1::uuid";

/**
 * The newest of those that are held (`$4`: of which reasons) and of those that were released (`$5`). They stand in indexes apart: in one of
 * both, either could stand before all of the others.
 */
function newestPosts(key: Readonly<Record<string, string>>): string {
  const newest = (condition: string) =>
    newestIn("quarantined_posts", { key: { ...key, reason: "r.reason" }, condition, from });
  return `select h.id from unnest($4::text[]) as r(reason) cross join lateral (${newest("released_at is null")}) h
    union all select g.id from unnest($5::text[]) as r(reason) cross join lateral (${newest("released_at is not null")}) g`;
}

/** By the primary key. */
const selectAll = statement<RawRow<QuarantinedPost>>(
  "list_quarantined_posts",
  pageOfFound({ ...page, found: newestIn("quarantined_posts", { key: {}, from }) }),
);

/** By quarantined_posts_held and quarantined_posts_released. */
const selectOfReasons = statement<RawRow<QuarantinedPost>>(
  "list_quarantined_posts_of_reasons",
  pageOfFound({ ...page, found: newestPosts({}) }),
);

/** By quarantined_posts_held_toolkit and quarantined_posts_released_toolkit. */
const selectOfToolkit = statement<RawRow<QuarantinedPost>>(
  "list_quarantined_posts_of_toolkit",
  pageOfFound({ ...page, found: newestPosts({ toolkit_slug: "$6::text" }) }),
);

/** Posts, newest first, from after `after`. */
export async function listQuarantinedPosts(
  db: Executor,
  { toolkitSlug, reason, includeReleased, ...times }: QuarantineFilter,
  { after, limit }: { after: QuarantineId | undefined; limit: number },
): Promise<QuarantinedPost[]> {
  const { fromUuid, beforeUuid } = idBounds(times, after);
  const place = [fromUuid, beforeUuid, limit];
  if (toolkitSlug === "" && reason === "" && includeReleased) return read(await selectAll(db, place));
  const reasons = arrayLiteral(reason === "" ? quarantineReasons : [reason]);
  const given = [...place, reasons, includeReleased ? reasons : arrayLiteral([])];
  return read(await (toolkitSlug === "" ? selectOfReasons(db, given) : selectOfToolkit(db, [...given, toolkitSlug])));
}

function read(rows: readonly RawRow<QuarantinedPost>[]): QuarantinedPost[] {
  return rows.map((row) => columns.read(row));
}
