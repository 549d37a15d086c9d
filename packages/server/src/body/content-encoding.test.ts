import { brotliCompressSync, gzipSync } from "node:zlib";
import { systemClock } from "@svc/core";
import { expect, test } from "vitest";
import { type BodyBudget, type BodyCharge, createBodyBudget } from "./body-budget.ts";
import { decodeBody, encodingOf } from "./content-encoding.ts";

const budgetOf = (shareBytesMax: number): BodyBudget =>
  createBodyBudget({ clock: systemClock, bytesMax: 10_000_000, shareBytesMax });
const open = (budget: BodyBudget): BodyCharge => budget.open("project:one", "192.0.2.1");
const decodeAs = (name: string, sent: Buffer, options: { bytesMax: number; charge: BodyCharge }) =>
  decodeBody(encodingOf({ headers: { "content-encoding": name } })!, sent, options);

test.each([
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
] as const)("%s is undone, and charged as what it was", async (name, compress) => {
  const body = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * index) % 251));
  const budget = budgetOf(1_000_000);
  const charge = open(budget);
  expect(await decodeAs(name, compress(body), { bytesMax: 300_000, charge })).toEqual(body);
  expect(budget.stats().bytes).toBe(300_000);
  charge.release();
  expect(budget.stats().bytes).toBe(0);
});

test.each([
  ["too_large", gzipSync(Buffer.alloc(5_000_000)), 300_000, 1_000_000],
  ["no_room", gzipSync(Buffer.alloc(250_000)), 300_000, 200_000],
  ["undecodable", Buffer.from("no gzip at all"), 300_000, 1_000_000],
  ["undecodable", gzipSync(Buffer.alloc(250_000, "x")).subarray(0, 100), 300_000, 1_000_000],
] as const)("what is %s is refused, and costs nothing any more", async (reason, sent, bytesMax, shareBytesMax) => {
  const budget = budgetOf(shareBytesMax);
  await expect(decodeAs("gzip", sent, { bytesMax, charge: open(budget) })).rejects.toMatchObject({ reason });
  expect(budget.stats()).toMatchObject({ bytes: 0, refused: { project: reason === "no_room" ? 1 : 0 } });
});

test("unsupported encodings have no codec", () => {
  for (const name of ["", "identity", "deflate", "gzip, gzip", "GZIP"]) {
    expect(encodingOf({ headers: { "content-encoding": name } }), name).toBeUndefined();
  }
  expect(encodingOf({ headers: {} })).toBeUndefined();
});

const frame = (flags: number, message: Buffer) => {
  const head = Buffer.from([flags, 0, 0, 0, 0]);
  head.writeUInt32BE(message.byteLength, 1);
  return Buffer.concat([head, message]);
};
const ofStream = encodingOf({
  headers: { "content-type": "application/connect+json", "connect-content-encoding": "gzip" },
})!;

test("the message of a stream keeps its frame, and is charged decompressed", async () => {
  const message = Buffer.alloc(200_000, "x");
  const budget = budgetOf(1_000_000);
  const options = { bytesMax: 300_000, charge: open(budget) };
  expect(await decodeBody(ofStream, frame(1, gzipSync(message)), options)).toEqual(frame(0, message));
  expect(budget.stats().bytes).toBe(200_000);
  await expect(
    decodeBody(ofStream, frame(1, gzipSync(Buffer.alloc(400_000))), { ...options, charge: open(budget) }),
  ).rejects.toMatchObject({ reason: "too_large" });
});

test.each([
  ["plain", frame(0, Buffer.from("{}"))],
  ["two frames", Buffer.concat([frame(1, gzipSync("{}")), frame(1, gzipSync("{}"))])],
  ["a frame that is cut", frame(1, gzipSync("{}")).subarray(0, -1)],
  ["too short for a frame", Buffer.from([1, 0])],
  ["empty", Buffer.alloc(0)],
])("what is no compressed frame is left as it is: %s", async (_, sent) => {
  const charge = open(budgetOf(1_000_000));
  expect(await decodeBody(ofStream, sent, { bytesMax: 300_000, charge })).toBe(sent);
});
