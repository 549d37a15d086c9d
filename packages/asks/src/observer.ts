import type { Id, ProjectId } from "@svc/core";
import type { AskRecord } from "@svc/db/asks/repo";
import type { DecisionDocument } from "@svc/db/documents/programs";
import type { AskKind } from "@svc/db/schema/words";

/**
 * A settled ask (a question to a person that has its decision), as reported to logs and metrics. It contains no names and no question text,
 * because these are in the job's log.
 */
export type AskObservation = {
  readonly askId: Id<"ask">;
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  /** Id of the job's step that asked the question. Empty if the question is an approval of the whole program. */
  readonly stepId: string;
  readonly kind: AskKind;
  /**
   * `answered` if a person answered the question. `defaulted` if the time for an answer expired, and the question's default answer was
   * applied.
   */
  readonly state: "answered" | "defaulted";
  readonly continuation: string;
  /**
   * How the answer to the question arrived. `api`: by a call of the API. `timeout`: the time for the answer ended. Any other text is the id
   * of the webhook delivery that was answered.
   */
  readonly surface: string;
  /** Id of the key that sent the answer to the question. Empty if no answer came before the question's deadline. */
  readonly keyId: string;
  /** Number of times the question went to another contact. */
  readonly hops: number;
  /** Number of answers that were refused before the ask (the question to a person) got its decision. */
  readonly refusedAnswers: number;
  /** Milliseconds from the time when the question was asked until it got its decision. */
  readonly waitMs: number;
};

/** Receives each ask (a question of a job to a person) that was settled. packages/server turns these reports into log lines and metrics. */
export type AskObserver = {
  /**
   * Called after a settled ask (a question that has its decision) is committed. Asks that were withdrawn because their job ended are not
   * reported here, because the end of the job is reported.
   */
  settled(ask: AskObservation): void;
};

/**
 * Returns the values of a settled ask (a question of a job that was answered or whose time expired) that are reported to logs and metrics.
 */
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
