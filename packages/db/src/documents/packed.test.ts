import { newJobDocuments } from "@svc/testing/job-documents";
import { expect, test } from "vitest";
import { asWritten } from "./document.ts";
import { usedDocument } from "./jobs.ts";
import { packedDocument } from "./packed.ts";
import { type StepReceiptDocument, stepReceiptDocument } from "./step-receipt.ts";

type Shelf = { readonly width: number; readonly label?: string; readonly boxes?: { readonly small: number } };
const shelf = packedDocument<Shelf>("shelf", [asWritten], { width: true, label: true, boxes: { small: true } });

test.each<Shelf>([
  { width: 1 },
  { width: 2, label: 'a "label"' },
  { width: 3, boxes: { small: 0 } },
  { width: 0, label: "", boxes: { small: 1 } },
  { width: 4, label: "5ba1".repeat(16) },
  { width: 5, label: `~${"5ba1".repeat(16)}` },
  { width: 6, label: "~~x" },
])("%j is read as it was written", (document) => {
  const written = shelf.write(document);
  expect(shelf.read(JSON.parse(written))).toEqual(document);
  expect(written).not.toContain("width");
});

test("what the version before wrote is read, too", () => {
  expect(shelf.read({ width: 4, label: "x" })).toEqual({ width: 4, label: "x" });
  expect(shelf.read({ v: 2, p: '[4,"~~x"]' })).toEqual({ width: 4, label: "~~x" });
  expect(usedDocument.read({ toolCalls: 1, writes: 2, rows: 3, asks: 4 })).toEqual({
    toolCalls: 1,
    writes: 2,
    rows: 3,
    asks: 4,
  });
  expect(usedDocument.read(JSON.parse(usedDocument.write(newJobDocuments.used)))).toEqual(newJobDocuments.used);
});

test("a step's receipt keeps its errors, its counts and a decision", () => {
  const receipt: StepReceiptDocument = {
    stepId: "s",
    kind: "map",
    toolSlug: "desk.send_note",
    toolVersion: "1.2.3",
    state: "partial",
    attempts: 2,
    startedAt: 5,
    rows: { in: 3, ok: 1, failed: 1, skipped: 0, unknown: 1 },
    errors: [{ code: "c", count: 1, firstOrdinal: 2, sample: 'it said "no"' }],
    undo: { done: 1, failed: 0 },
  };
  expect(stepReceiptDocument.read(JSON.parse(stepReceiptDocument.write(receipt)))).toEqual(receipt);
});

test("anything except a packed document is refused", () => {
  expect(() => shelf.read({ v: 2, p: '{"width":1}' })).toThrow("a packed document is not a list");
  expect(() => shelf.read({ v: 4 })).toThrow("shelf is stored in version 4");
  expect(() => shelf.read("4[1]")).toThrow("shelf is stored in version 4");
});
