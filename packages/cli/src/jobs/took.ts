import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Ask, StepReceipt, SvcClient } from "@svc/sdk";
import { collectPages } from "../client/pages.ts";
import { spanText } from "../text/plain.ts";

/** A time in which a job waited for a person, epoch milliseconds. */
export type Wait = { readonly fromMs: number; readonly toMs: number };

/**
 * How long a step was at work: from its first beginning to its last end, without the time in which the job waited for a person, be
 * it in this step or in one that led back to it. Undefined while it has not ended.
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

/** The times in which a job waited for people, by its questions; none is read of a job in whose steps nobody answered. */
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
