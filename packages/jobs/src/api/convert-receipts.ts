import { hash } from "node:crypto";
import { create, type DescField, type DescMessage, ScalarType, toJson } from "@bufbuild/protobuf";
import { decisionMessage } from "@svc/asks";
import type { ReceiptDocument } from "@svc/db/documents/jobs";
import type { EstimateDocument } from "@svc/db/documents/programs";
import { type Estimate, EstimateSchema, type Receipt, ReceiptSchema } from "@svc/gen/jobs";
import { canonicalHash } from "@svc/program";

/**
 * Returns the estimate of a program in the form of the API. An estimate says what the program may use at most, for example how many calls
 * and which toolkits (apps).
 */
export function toEstimate(estimate: EstimateDocument): Estimate {
  return create(EstimateSchema, {
    ...estimate,
    accessClasses: [...estimate.accessClasses],
    toolkits: [...estimate.toolkits],
    entities: [...estimate.entities],
    notCompensable: [...estimate.notCompensable],
  });
}

/** Returns the API message of a job's receipt (the stored, hashed summary of a finished job). */
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
  if (receipt.approvals.length === 0) return hash("sha256", writeReceipt(receipt), "hex");
  const message = create(ReceiptSchema, { ...toReceipt(receipt), receiptHash: "" });
  return canonicalHash(toJson(ReceiptSchema, message, { alwaysEmitImplicit: true }));
}

type Writer = (value: never) => string;

/** Cached texts of estimates. Jobs of the same program share one estimate object, so its text is computed only once. */
const estimateTexts = new WeakMap<EstimateDocument, string>();
const writeEstimate = canonicalWriter(EstimateSchema);

/**
 * Writes the canonical JSON of a receipt (report of an ended job) without approvals. It writes the stored document directly. To build an
 * API message first would take three times as long and would be most of the work at a job's end.
 */
const writeReceipt: (receipt: ReceiptDocument) => string = canonicalWriter(ReceiptSchema, {
  receiptHash: () => '""',
  approvals: () => "[]",
  estimate(estimate: EstimateDocument) {
    const text = estimateTexts.get(estimate) ?? writeEstimate(estimate);
    estimateTexts.set(estimate, text);
    return text;
  },
});

/**
 * Returns a function that writes an object as the canonical JSON of a message type. The object must have the message type's field names,
 * and must contain every nested message.
 * `own`: writers for fields of other types. Texts, numbers, lists of texts and nested messages need no such writer.
 */
function canonicalWriter(message: DescMessage, own: Readonly<Record<string, Writer>> = {}): (value: object) => string {
  // Field names are ASCII, so this comparison gives the order of UTF-16 code units, as canonical JSON requires.
  const fields = message.fields.toSorted((a, b) => (a.jsonName < b.jsonName ? -1 : 1));
  const parts = fields.map((field, index) => {
    const begin = `${index === 0 ? "{" : ","}"${field.jsonName}":`;
    return { name: field.localName, begin, write: own[field.localName] ?? writerOf(field) };
  });
  return (value) => {
    let text = "";
    for (const { name, begin, write } of parts) text += begin + write((value as Record<string, never>)[name] as never);
    return `${text}}`;
  };
}

function writerOf(field: DescField): Writer {
  const written = (absent: unknown) => (value: unknown) => JSON.stringify(value ?? absent);
  if (field.fieldKind === "message") return canonicalWriter(field.message);
  if (field.fieldKind === "list" && field.scalar === ScalarType.STRING) return written([]);
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.STRING) return written("");
  if (field.fieldKind === "scalar" && field.scalar === ScalarType.UINT32) return written(0);
  throw new Error(`${field.parent.typeName}.${field.name} has no canonical form here`);
}
