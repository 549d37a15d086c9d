import type { ProjectId, StandingRunId } from "@svc/core";

/** Where the input of a run that a caller gave stands: no other place opens it. */
export function inputPlace(projectId: ProjectId, runId: StandingRunId): string {
  return `${projectId}/standing_runs/${runId}/input`;
}

/** A project is too near its bound for others to start its runs meanwhile: the batch is to be decided about again, alone. */
export class NearBoundError extends Error {}
