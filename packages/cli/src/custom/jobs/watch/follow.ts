import { systemClock } from "@svc/core";
import { Code, ConnectError, type JobEvent, type SvcClient } from "@svc/sdk";
import { CommandError } from "../../../command/error.ts";

/**
 * Pause in milliseconds before the first attempt to reach the server again. The next two constants are also in milliseconds. `waitMsMax`:
 * maximum pause between attempts. `lostMsMax`: maximum total time without the server.
 */
const firstWaitMs = 500;
const waitMsMax = 5_000;
const lostMsMax = 2 * 60_000;

/** Error codes of refusals that would be the same if the call were repeated. The watch then ends instead of trying again. */
const finalCodes: ReadonlySet<Code> = new Set([
  Code.NotFound,
  Code.Unauthenticated,
  Code.PermissionDenied,
  Code.InvalidArgument,
  Code.Unimplemented,
]);

/** If a stream breaks after at least this many milliseconds, it was connected before. The count of failures then starts again. */
const reachedMs = 30_000;

/**
 * The log to follow. `onBreak`: called with the reason if the connection breaks and the server cannot be reached again at once. It is not
 * called again before new entries have arrived.
 */
export type FollowOptions = { readonly jobId: string; readonly signal: AbortSignal; onBreak(reason: string): void };

/**
 * Yields the entries of a job's log until the job ends or the signal aborts. Opens a new stream if one breaks. Rejects if svc refuses, or
 * if svc cannot be reached at the start or for 2 minutes.
 */
export async function* followJob(
  client: Pick<SvcClient, "jobs">,
  { jobId, signal, onBreak }: FollowOptions,
): AsyncGenerator<JobEvent> {
  const left = new AbortController();
  try {
    yield* resumeUntilEnd(client, { jobId, signal: AbortSignal.any([signal, left.signal]), onBreak });
  } finally {
    // Closes the connection if the reader stops before the end. An open connection would keep the process running.
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
        // After a broken connection, the server may send entries that have already arrived.
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
