import { type Catalog, catalogFaults } from "@svc/catalog";
import {
  openPageToken,
  pageSizeOf,
  parseId,
  type QuarantineId,
  requireId,
  type Sealer,
  sealPageToken,
  timeRange,
} from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { findQuarantinedIds, type HeldPostFilter, listHeldQuarantinedPosts } from "@svc/db/quarantine/list";
import type { PostOwner } from "@svc/db/quarantine/repo";
import type { ReleaseQuarantinedPostsRequest } from "@svc/gen/admin";
import { quarantineFaults } from "../errors.ts";
import type { Quarantine, ReleaseResult } from "../quarantine.ts";

const idsMax = 500;

/**
 * A quarantined webhook post (which svc could not turn into an event) that a request wants to release. `isMissing`: true if no post has
 * this id.
 */
type Candidate = { id: QuarantineId; isMissing: boolean };

/**
 * One page of the quarantined webhook posts (which svc could not turn into events) that an operator releases, in the order in which the
 * response lists them. `nextPageToken`: token for the next page.
 */
type ReleaseBatch = { candidates: Candidate[]; nextPageToken: string };

/**
 * Quarantined webhook posts (which svc could not turn into events) that a release may select. `owner`: the project whose private toolkits
 * (apps) received the posts; undefined for the toolkits of the deployment. `toolkits`: the toolkits that this owner has.
 */
export type ReleaseScope = { readonly owner: PostOwner; readonly toolkits: Catalog["toolkits"] };

/** Dependencies of the functions that release quarantined posts (refused webhook posts kept for inspection). */
type ReleaseContext = { readonly db: Executor; readonly sealer: Sealer; readonly quarantine: Quarantine };

/**
 * Releases the quarantined webhook posts (which svc could not turn into events) that a request selects, oldest first, each in its own
 * transaction. Throws FILTER_REQUIRED, TOO_MANY_IDS, ID_MALFORMED, TIME_RANGE_INVALID, TOOLKIT_NOT_FOUND, PAGE_SIZE_NEGATIVE and
 * PAGE_TOKEN_INVALID.
 */
export async function releasePosts(
  context: ReleaseContext,
  scope: ReleaseScope,
  request: ReleaseQuarantinedPostsRequest,
): Promise<{ results: ReleaseResult[]; nextPageToken: string }> {
  const { owner } = scope;
  const { candidates, nextPageToken } = await findCandidates(context, scope, request);
  const results: ReleaseResult[] = [];
  for (const { id, isMissing } of candidates) {
    if (isMissing) results.push({ id, outcome: "missing", accepted: 0, reason: "" });
    else results.push(await context.quarantine.release(id, { owner, dryRun: request.dryRun }));
  }
  return { results, nextPageToken };
}

async function findCandidates(
  { db, sealer }: ReleaseContext,
  { owner, toolkits }: ReleaseScope,
  request: ReleaseQuarantinedPostsRequest,
): Promise<ReleaseBatch> {
  const ids = requireIds(request.ids);
  const filter = { owner, ...requireFilter(request) };
  if (filter.toolkitSlug !== "" && !toolkits.has(filter.toolkitSlug)) {
    throw catalogFaults.TOOLKIT_NOT_FOUND("toolkitSlug", filter.toolkitSlug, { toolkits });
  }
  const { toolkitSlug, sinceMs, untilMs } = filter;
  const scope = {
    call: "ReleaseQuarantinedPosts",
    projectId: owner ?? "",
    filters: { ids, toolkitSlug, sinceMs, untilMs },
  };
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

/**
 * Finds the quarantined webhook posts (which svc could not turn into events) with the given ids. Returns those that exist, oldest first,
 * and then the ids for which no post exists.
 */
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

function requireIds(given: readonly string[]): QuarantineId[] {
  if (given.length > idsMax) throw quarantineFaults.TOO_MANY_IDS(given.length, idsMax);
  const ids = given.map((id, index) => requireId("qrn", `ids[${index}]`, id));
  return [...new Set(ids)].sort();
}

function requireFilter({
  ids,
  toolkitSlug,
  since,
  until,
}: ReleaseQuarantinedPostsRequest): Omit<HeldPostFilter, "owner"> {
  const isEmpty = ids.length === 0 && toolkitSlug === "" && since === undefined && until === undefined;
  if (isEmpty) throw quarantineFaults.FILTER_REQUIRED();
  return { toolkitSlug, ...timeRange(since, until) };
}

function formatPosition({ id, isMissing }: Candidate): string {
  return `${isMissing ? 1 : 0}${id}`;
}

function parsePosition(position: string): Candidate | undefined {
  const id = parseId("qrn", position.slice(1));
  return id === undefined ? undefined : { id, isMissing: position.startsWith("1") };
}

function comparePositions(a: Candidate, b: Candidate): number {
  const [first, second] = [formatPosition(a), formatPosition(b)];
  return first === second ? 0 : first < second ? -1 : 1;
}
