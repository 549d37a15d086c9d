import type { NewEvent } from "@svc/db/events/record";
import type { PostQuotas } from "./post-quotas.ts";

/** Records, for each project, what was stored of a batch. */
export function noteStored(
  quotas: PostQuotas | undefined,
  events: readonly NewEvent[],
  duplicates: ReadonlySet<string>,
): void {
  if (quotas === undefined) return;
  for (const { id, projectId, deliveries, payload } of events) {
    if (!duplicates.has(id)) quotas.stored(projectId, { deliveries: deliveries.length, bytes: payload.length });
  }
}
