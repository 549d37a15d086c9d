import type { NewEvent } from "@svc/db/events/record";
import type { PostQuotas } from "./post-quotas.ts";

/** Records in the quotas how many deliveries and bytes of a batch were stored for each project. Duplicates are left out. */
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
