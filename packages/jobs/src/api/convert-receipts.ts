import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { decisionMessage } from "@svc/asks";
import type { EstimateDocument } from "@svc/db/documents/estimate";
import type { ReceiptDocument } from "@svc/db/documents/receipt";
import type { StepReceiptDocument } from "@svc/db/documents/step-receipt";
import {
  type Estimate,
  EstimateSchema,
  type Receipt,
  ReceiptSchema,
  type StepReceipt,
  StepReceiptSchema,
} from "@svc/gen/jobs";

/** The bounds of a program. */
export function toEstimate(estimate: EstimateDocument): Estimate {
  return create(EstimateSchema, {
    ...estimate,
    accessClasses: [...estimate.accessClasses],
    toolkits: [...estimate.toolkits],
    entities: [...estimate.entities],
    notCompensable: [...estimate.notCompensable],
  });
}

/** The account of one step. */
export function toStepReceipt(receipt: StepReceiptDocument): StepReceipt {
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
    errors: errors.map(({ code, count, firstOrdinal, sample }) => ({ code, count, firstOrdinal, sample })),
    ...(decision && { decision: decisionMessage(decision) }),
    ...(undo && { undo }),
  });
}

/** The account of a whole job. */
export function toReceipt(receipt: ReceiptDocument): Receipt {
  const { approvals, estimate, limits, ...rest } = receipt;
  return create(ReceiptSchema, {
    ...rest,
    limits: { used: { ...limits.used }, max: { ...limits.max } },
    approvals: approvals.map(({ approvalId, stepId, decision }) => {
      return { approvalId, stepId, ...(decision && { decision: decisionMessage(decision) }) };
    }),
    estimate: toEstimate(estimate),
  });
}
