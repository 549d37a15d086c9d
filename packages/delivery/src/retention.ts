import { batches, type EventId, type ProjectId, type Sweep } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import { sweepProjectEvents } from "@svc/db/events/sweep";
import { listProjects } from "@svc/db/projects/repo";
import { sweepQuarantinedPosts } from "@svc/db/quarantine/repo";

/** Settings of the sweep (regular deletion) of old events. Times are in milliseconds. */
export type EventSweepOptions = {
  db: Executor;
  /**
   * How long settled events, their deliveries and attempts, and quarantined webhook posts (which svc could not turn into events) are kept.
   */
  eventRetentionMs: number;
  /** Maximum number of rows deleted in one batch. Default 500. */
  batchMax?: number;
};

/**
 * Minimum time for which a dedupe key is kept, in milliseconds: 7 days, because apps repeat a webhook post for up to 3 days. A key is also
 * kept at least as long as its event.
 */
const dedupeMinMs = 7 * 86_400_000;
const projectsPage = 200;

/**
 * Returns the background job that runs every 10 minutes and deletes old data. It deletes events without pending work whose retention time
 * is over, one project after another, and then quarantined webhook posts (which svc could not turn into events).
 */
export function eventSweep({ db, eventRetentionMs, batchMax = 500 }: EventSweepOptions): Sweep {
  return {
    what: "events",
    everyMs: 600_000,
    async *round(nowMs) {
      const retention = {
        beforeMs: nowMs - eventRetentionMs,
        rememberFromMs: nowMs - Math.max(eventRetentionMs, dedupeMinMs),
      };
      for await (const id of projectIds(db)) {
        let after: EventId | undefined;
        yield* batches(batchMax, async () => {
          const { count, last } = await sweepProjectEvents(db, id, retention, { limit: batchMax, after });
          after = last;
          return count;
        });
      }
      yield* batches(batchMax, () => sweepQuarantinedPosts(db, retention.beforeMs, batchMax));
    },
  };
}

async function* projectIds(db: Executor): AsyncGenerator<ProjectId> {
  let after: ProjectId | undefined;
  do {
    const page = await listProjects(db, { after, limit: projectsPage });
    for (const { id } of page) yield id;
    after = page.length === projectsPage ? page.at(-1)?.id : undefined;
  } while (after !== undefined);
}
