import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Ask, type Job, JobStatus, type StepReceipt, type SvcClient } from "@svc/sdk";
import { collectPages } from "../../command/client.ts";
import { numberText, spanText } from "../../text/plain.ts";

const statuses: ReadonlyMap<number, string> = namesOf(JobStatus);

/** The names of all job statuses, in the order in which a job may have them. */
export const statusNames: readonly string[] = [...statuses.values()].filter((name) => name !== "unspecified");

/** Returns the values of an enum by number, in the form that the command line shows (for example `pending_plan_approval`). */
export function namesOf(values: Readonly<Record<string, number>>): ReadonlyMap<number, string> {
  return new Map(Object.entries(values).map(([name, value]) => [value, name.toLowerCase()]));
}

/** Returns the name of a job status. Returns the number of a status that this version does not know. */
export function statusText(status: JobStatus): string {
  return statuses.get(status) ?? String(status);
}

/** Returns the job status that has this name on the command line. Returns UNSPECIFIED if no status has this name. */
export function statusOfName(name: string): JobStatus {
  return JobStatus[name.toUpperCase() as keyof typeof JobStatus] ?? JobStatus.UNSPECIFIED;
}

/** Returns the status of a job. If the job waits for a person, the text says why (for example `parked (approval at step gate)`). */
export function standingText({ status, park, pausedAt }: Job): string {
  if (park === undefined) return pausedAt === undefined ? statusText(status) : `${statusText(status)} (to be paused)`;
  const place = park.stepId === "" ? "" : ` at step ${park.stepId}`;
  return `${statusText(status)} (${park.reason}${place})`;
}

const heldReasons: ReadonlySet<string> = new Set(["poisoned", "administrator", "paused"]);

/**
 * True if svc or an administrator parked (suspended) the job, or if the job is paused. It then needs a release or a resume. False if the
 * job waits for an answer, or does not wait.
 */
export function isHeld({ status, park }: Job): boolean {
  return status === JobStatus.PARKED && heldReasons.has(park?.reason ?? "");
}

/** True if a job has ended. */
export function hasEnded({ finishedAt }: Pick<Job, "finishedAt">): boolean {
  return finishedAt !== undefined;
}

/** The number of rows of a step by result (for example failed or skipped). */
type Rows = {
  readonly in: number;
  readonly ok: number;
  readonly failed: number;
  readonly skipped: number;
  readonly unknown: number;
};

/** Kinds of steps that make a new row set from another one. The new set may have more or fewer rows. */
const setKinds: ReadonlySet<string> = new Set(["limit", "distinct", "join", "group", "flatten"]);

/** Returns the number of a step's rows by result (for example `1,200 rows, 3 failed`). Returns an empty text if the step has no rows. */
export function rowsText(rows: Partial<Rows> | undefined, kind: string): string {
  if (rows === undefined) return "";
  const { ok = 0, failed = 0, skipped = 0, unknown = 0 } = rows;
  const taken = numberText(rows.in ?? 0);
  // A filter skips rows because of its condition. These rows have not failed.
  if (kind === "filter") return `${numberText(ok)} of ${taken} rows`;
  if (setKinds.has(kind)) return `${taken} -> ${numberText(ok)} ${ok === 1 ? "row" : "rows"}`;
  const ends = [
    [failed, "failed"],
    [skipped, "skipped"],
    [unknown, "unknown"],
  ] as const;
  const others = ends.filter(([count]) => count > 0).map(([count, name]) => `${numberText(count)} ${name}`);
  return [`${taken} ${taken === "1" ? "row" : "rows"}`, ...others].join(", ");
}

/**
 * Returns the number of calls of a step or job by class (for example `81 read, 12 write, 1 retried`). Returns an empty text if there are no
 * calls.
 */
export function callsText(calls: StepReceipt["calls"]): string {
  if (calls === undefined) return "";
  return (["read", "write", "destructive", "retried", "unknown"] as const)
    .filter((name) => calls[name] > 0)
    .map((name) => `${numberText(calls[name])} ${name}`)
    .join(", ");
}

/** A period in which a job waited for a person. Both times are in epoch milliseconds. */
export type Wait = { readonly fromMs: number; readonly toMs: number };

/**
 * Returns as text how long a step worked. Time in which the job waited for a person does not count. Undefined if the step has not ended.
 */
export function tookText(
  { startedAt, finishedAt }: Pick<StepReceipt, "startedAt" | "finishedAt">,
  waits: readonly Wait[],
): string | undefined {
  if (startedAt === undefined || finishedAt === undefined) return undefined;
  const [startMs, endMs] = [timestampMs(startedAt), timestampMs(finishedAt)];
  // Waits never overlap, because a job asks one question at a time.
  const waitedMs = waits.map(({ fromMs, toMs }) => Math.max(0, Math.min(toMs, endMs) - Math.max(fromMs, startMs)));
  return spanText(waitedMs.reduce((rest, ms) => rest - ms, endMs - startMs));
}

/** Returns the periods in which a job waited for people. Makes no call if no step of the job was answered by a person. */
export async function readWaits(
  { jobs }: Pick<SvcClient, "jobs">,
  { id: jobId, stepReceipts }: { readonly id: string; readonly stepReceipts: readonly StepReceipt[] },
): Promise<readonly Wait[]> {
  if (stepReceipts.every(({ decision }) => decision === undefined)) return [];
  const asks = await collectPages(async (pageToken) => {
    const { asks: items, nextPageToken } = await jobs.listAsks({ jobId, pageSize: 500, pageToken });
    return { items, nextPageToken };
  });
  return asks.flatMap(waitOf);
}

function waitOf({ askedAt, decision }: Ask): Wait[] {
  if (askedAt === undefined || decision?.at === undefined) return [];
  return [{ fromMs: timestampMs(askedAt), toMs: timestampMs(decision.at) }];
}
