import { createWorld } from "@svc/testing/desk";
import type { TestBench } from "@svc/testing/job-bench";
import { createBenches } from "@svc/testing/job-benches";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const programOf = (text: unknown) => ({
  steps: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text } }],
});

/** Stores a program in the way of version 0.1. */
async function storeAsBefore({ db }: TestBench, digest: Uint8Array, program: object): Promise<void> {
  const stored = await db.sql.unsafe(
    "update job_programs set program = $1, sealed_program = null where digest = $2 returning digest",
    [JSON.stringify({ version: 1, title: "Test", ...program }), digest],
  );
  expect(stored).toHaveLength(1);
}

test("a program of version 0.1 says what it said then; one of today says what it says today", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  const young = await bench.submit(programOf({ $cel: "string(1 + 1)" }));
  const old = await bench.submit(programOf({ $cel: "string(2 + 2)" }));
  const { programDigest } = (await bench.read(old)).job;
  await storeAsBefore(bench, programDigest, programOf({ $cel: "string(2 + 2)" }));
  bench.engine();
  await bench.reach(young, "succeeded", "failed");
  // The app never got an object in place of a text.
  expect((await bench.reach(old, "succeeded", "failed")).job.lastError).toMatch(/^invalid_arguments: /);
  expect(world.seen.map(({ body }) => body["text"])).toEqual(["2"]);
});

test("a wait behind the deadline parks a job of version 0.1 until it expires, and fails one of today", async () => {
  const bench = await benches.bench();
  const waiting = (at: string) => ({ input: { at }, steps: [{ id: "rest", wait: { until: { $ref: "input.at" } } }] });
  const young = await bench.submit(waiting("2999-01-01T00:00:00Z"));
  const old = await bench.submit(waiting("2999-01-02T00:00:00Z"));
  const { programDigest } = (await bench.read(old)).job;
  await storeAsBefore(bench, programDigest, waiting("2999-01-02T00:00:00Z"));
  const engine = bench.engine();
  expect((await bench.reach(young, "failed", "parked")).job.status).toBe("failed");
  expect((await bench.reach(old, "failed", "parked")).job.status).toBe("parked");
  bench.clock.advance(86_400_000);
  engine.wake();
  await bench.reach(old, "expired");
});
