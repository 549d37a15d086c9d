import type { Id, ProjectId } from "@svc/core";
import type { AskRecord } from "@svc/db/asks/repo";
import type { DecisionDocument } from "@svc/db/documents/programs";
import type { AskKind } from "@svc/db/schema/words";

/** An ask as it was settled, for logs and metrics. Who was asked what is not among it; the job's log has that. */
export type AskObservation = {
  readonly askId: Id<"ask">;
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  /** Empty for the plan as a whole. */
  readonly stepId: string;
  readonly kind: AskKind;
  /** By a person, or by the clock. */
  readonly state: "answered" | "defaulted";
  readonly continuation: string;
  /** `api`, the delivery that the answer came back on, or `timeout`. */
  readonly surface: string;
  /** The key that presented the answer; empty for the clock. */
  readonly keyId: string;
  /** How often the question was passed on. */
  readonly hops: number;
  /** Answers that were refused before. */
  readonly refusedAnswers: number;
  /** From the question to its settlement. */
  readonly waitMs: number;
};

/** Who watches asks; packages/server turns it into log lines and metrics. */
export type AskObserver = {
  /** An ask was settled, and that is committed. Withdrawals are the job's, and are not told. */
  settled(ask: AskObservation): void;
};

/** What is told of an ask that a decision has settled. */
export function observationOf(ask: AskRecord, decision: DecisionDocument): AskObservation {
  return {
    askId: ask.id,
    jobId: ask.jobId,
    projectId: ask.projectId,
    stepId: ask.stepId,
    kind: ask.kind,
    state: decision.principalId === "" ? "defaulted" : "answered",
    continuation: decision.continuation,
    surface: decision.surface,
    keyId: decision.keyId,
    hops: ask.hopIndex,
    refusedAnswers: ask.refusedAnswers,
    waitMs: Math.max(0, decision.at - ask.askedAt),
  };
}
