import type { ProjectId } from "@svc/core";
import type { ClaimedDueTask } from "@svc/db/standing/claim";
import { deleteDueTasks, releaseDueTasks, renewDueTasks } from "@svc/db/standing/task";
import type { StandingContext } from "../context.ts";
import { runPoll } from "../poll/run-poll.ts";
import type { FinishedPoll } from "../poll/store.ts";

/** Runs the due polls that this node has taken from the database. A poll is the call of a tool that finds new rows for a schedule. */
export type Poller = {
  /** Accepts claimed tasks. If too many tasks already wait, it releases the surplus for other nodes. */
  take(tasks: readonly ClaimedDueTask[]): Promise<void>;
  /** Starts no further polls. Resolves when the running polls have ended. */
  stop(): Promise<void>;
};

/**
 * Maximum number of polls that run at the same time on a node. `runningOfProjectMax`: maximum for one project on a node, so that one
 * project's slow app does not delay other projects.
 */
const runningMax = 32;
const runningOfProjectMax = 8;
/**
 * Maximum number of polls that wait on this node until one of its running polls ends. The node keeps the leases (its time-limited rights)
 * of these polls while they wait.
 */
const waitingMax = 200;
/**
 * If this node has no free slot for a claimed poll task, it releases the task. Time in milliseconds until the released task is due again,
 * for this or another node.
 */
const givenBackMs = 5_000;
const retryMinMs = 1_000;
const retryMaxMs = 60_000;

type Held = { readonly task: ClaimedDueTask; readonly abort: AbortController };

/**
 * Creates the poller of a node. The poller calls `record` after a poll; `record` decides about the result of the poll and stores it, in one
 * transaction.
 */
export function createPoller(context: StandingContext, record: (polled: FinishedPoll) => Promise<void>): Poller {
  const { db, clock, limits, observer } = context;
  const stopped = new AbortController();
  const waiting: Held[] = [];
  const running = new Map<Held, Promise<void>>();
  const ofProject = new Map<ProjectId, number>();
  let renewing: Promise<void> | undefined;

  async function run({ task, abort }: Held): Promise<void> {
    try {
      const polled = await runPoll(context, task, abort.signal);
      await context.onFaultPoint?.("rows-read");
      if (abort.signal.aborted) return;
      if (polled === undefined) await deleteDueTasks(db, [task]);
      else await record(polled);
    } catch (error) {
      observer.failed("poll", error);
      const waitMs = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(task.attempt - 1, 10));
      await giveBack([task], waitMs);
    }
  }

  async function giveBack(tasks: readonly ClaimedDueTask[], waitMs: number): Promise<void> {
    // If the release fails too (the database is unavailable), the leases of the tasks expire by themselves.
    await releaseDueTasks(db, tasks, clock.now() + waitMs).catch((error: unknown) => observer.failed("poll", error));
  }

  function pump(): void {
    while (!stopped.signal.aborted && running.size < runningMax) {
      const index = waiting.findIndex(({ task }) => (ofProject.get(task.projectId) ?? 0) < runningOfProjectMax);
      const [next] = index < 0 ? [] : waiting.splice(index, 1);
      if (next === undefined) return;
      const { projectId } = next.task;
      ofProject.set(projectId, (ofProject.get(projectId) ?? 0) + 1);
      const ending = run(next).finally(() => {
        running.delete(next);
        const left = (ofProject.get(projectId) ?? 1) - 1;
        if (left > 0) ofProject.set(projectId, left);
        else ofProject.delete(projectId);
        pump();
      });
      running.set(next, ending);
    }
  }

  /**
   * Renews the leases (this node's time-limited rights) of running and waiting polls. If a lease was lost, another node has taken the task,
   * so this node aborts the poll.
   */
  async function renew(): Promise<void> {
    while (running.size + waiting.length > 0 && !stopped.signal.aborted) {
      await clock.wait(limits.leaseMs / 3, stopped.signal);
      const all = [...running.keys(), ...waiting];
      try {
        const kept = await renewDueTasks(
          db,
          all.map(({ task }) => task),
          clock.now() + limits.leaseMs,
        );
        const isKept = new Set(kept.map(({ ownerId, leaseToken }) => `${ownerId} ${leaseToken}`));
        for (const held of all) {
          if (isKept.has(`${held.task.ownerId} ${held.task.leaseToken}`)) continue;
          held.abort.abort();
          const index = waiting.indexOf(held);
          if (index >= 0) waiting.splice(index, 1);
        }
      } catch (error) {
        observer.failed("poll", error);
      }
    }
    renewing = undefined;
  }

  return {
    async take(tasks) {
      const room = Math.max(0, waitingMax - waiting.length);
      for (const task of tasks.slice(0, room)) waiting.push({ task, abort: new AbortController() });
      pump();
      if (running.size + waiting.length > 0) renewing ??= renew();
      if (tasks.length > room) await giveBack(tasks.slice(room), givenBackMs);
    },
    async stop() {
      stopped.abort();
      for (const { abort } of running.keys()) abort.abort();
      await giveBack(
        waiting.splice(0).map(({ task }) => task),
        0,
      );
      await Promise.all(running.values());
      await renewing;
    },
  };
}
