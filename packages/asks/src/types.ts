import type { Id, KeyId, LinkId, ProjectId, Role, Sealer } from "@svc/core";
import type { AskRecord } from "@svc/db/asks/repo";
import type { Executor } from "@svc/db/connect";
import type { RowCounts } from "@svc/db/documents/calls";
import type { DecisionDocument } from "@svc/db/documents/programs";
import type { NewJobTask } from "@svc/db/job-tasks/task";
import type { NewJobEvent } from "@svc/db/jobs/record";
import type { AskKind } from "@svc/db/schema/words";
import type { Continuation, Hop } from "@svc/program";

/** A question that a job asks a person, as the engine (the code that runs jobs) passes it to the code for questions. */
export type AskInput = {
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  /** Id of the key that submitted the job whose program asks the question. */
  readonly keyId: KeyId;
  /** Id of the step that asks the question. Empty if the question is about the whole program. */
  readonly stepId: string;
  readonly pointId: string;
  readonly kind: AskKind;
  readonly question: string;
  readonly continuations: readonly Continuation[];
  /** JSON Schema of the new values (overrides) that an answer may contain, as a text. Empty if the question allows no new values. */
  readonly answerSchemaJson: string;
  /**
   * The escalation (contacts in order, with times) that the judgment point declares. Empty for approvals and for svc's own questions, which
   * go to `approvers` instead.
   */
  readonly escalation: readonly Hop[];
  /** Contacts that `approval.escalation` of the program names. If empty, the question goes to all approvers of the project. */
  readonly approvers: readonly string[];
  readonly defaultContinuation: Continuation | undefined;
  /**
   * How many rows of the step succeeded, failed and so on. Undefined if the question is not about rows (elements of a list that the job
   * processes).
   */
  readonly counts: RowCounts | undefined;
  readonly standingProgramId: string;
  readonly principalChain: readonly string[];
  readonly nowMs: number;
};

/**
 * A question that is ready to be asked. Its log entries and its tasks are committed together with the question, in the transaction that
 * suspends the job.
 */
export type PreparedAsk = {
  readonly id: Id<"ask">;
  /** Id of the approval that this question asks for. Empty if the question is not an approval. */
  readonly approvalId: string;
  /** Entries for the job's log which say that the question was asked. Their type is `ask-raised`. */
  readonly events: readonly NewJobEvent[];
  /**
   * Tasks for the question. One task ends the first stage of its escalation. For each contact who gets a message, a task of its own sends
   * the message. One task publishes the question to endpoints.
   */
  readonly tasks: readonly NewJobTask[];
  /** Stores the ask (a job's question to a person). Runs in the transaction that parks the job (stores it as waiting). */
  write(tx: Executor): Promise<void>;
};

/** An ask (a question to a person), with only the fields that the engine (the code that runs jobs) reads. */
export type AskView = {
  readonly id: Id<"ask">;
  readonly stepId: string;
  readonly pointId: string;
  readonly kind: AskKind;
  readonly state: AskRecord["state"];
  readonly approvalId: string;
  readonly refusedAnswers: number;
  readonly decision: DecisionDocument | undefined;
  /** Ids of the keys and contacts that caused the decision, in order. Empty while the question has no decision. */
  readonly principalChain: readonly string[];
};

/**
 * A question with its answer. `overridesJson`: the changes of arguments exactly as the person gave them; empty if there are none. In
 * `decision`, sensitive values are shown as `***`.
 */
export type AnsweredAsk = AskView & { readonly overridesJson: string };

/** The functions for questions to people that the job engine needs. asks/context.ts implements them. */
export type AskPort = {
  /** Prepares a question, so that it can be stored later in a transaction. Reads contacts from the database and writes nothing. */
  prepare(db: Executor, input: AskInput): Promise<PreparedAsk>;
  find(db: Executor, jobId: Id<"job">, askId: Id<"ask">, sealer: Sealer): Promise<AnsweredAsk | undefined>;
  /**
   * Returns all asks (questions to people) of a job in the order in which they were asked. They are used for the job's receipt (its stored
   * report).
   */
  list(db: Executor, jobId: Id<"job">): Promise<AskView[]>;
  /**
   * Withdraws the job's pending ask (its open question to a person), if any, because the job ends for another reason. Removes the ask's
   * tasks and returns the `ask-withdrawn` log entries. The caller runs this function in the transaction that ends the job and has locked
   * the job's row.
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
  /**
   * The answer link (a link that lets a person answer without an API key) through which the answer came. Undefined if the answer came
   * without a link.
   */
  readonly linkId?: LinkId | undefined;
};
