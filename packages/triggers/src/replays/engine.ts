import { type ClaimedReplay, replayLease } from "@svc/db/replays/repo";
import { releaseDueTasks } from "@svc/db/standing/task";
import type { Dispatcher } from "@svc/delivery";
import type { ReplayObserver } from "./observer.ts";
import { type ReplayContext, type ReplayTurn, type SteppedReplay, stepReplay } from "./step.ts";

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
  const { clock } = options;
  const waiting: ReplayTurn[] = [];
  const running = new Set<Promise<void>>();
  /** Turns that pause between two steps: they hold nothing but their lease. */
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
      // A step that was under way may have begun a pause.
      await Promise.all(pausing);
    },
  };
}

type NextStep = NonNullable<SteppedReplay["next"]>;

/** Takes a step; answers the one that follows in its turn. */
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

/** Where the store is away, the lease runs out by itself. */
async function release({ db, clock, observer }: ReplayEngineOptions, { task }: ReplayTurn, waitMs: number) {
  await releaseDueTasks(db, [replayLease(task)], clock.now() + waitMs).catch(observer.failed);
}
