import {
  type Id,
  type IdPrefix,
  openPageToken,
  type PageScope,
  pageSizeOf,
  parseId,
  type Sealer,
  sealPageToken,
} from "@svc/core";
import { idMalformed, nameInvalid } from "./errors.ts";

const nameCharactersMax = 100;

/** A required name of a project or key, as it was given. Throws NAME_INVALID. */
export function requireName(name: string): string {
  if (name.trim() === "" || [...name].length > nameCharactersMax) throw nameInvalid(name, nameCharactersMax);
  return name;
}

/** The id in a required field. Throws ID_MALFORMED when it is none. */
export function requireId<P extends IdPrefix>(prefix: P, field: string, text: string): Id<P> {
  const id = parseId(prefix, text);
  if (id === undefined) throw idMalformed(field, text, prefix);
  return id;
}

/** The scope of an administrator's list: it spans projects, so no project stands in it. */
export function adminScope(call: string, filters: PageScope["filters"] = {}): PageScope {
  return { call, projectId: "", filters };
}

/** What to read for a page: one row more than is shown tells whether another page follows. */
export type PageRequest<P extends IdPrefix> = { after: Id<P> | undefined; size: number; limit: number };

/** Reads the page that is asked for. Throws PAGE_SIZE_NEGATIVE and PAGE_TOKEN_INVALID. */
export function pageOf<P extends IdPrefix>(
  sealer: Sealer,
  scope: PageScope,
  request: { pageSize: number; pageToken: string },
  prefix: P,
): PageRequest<P> {
  const size = pageSizeOf(request.pageSize);
  const after = request.pageToken === "" ? undefined : parseId(prefix, openPageToken(sealer, scope, request.pageToken));
  return { after, size, limit: size + 1 };
}

/** The rows to show of those read, and the token of the next page; an empty one when this is the last. */
export function pageRows<Row extends { id: string }>(
  sealer: Sealer,
  scope: PageScope,
  rows: readonly Row[],
  size: number,
) {
  const shown = rows.slice(0, size);
  const last = shown.at(-1);
  const hasMore = rows.length > size && last !== undefined;
  return { rows: shown, nextPageToken: hasMore ? sealPageToken(sealer, scope, last.id) : "" };
}
