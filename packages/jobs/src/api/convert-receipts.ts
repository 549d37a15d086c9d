import { create, toJson } from "@bufbuild/protobuf";
import { decisionMessage } from "@svc/asks";
import type { ReceiptDocument } from "@svc/db/documents/jobs";
import type { EstimateDocument } from "@svc/db/documents/programs";
import { type Estimate, EstimateSchema, type Receipt, ReceiptSchema } from "@svc/gen/jobs";
import { canonicalHash } from "@svc/program";

/** Returns the estimate of a program, its maximum use, in the form of the API. */
export function toEstimate(estimate: EstimateDocument): Estimate {
  return create(EstimateSchema, {
    ...estimate,
    accessClasses: [...estimate.accessClasses],
    toolkits: [...estimate.toolkits],
    entities: [...estimate.entities],
    notCompensable: [...estimate.notCompensable],
  });
}

/** Returns the receipt of a whole job. */
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

/**
 * Returns the receiptHash of a receipt: the SHA-256, in hex, of the receipt's canonical JSON (RFC 8785). The JSON is that of the API, with
 * an empty receiptHash. So a caller that has the receipt can compute the same hash.
 */
export function hashReceipt(receipt: ReceiptDocument): string {
  const message = create(ReceiptSchema, { ...toReceipt(receipt), receiptHash: "" });
  return canonicalHash(toJson(ReceiptSchema, message, { alwaysEmitImplicit: true }));
}
