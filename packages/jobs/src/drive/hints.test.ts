import { idOfUuid, uuidOfId } from "@svc/core";
import { createWorld } from "@svc/testing/desk";
import { createBenches, fetchItems } from "@svc/testing/job-benches";
import { until } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";
import type { FaultPoint } from "./observer.ts";

// The clock stands still, so no engine looks by itself: what goes on does so because somebody told that it is due, after the commit that
// made it due.

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const inputSchema = { type: "object", required: ["text"], properties: { text: { type: "string" } } };
const send = { id: "send", call: "desk.send_keyed", entity: "ops", args: { text: { $ref: "input.text" } } };
const note = { inputSchema, input: { text: "x" }, steps: [send], result: { id: { $ref: "steps.send.id" } } };

test("a job that waits for some it runs, and begins others with the same commit, has them begin at once", async () => {
  const world = createWorld({ items: 3 });
  // The second is under way until the third has begun: no end of another has anybody look.
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
  // Whoever was told before the end of a transaction has looked by then.
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
