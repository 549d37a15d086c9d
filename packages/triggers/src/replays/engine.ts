import { type ClaimedReplay, replayLease } from "@svc/db/replays/repo";
import { releaseDueTasks } from "@svc/db/standing/task";
import type { Dispatcher } from "@svc/delivery";
import type { ReplayObserver } from "./observer.ts";
import { type ReplayContext, type ReplayTurn, type SteppedReplay, stepReplay } from "./step.ts";

/**
 * Queues the deliveries of throttled replays (replays with a limited rate) on one node. Their tasks are in the same table as those of
 * standing programs (schedules), so one query takes due tasks of both.
 */
export type ReplayEngine = {
  /** Takes over the replay tasks that this node has claimed, and advances their replays. */
  take(tasks: readonly ClaimedReplay[]): void;
  /**
   * Stops and waits for the work in progress. Replay tasks that have not begun become due again when this node's time-limited right to them
   * (lease) expires.
   */
  stop(): Promise<void>;
};

/** Dependencies of the engine that carries out throttled replays. */
export type ReplayEngineOptions = ReplayContext & {
  readonly dispatcher: Pick<Dispatcher, "wake">;
  readonly observer: ReplayObserver;
};

/** Maximum number of replays that a node advances at the same time. Each of them uses a database connection during that time. */
const concurrency = 4;
const retryMinMs = 1_000;
const retryMaxMs = 60_000;

/** Creates the engine that carries out throttled replays: it queues old events for delivery again, a limited number per second. */
export function createReplayEngine(options: ReplayEngineOptions): ReplayEngine {
  const { clock } = options;
  const waiting: ReplayTurn[] = [];
  const running = new Set<Promise<void>>();
  /**
   * Pauses between two steps of a replay. During a pause, the node keeps only the lease (time-limited claim) of the replay's task, and no
   * database connection.
   */
  const pausing = new Set<Promise<void>>();
  const stopped = new AbortController();

  function pump(): void {
    while (running.size < concurrency) {
      const turn = stopped.signal.aborted ? undefined : waiting.shift();
      if (turn === undefined) return;
      const one = step(options, turn)
        .then((next) => {
          if (next !== undefined) pause(next);
        })
        .finally(() => {
          running.delete(one);
          pump();
        });
      running.add(one);
    }
  }

  function pause({ turn, atMs }: NextStep): void {
    const one = goOn(turn, atMs).finally(() => pausing.delete(one));
    pausing.add(one);
  }

  async function goOn(turn: ReplayTurn, atMs: number): Promise<void> {
    await clock.wait(atMs - clock.now(), stopped.signal);
    if (stopped.signal.aborted) return release(options, turn, 0);
    waiting.push(turn);
    pump();
  }

  return {
    take(tasks) {
      waiting.push(...tasks.map((task) => ({ task })));
      pump();
    },
    async stop() {
      stopped.abort();
      await Promise.all(running);
      // A step that has just ended may have begun a pause before its replay's next step. So the pauses are awaited after all running steps
      // have ended.
      await Promise.all(pausing);
    },
  };
}

type NextStep = NonNullable<SteppedReplay["next"]>;

/**
 * Queues the next deliveries of a replay. Returns the next step and its time. Returns undefined if this turn has no further step, or after
 * an error.
 */
async function step(options: ReplayEngineOptions, turn: ReplayTurn): Promise<NextStep | undefined> {
  const { dispatcher, observer } = options;
  try {
    const stepped = await stepReplay(options, turn);
    if (stepped === undefined) return undefined;
    if (stepped.step.count > 0) dispatcher.wake();
    observer.stepped(stepped.step);
    return stepped.next;
  } catch (error) {
    observer.failed(error);
    await release(options, turn, Math.min(retryMaxMs, retryMinMs * 2 ** Math.min(turn.task.attempt - 1, 10)));
    return undefined;
  }
}

/**
 * Gives a replay's task back, so that it is due again after `waitMs`. If the database is unavailable, this is not recorded, and the node's
 * time-limited right to the task (lease) expires by itself.
 */
async function release({ db, clock, observer }: ReplayEngineOptions, { task }: ReplayTurn, waitMs: number) {
  await releaseDueTasks(db, [replayLease(task)], clock.now() + waitMs).catch(observer.failed);
}
