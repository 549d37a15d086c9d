import type { Id, KeyId, LinkId, ProjectId, Role, Sealer } from "@svc/core";
import type { AskRecord } from "@svc/db/asks/repo";
import type { Executor } from "@svc/db/connect";
import type { RowCounts } from "@svc/db/documents/calls";
import type { DecisionDocument } from "@svc/db/documents/programs";
import type { NewJobTask } from "@svc/db/job-tasks/task";
import type { NewJobEvent } from "@svc/db/jobs/record";
import type { AskKind } from "@svc/db/schema/words";
import type { Continuation, Hop } from "@svc/program";

/** A question that the engine asks. */
export type AskInput = {
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  /** The key whose plan asks the question. */
  readonly keyId: KeyId;
  /** Id of the step that asks. Empty if the question is about the whole plan. */
  readonly stepId: string;
  readonly pointId: string;
  readonly kind: AskKind;
  readonly question: string;
  readonly continuations: readonly Continuation[];
  /** Schema of the overrides, as JSON text. Empty if the judgment point accepts no overrides. */
  readonly answerSchemaJson: string;
  /**
   * The escalation that the judgment point declares. Empty for approvals and svc's own questions. These go to `approvers`, or to all
   * approvers of the project if `approvers` is empty.
   */
  readonly escalation: readonly Hop[];
  /** The value of `approval.escalation` in the program. */
  readonly approvers: readonly string[];
  readonly defaultContinuation: Continuation | undefined;
  /** Counts of rows. Present if the question is about rows. */
  readonly counts: RowCounts | undefined;
  readonly standingProgramId: string;
  readonly principalChain: readonly string[];
  readonly nowMs: number;
};

/** A question that is ready to be asked. Its parts are committed together with the park of the job. */
export type PreparedAsk = {
  readonly id: Id<"ask">;
  /** Id of the approval. Empty if the question is not an approval. */
  readonly approvalId: string;
  /** The log entries of the question (`ask-raised`). */
  readonly events: readonly NewJobEvent[];
  /** The question's tasks: the end of its hop, messages to contacts, and publication. */
  readonly tasks: readonly NewJobTask[];
  /** Writes the ask, in the transaction that parks the job. */
  write(tx: Executor): Promise<void>;
};

/** An ask in the form in which the engine reads it. */
export type AskView = {
  readonly id: Id<"ask">;
  readonly stepId: string;
  readonly pointId: string;
  readonly kind: AskKind;
  readonly state: AskRecord["state"];
  readonly approvalId: string;
  readonly refusedAnswers: number;
  readonly decision: DecisionDocument | undefined;
  /** The causes of the settlement, in order. Empty while the ask is pending. */
  readonly principalChain: readonly string[];
};

/**
 * An ask with its overrides in full, as the person answered them. `overridesJson` is empty if there are none. The ask's decision masks
 * sensitive overrides.
 */
export type AnsweredAsk = AskView & { readonly overridesJson: string };

/** The functions of asks that the engine needs. asks/context.ts implements them. */
export type AskPort = {
  /** Prepares a question. Reads contacts and writes nothing. */
  prepare(db: Executor, input: AskInput): Promise<PreparedAsk>;
  find(db: Executor, jobId: Id<"job">, askId: Id<"ask">, sealer: Sealer): Promise<AnsweredAsk | undefined>;
  /** Returns all asks of a job in the order in which they were asked. They are used for the job's receipt. */
  list(db: Executor, jobId: Id<"job">): Promise<AskView[]>;
  /**
   * Withdraws the pending ask, if any, because the job ends for another reason. Removes the ask's tasks and returns the `ask-withdrawn` log
   * entries. The caller runs it in the transaction that ends the job and has locked the job's row.
   */
  withdraw(
    tx: Executor,
    job: { jobId: Id<"job">; nowMs: number; principalChain: readonly string[] },
  ): Promise<NewJobEvent[]>;
};

/** An answer as the calling key sent it, with unchanged texts. */
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
  /** The link through which the answer came. Undefined if it came without a link. */
  readonly linkId?: LinkId | undefined;
};
