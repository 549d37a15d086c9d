import { catalogFaults } from "@svc/catalog";
import { openPageToken, pageSizeOf, parseId, type QuarantineId, requireId, sealPageToken, timeRange } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { findQuarantinedIds, type HeldPostFilter, listHeldQuarantinedPosts } from "@svc/db/quarantine/list";
import type { ReleaseQuarantinedPostsRequest } from "@svc/gen/admin";
import type { AdminContext } from "./context.ts";
import { adminFaults } from "./errors.ts";
import { adminScope } from "./request.ts";

const idsMax = 500;

/** A post that a request wants to release. `isMissing`: true if no post has this id. */
type Candidate = { id: QuarantineId; isMissing: boolean };

/** Posts of one release, in the order of its results. `nextPageToken`: token for the next posts. */
export type ReleaseBatch = { candidates: Candidate[]; nextPageToken: string };

/**
 * Returns the posts that a request selects for release. Throws FILTER_REQUIRED, TOO_MANY_IDS, ID_MALFORMED, TIME_RANGE_INVALID,
 * TOOLKIT_NOT_FOUND, PAGE_SIZE_NEGATIVE and PAGE_TOKEN_INVALID.
 */
export async function findCandidates(
  { db, sealer, catalog }: AdminContext,
  request: ReleaseQuarantinedPostsRequest,
): Promise<ReleaseBatch> {
  const ids = requireIds(request.ids);
  const filter = requireFilter(request);
  if (filter.toolkitSlug !== "" && !catalog.toolkits.has(filter.toolkitSlug)) {
    throw catalogFaults.TOOLKIT_NOT_FOUND("toolkitSlug", filter.toolkitSlug, catalog);
  }
  const scope = adminScope("ReleaseQuarantinedPosts", { ids, ...filter });
  const size = pageSizeOf(request.pageSize, ids.length === 0 ? {} : { fallback: idsMax });
  const after = request.pageToken === "" ? undefined : parsePosition(openPageToken(sealer, scope, request.pageToken));
  const found =
    ids.length === 0 ? await findHeld(db, filter, after, size + 1) : await findGiven(db, filter, after, ids);
  const candidates = found.slice(0, size);
  const last = candidates.at(-1);
  const hasMore = found.length > size && last !== undefined;
  return { candidates, nextPageToken: hasMore ? sealPageToken(sealer, scope, formatPosition(last)) : "" };
}

async function findHeld(
  db: Executor,
  filter: HeldPostFilter,
  after: Candidate | undefined,
  limit: number,
): Promise<Candidate[]> {
  const ids = await listHeldQuarantinedPosts(db, filter, { after: after?.id, limit });
  return ids.map((id) => ({ id, isMissing: false }));
}

/** Returns the existing posts, oldest first, then the ids without a post. */
async function findGiven(
  db: Executor,
  filter: HeldPostFilter,
  after: Candidate | undefined,
  ids: readonly QuarantineId[],
): Promise<Candidate[]> {
  const found = await findQuarantinedIds(db, filter, ids);
  const known = new Set(found.map(({ id }) => id));
  const present = found.filter(({ matches }) => matches).map(({ id }) => ({ id, isMissing: false }));
  const missing = ids.filter((id) => !known.has(id)).map((id) => ({ id, isMissing: true }));
  const all = [...present, ...missing];
  if (after === undefined) return all;
  return all.filter((candidate) => comparePositions(candidate, after) > 0);
}

function requireIds(texts: readonly string[]): QuarantineId[] {
  if (texts.length > idsMax) throw adminFaults.TOO_MANY_IDS(texts.length, idsMax);
  const ids = texts.map((text, index) => requireId("qrn", `ids[${index}]`, text));
  return [...new Set(ids)].sort();
}

function requireFilter({ ids, toolkitSlug, since, until }: ReleaseQuarantinedPostsRequest): HeldPostFilter {
  const isEmpty = ids.length === 0 && toolkitSlug === "" && since === undefined && until === undefined;
  if (isEmpty) throw adminFaults.FILTER_REQUIRED();
  return { toolkitSlug, ...timeRange(since, until) };
}

function formatPosition({ id, isMissing }: Candidate): string {
  return `${isMissing ? 1 : 0}${id}`;
}

function parsePosition(text: string): Candidate | undefined {
  const id = parseId("qrn", text.slice(1));
  return id === undefined ? undefined : { id, isMissing: text.startsWith("1") };
}

function comparePositions(a: Candidate, b: Candidate): number {
  const [first, second] = [formatPosition(a), formatPosition(b)];
  return first === second ? 0 : first < second ? -1 : 1;
}
