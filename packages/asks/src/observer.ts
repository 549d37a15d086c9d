import type { Id, ProjectId } from "@svc/core";
import type { AskRecord } from "@svc/db/asks/repo";
import type { DecisionDocument } from "@svc/db/documents/programs";
import type { AskKind } from "@svc/db/schema/words";

/** A settled ask, for logs and metrics. It has no names and no question; those are in the job's log. */
export type AskObservation = {
  readonly askId: Id<"ask">;
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  /** Empty if the ask is about the whole plan. */
  readonly stepId: string;
  readonly kind: AskKind;
  /** `answered` by a person, or `defaulted` by the clock. */
  readonly state: "answered" | "defaulted";
  readonly continuation: string;
  /** `api`, the delivery that the answer came back on, or `timeout`. */
  readonly surface: string;
  /** The key that presented the answer. Empty for the clock. */
  readonly keyId: string;
  /** Number of times the question went to another contact. */
  readonly hops: number;
  /** Number of answers refused before. */
  readonly refusedAnswers: number;
  /** Milliseconds from the question to its settlement. */
  readonly waitMs: number;
};

/** Receiver of observations about asks. packages/server turns them into log lines and metrics. */
export type AskObserver = {
  /** Called after a settled ask is committed. Withdrawn asks are not reported here; the job reports them. */
  settled(ask: AskObservation): void;
};

/** Returns the observation of an ask that a decision has settled. */
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
