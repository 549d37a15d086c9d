import { type ClaimedReplay, releaseDueTasks, replayLease } from "@svc/db";
import type { Dispatcher } from "@svc/delivery";
import type { ReplayObserver } from "./observer.ts";
import { type ReplayContext, stepReplay } from "./step.ts";

/** What moves paced replays on, on one node. Their tasks are claimed with those of standing programs, in one look. */
export type ReplayEngine = {
  /** Takes claimed tasks over and moves their replays on. */
  take(tasks: readonly ClaimedReplay[]): void;
  /** Ends what is under way; what was not begun is found again when its lease is over. */
  stop(): Promise<void>;
};

/** What the engine works with. */
export type ReplayEngineOptions = ReplayContext & {
  readonly dispatcher: Pick<Dispatcher, "wake">;
  readonly observer: ReplayObserver;
};

/** Replays that a node moves on at once: each holds a connection of the store meanwhile. */
const concurrency = 4;
const retryMinMs = 1_000;
const retryMaxMs = 60_000;

/** Makes what moves paced replays on. */
export function createReplayEngine(options: ReplayEngineOptions): ReplayEngine {
  const waiting: ClaimedReplay[] = [];
  const running = new Set<Promise<void>>();
  let isStopped = false;

  function pump(): void {
    while (running.size < concurrency) {
      const task = isStopped ? undefined : waiting.shift();
      if (task === undefined) return;
      const one = step(options, task).finally(() => {
        running.delete(one);
        pump();
      });
      running.add(one);
    }
  }

  return {
    take(tasks) {
      waiting.push(...tasks);
      pump();
    },
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

async function step(options: ReplayEngineOptions, task: ClaimedReplay): Promise<void> {
  const { db, clock, dispatcher, observer } = options;
  try {
    const stepped = await stepReplay(options, task);
    if (stepped === undefined) return;
    if (stepped.count > 0) dispatcher.wake();
    observer.stepped(stepped);
  } catch (error) {
    observer.failed(error);
    const waitMs = Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(task.attempt - 1, 10));
    // Where the store is away, the lease runs out by itself.
    await releaseDueTasks(db, [replayLease(task)], clock.now() + waitMs).catch(observer.failed);
  }
}
