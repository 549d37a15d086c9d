import { brotliCompressSync, gzipSync } from "node:zlib";
import { systemClock } from "@svc/core";
import { expect, test } from "vitest";
import { type BodyBudget, type BodyCharge, createBodyBudget } from "./body-budget.ts";
import { codecOf, decode } from "./content-encoding.ts";

const budgetOf = (shareBytesMax: number): BodyBudget =>
  createBodyBudget({ clock: systemClock, bytesMax: 10_000_000, shareBytesMax });
const open = (budget: BodyBudget): BodyCharge => budget.open("project:one", "192.0.2.1");
const decodeAs = (name: string, sent: Uint8Array, options: { bytesMax: number; charge: BodyCharge }) =>
  decode(codecOf({ headers: { "content-encoding": name } })!, sent, options);

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

test("what calls do not take has no codec", () => {
  for (const name of ["", "identity", "deflate", "gzip, gzip", "GZIP"]) {
    expect(codecOf({ headers: { "content-encoding": name } }), name).toBeUndefined();
  }
  expect(codecOf({ headers: {} })).toBeUndefined();
});
