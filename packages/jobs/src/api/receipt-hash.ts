import { create, toJson } from "@bufbuild/protobuf";
import type { ReceiptDocument } from "@svc/db/documents/receipt";
import { ReceiptSchema } from "@svc/gen/jobs";
import { canonicalHash } from "@svc/program";
import { toReceipt } from "./convert-receipts.ts";

/**
 * The receiptHash of a receipt: SHA-256, in hex, of the canonical JSON (RFC 8785) of the receipt as the API answers it, with
 * an empty text for receiptHash. Whoever was answered a receipt can compute it.
 */
export function hashReceipt(receipt: ReceiptDocument): string {
  const message = create(ReceiptSchema, { ...toReceipt(receipt), receiptHash: "" });
  return canonicalHash(toJson(ReceiptSchema, message, { alwaysEmitImplicit: true }));
}
