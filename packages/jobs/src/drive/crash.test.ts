import { uuidOfId } from "@svc/core";
import { createWorld, type SeenRequest } from "@svc/testing/desk";
import type { JobReading, TestBench } from "@svc/testing/job-bench";
import { countTasks, createBenches, fetchItems, sendAll } from "@svc/testing/job-benches";
import { sampleOf } from "@svc/testing/sample";
import { untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";
import type { JobEngine } from "./engine.ts";
import type { FaultPoint } from "./observer.ts";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const undo = { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } };
const onRows = { onRows: { unknown: "doubt", failed: "doubt" } };
const doubt = {
  points: {
    doubt: { question: "Done?", continuations: ["proceed", "skip", "abort"], escalation: [{ principal: "owner" }] },
  },
};
type Point = FaultPoint | "in-send";
const all: readonly Point[] = ["after-claim", "before-call", "in-send", "after-call", "before-commit", "after-commit"];

/** The programs of the tests and the points at which their node dies. `nth`: the node dies when it reaches the point for the nth time. */
const kinds: Readonly<Record<string, { program: object; points: readonly Point[]; nth: number }>> = {
  call: {
    program: { steps: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" } }] },
    points: all,
    nth: 1,
  },
  keyed: {
    program: {
      steps: [{ id: "note", call: "desk.send_keyed", entity: "ops", args: { text: { $cel: "'x ' + string(now)" } } }],
    },
    points: all,
    nth: 1,
  },
  fetch: {
    program: { steps: [fetchItems()] },
    points: ["before-call", "after-call", "before-commit", "after-commit"],
    nth: 2,
  },
  "fetch by number": {
    program: {
      steps: [fetchItems({ call: "desk.list_shelf", rows: { from: "items[]", keep: ["id"], page: { max: 9 } } })],
    },
    points: ["before-call", "after-call", "before-commit", "after-commit"],
    nth: 2,
  },
  map: { program: sendAll(onRows, doubt), points: all.slice(1), nth: 3 },
  "keyed map": { program: sendAll(onRows, { ...doubt, tool: "desk.send_keyed" }), points: all.slice(1), nth: 3 },
  sets: {
    program: {
      params: { n: 1.0 },
      steps: [
        fetchItems(),
        { id: "some", filter: "items", where: "row.n >= params.n" },
        { id: "sum", reduce: "some", as: { all: "count" } },
        {
          id: "branch",
          if: "rows.some > 0",
          // biome-ignore lint/suspicious/noThenProperty: that is what programs call it
          then: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" } }],
        },
      ],
    },
    points: ["before-commit", "after-commit"],
    nth: 4,
  },
  judge: {
    program: {
      ...doubt,
      steps: [
        { id: "gate", judge: "doubt" },
        { id: "last", call: "desk.get_item", entity: "ops", args: { id: "x" } },
      ],
    },
    points: ["after-claim", "before-commit", "after-commit", "after-ask-commit"],
    nth: 1,
  },
  wait: {
    program: { steps: [{ id: "rest", wait: "10s" }] },
    points: ["after-claim", "before-commit", "after-commit"],
    nth: 1,
  },
  saga: {
    program: {
      saga: { on: ["failed"] },
      steps: [
        { id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" }, undo },
        { id: "bad", call: "desk.get_item", entity: "ops", args: { id: "bad" } },
      ],
    },
    points: ["in-send", "mid-undo", "before-commit", "after-commit"],
    nth: 2,
  },
};
const cases = Object.entries(kinds).flatMap(([kind, { program, points, nth }]) => {
  return points.map(
    (point) => [kind, point, { program, nth: point === "mid-undo" || point === "after-claim" ? 1 : nth }] as const,
  );
});

/** Programs for which the tests vary how the node got the job. For the others it makes no difference, because their nodes die later. */
const beginnings: ReadonlySet<string> = new Set(["call", "keyed", "judge", "wait"]);
const ways = cases.flatMap(([kind, point, doomed]) => [
  [kind, "claimed", point, doomed] as const,
  ...(beginnings.has(kind) ? [[kind, "stored leased", point, doomed] as const] : []),
]);

/**
 * True if svc cannot know the outcome of a write at this point. A write begins with the commit before it, or with the submission. Its end
 * is committed together with what follows from it.
 */
function isInDoubt(kind: string, way: string, point: Point): boolean {
  if (kind === "saga") return point === "before-commit";
  if (kind !== "call" && kind !== "keyed") return point === "in-send";
  if (point === "in-send" || point === "after-call") return true;
  return way === "claimed" ? point === "after-commit" : point === "after-claim" || point === "before-commit";
}

// Three of the four ways begin in the same manner, so half of the cases contain every kind and every point.
test.each(sampleOf(ways, 2))(
  "%s, %s, dead at %s: another engine finishes, and nothing is sent twice in silence",
  async (kind, way, point, { program, nth }) => {
    const world = createWorld({ items: 9, pageSize: 5 });
    world.script = ({ path }) => (path === "/items/bad" ? { status: 404 } : undefined);
    const bench = await benches.bench(world);
    let isDead = false;
    const doomed = bench.doom(point, nth);
    void doomed.then(() => {
      isDead = true;
    });
    const submitted = bench.submit(program, way === "claimed" ? {} : { engine: doomed.engine });
    await untilMoved(() => {
      bench.clock.advance(20);
      return isDead;
    });
    if (way === "stored leased" && point === "before-call") {
      // The call begins with the submission. The submission was not answered, and nothing of it was stored.
      expect([await countJobs(bench), world.seen]).toEqual([0, []]);
      return;
    }
    const id = await submitted;
    const heir = bench.engine();
    let reading = await rescue(bench, heir, id);
    while (isAsking(reading)) {
      await bench.answer(id, { continuation: "proceed" });
      reading = await rescue(bench, heir, id);
    }
    expect(reading.job.status).toBe(kind === "saga" ? "failed" : "succeeded");
    expectHonest(world.seen, reading);
    if (kind.startsWith("fetch")) expect(reading.steps["items"]).toMatchObject({ rows: { in: 9, ok: 9 } });
    // A write that was in flight when the node died is in doubt, and the receipt shows this. For a map, this can be several rows.
    const { unknown } = reading.receipt.calls;
    if (isInDoubt(kind, way, point)) expect(unknown).toBeGreaterThan(0);
    else if (!kind.endsWith("map")) expect(unknown).toBe(0);
    expect(reading.events.map(({ seq }) => seq)).toEqual(reading.events.map((_event, index) => index + 1));
    expect(reading.receipt.lastSeq).toBe(reading.events.length);
    expect(JSON.stringify(reading)).not.toContain("marker-");
    expect(await countTasks(bench)).toBe(0);
  },
);

test("a keyed write that was lost with its node is repeated within the lease and one try", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  let diedAt = 0;
  void bench.doom("in-send").then(() => {
    diedAt = bench.clock.now();
  });
  const id = await bench.submit({
    steps: [{ id: "note", call: "desk.send_keyed", entity: "ops", args: { text: "x" } }],
  });
  await untilMoved(() => {
    bench.clock.advance(20);
    return diedAt > 0;
  });
  const heir = bench.engine();
  await untilMoved(async () => {
    if ((await bench.read(id)).job.finishedAt !== null) return true;
    bench.clock.advance(heir.stats().held > 0 ? 1 : 500);
    heir.wake();
    return false;
  });
  const { job, receipt } = await bench.read(id);
  expect(job.status).toBe("succeeded");
  expect((job.finishedAt ?? 0) - diedAt).toBeLessThanOrEqual(35_000);
  expect(receipt.calls).toMatchObject({ unknown: 1, retried: 1 });
  expect(new Set(world.seen.map(({ key }) => key)).size).toBe(1);
});

async function countJobs({ db, projectId }: TestBench): Promise<number> {
  const rows = await db.sql.unsafe<{ id: string }[]>("select id from jobs where project_id = $1", [
    uuidOfId(projectId),
  ]);
  return rows.length;
}

function isAsking({ job }: JobReading): boolean {
  return job.status === "parked" && job.park?.["reason"] !== "wait";
}

/** Moves the clock until the lease has expired, and then until a lost call cannot be running any more. */
async function rescue(
  bench: TestBench,
  heir: Pick<JobEngine, "wake" | "stats">,
  id: Parameters<TestBench["read"]>[0],
): Promise<JobReading> {
  for (;;) {
    const reading = await bench.read(id);
    if (reading.job.finishedAt !== null || isAsking(reading)) return reading;
    // The clock moves slowly while the new engine runs the job. Otherwise, on a busy machine, the engine's own lease would expire.
    bench.clock.advance(heir.stats().held > 0 ? 100 : 5_000);
    heir.wake();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Checks that every write that reached the app twice without a key is counted as unknown, and that no write is missing. */
function expectHonest(seen: readonly SeenRequest[], { steps, receipt }: JobReading): void {
  const writes = seen.filter(({ method }) => method === "POST");
  // A write that is sent again with the same key has the same content, even if it is sent at a later time.
  for (const same of Map.groupBy(writes, ({ key }) => key ?? "").values()) {
    if (same[0]?.key !== undefined) expect(new Set(same.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  }
  const unkeyed = writes.filter(({ key }) => key === undefined).map(({ body }) => String(body["text"]));
  expect(unkeyed).toHaveLength(new Set(unkeyed).size);
  const keys = new Map(writes.map(({ key, body }) => [body["text"], key]));
  for (const { key, body } of writes) expect(key).toBe(keys.get(body["text"]));
  for (const step of Object.values(steps)) {
    const { rows, kind } = step;
    if (kind === "map")
      expect(rows?.in).toBe((rows?.ok ?? 0) + (rows?.failed ?? 0) + (rows?.skipped ?? 0) + (rows?.unknown ?? 0));
  }
  const deletes = seen.filter(({ method }) => method === "DELETE");
  expect(deletes.length).toBe(new Set(deletes.map(({ path }) => path)).size);
  if (receipt.saga.entries > 0 && receipt.saga.state === "compensated")
    expect(receipt.saga.done + receipt.saga.failed).toBe(receipt.saga.entries);
}
