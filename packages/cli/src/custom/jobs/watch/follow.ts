import { systemClock } from "@svc/core";
import { Code, ConnectError, type JobEvent, type SvcClient } from "@svc/sdk";
import { CommandError } from "../../../command/error.ts";

/** Waits between tries to reach a server that was lost, and how long one goes on trying, milliseconds. */
const firstWaitMs = 500;
const waitMsMax = 5_000;
const lostMsMax = 2 * 60_000;

/** Refusals that stay, however often one asks. */
const finalCodes: ReadonlySet<Code> = new Set([
  Code.NotFound,
  Code.Unauthenticated,
  Code.PermissionDenied,
  Code.InvalidArgument,
  Code.Unimplemented,
]);

/** A try that lasted this long had reached the server: an idle connection may be cut in between, milliseconds. */
const reachedMs = 30_000;

/** Which log to follow. `onBreak` is told why the server cannot be reached again at once, a single time until entries come again. */
export type FollowOptions = { readonly jobId: string; readonly signal: AbortSignal; onBreak(reason: string): void };

/**
 * Yields the log of a job entry by entry until the job has ended or the signal aborts. A stream that breaks is taken up after the last
 * entry received. Rejects with the refusal, with what kept the first try from reaching the server, or with CommandError when it
 * stayed away for 2 minutes.
 */
export async function* followJob(
  client: Pick<SvcClient, "jobs">,
  { jobId, signal, onBreak }: FollowOptions,
): AsyncGenerator<JobEvent> {
  const left = new AbortController();
  try {
    yield* resumeUntilEnd(client, { jobId, signal: AbortSignal.any([signal, left.signal]), onBreak });
  } finally {
    // A reader that has seen enough leaves no connection behind, which would keep the process.
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
        // An answer that was lost on its way may come twice.
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
    `the service was lost for 2 minutes (${rawMessage}); the job may well go on, and \`svc jobs watch ${jobId}\` takes it up`,
  );
}
