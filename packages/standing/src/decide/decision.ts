import type { Id, StandingRunId } from "@svc/core";
import type { StandingRunReason } from "@svc/db/schema/words";
import type { Budget, Overlap, StartRate } from "../definition/definition.ts";

/** What is under way and what waits of one key of a program. */
export type LaneFacts = {
  readonly started: number;
  readonly queued: number;
  /** Jobs under way, the oldest first. */
  readonly jobIds: readonly Id<"job">[];
  /** The newest run that waits; null where none does. */
  readonly newestQueued: StandingRunId | null;
};

/** What runs used on the day. */
export type Used = { readonly runs: number; readonly toolCalls: number; readonly writes: number };

/** What a start is decided by. */
export type StartFacts = {
  readonly overlap: Overlap;
  readonly lane: LaneFacts;
  /** With where it stands: see `rateAfter`. */
  readonly rate: { readonly policy: StartRate; readonly at: number | undefined } | undefined;
  readonly budget: { readonly policy: Budget; readonly used: Used; readonly nextDayMs: number } | undefined;
  /** Whether the project may have one more run under way. */
  readonly hasRoom: boolean;
  readonly nowMs: number;
  /** It waited before, and its place is kept. */
  readonly isWaiting: boolean;
};

/** What becomes of a run. */
export type RunDecision =
  | { readonly kind: "start" }
  | {
      readonly kind: "queue";
      readonly reason: StandingRunReason;
      /** Null where only the end of another run lets it start. */
      readonly notBefore: number | null;
      /** The run that it takes the place of in the queue. */
      readonly supersedes?: StandingRunId | undefined;
      /** Jobs that are ended for it. */
      readonly cancels?: readonly Id<"job">[];
    }
  | { readonly kind: "skip"; readonly reason: StandingRunReason; readonly blockingJobId: Id<"job"> | undefined };

/** When a project that has as many runs under way as may be is asked again, where no end of one came first. */
const projectRetryMs = 60_000;

/** Decides about a run that is due, in this order: rate, budget, overlap, and the project's bound. */
export function decideStart(facts: StartFacts): RunDecision {
  return overRate(facts) ?? overBudget(facts) ?? overlapping(facts) ?? overRoom(facts) ?? { kind: "start" };
}

function overRate({ rate, nowMs, ...facts }: StartFacts): RunDecision | undefined {
  const notBefore = rate === undefined ? undefined : notBeforeOf(rate.policy, rate.at, nowMs);
  if (rate === undefined || notBefore === undefined) return undefined;
  return over("rate", rate.policy.whenOver, notBefore, facts);
}

/** From when on a rate allows one more start; undefined for at once. */
function notBeforeOf({ max, perMs }: StartRate, at: number | undefined, nowMs: number): number | undefined {
  const allowedAt = (at ?? nowMs) - (perMs - perMs / max);
  return allowedAt <= nowMs ? undefined : Math.ceil(allowedAt);
}

/** Where a rate stands after a start (GCRA): when the next one would be due if they were spread evenly. */
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
  // Those that wait are before it, unless all are allowed: then they wait for a rate or a budget.
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
