import { createThreadPool, createWorkMeter, type ThreadPool } from "@svc/core";
import { afterAll, expect, test } from "vitest";
import { createEvaluator, evaluationThread } from "./evaluator.ts";

const pool = createThreadPool({ entry: evaluationThread });
afterAll(() => pool.close());

const work = createWorkMeter().begin({ projectId: "" });
const notDue = { work, isDue: () => false };
const where = (source: string) => ({ source, pointer: "/steps/0/where" });

/** Returns a thread pool that counts its tasks. */
function counting(threads: ThreadPool): ThreadPool & { tasks: number } {
  return {
    ...threads,
    tasks: 0,
    run(task) {
      this.tasks++;
      return threads.run(task);
    },
  };
}

test("what is cheap is evaluated where it is asked for, whatever its number", async () => {
  const counted = counting(pool);
  const evaluator = createEvaluator(counted);
  const rows = Array.from({ length: 500 }, (_, n) => ({ n, tags: ["a", `t${n % 3}`], name: `name ${n}` }));
  const source = "row.n >= params.least && row.tags.exists(t, t == 't1') && row.name.matches('^name [0-9]+$')";
  const outcomes = await evaluator.testRows(where(source), rows, { params: { least: 250 } }, notDue);
  expect(outcomes.map((outcome) => "value" in outcome && outcome.value)).toEqual(
    rows.map(({ n }) => n >= 250 && n % 3 === 1),
  );
  expect(counted.tasks).toBe(0);
});

test("what may be expensive is evaluated in a thread, with the same answers", async () => {
  const counted = counting(pool);
  const evaluator = createEvaluator(counted);
  const long = "a".repeat(8_000);
  const rows = Array.from({ length: 30 }, (_, n) => ({ text: n % 2 === 0 ? long : `${long}b`, id: 2 ** 53 - 1 - n }));
  const outcomes = await evaluator.testRows(
    where("row.text.matches('^(a|aa)+$') && row.id > 1.0"),
    rows,
    { params: {} },
    notDue,
  );
  expect(outcomes).toEqual(rows.map((_, n) => ({ value: n % 2 === 0 })));
  expect(counted.tasks).toBeGreaterThan(0);
  expect(counted.tasks).toBeLessThanOrEqual(rows.length);
});

test("an evaluation that multiplies texts, patterns and items is stopped, at the loop's cost of a message", async () => {
  const evaluator = createEvaluator(pool);
  const params = { list: Array.from({ length: 1_000 }, () => 1), long: "a".repeat(50_000) };
  for (const source of [
    "params.list.all(x, !params.long.matches('^(a|aa)+$b'))",
    "params.list.all(x, params.long.contains(params.long + 'b') || !params.long.contains('b' + params.long))",
  ]) {
    const before = process.cpuUsage();
    const outcome = await evaluator.test(where(source), { params }, work);
    expect(outcome).toMatchObject({ isTooExpensive: true });
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(4_000);
  }
});

test("what no step counts is stopped by the time that its thread has used", async () => {
  const quick = createEvaluator({ ...pool, run: (task) => pool.run({ ...task, cpuMsMax: 100 }) });
  // Two long lists that differ only in their last item. The expression compares them a thousand times.
  const a = Array.from({ length: 40_000 }, () => [1]);
  const params = { list: Array.from({ length: 1_000 }, () => 1), a, b: [...a.slice(1), [2]] };
  const outcome = await quick.test(where("params.list.all(x, params.a != params.b)"), { params }, work);
  expect(outcome).toMatchObject({ isTooExpensive: true });
  // The thread was stopped, and the pool continues with another thread.
  const long = "a".repeat(20_000);
  const next = await createEvaluator(pool).test(where("params.a.matches('^(a|aa)+$')"), { params: { a: long } }, work);
  expect(next).toEqual({ value: true });
});

test("rows that take long are given back in part when somebody waits", async () => {
  const evaluator = createEvaluator(pool);
  const rows = Array.from({ length: 400 }, () => ({ text: "a".repeat(20_000) }));
  const outcomes = await evaluator.testRows(
    where("row.text.matches('^(a|aa)+$')"),
    rows,
    {},
    { work, isDue: () => true },
  );
  expect(outcomes.length).toBeGreaterThan(0);
  expect(outcomes.length).toBeLessThan(rows.length);
});
