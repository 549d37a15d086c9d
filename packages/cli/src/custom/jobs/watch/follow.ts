import { systemClock } from "@svc/core";
import { Code, ConnectError, type JobEvent, type SvcClient } from "@svc/sdk";
import { CommandError } from "../../../command/error.ts";

/** Waits between attempts to reach the server again, and the maximum total time, in milliseconds. */
const firstWaitMs = 500;
const waitMsMax = 5_000;
const lostMsMax = 2 * 60_000;

/** Refusals that do not change however often the call is repeated. */
const finalCodes: ReadonlySet<Code> = new Set([
  Code.NotFound,
  Code.Unauthenticated,
  Code.PermissionDenied,
  Code.InvalidArgument,
  Code.Unimplemented,
]);

/** An attempt that lasted at least this long (milliseconds) counts as connected, because an idle connection may be closed by a proxy. */
const reachedMs = 30_000;

/**
 * The log to follow. `onBreak`: called with the reason if the server cannot be reached at once. It is called again only after new entries
 * have arrived.
 */
export type FollowOptions = { readonly jobId: string; readonly signal: AbortSignal; onBreak(reason: string): void };

/**
 * Yields the log of a job entry by entry until the job has ended or the signal aborts. A broken stream continues after the last received
 * entry. Rejects with the refusal, with the reason why the first attempt did not reach the server, or with CommandError if the server is
 * away for 2 minutes.
 */
export async function* followJob(
  client: Pick<SvcClient, "jobs">,
  { jobId, signal, onBreak }: FollowOptions,
): AsyncGenerator<JobEvent> {
  const left = new AbortController();
  try {
    yield* resumeUntilEnd(client, { jobId, signal: AbortSignal.any([signal, left.signal]), onBreak });
  } finally {
    // Closes the connection if the reader stops early. An open connection would keep the process running.
    left.abort();
  }
}

async function* resumeUntilEnd(
  { jobs }: Pick<SvcClient, "jobs">,
  { jobId, signal, onBreak }: FollowOptions,
): AsyncGenerator<JobEvent> {
  let afterSeq = 0;
  let failures = 0;
  let lostSinceMs = 0;
  while (!signal.aborted) {
    const triedAtMs = systemClock.now();
    try {
      for await (const { event } of jobs.watchJob({ jobId, afterSeq }, { signal })) {
        failures = 0;
        // After a broken connection, entries may arrive a second time.
        if (event === undefined || event.seq <= afterSeq) continue;
        afterSeq = event.seq;
        yield event;
      }
      return;
    } catch (reason) {
      if (signal.aborted) return;
      const err = ConnectError.from(reason);
      if (finalCodes.has(err.code) || afterSeq === 0) throw err;
      const nowMs = systemClock.now();
      failures = nowMs - triedAtMs >= reachedMs ? 1 : failures + 1;
      if (failures === 1) lostSinceMs = nowMs;
      if (failures === 2) onBreak(err.rawMessage);
      if (nowMs - lostSinceMs > lostMsMax) throw lost(jobId, err);
    }
    await systemClock.wait(Math.min(firstWaitMs * 2 ** (failures - 1), waitMsMax), signal);
  }
}

function lost(jobId: string, { rawMessage }: ConnectError): CommandError {
  return new CommandError(
    `the service was not reachable for 2 minutes (${rawMessage}); the job may still be running, and \`svc jobs watch ${jobId}\` continues watching`,
  );
}
