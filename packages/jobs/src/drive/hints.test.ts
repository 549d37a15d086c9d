import { idOfUuid, uuidOfId } from "@svc/core";
import { createWorld } from "@svc/testing/desk";
import { createBenches, fetchItems } from "@svc/testing/job-benches";
import { until } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";
import type { FaultPoint } from "./observer.ts";

// In these tests the clock does not move, so no engine claims tasks by itself. A job only continues if a commit that made its task due also
// woke the engine.

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const inputSchema = { type: "object", required: ["text"], properties: { text: { type: "string" } } };
const send = { id: "send", call: "desk.send_keyed", entity: "ops", args: { text: { $ref: "input.text" } } };
const note = { inputSchema, input: { text: "x" }, steps: [send], result: { id: { $ref: "steps.send.id" } } };

test("a job that waits for some it runs, and begins others with the same commit, has them begin at once", async () => {
  const world = createWorld({ items: 3 });
  // The second note is not answered before the third has begun. So the third cannot be started by the end of another call.
  const third = Promise.withResolvers<void>();
  let posts = 0;
  world.script = async ({ method }) => {
    if (method !== "POST") return undefined;
    const nth = ++posts;
    if (nth === 3) third.resolve();
    if (nth === 2) await third.promise;
    return undefined;
  };
  const bench = await benches.bench(world);
  // Waits long enough for an engine that was woken before the end of the transaction to claim its tasks. It would find nothing.
  const onFaultPoint = async (point: FaultPoint) => {
    if (point === "after-commit") for (let looks = 0; looks < 5; looks++) await bench.db.sql`select 1`;
  };
  const tell = { id: "tell", run: "skills.note", input: { text: { $ref: "row.id" } } };
  const steps = [fetchItems(), { id: "each", map: "items", concurrency: 2, do: [tell] }];
  bench.engine({ onFaultPoint });
  const id = await bench.submit({ steps }, { skills: { note } });
  const { job } = await bench.reach(id, "succeeded", "failed");
  expect([job.status, job.lastError]).toEqual(["succeeded", ""]);
});

test("a job whose child is parked by an administrator finds that at once", async () => {
  const world = createWorld();
  const gate = Promise.withResolvers<void>();
  world.script = async ({ method }) => {
    if (method === "POST") await gate.promise;
    return undefined;
  };
  const bench = await benches.bench(world);
  const engine = bench.engine();
  const steps = [{ id: "tell", run: "skills.note", input: { text: "x" } }];
  const id = await bench.submit({ steps }, { skills: { note } });
  await until(() => world.seen.length === 1);
  const [child] = await bench.db.sql<{ id: string }[]>`select id from jobs where parent_job_id = ${uuidOfId(id)}`;
  const jobId = idOfUuid("job", child?.id ?? "");
  await engine.park({ jobId, projectId: bench.projectId }, ["admin"]);
  const { job } = await bench.reach(id, "parked");
  expect(job.park?.reason).toBeDefined();
  gate.resolve();
});
