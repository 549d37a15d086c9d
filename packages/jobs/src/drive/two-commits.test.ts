import { type Id, uuidOfId } from "@svc/core";
import { createWorld } from "@svc/testing/desk";
import type { TestBench } from "@svc/testing/job-bench";
import { createBenches, fetchItems } from "@svc/testing/job-benches";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const call = (id: string, tool: string, args: object) => ({ id, call: tool, entity: "ops", args });
const note = call("note", "desk.send_note", { text: "x" });
const read = call("item", "desk.get_item", { id: "i1" });

/** Creates an app that answers each request only after the test has released it. */
function heldWorld() {
  const world = createWorld();
  const going: (() => void)[] = [];
  world.script = async () => {
    await new Promise<void>((resolve) => going.push(resolve));
    return undefined;
  };
  return {
    world,
    letGo: () => {
      for (const go of going.splice(0)) go();
    },
  };
}

/** Returns the transactions that last wrote the rows of a job, by table. Tables without a row of the job are left out. */
async function transactionsOf({ db }: TestBench, jobId: Id<"job">) {
  const rows = await db.sql.unsafe<{ name: string; xmin: string }[]>(
    `select 'job' as name, xmin::text from jobs where id = $1 union all
     select 'step', xmin::text from job_steps where job_id = $1 union all
     select 'call ' || outcome, xmin::text from tool_calls where job_id = $1 union all
     select 'task', xmin::text from job_tasks where job_id = $1 union all
     select distinct 'log', max(xmin::text) from job_events where job_id = $1`,
    [uuidOfId(jobId)],
  );
  return { names: rows.map(({ name }) => name).sort(), count: new Set(rows.map(({ xmin }) => xmin)).size };
}

/**
 * Returns for each column in which a job's data is encrypted the sizes of its values in bytes. A column without values has an empty list.
 */
async function sealedSizesOf({ db }: TestBench, jobId: Id<"job">) {
  const [row] = await db.sql.unsafe<Record<string, number[]>[]>(
    `select array(select octet_length(progress) from jobs where id = $1 and progress is not null) as progress,
       array(select octet_length(output) from job_steps where job_id = $1 and output is not null) as outputs,
       array(select octet_length(arguments) from tool_calls where job_id = $1) as arguments,
       array(select octet_length(coalesce(result, sealed_message)) from tool_calls
         where job_id = $1 and coalesce(result, sealed_message) is not null) as results`,
    [uuidOfId(jobId)],
  );
  return row;
}

async function outcomesOf({ db }: TestBench, jobId: Id<"job">): Promise<string[]> {
  const rows = await db.sql.unsafe<{ outcome: string }[]>("select outcome from tool_calls where job_id = $1", [
    uuidOfId(jobId),
  ]);
  return rows.map(({ outcome }) => outcome);
}

test.each([undefined, "k"])(
  "a write of a job that begins at once is in the ledger with its submission, and its end with the job's (key %s)",
  async (idempotencyKey) => {
    const { world, letGo } = heldWorld();
    const bench = await benches.bench(world);
    const engine = bench.engine();
    const id = await bench.submit({ steps: [note] }, { engine, ...(idempotencyKey && { idempotencyKey }) });
    await until(() => world.seen.length === 1);
    expect((await bench.read(id)).job.status).toBe("running");
    expect(await transactionsOf(bench, id)).toEqual({
      names: ["call running", "job", "log", "step", "task"],
      count: 1,
    });
    letGo();
    await bench.reach(id, "succeeded");
    expect(await transactionsOf(bench, id)).toEqual({ names: ["call ok", "job", "log", "step"], count: 1 });
  },
);

test("a job of one write encrypts one value: the output of its step", async () => {
  const { world, letGo } = heldWorld();
  const bench = await benches.bench(world);
  const id = await bench.submit({ steps: [note] }, { engine: bench.engine() });
  await until(() => world.seen.length === 1);
  expect(await sealedSizesOf(bench, id)).toEqual({ progress: [0], outputs: [], arguments: [0], results: [] });
  letGo();
  await bench.reach(id, "succeeded");
  const ended = { progress: [], outputs: [expect.any(Number)], arguments: [0], results: [] };
  expect(await sealedSizesOf(bench, id)).toEqual(ended);
});

test("between two writes the end of the first and the beginning of the second are one commit", async () => {
  const { world, letGo } = heldWorld();
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit({ steps: [note, { ...note, id: "other" }] });
  await until(() => world.seen.length === 1);
  letGo();
  await until(() => world.seen.length === 2);
  expect(await transactionsOf(bench, id)).toMatchObject({
    names: ["call ok", "call running", "job", "log", "step", "step", "task"],
  });
  const rows = await bench.db.sql.unsafe<{ xmin: string }[]>("select xmin::text from tool_calls where job_id = $1", [
    uuidOfId(id),
  ]);
  expect(new Set(rows.map(({ xmin }) => xmin)).size).toBe(1);
  letGo();
  expect((await bench.reach(id, "succeeded")).receipt.calls).toMatchObject({ write: 2, unknown: 0 });
});

test("what a call came to is committed before a step that makes none", async () => {
  const { world, letGo } = heldWorld();
  const bench = await benches.bench(world);
  const held = Promise.withResolvers<void>();
  let commits = 0;
  // The second commit of the job stores the call, and the third commit ends the job.
  bench.engine({ onFaultPoint: (at) => (at === "before-commit" && ++commits === 3 ? held.promise : undefined) });
  // biome-ignore lint/suspicious/noThenProperty: that is what programs call it
  const branch = { id: "branch", if: "1 == 1", then: [{ id: "rest", wait: "1s" }] };
  const id = await bench.submit({ steps: [note, branch] });
  await until(() => world.seen.length === 1);
  letGo();
  await until(() => commits === 3);
  expect(await outcomesOf(bench, id)).toEqual(["ok"]);
  held.resolve();
  await bench.reach(id, "parked");
});

test.each([
  ["write", note],
  ["read", read],
])(
  "of two jobs whose ends come together one has lost its lease: its %s is recorded, and not sent again",
  async (kind, step) => {
    const { world, letGo } = heldWorld();
    const bench = await benches.bench(world);
    const leasesLost: string[] = [];
    const engine = bench.engine({ leasesLost });
    const [lost, other] = (await Promise.all([1, 2].map(() => bench.submit({ steps: [step] }, { engine })))) as [
      Id<"job">,
      Id<"job">,
    ];
    await until(() => world.seen.length === 2);
    await bench.db.sql.unsafe("update job_tasks set lease_token = lease_token + 1 where job_id = $1", [uuidOfId(lost)]);
    letGo();
    await bench.reach(other, "succeeded");
    await until(() => leasesLost.length === 1);
    // The outcome is in the ledger before another node takes the job.
    expect(await outcomesOf(bench, lost)).toEqual(["ok"]);
    expect((await bench.read(lost)).job.status).toBe("running");
    await untilMoved(async () => {
      // The clock does not move while the engine has the job. Otherwise a slow machine would lose its new lease as well.
      if (engine.stats().held === 0) bench.clock.advance(5_000);
      engine.wake();
      letGo();
      return (await bench.read(lost)).job.status === "succeeded";
    });
    const { receipt } = await bench.read(lost);
    expect(receipt.calls.unknown).toBe(0);
    // A read may be sent again; a write may not.
    expect(world.seen.length).toBe(kind === "read" ? 3 : 2);
  },
);

test("the outcome of a call is recorded where the commit that was to do it fails", async () => {
  const { world, letGo } = heldWorld();
  const bench = await benches.bench(world);
  const engine = bench.engine({ quiet: true });
  const id = await bench.submit({ steps: [note] }, { engine });
  await until(() => world.seen.length === 1);
  await bench.db.sql`alter table job_steps rename to job_steps_away`;
  letGo();
  await until(async () => (await outcomesOf(bench, id))[0] === "ok");
  await bench.db.sql`alter table job_steps_away rename to job_steps`;
  await untilMoved(async () => {
    bench.clock.advance(1_000);
    engine.wake();
    return (await bench.read(id)).job.status === "succeeded";
  });
  expect(world.seen).toHaveLength(1);
  expect((await bench.read(id)).receipt.calls).toMatchObject({ write: 1, unknown: 0 });
});

test("a call that is refused before it is sent begins its job all the same", async () => {
  const bench = await benches.bench();
  const engine = bench.engine();
  const id = await bench.submit({ steps: [{ ...note, entity: "nobody" }] }, { engine });
  const { job, events } = await bench.reach(id, "failed");
  expect(job.lastError).toContain("no_account");
  expect(events.map(({ type }) => type).slice(0, 3)).toEqual(["job-submitted", "job-status-changed", "step-started"]);
  expect(await outcomesOf(bench, id)).toEqual(["no_account"]);
});

test("a job whose first step makes no call begins with its submission, too", async () => {
  const bench = await benches.bench();
  const id = await bench.submit(
    { steps: [{ id: "rest", wait: "10s" }, fetchItems()] },
    { engine: { reserve: bench.engine().reserve, wake: () => {} } },
  );
  const { events } = await bench.reach(id, "parked");
  expect(events.slice(0, 2).map(({ type }) => type)).toEqual(["job-submitted", "job-status-changed"]);
});
