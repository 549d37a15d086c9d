import type { ProjectId } from "@svc/core";
import { countEventMatches, type EventMatchFilter } from "@svc/db/events/follow";
import { usageOfProject } from "@svc/db/projects/usage";
import type { TriggersContext } from "./context.ts";

/** Returns a warning if events of a time range would arrive twice, because earlier deliveries of these events are still pending. */
export async function rangeWarnings(
  { db }: Pick<TriggersContext, "db">,
  projectId: ProjectId,
  filter: EventMatchFilter,
): Promise<string[]> {
  if (filter.onlyUndelivered) return [];
  const [all, fresh] = await Promise.all([
    countEventMatches(db, projectId, filter),
    countEventMatches(db, projectId, { ...filter, withoutPending: true }),
  ]);
  const pending = all.count - fresh.count;
  if (pending === 0) return [];
  const told =
    pending === 1
      ? "1 of them arrives twice: a delivery of it is"
      : `${pending} of them arrive twice: deliveries of them are`;
  return [`${told} still pending; ${cure}`];
}

const cure = "onlyUndelivered leaves them out, and TryNow sends pending ones at once";
/**
 * Maximum number of deliveries in a replay's range for which svc counts how many are still pending (not delivered yet). For a larger range
 * the count would take too long, because the caller waits for the response.
 */
const comparedMax = 10_000;
/** Maximum number of pending deliveries of a project that are counted for a warning. */
const pendingMax = 1_000;

/**
 * Returns a warning if the replay sends events again whose delivery is still pending. `matches`: number of deliveries in the replay, or
 * undefined if they were not all counted.
 */
export async function replayWarnings(
  { db }: Pick<TriggersContext, "db">,
  projectId: ProjectId,
  {
    filter,
    matches,
    isPortal,
  }: { readonly filter: EventMatchFilter; readonly matches: number | undefined; readonly isPortal: boolean },
): Promise<string[]> {
  if (filter.onlyUndelivered || matches === 0) return [];
  const pending = await usageOfProject(db, projectId).countDeliveries(pendingMax);
  if (pending === 0) return [];
  if (matches !== undefined && matches <= comparedMax) return await rangeWarnings({ db }, projectId, filter);
  // A customer must not learn how many deliveries the other customers have.
  if (isPortal) return [];
  const told =
    pending >= pendingMax
      ? `${pendingMax} or more deliveries are`
      : `${pending} ${pending === 1 ? "delivery is" : "deliveries are"}`;
  return [`${told} still pending; the endpoint receives events of this time twice; ${cure}`];
}
