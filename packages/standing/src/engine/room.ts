import type { ProjectId } from "@svc/core";
import { countStartedStandingRuns, countUnendedStandingRuns, type Executor, lockStandingStarts } from "@svc/db";
import type { StandingContext } from "./context.ts";
import { candidatesOf, type ProgramDue } from "./due.ts";

/**
 * How many more runs each project may have under way. Others who start runs of these projects wait until the transaction ends, so
 * that no number of nodes passes the bound. Which runs are parked is looked up only where that decides: it reads a job for each.
 */
export async function roomsOf(
  { limits: { projectRunsMax } }: StandingContext,
  tx: Executor,
  dues: readonly ProgramDue[],
): Promise<Map<ProjectId, { left: number }>> {
  const rooms = new Map<ProjectId, { left: number }>();
  const byProject = Map.groupBy(dues, ({ program }) => program.projectId);
  for (const projectId of [...byProject.keys()].sort()) {
    await lockStandingStarts(tx, projectId);
    const wanted = (byProject.get(projectId) ?? []).reduce((sum, due) => sum + startsMaxOf(due), 0);
    const unended = await countUnendedStandingRuns(tx, projectId, projectRunsMax);
    const used =
      unended + wanted <= projectRunsMax ? unended : await countStartedStandingRuns(tx, projectId, projectRunsMax);
    rooms.set(projectId, { left: projectRunsMax - used });
  }
  return rooms;
}

/** How many runs of a program may start in its batch at most. */
function startsMaxOf(due: ProgramDue): number {
  return candidatesOf(due).length + due.closing.length + due.waiting.length;
}
