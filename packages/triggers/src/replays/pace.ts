import type { ReplayRecord } from "@svc/db/replays/repo";

/** A claim of a replay's task lasts for so long. */
export const turnMs = 1_000;
/** So many deliveries at once are no burst. */
const burst = 50;
const stepsMax = 10;

/** How the deliveries of a turn are spread over it. */
export type StepPace = {
  /** From one step to the next. */
  readonly pauseMs: number;
  /** Deliveries that a step queues at most: twice its part of a turn, so that what came late is made up for little by little. */
  readonly most: number;
};

/** How often in a turn a replay of a pace moves on: a whole second's worth at once takes the processor from live deliveries. */
export function stepPaceOf({ perSecond }: Pick<ReplayRecord, "perSecond">): StepPace {
  const steps = Math.min(stepsMax, Math.ceil(perSecond / burst));
  if (steps === 1) return { pauseMs: turnMs, most: Number.POSITIVE_INFINITY };
  return { pauseMs: turnMs / steps, most: Math.ceil((2 * perSecond) / steps) };
}
