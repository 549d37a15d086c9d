import type { Id } from "@svc/core";
import { uuidOfId } from "@svc/core";
import { createWorld } from "@svc/testing/desk";
import type { TestBench } from "@svc/testing/job-bench";
import { createBenches, sendAll } from "@svc/testing/job-benches";
import { untilMoved } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";
import { goOn } from "./test-parks.ts";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const doubt = {
  points: {
    doubt: { question: "Done?", continuations: ["proceed", "skip", "abort"], escalation: [{ principal: "owner" }] },
  },
};
const onRows = { onRows: { unknown: "doubt" } };

/** Returns how many calls of the job's map step are in the ledger, by outcome. */
async function ledgerOf({ db }: TestBench, jobId: Id<"job">): Promise<Readonly<Record<string, number>>> {
  const found = await db.sql<{ outcome: string; n: number }[]>`
    select outcome, count(*)::int4 as n from tool_calls where job_id = ${uuidOfId(jobId)}::uuid and step_id = 'send' group by 1`;
  return Object.fromEntries(found.map(({ outcome, n }) => [outcome, n]));
}

/**
 * Runs a map step with a tool on a node that dies before it commits the outcomes of its calls. Then runs the job on a second node until it
 * ends or asks a question.
 */
async function loseCommit(tool: string) {
  const world = createWorld({ items: 30 });
  const bench = await benches.bench(world);
  const program =
    tool === "desk.get_item"
      ? sendAll({ do: [{ id: "note", call: tool, entity: "ops", args: { id: { $ref: "row.id" } } }] })
      : sendAll(onRows, { ...doubt, tool });
  // The first commit stores that the step has begun. The clock does not move, so the next commit would store all rows.
  let hasBegun = false;
  const doomed = bench.doom("before-commit", 1, (stepId) => {
    const isNext = hasBegun;
    hasBegun ||= stepId === "send";
    return isNext;
  });
  const id = await bench.submit(program, { engine: doomed.engine });
  await doomed;
  const sent = world.seen.filter(({ path }) => path !== "/items").length;
  const left = await ledgerOf(bench, id);
  const engine = bench.engine();
  const over = await goOn(bench, engine, id, ({ job }) => job.finishedAt !== null || job.status === "parked");
  return { bench, world, id, engine, sent, left, over };
}

test("what writes came to is known though their commit was lost with the node: none is sent again, and none is in doubt", async () => {
  const { world, sent, left, over } = await loseCommit("desk.send_note");
  expect(sent).toBe(30);
  expect(left).toEqual({ ok: 30 });
  expect(over.job.status).toBe("succeeded");
  expect(over.steps["send"]).toMatchObject({ rows: { in: 30, ok: 30 } });
  expect(world.seen.filter(({ method }) => method === "POST")).toHaveLength(30);
});

test("the ledger of reads is lost with the node: they are made again, and recorded once", async () => {
  const { bench, world, id, left, over } = await loseCommit("desk.get_item");
  expect(left).toEqual({});
  expect(over.job.status).toBe("succeeded");
  expect(over.steps["send"]).toMatchObject({ rows: { in: 30, ok: 30 }, calls: { read: 30 } });
  expect(over.job.used.toolCalls).toBe(31);
  expect(world.seen.filter(({ path }) => path.startsWith("/items/"))).toHaveLength(60);
  expect(await ledgerOf(bench, id)).toEqual({ ok: 30 });
});

test("a row that takes long holds up no other, and what ended beside it is kept when the node dies", async () => {
  const world = createWorld({ items: 1_100 });
  const slow = Promise.withResolvers<undefined>();
  world.script = ({ body }) => (body["text"] === "i3" ? slow.promise : undefined);
  const bench = await benches.bench(world);
  const id = await bench.submit(
    sendAll({ ...onRows, concurrency: 16 }, { ...doubt, limits: { writes: 5_000, concurrency: 16 } }),
  );
  // The slow row is answered last.
  const doomed = bench.doom("in-send", 1_000);
  // Waits until as many rows have ended as the first unfinished row allows.
  await untilMoved(async () => {
    bench.clock.advance(20);
    return (await bench.read(id)).steps["send"]?.rows?.ok === 999;
  });
  expect(world.seen.filter(({ method }) => method === "POST")).toHaveLength(1_000);
  slow.resolve(undefined);
  await doomed;
  const engine = bench.engine();
  const asked = await goOn(bench, engine, id, ({ job }) => job.finishedAt !== null || job.status === "parked");
  expect(asked.steps["send"]?.rows).toMatchObject({ in: 1_100, ok: 1_099, unknown: 1 });
  await bench.answer(id, { continuation: "proceed" });
  const { job } = await goOn(bench, engine, id, (reading) => reading.job.finishedAt !== null);
  expect(job.status).toBe("succeeded");
  const texts = world.seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);
  expect(texts).toHaveLength(1_100);
  expect(new Set(texts).size).toBe(1_100);
});
