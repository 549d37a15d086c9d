import { create, toJson } from "@bufbuild/protobuf";
import type { LimitsDocument, ReceiptDocument } from "@svc/db/documents/jobs";
import type { DecisionDocument } from "@svc/db/documents/programs";
import { ReceiptSchema } from "@svc/gen/jobs";
import { canonicalHash } from "@svc/program";
import fc from "fast-check";
import { expect, test } from "vitest";
import { hashReceipt, toReceipt } from "./convert-receipts.ts";

const count = fc.oneof(fc.nat(20), fc.nat(2 ** 32 - 1), fc.constant(2 ** 32 - 1));
/** Generates texts of any UTF-16 units: also quotes, control characters and lone surrogates. */
const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
  fc.constantFrom("", '{"a":"b\\n"}', "\u2028", "\ud800", "é\u0000\u007f"),
);
const texts = fc.array(text, { maxLength: 3 });
const counts = <Name extends string>(...names: Name[]) => {
  return fc.record(Object.fromEntries(names.map((name) => [name, count]))) as fc.Arbitrary<Record<Name, number>>;
};
const limits: fc.Arbitrary<LimitsDocument> = counts(
  "deadlineSeconds",
  "toolCalls",
  "writes",
  "rows",
  "asks",
  "concurrency",
);
const decision: fc.Arbitrary<DecisionDocument> = fc.record({
  continuation: fc.constantFrom("proceed", "abort"),
  principalId: text,
  keyId: text,
  surface: text,
  note: text,
  overridesJson: text,
  at: fc.nat(4_000_000_000_000),
});
const estimate = fc
  .tuple(
    counts("callsMin", "callsMax", "writesMax", "destructiveMax", "rowsMax", "asksMax"),
    fc.record({ toolkits: texts, entities: texts, notCompensable: texts }),
    fc.subarray(["read", "write", "destructive"] as const),
  )
  .map(([numbers, lists, accessClasses]) => ({ ...numbers, ...lists, accessClasses }));
const receipt: fc.Arbitrary<ReceiptDocument> = fc.record({
  outcome: fc.constantFrom("complete", "partial", "none"),
  programHash: text,
  rows: counts("in", "ok", "failed", "skipped", "unknown"),
  calls: counts("read", "write", "destructive", "retried", "unknown"),
  limits: fc.record({ used: limits, max: limits }),
  asks: counts("raised", "answered", "defaulted", "withdrawn", "refusedAnswers"),
  approvals: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    fc.array(fc.record({ approvalId: text, stepId: text, decision }, { requiredKeys: ["approvalId", "stepId"] })),
  ),
  estimate,
  actual: counts("calls", "writes", "destructive", "rows", "asks"),
  saga: fc
    .tuple(
      fc.constantFrom("none" as const, "armed" as const, "compensating" as const, "stuck" as const),
      counts("entries", "done", "failed"),
    )
    .map(([state, numbers]) => ({ state, ...numbers })),
  resultJson: text,
  lastSeq: count,
  receiptHash: text,
});

/** Returns the hash that a caller computes from the API message of a receipt. */
function hashOfMessage(document: ReceiptDocument): string {
  const message = create(ReceiptSchema, { ...toReceipt(document), receiptHash: "" });
  return canonicalHash(toJson(ReceiptSchema, message, { alwaysEmitImplicit: true }));
}

test("the hash of a receipt is that of its message, byte for byte", () => {
  fc.assert(
    fc.property(receipt, receipt, (document, other) => {
      expect(hashReceipt(document)).toBe(hashOfMessage(document));
      // Jobs of the same program share one estimate object.
      const next = { ...other, estimate: document.estimate };
      expect(hashReceipt(next)).toBe(hashOfMessage(next));
    }),
    { numRuns: 300 },
  );
});

test("a field that an old document lacks counts as the message's default", () => {
  fc.assert(
    fc.property(receipt, (document) => {
      const { asks: _asks, ...used } = document.limits.used;
      const old = { ...document, limits: { ...document.limits, used } } as ReceiptDocument;
      expect(hashReceipt(old)).toBe(hashOfMessage(old));
    }),
    { numRuns: 30 },
  );
});
