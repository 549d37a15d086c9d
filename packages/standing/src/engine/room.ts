import type { ProjectId } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { countStartedStandingRuns, countUnendedStandingRuns, lockStandingStarts } from "@svc/db/standing/end";
import type { StandingContext } from "./context.ts";
import { candidatesOf, type ProgramDue } from "./due.ts";

/** A project is too near its bound for others to start its runs meanwhile: the batch is to be decided about again, alone. */
export class NearBoundError extends Error {}

/** Starts of a batch beside which others may start, too. */
const startsBesideMax = 200;

/**
 * How many more runs each project may have under way. Who is near that bound starts runs alone until the transaction ends, so that no number
 * of nodes passes it; who is far from it does not wait for others, nor they for it. Throws NearBoundError where it turns out to be near.
 * Which runs are parked is looked up only where that decides: it reads a job for each.
 */
export async function roomsOf(
  { limits: { projectRunsMax, projectRunsMargin } }: Pick<StandingContext, "limits">,
  tx: Executor,
  dues: readonly ProgramDue[],
  { isAlone }: { readonly isAlone: boolean },
): Promise<Map<ProjectId, { left: number }>> {
  const rooms = new Map<ProjectId, { left: number }>();
  const byProject = Map.groupBy(dues, ({ program }) => program.projectId);
  for (const projectId of [...byProject.keys()].sort()) {
    const wanted = (byProject.get(projectId) ?? []).reduce((sum, due) => sum + startsMaxOf(due), 0);
    const isShared = !isAlone && wanted <= startsBesideMax && projectRunsMax >= 2 * projectRunsMargin;
    await lockStandingStarts(tx, projectId, { isShared });
    const unended = await countUnendedStandingRuns(tx, projectId, projectRunsMax);
    if (isShared && unended + wanted + projectRunsMargin > projectRunsMax)
      throw new NearBoundError(`${projectId} has ${unended} runs under way, of at most ${projectRunsMax}`);
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
