import { checkFilterText, type Id, isWithin, optionalId, type ProjectPrincipal, timeRange } from "@svc/core";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import type { JobFilter } from "@svc/db/jobs/list-filter";
import { type JobRepository, jobsForProject } from "@svc/db/jobs/repo";
import type { JobStatus } from "@svc/db/schema/words";
import type { JobOriginKind, ListJobsRequest } from "@svc/gen/jobs";
import { jobFaults } from "../errors.ts";
import type { JobsContext } from "./context.ts";
import { originKindOf, statusOfFilter } from "./convert-jobs.ts";
import { explainJobs, titleOfListed } from "./read.ts";

/** Number of jobs that one statement reads with their programs. The number is small, because each program can have up to 256 KiB. */
const chunkSize = 50;
/** Maximum total size of the programs of the jobs on one page, in bytes. If the programs are larger, the page has fewer jobs. */
const pageBytesMax = 8_388_608;

/**
 * Returns the jobs for one page of a list, and one job more if the list continues. `size`: number of jobs to show, which is smaller than
 * requested if their programs would be too large for one response.
 */
export async function readPage(
  repository: Pick<JobRepository, "list">,
  filter: JobFilter,
  { after, size }: { readonly after: Id<"job"> | undefined; readonly size: number },
): Promise<{ readonly rows: readonly ListedJob[]; readonly size: number }> {
  const rows: ListedJob[] = [];
  for (let bytes = 0; rows.length <= size; ) {
    const limit = Math.min(chunkSize, size + 1 - rows.length);
    const chunk = await repository.list(filter, { after: rows.at(-1)?.id ?? after, limit });
    for (const row of chunk) {
      // A page has at least one job. The first job that does not fit into the page is returned as an extra row, which shows that the list
      // continues.
      bytes += row.sealedProgram?.length ?? row.program?.length ?? 0;
      rows.push(row);
      if (bytes > pageBytesMax && rows.length > 1) return { rows, size: rows.length - 1 };
    }
    if (chunk.length < limit) break;
  }
  return { rows, size };
}

/**
 * Maximum number of jobs that svc reads for one page of a list if a filter has no index. The page may then have fewer jobs than requested.
 */
export const walkedMax = 2_000;
const walkedBytesMax = 33_554_432;
const walkChunkSize = 200;

/**
 * Returns the jobs of one page that `select` returns of the read ones. Returns one more job if the list continues. The search reads only a
 * limited number of jobs. If it stops at this limit, `walkedTo` is the last job that was read; otherwise `walkedTo` is undefined.
 */
async function walkPage(
  repository: Pick<JobRepository, "list">,
  filter: JobFilter,
  { after, size }: { readonly after: Id<"job"> | undefined; readonly size: number },
  select: (chunk: readonly ListedJob[]) => Promise<readonly ListedJob[]>,
): Promise<{ readonly rows: readonly ListedJob[]; readonly walkedTo: Id<"job"> | undefined }> {
  const rows: ListedJob[] = [];
  let last = after;
  for (let walked = 0, bytes = 0; walked < walkedMax && bytes < walkedBytesMax; ) {
    const chunk = await repository.list(filter, { after: last, limit: walkChunkSize });
    for (const row of chunk) bytes += row.sealedProgram?.length ?? row.program?.length ?? 0;
    rows.push(...(await select(chunk)));
    if (rows.length > size) return { rows: rows.slice(0, size + 1), walkedTo: undefined };
    last = chunk.at(-1)?.id ?? last;
    walked += chunk.length;
    if (chunk.length < walkChunkSize) return { rows, walkedTo: undefined };
  }
  return { rows, walkedTo: last };
}

/** Filter of a list of jobs. The database applies the fields of JobFilter; svc checks the other fields for each job that it reads. */
export type ListedFilter = JobFilter & {
  /** Text in lower case that the title contains. Empty: any title. */
  readonly title: string;
  readonly programHash: string | undefined;
  readonly fingerprint: string | undefined;
  readonly originKind: JobOriginKind | undefined;
  readonly slowerThanMs: number | undefined;
};

/**
 * Returns the filter that a ListJobs request describes, such as statuses and a time range. Throws
 * MODE_INVALID, TIME_RANGE_INVALID, FILTER_TEXT_INVALID or ID_MALFORMED.
 */
export function readListedFilter(request: ListJobsRequest): ListedFilter {
  const { status, skillSlug, mode, programHash, originKind, slowerThanMs } = request;
  const asked = [status, ...request.statuses].flatMap((one) => statusOfFilter(one) ?? []);
  return {
    title: checkFilterText("titleContains", request.titleContains).toLowerCase(),
    // An absent filter is undefined, so that page tokens of versions without these filters stay valid.
    programHash: programHash || undefined,
    fingerprint: request.failureFingerprint || undefined,
    originKind: originKind || undefined,
    slowerThanMs: slowerThanMs || undefined,
    statuses: asked.length === 0 ? undefined : [...new Set(asked)].sort(),
    mode: mode === "" ? undefined : mode === "rehearse" ? mode : readMode(mode),
    skillSlug: skillSlug === "" ? undefined : skillSlug,
    parentJobId: optionalId("job", "parentJobId", request.parentJobId),
    standingProgramId: optionalId("stp", "standingProgramId", request.standingProgramId),
    ...timeRange(request.since, request.until),
  };
}

/** Statuses of jobs that may have a failure. */
const failing: readonly JobStatus[] = ["failed", "expired", "rejected", "aborted", "parked"];

type ListedPage = { readonly after: Id<"job"> | undefined; readonly size: number };

/**
 * Returns the jobs of one page of a list, newest first. If the search stopped early because it had read the maximum number of jobs, also
 * returns the position for the next page.
 */
export async function readListed(
  context: Pick<JobsContext, "db" | "clock" | "sealer" | "views">,
  caller: Pick<ProjectPrincipal, "projectId" | "binding">,
  listed: ListedFilter,
  page: ListedPage,
): Promise<{ readonly rows: readonly ListedJob[]; readonly walkedTo?: Id<"job"> | undefined; readonly size?: number }> {
  const jobs = jobsForProject(context.db, caller.projectId);
  const { title, programHash, fingerprint, originKind, slowerThanMs, ...filter } = listed;
  const isWalked = title !== "" || (programHash ?? fingerprint ?? originKind ?? slowerThanMs) !== undefined;
  if (!isWalked && caller.binding === undefined) return readPage(jobs, filter, page);
  if (fingerprint === undefined)
    return walkPage(jobs, filter, page, (chunk) => selectListed(context, caller, listed, chunk));
  const statuses = failing.filter((one) => filter.statuses?.includes(one) ?? true);
  if (statuses.length === 0) return { rows: [] };
  return walkPage(jobs, { ...filter, statuses }, page, (chunk) => selectListed(context, caller, listed, chunk));
}

/** Returns the jobs of a chunk that fit the parts of a filter that no index serves. The parts that cost most are checked last. */
async function selectListed(
  context: Pick<JobsContext, "db" | "clock" | "sealer" | "views">,
  { projectId, binding }: Pick<ProjectPrincipal, "projectId" | "binding">,
  { title, programHash, fingerprint, originKind, slowerThanMs }: ListedFilter,
  chunk: readonly ListedJob[],
): Promise<readonly ListedJob[]> {
  const nowMs = context.clock.now();
  const found = chunk.filter(
    (job) =>
      isWithin(job, binding) &&
      (programHash === undefined || job.programHash === programHash) &&
      (originKind === undefined || originKindOf(job) === originKind) &&
      (slowerThanMs === undefined || (job.finishedAt ?? nowMs) - job.createdAt > slowerThanMs) &&
      (title === "" || titleOfListed(context, job).toLowerCase().includes(title)),
  );
  if (fingerprint === undefined) return found;
  const failures = await explainJobs(context, projectId, found);
  return found.filter(({ id }) => failures.get(id)?.fingerprint === fingerprint);
}

/**
 * Returns the mode of a submission. Throws MODE_INVALID if it is unknown, or if it is `rehearse`, which only standing programs (schedules)
 * use.
 */
export function readMode(mode: string): "live" | "simulate" {
  if (mode === "" || mode === "live") return "live";
  if (mode === "simulate") return mode;
  throw jobFaults.MODE_INVALID(mode);
}
