import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Ask, type Job, JobStatus, type StepReceipt, type SvcClient } from "@svc/sdk";
import { collectPages } from "../../command/client.ts";
import { numberText, spanText } from "../../text/plain.ts";

const statuses: ReadonlyMap<number, string> = namesOf(JobStatus);

/** The statuses by name, in the order in which a job may have them. */
export const statusNames: readonly string[] = [...statuses.values()].filter((name) => name !== "unspecified");

/** The values of an enum by number, named as this command line names them: `pending_plan_approval`. */
export function namesOf(values: Readonly<Record<string, number>>): ReadonlyMap<number, string> {
  return new Map(Object.entries(values).map(([name, value]) => [value, name.toLowerCase()]));
}

/** Returns the command line's name of a status, or the number of an unknown one. */
export function statusText(status: JobStatus): string {
  return statuses.get(status) ?? String(status);
}

/** Returns the status of a name, or UNSPECIFIED if there is none. */
export function statusOfName(name: string): JobStatus {
  return JobStatus[name.toUpperCase() as keyof typeof JobStatus] ?? JobStatus.UNSPECIFIED;
}

/** Returns how a job waits for a person, such as `parked (approval at step gate)`, otherwise its status. */
export function standingText({ status, park, pausedAt }: Job): string {
  if (park === undefined) return pausedAt === undefined ? statusText(status) : `${statusText(status)} (to be paused)`;
  const place = park.stepId === "" ? "" : ` at step ${park.stepId}`;
  return `${statusText(status)} (${park.reason}${place})`;
}

const heldReasons: ReadonlySet<string> = new Set(["poisoned", "administrator", "paused"]);

/** True if a job waits for something outside of its program: svc or an administrator parked it, or it is paused. */
export function isHeld({ status, park }: Job): boolean {
  return status === JobStatus.PARKED && heldReasons.has(park?.reason ?? "");
}

/** True if a job has ended. */
export function hasEnded({ finishedAt }: Pick<Job, "finishedAt">): boolean {
  return finishedAt !== undefined;
}

/** How rows ended. */
type Rows = {
  readonly in: number;
  readonly ok: number;
  readonly failed: number;
  readonly skipped: number;
  readonly unknown: number;
};

/** Kinds of steps that make a new set from another set, with more or fewer rows. */
const setKinds: ReadonlySet<string> = new Set(["limit", "distinct", "join", "group", "flatten"]);

/** Returns the results of a step's rows, such as `1,200 rows, 3 failed`. Empty if there are none. */
export function rowsText(rows: Partial<Rows> | undefined, kind: string): string {
  if (rows === undefined) return "";
  const { ok = 0, failed = 0, skipped = 0, unknown = 0 } = rows;
  const taken = numberText(rows.in ?? 0);
  // A filter skips rows by its condition, which is not a failure.
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

/** Returns the calls of a step or job, such as `81 read, 12 write, 1 retried`. Empty if there are none. */
export function callsText(calls: StepReceipt["calls"]): string {
  if (calls === undefined) return "";
  return (["read", "write", "destructive", "retried", "unknown"] as const)
    .filter((name) => calls[name] > 0)
    .map((name) => `${numberText(calls[name])} ${name}`)
    .join(", ");
}

/** A time in which a job waited for a person, in epoch milliseconds. */
export type Wait = { readonly fromMs: number; readonly toMs: number };

/**
 * Returns how long a step has worked: from its first start to its last end. Waits for a person are subtracted, also waits of a later
 * question that sent the job back to this step. Returns undefined if the step has not ended.
 */
export function tookText(
  { startedAt, finishedAt }: Pick<StepReceipt, "startedAt" | "finishedAt">,
  waits: readonly Wait[],
): string | undefined {
  if (startedAt === undefined || finishedAt === undefined) return undefined;
  const [startMs, endMs] = [timestampMs(startedAt), timestampMs(finishedAt)];
  // A job asks one question at a time, so the waits do not overlap.
  const waitedMs = waits.map(({ fromMs, toMs }) => Math.max(0, Math.min(toMs, endMs) - Math.max(fromMs, startMs)));
  return spanText(waitedMs.reduce((rest, ms) => rest - ms, endMs - startMs));
}

/** Returns the times in which a job waited for people, from its questions. Reads nothing if no step of the job was answered. */
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
