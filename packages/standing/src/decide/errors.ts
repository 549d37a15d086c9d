import type { StandingProgramId } from "@svc/core";

/** Names a run: its occurrence and its program. */
type RunName = { readonly sourceKey: string; readonly programId: StandingProgramId };

/** Runs could not be started: the transaction that decided about them is rolled back. Its cause gives the reason. */
export class StartsError extends Error {
  readonly runs: readonly RunName[];

  constructor(runs: readonly RunName[], cause: unknown) {
    super(`${runs.length} runs could not be started`, { cause });
    this.runs = runs;
  }
}

/** A project is near its maximum of runs: the batch must be decided again, while no other node starts runs of the project. */
export class NearBoundError extends Error {}

/** A program was changed after its preparation: the batch must be prepared again. */
export class StaleBatchError extends Error {}
