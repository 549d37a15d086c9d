import type { StandingProgramId } from "@svc/core";

/** Identifies a run by its schedule, and by the key of the time or event that caused it. */
type RunName = { readonly sourceKey: string; readonly programId: StandingProgramId };

/** Thrown if runs could not be started. The transaction that decided about them is rolled back. `cause`: the reason. */
export class StartsError extends Error {
  readonly runs: readonly RunName[];

  constructor(runs: readonly RunName[], cause: unknown) {
    super(`${runs.length} runs could not be started`, { cause });
    this.runs = runs;
  }
}

/**
 * Thrown if a project is near its maximum number of schedule runs. svc must then decide again about the batch of due schedules while no
 * other node starts runs of this project.
 */
export class NearBoundError extends Error {}

/** Thrown if a program changed while svc prepared to decide about its due times or events. svc must then prepare the decision again. */
export class StaleBatchError extends Error {}
