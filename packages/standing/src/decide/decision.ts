import type { Id, StandingRunId } from "@svc/core";
import type { StandingRunReason } from "@svc/db/schema/words";
import type { Budget, Overlap, StartRate } from "../definition/definition.ts";

/** The open runs of one concurrency key of a program. */
export type LaneFacts = {
  readonly started: number;
  readonly queued: number;
  /** Jobs of started runs, oldest first. */
  readonly jobIds: readonly Id<"job">[];
  /** The waiting run that was queued last. Null if no run waits. */
  readonly newestQueued: StandingRunId | null;
};

/** Runs, tool calls and writes of a program on the current day. */
export type Used = { readonly runs: number; readonly toolCalls: number; readonly writes: number };

/** The facts from which svc decides if a run starts now. */
export type StartFacts = {
  readonly overlap: Overlap;
  readonly lane: LaneFacts;
  /**
   * The rate of the schedule: at most so many starts in a time. `policy`: the rule. `at`: its stored state, from which the next allowed
   * start follows. Undefined if the schedule has no rate.
   */
  readonly rate: { readonly policy: StartRate; readonly at: number | undefined } | undefined;
  readonly budget: { readonly policy: Budget; readonly used: Used; readonly nextDayMs: number } | undefined;
  /** True if the project may have one more unfinished run. */
  readonly hasRoom: boolean;
  readonly nowMs: number;
  /** True if the run was already waiting. Such a run keeps its position in the queue. */
  readonly isWaiting: boolean;
};

/** Decision about a run of a standing program (which starts jobs on a schedule or event): start it, queue it, or skip it. */
export type RunDecision =
  | { readonly kind: "start" }
  | {
      readonly kind: "queue";
      readonly reason: StandingRunReason;
      /** Earliest start in epoch milliseconds. Null if the run must wait until another run ends. */
      readonly notBefore: number | null;
      /** The waiting run that this run replaces in the queue. */
      readonly supersedes?: StandingRunId | undefined;
      /** Jobs that are cancelled so that this run can start. */
      readonly cancels?: readonly Id<"job">[];
    }
  | { readonly kind: "skip"; readonly reason: StandingRunReason; readonly blockingJobId: Id<"job"> | undefined };

/**
 * If a project has its maximum number of runs, svc checks it again after this pause, in milliseconds. If a run ends earlier, svc checks at
 * that moment.
 */
const projectRetryMs = 60_000;

/**
 * Returns if a run starts, waits or is skipped. Four limits are checked in this order: rate, budget, overlap, and the project's maximum of
 * runs.
 */
export function decideStart(facts: StartFacts): RunDecision {
  return overRate(facts) ?? overBudget(facts) ?? overlapping(facts) ?? overRoom(facts) ?? { kind: "start" };
}

function overRate({ rate, nowMs, ...facts }: StartFacts): RunDecision | undefined {
  const notBefore = rate === undefined ? undefined : notBeforeOf(rate.policy, rate.at, nowMs);
  if (rate === undefined || notBefore === undefined) return undefined;
  return over("rate", rate.policy.whenOver, notBefore, facts);
}

/**
 * Returns the time in epoch milliseconds at which a rate (limit of starts per time) allows the next start. Returns undefined if the rate
 * allows a start now.
 */
function notBeforeOf({ max, perMs }: StartRate, at: number | undefined, nowMs: number): number | undefined {
  const allowedAt = (at ?? nowMs) - (perMs - perMs / max);
  return allowedAt <= nowMs ? undefined : Math.ceil(allowedAt);
}

/**
 * Returns the state of a rate after a start (GCRA, a rate limit algorithm). The state is the time at which the next start would be due if
 * starts were spread evenly.
 */
export function rateAfter({ max, perMs }: StartRate, at: number | undefined, nowMs: number): number {
  return Math.ceil(Math.max(at ?? nowMs, nowMs) + perMs / max);
}

function overBudget({ budget, ...facts }: StartFacts): RunDecision | undefined {
  if (budget === undefined) return undefined;
  const { policy, used, nextDayMs } = budget;
  const isOver = (["runs", "toolCalls", "writes"] as const).some((name) => used[name] >= (policy[name] ?? Infinity));
  return isOver ? over("budget", policy.whenOver, nextDayMs, facts) : undefined;
}

function over(
  reason: StandingRunReason,
  whenOver: StartRate["whenOver"],
  notBefore: number,
  facts: Pick<StartFacts, "overlap" | "lane" | "isWaiting">,
): RunDecision {
  if (facts.isWaiting) return { kind: "queue", reason, notBefore };
  if (whenOver === "skip") return { kind: "skip", reason, blockingJobId: undefined };
  return queueUnlessFull(reason, notBefore, facts);
}

function queueUnlessFull(
  reason: StandingRunReason,
  notBefore: number | null,
  { overlap, lane }: Pick<StartFacts, "overlap" | "lane">,
): RunDecision {
  if (lane.queued >= overlap.queueMax) return { kind: "skip", reason: "queue_full", blockingJobId: lane.jobIds[0] };
  return { kind: "queue", reason, notBefore };
}

function overlapping(facts: StartFacts): RunDecision | undefined {
  const { overlap, lane, isWaiting } = facts;
  const isFull = lane.started >= overlap.max;
  if (isWaiting) return isFull ? { kind: "queue", reason: "overlap", notBefore: null } : undefined;
  // A new run starts only after the runs that already wait with its concurrency key. With the policy `allow`, it may start before them,
  // because they can only be waiting for a rate or a budget.
  if (!isFull && (lane.queued === 0 || overlap.policy === "allow")) return undefined;
  const supersedes = lane.newestQueued ?? undefined;
  switch (overlap.policy) {
    case "skip":
    case "allow":
      return { kind: "skip", reason: "overlap", blockingJobId: lane.jobIds[0] };
    case "queueOne":
      return { kind: "queue", reason: "overlap", notBefore: null, supersedes };
    case "cancelRunning":
      return { kind: "queue", reason: "overlap", notBefore: null, supersedes, cancels: lane.jobIds };
    case "queueAll":
      return queueUnlessFull("overlap", null, facts);
  }
}

function overRoom({ hasRoom, nowMs, ...facts }: StartFacts): RunDecision | undefined {
  if (hasRoom) return undefined;
  const notBefore = nowMs + projectRetryMs;
  return facts.isWaiting
    ? { kind: "queue", reason: "project_runs", notBefore }
    : queueUnlessFull("project_runs", notBefore, facts);
}
