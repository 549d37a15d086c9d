import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { decisionMessage, pendingAskMessage } from "@svc/asks";
import { type AppNames, jobFailure, stepErrorFailure } from "@svc/core";
import type { AskRecord } from "@svc/db/asks/repo";
import type { ParkDocument } from "@svc/db/documents/jobs";
import type { SagaDocument } from "@svc/db/documents/programs";
import type { StepReceiptDocument } from "@svc/db/documents/step-receipt";
import type { JobAttemptRecord } from "@svc/db/jobs/attempts";
import type { ListedJob } from "@svc/db/jobs/find-listed";
import type { JobRecord, JobStepRecord } from "@svc/db/jobs/record";
import type { JobStatus } from "@svc/db/schema/words";
import {
  type JobAttemptSchema,
  type Job as JobMessage,
  JobOriginKind,
  type JobOriginSchema,
  JobSchema,
  JobStatus as JobStatusMessage,
  type ParkSchema,
  type SagaSchema,
  type StepReceipt,
  StepReceiptSchema,
} from "@svc/gen/jobs";
import { failureMessage } from "@svc/tools";
import { toEstimate, toReceipt } from "./convert-receipts.ts";

/**
 * A job's row, together with data from other tables that an API message about the job needs: its program, its steps in the order in which
 * they began, its pending ask and its earlier attempts.
 */
export type JobParts = {
  readonly job: JobRecord & Pick<ListedJob, "programHash">;
  /** The program as JSON text, with sensitive values masked for display. Empty in a summary. */
  readonly programJson: string;
  /** The program's title, which is empty if it has none, and its number of steps. */
  readonly program: { readonly title: string; readonly stepCount: number };
  /** The steps that the message contains. Empty in a summary. */
  readonly steps: readonly Pick<JobStepRecord, "receipt">[];
  /** Receipts that explain why the job failed, and the number of ended steps. By default both come from `steps`. */
  readonly summary?: { readonly explaining: readonly StepReceiptDocument[]; readonly stepsDone: number };
  /** Title of the schedule that started the job. Empty if none did. */
  readonly scheduleTitle: string;
  readonly appNames: AppNames;
  readonly pendingAsk: AskRecord | undefined;
  /** The attempts of the job that ended before the present one. A retry of a job that has ended begins a new attempt. */
  readonly attempts: readonly JobAttemptRecord[];
};

/** Returns a job in the form of the API. No field contains data of the job (rows, outputs, input, progress). */
export function toJob(parts: JobParts): JobMessage {
  const { job, programJson, program, steps, pendingAsk, attempts, summary, appNames } = parts;
  const { park, receipt, finishedAt } = job;
  const { entities } = job.estimate;
  const receipts = steps.map((step) => step.receipt);
  const failure = jobFailure({
    ...job,
    atMs: finishedAt ?? job.updatedAt,
    steps: summary?.explaining ?? receipts,
    deadlineSeconds: receipt?.limits.max.deadlineSeconds,
    ...{ entities, appNames },
  });
  return create(JobSchema, {
    id: job.id,
    status: statusNumbers[job.status],
    programJson,
    programHash: job.programHash,
    estimate: toEstimate(job.estimate),
    planApprovalId: job.planApprovalId,
    ...(park !== null && { park: toPark(park) }),
    stepReceipts: receipts.map((step) => toStepReceipt(step, { entities, appNames })),
    ...(receipt !== null && summary === undefined && { receipt: toReceipt(receipt) }),
    lastError: job.lastError,
    createdAt: timestampFromMs(job.createdAt),
    updatedAt: timestampFromMs(job.updatedAt),
    ...(finishedAt !== null && { finishedAt: timestampFromMs(finishedAt) }),
    ...(pendingAsk && { pendingAsk: pendingAskMessage(pendingAsk) }),
    saga: toSaga(job.saga),
    mode: job.mode,
    simulatedFrom: job.simulatedFrom ?? "",
    skillSlug: job.skillSlug,
    parentJobId: job.parentJobId ?? "",
    standingProgramId: job.standingProgramId,
    standingRunId: job.standingRunId ?? "",
    ...(job.pausedAt !== null && { pausedAt: timestampFromMs(job.pausedAt) }),
    attempt: job.attempt,
    attempts: attempts.map(toAttempt),
    title: program.title,
    submittedByKeyId: job.keyId,
    ...(failure && { failure: failureMessage(failure) }),
    origin: toOrigin(job, parts.scheduleTitle),
    stepsDone: summary?.stepsDone ?? receipts.filter(({ state }) => state !== "").length,
    stepsTotal: program.stepCount,
  });
}

/** Returns the kind of origin of a job: a caller's key, a parent job, a schedule, or a skill. */
export function originKindOf(job: Pick<JobRecord, "parentJobId" | "standingProgramId" | "skillSlug">): JobOriginKind {
  if (job.parentJobId !== null) return JobOriginKind.JOB;
  if (job.standingProgramId !== "") return JobOriginKind.SCHEDULE;
  return job.skillSlug === "" ? JobOriginKind.KEY : JobOriginKind.SKILL;
}

function toOrigin(job: JobRecord, scheduleTitle: string): MessageInitShape<typeof JobOriginSchema> {
  const kind = originKindOf(job);
  switch (kind) {
    case JobOriginKind.JOB:
      return { kind, id: job.parentJobId ?? "" };
    case JobOriginKind.SCHEDULE:
      return { kind, id: job.standingProgramId, title: scheduleTitle };
    case JobOriginKind.SKILL:
      return { kind, id: job.skillSlug };
    default:
      return { kind, id: job.keyId };
  }
}

function toAttempt(ended: JobAttemptRecord): MessageInitShape<typeof JobAttemptSchema> {
  const { attempt, status, receipt, lastError, finishedAt, retriedAt, retryKeyId } = ended;
  return {
    attempt,
    status: statusNumbers[status],
    receipt: toReceipt(receipt),
    lastError,
    finishedAt: timestampFromMs(finishedAt),
    retriedAt: timestampFromMs(retriedAt),
    retryKeyId,
  };
}

const statusNumbers: Readonly<Record<JobStatus, JobStatusMessage>> = {
  simulating: JobStatusMessage.SIMULATING,
  pending_plan_approval: JobStatusMessage.PENDING_PLAN_APPROVAL,
  queued: JobStatusMessage.QUEUED,
  running: JobStatusMessage.RUNNING,
  parked: JobStatusMessage.PARKED,
  compensating: JobStatusMessage.COMPENSATING,
  succeeded: JobStatusMessage.SUCCEEDED,
  failed: JobStatusMessage.FAILED,
  aborted: JobStatusMessage.ABORTED,
  rejected: JobStatusMessage.REJECTED,
  expired: JobStatusMessage.EXPIRED,
  cancelled: JobStatusMessage.CANCELLED,
};

const statusTexts = new Map(Object.entries(statusNumbers).map(([text, number]) => [number, text as JobStatus]));

/**
 * Converts a status from the filter of a ListJobs request. Returns undefined for UNSPECIFIED, which means that the filter names no status.
 */
export function statusOfFilter(status: JobStatusMessage): JobStatus | undefined {
  return statusTexts.get(status);
}

function toPark({
  reason,
  stepId,
  since,
  wakeAt,
  judgment,
  childJobId = "",
}: ParkDocument): MessageInitShape<typeof ParkSchema> {
  return {
    reason,
    stepId,
    since: timestampFromMs(since),
    childJobId,
    ...(wakeAt !== undefined && { wakeAt: timestampFromMs(wakeAt) }),
    ...(judgment && {
      judgment: {
        pointId: judgment.pointId,
        requestId: judgment.requestId,
        question: judgment.question,
        continuations: [...judgment.continuations],
        answerSchemaJson: judgment.answerSchemaJson,
        raisedAt: timestampFromMs(judgment.raisedAt),
        ...(judgment.counts && { counts: judgment.counts }),
      },
    }),
  };
}

function toSaga({ state, entries, done, failed }: SagaDocument): MessageInitShape<typeof SagaSchema> {
  return { state, entries, done, failed };
}

/**
 * Converts the stored summary (receipt) of one step of a job to the form of the API. `about`: the entities (customers or users) whose
 * accounts the program uses, and the names of apps.
 */
export function toStepReceipt(
  receipt: StepReceiptDocument,
  about: { readonly entities: readonly string[]; readonly appNames: AppNames },
): StepReceipt {
  const { stepId, kind, toolSlug, toolVersion, state, attempts, startedAt, finishedAt, decision } = receipt;
  const { rows, calls, errors, undo } = receipt;
  return create(StepReceiptSchema, {
    stepId,
    kind,
    toolSlug,
    toolVersion,
    state,
    attempts,
    startedAt: timestampFromMs(startedAt),
    ...(finishedAt !== undefined && { finishedAt: timestampFromMs(finishedAt) }),
    ...(rows && { rows }),
    ...(calls && { calls }),
    errors: errors.map((error) => ({
      ...error,
      failure: failureMessage(stepErrorFailure(receipt, error, { atMs: finishedAt ?? startedAt, ...about })),
    })),
    ...(decision && { decision: decisionMessage(decision) }),
    ...(undo && { undo }),
  });
}
