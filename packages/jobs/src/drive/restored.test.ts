import { noteRestore, resumeRestored } from "@svc/db/restores/repo";
import { createWorld, type SeenRequest } from "@svc/testing/desk";
import { createBenches, sendAll } from "@svc/testing/job-benches";
import { until } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";
import { retry } from "./test-parks.ts";

// Tests of jobs in a database that was restored from a backup. The original database may have continued these jobs after the backup.

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

type Bench = Awaited<ReturnType<typeof benches.bench>>;
const note = { id: "note", call: "desk.send_note", entity: "ops", args: { text: "once" } };
const keyed = { id: "keyed", call: "desk.send_keyed", entity: "ops", args: { text: "keyed" } };
const look = { id: "look", call: "desk.get_item", entity: "ops", args: { id: "i1" } };

const textsOf = (seen: readonly SeenRequest[]) =>
  seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);

let restores = 0;

/** Marks the database as restored from a backup and then resumed, together with its jobs. */
async function restored({ db, clock }: Bench, isNothingSince = false): Promise<number> {
  const backupEndsAt = clock.now();
  clock.advance(60_000);
  await noteRestore(db, { key: `restore-${++restores}`, backupEndsAt }, clock.now());
  clock.advance(60_000);
  const resumed = await resumeRestored(db, { nowMs: clock.now(), isNothingSince });
  expect(resumed?.restore).toMatchObject({ backupEndsAt, isNothingSince });
  return backupEndsAt;
}

test("what a job from before a restore would write is in doubt where the app takes no keys; reads and keyed writes are made", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  const id = await bench.submit({ steps: [look, keyed, note] });
  const endsAt = await restored(bench);
  bench.engine();
  const parked = await bench.reach(id, "parked");
  expect(parked.job.park?.reason).toBe("in_doubt");
  expect(textsOf(world.seen)).toEqual(["keyed"]);
  expect(world.seen.map(({ path }) => path)).toContain("/items/i1");
  const calls = await bench.db.sql`select outcome from tool_calls where tool_slug = 'desk.send_note'`;
  expect(calls).toEqual([{ outcome: "outcome_unknown" }]);
  expect(parked.job.restoredFrom).toBe(endsAt);
  await bench.answer(id, { continuation: "proceed" });
  const ended = await bench.reach(id, "succeeded");
  expect(ended.steps["note"]).toMatchObject({ state: "completed", calls: { unknown: 1 } });
  expect(textsOf(world.seen)).toEqual(["keyed"]);
});

test("a doubt is the same however often it is come to, and another attempt sends the write where that is wanted", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  const id = await bench.submit({ steps: [note] });
  await restored(bench);
  const died = bench.doom("after-call");
  await died;
  bench.clock.advance(200_000);
  const engine = bench.engine();
  await bench.reach(id, "parked");
  await bench.answer(id, { continuation: "abort" });
  await bench.reach(id, "aborted");
  expect(textsOf(world.seen)).toEqual([]);
  expect(await retry(bench, engine, id, { resendsUnknown: true })).toEqual({ outcome: "done" });
  const ended = await bench.reach(id, "succeeded");
  expect(textsOf(world.seen)).toEqual(["once"]);
  expect(ended.job.restoredFrom).toBeNull();
});

test("rows of a map are in doubt one by one, and those of jobs that another one runs, too", async () => {
  const world = createWorld({ items: 3 });
  const bench = await benches.bench(world);
  const map = await bench.submit(sendAll());
  const run = { id: "use", run: "skills.write", input: {} };
  const parent = await bench.submit({ steps: [run] }, { skills: { write: { steps: [note] } } });
  await restored(bench);
  bench.engine();
  const ended = await bench.reach(map, "succeeded", "failed", "parked");
  expect(ended.steps["send"]?.rows).toMatchObject({ in: 3, ok: 0, unknown: 3 });
  let children: { status: string; restored: boolean }[] = [];
  await until(async () => {
    children = await bench.db
      .sql`select status, restored_from is not null as restored from jobs where parent_job_id is not null`;
    return children[0]?.status === "parked";
  });
  expect(children).toEqual([{ status: "parked", restored: true }]);
  expect((await bench.read(parent)).job.finishedAt).toBeNull();
  expect(textsOf(world.seen)).toEqual([]);
});

test("nothing is in doubt where nothing was sent since the backup, nor of jobs that the restored store was given itself", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  const before = await bench.submit({ steps: [note] });
  await restored(bench, true);
  const later = await bench.submit({ steps: [note] });
  bench.engine();
  await bench.reach(before, "succeeded");
  await bench.reach(later, "succeeded");
  expect(textsOf(world.seen)).toEqual(["once", "once"]);
  expect(await resumeRestored(bench.db, { nowMs: bench.clock.now(), isNothingSince: false })).toBeUndefined();
});
