import type { Id, KeyId, LinkId, ProjectId, Role, Sealer } from "@svc/core";
import type { AskRecord } from "@svc/db/asks/repo";
import type { Executor } from "@svc/db/connect";
import type { RowCounts } from "@svc/db/documents/calls";
import type { DecisionDocument } from "@svc/db/documents/programs";
import type { NewJobTask } from "@svc/db/job-tasks/task";
import type { NewJobEvent } from "@svc/db/jobs/record";
import type { AskKind } from "@svc/db/schema/words";
import type { Continuation, Hop } from "@svc/program";

/** A question that the engine wants put. */
export type AskInput = {
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  /** The key whose plan it is. */
  readonly keyId: KeyId;
  /** Empty for the plan as a whole. */
  readonly stepId: string;
  readonly pointId: string;
  readonly kind: AskKind;
  readonly question: string;
  readonly continuations: readonly Continuation[];
  /** JSON text; empty when the point takes no overrides. */
  readonly answerSchemaJson: string;
  /** The declared ladder; empty for approvals and the service's own points, which go to `approvers`, or else to all approvers. */
  readonly escalation: readonly Hop[];
  /** `approval.escalation` of the program. */
  readonly approvers: readonly string[];
  readonly defaultContinuation: Continuation | undefined;
  /** Where the question is about rows. */
  readonly counts: RowCounts | undefined;
  readonly standingProgramId: string;
  readonly principalChain: readonly string[];
  readonly nowMs: number;
};

/** A question ready to be put: its parts are committed together with the job's parking. */
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
  /** Who caused the settlement, in causal order; empty while pending. */
  readonly principalChain: readonly string[];
};

/** An ask with the overrides as they were answered, of which its decision shows those that are not sensitive. Empty for none. */
export type AnsweredAsk = AskView & { readonly overridesJson: string };

/** What the engine needs of asks. asks/port.ts makes it. */
export type AskPort = {
  /** Readies a question. Reads contacts; writes nothing. */
  prepare(db: Executor, input: AskInput): Promise<PreparedAsk>;
  find(db: Executor, jobId: Id<"job">, askId: Id<"ask">, sealer: Sealer): Promise<AnsweredAsk | undefined>;
  /** Every ask of a job in the order they were raised, for its receipt. */
  list(db: Executor, jobId: Id<"job">): Promise<AskView[]>;
  /**
   * Withdraws the pending ask, if there is one, because the job ends otherwise, and removes its tasks. Answers the events
   * (`ask-withdrawn`) to log. Runs in the transaction of the job's end, the job's row being locked.
   */
  withdraw(
    tx: Executor,
    job: { jobId: Id<"job">; nowMs: number; principalChain: readonly string[] },
  ): Promise<NewJobEvent[]>;
};

/** An answer as it is presented, by a key. Texts are as they came. */
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
  /** The link that it came by; undefined for none. */
  readonly linkId?: LinkId | undefined;
};
