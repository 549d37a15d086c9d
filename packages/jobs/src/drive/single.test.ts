import { countTasks, createBenches } from "@svc/testing/job-benches";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

test("a program of one read runs to its end and leaves a receipt, a gapless log and no task", async () => {
  const bench = await benches.bench();
  const { submit, reach, world } = bench;
  bench.engine();
  const id = await submit({
    steps: [{ id: "one", call: "desk.get_item", entity: "ops", args: { id: "i7" } }],
    result: { text: { $ref: "steps.one.text" } },
  });
  const { job, receipt, steps, events } = await reach(id, "succeeded", "failed");
  expect(job.lastError).toBe("");
  expect(job.status).toBe("succeeded");
  expect(world.seen).toHaveLength(1);
  expect(steps["one"]).toMatchObject({ state: "completed", attempts: 1, toolVersion: "1.2.3", calls: { read: 1 } });
  expect(receipt).toMatchObject({ outcome: "complete", resultJson: '{"text":"an item"}', lastSeq: events.length });
  expect(events.map(({ type }) => type)).toEqual([
    "job-submitted",
    "job-status-changed",
    "step-started",
    "step-finished",
    "job-status-changed",
  ]);
  expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  expect(await countTasks(bench)).toBe(0);
});
