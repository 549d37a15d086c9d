import type { ProjectId } from "@svc/core";
import { countStartedStandingRuns, type Executor, lockStandingStarts } from "@svc/db";
import type { StandingContext } from "./context.ts";

/**
 * How many more runs each project may have under way. Others who start runs of these projects wait until the transaction ends, so
 * that no number of nodes passes the bound.
 */
export async function roomsOf(
  { limits }: StandingContext,
  tx: Executor,
  projects: ReadonlySet<ProjectId>,
): Promise<Map<ProjectId, { left: number }>> {
  const rooms = new Map<ProjectId, { left: number }>();
  for (const projectId of [...projects].sort()) {
    await lockStandingStarts(tx, projectId);
    const started = await countStartedStandingRuns(tx, projectId, limits.projectRunsMax);
    rooms.set(projectId, { left: limits.projectRunsMax - started });
  }
  return rooms;
}
