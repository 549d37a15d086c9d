import { createWorld } from "@svc/testing/desk";
import { createBenches } from "@svc/testing/job-benches";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const programOf = (text: unknown) => ({
  steps: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text } }],
});

test("a program of version 0.1 says what it said then; one of today says what it says today", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  const young = await bench.submit(programOf({ $cel: "string(1 + 1)" }));
  const old = await bench.submit(programOf({ $cel: "string(2 + 2)" }));
  const { programDigest } = (await bench.read(old)).job;
  // As version 0.1 stored it.
  const text = JSON.stringify({ version: 1, title: "Test", ...programOf({ $cel: "string(2 + 2)" }) });
  const stored = await bench.db.sql.unsafe(
    "update job_programs set program = $1, sealed_program = null where digest = $2 returning digest",
    [text, programDigest],
  );
  expect(stored).toHaveLength(1);
  bench.engine();
  await bench.reach(young, "succeeded", "failed");
  // The app was never sent an object for a text.
  expect((await bench.reach(old, "succeeded", "failed")).job.lastError).toMatch(/^invalid_arguments: /);
  expect(world.seen.map(({ body }) => body["text"])).toEqual(["2"]);
});
