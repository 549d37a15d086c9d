import type { Id, KeyId, LinkId, ProjectId, Role, Sealer } from "@svc/core";
import type { AskRecord } from "@svc/db/asks/repo";
import type { Executor } from "@svc/db/connect";
import type { RowCounts } from "@svc/db/documents/calls";
import type { DecisionDocument } from "@svc/db/documents/programs";
import type { NewJobTask } from "@svc/db/job-tasks/task";
import type { NewJobEvent } from "@svc/db/jobs/record";
import type { AskKind } from "@svc/db/schema/words";
import type { Continuation, Hop } from "@svc/program";

/** A question that the engine raises. */
export type AskInput = {
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  /** The key whose plan asks. */
  readonly keyId: KeyId;
  /** Empty if the question is about the whole plan. */
  readonly stepId: string;
  readonly pointId: string;
  readonly kind: AskKind;
  readonly question: string;
  readonly continuations: readonly Continuation[];
  /** JSON text. Empty if the point accepts no overrides. */
  readonly answerSchemaJson: string;
  /** The declared escalation. Empty for approvals and svc's own questions, which go to `approvers`, or else to all approvers. */
  readonly escalation: readonly Hop[];
  /** `approval.escalation` of the program. */
  readonly approvers: readonly string[];
  readonly defaultContinuation: Continuation | undefined;
  /** Set if the question is about rows. */
  readonly counts: RowCounts | undefined;
  readonly standingProgramId: string;
  readonly principalChain: readonly string[];
  readonly nowMs: number;
};

/** A question that is ready to be raised. Its parts are committed together with the job's parking. */
export type PreparedAsk = {
  readonly id: Id<"ask">;
  /** Set for approvals, else empty. */
  readonly approvalId: string;
  /** `ask-raised`. */
  readonly events: readonly NewJobEvent[];
  /** Its hop, reach and publish tasks. */
  readonly tasks: readonly NewJobTask[];
  /** Writes the ask, in the transaction that parks the job. */
  write(tx: Executor): Promise<void>;
};

/** An ask as the engine reads it back. */
export type AskView = {
  readonly id: Id<"ask">;
  readonly stepId: string;
  readonly pointId: string;
  readonly kind: AskKind;
  readonly state: AskRecord["state"];
  readonly approvalId: string;
  readonly refusedAnswers: number;
  readonly decision: DecisionDocument | undefined;
  /** The causes of the settlement, in order. Empty while pending. */
  readonly principalChain: readonly string[];
};

/** An ask with its overrides as they were answered. Its decision shows only those that are not sensitive. Empty if there are none. */
export type AnsweredAsk = AskView & { readonly overridesJson: string };

/** The functions of asks that the engine needs. asks/context.ts implements them. */
export type AskPort = {
  /** Prepares a question. Reads contacts and writes nothing. */
  prepare(db: Executor, input: AskInput): Promise<PreparedAsk>;
  find(db: Executor, jobId: Id<"job">, askId: Id<"ask">, sealer: Sealer): Promise<AnsweredAsk | undefined>;
  /** Returns every ask of a job in the order they were raised, for its receipt. */
  list(db: Executor, jobId: Id<"job">): Promise<AskView[]>;
  /**
   * Withdraws the pending ask, if any, because the job ends for another reason, and removes its tasks. Returns the `ask-withdrawn` events
   * to log. Runs in the transaction that ends the job, with the job's row locked.
   */
  withdraw(
    tx: Executor,
    job: { jobId: Id<"job">; nowMs: number; principalChain: readonly string[] },
  ): Promise<NewJobEvent[]>;
};

/** An answer as a key presents it, with its texts unchanged. */
export type AnswerRequest = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  readonly role: Role;
  readonly jobId: Id<"job">;
  readonly requestId: string;
  readonly principalId: string;
  readonly continuation: string;
  readonly overridesJson: string;
  readonly note: string;
  readonly deliveryId: string;
  /** The link that the answer came through, or undefined if none. */
  readonly linkId?: LinkId | undefined;
};
