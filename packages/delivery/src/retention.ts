import type { Clock, ProjectId } from "@svc/core";
import { type Executor, listProjects, sweepProjectEvents, sweepQuarantinedPosts } from "@svc/db";

/** What retention is made of; times in milliseconds. */
export type RetentionOptions = {
  db: Executor;
  clock: Clock;
  /** How long settled events, their deliveries and attempts, and quarantined posts are kept. */
  eventRetentionMs: number;
  /** Pause between two rounds. Default 10 minutes. */
  roundMs?: number;
  /** Rows of one batch. Default 500. */
  batchMax?: number;
  onError(error: unknown): void;
};

/** Providers retry for up to 3 days; a key is remembered for 7 at least, and as long as its event. */
const dedupeMinMs = 7 * 86_400_000;
/** Breath between two batches, so that a large round does not crowd out the hot path. */
const batchPauseMs = 50;
const projectsPage = 200;

/** Removes what is past its retention, a small batch at a time, from now until stopped. Any number of nodes may do so at once. */
export function startRetention(options: RetentionOptions): { stop(): Promise<void> } {
  const stopped = new AbortController();
  const run = async () => {
    while (!stopped.signal.aborted) {
      try {
        await sweepRound(options, stopped.signal);
      } catch (error) {
        options.onError(error);
      }
      await options.clock.wait(options.roundMs ?? 600_000, stopped.signal);
    }
  };
  const running = run();
  return {
    async stop() {
      stopped.abort();
      await running;
    },
  };
}

/** One round over every project; returns when nothing that is past its time is left, or `signal` aborts. */
export async function sweepRound(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const { db, clock, eventRetentionMs } = options;
  const limit = options.batchMax ?? 500;
  const nowMs = clock.now();
  const retention = {
    beforeMs: nowMs - eventRetentionMs,
    rememberFromMs: nowMs - Math.max(eventRetentionMs, dedupeMinMs),
  };
  const untilShort = async (sweep: () => Promise<number>) => {
    while (!signal.aborted && (await sweep()) === limit) await clock.wait(batchPauseMs, signal);
  };
  let after: ProjectId | undefined;
  do {
    const page = await listProjects(db, { after, limit: projectsPage });
    for (const project of page) await untilShort(() => sweepProjectEvents(db, project.id, retention, limit));
    after = page.length === projectsPage ? page.at(-1)?.id : undefined;
  } while (after !== undefined && !signal.aborted);
  await untilShort(() => sweepQuarantinedPosts(db, retention.beforeMs, limit));
}
