import { expect, test } from "vitest";
import type { ProjectId } from "../ids/id.ts";
import { type BlockedLoop, createWorkMeter } from "./work-meter.ts";

const projectId = (name: string) => `prj_${name}` as ProjectId;
const nextRound = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** Keeps the CPU busy for `ms` milliseconds. */
function toil(ms: number): void {
  const before = process.threadCpuUsage();
  for (;;) {
    const { user, system } = process.threadCpuUsage(before);
    if ((user + system) / 1_000 >= ms) return;
  }
}

test("who takes turns delays a stranger by one of them a round, and projects alternate", async () => {
  const meter = createWorkMeter();
  const order: string[] = [];
  const worker = async (name: string, rounds: number) => {
    const work = meter.begin({ projectId: projectId(name) });
    for (let round = 0; round < rounds; round++) {
      await work.turn();
      order.push(name);
    }
  };
  const all = Promise.all([worker("a", 3), worker("a", 3), worker("a", 3), worker("b", 3)]);
  const lengths: number[] = [];
  while (order.length < 12) {
    await nextRound();
    lengths.push(order.length);
  }
  await all;
  expect(lengths.every((length, index) => length - (lengths[index - 1] ?? 0) <= 1)).toBe(true);
  expect(order.slice(0, 6).filter((name) => name === "b")).toHaveLength(3);
});

test("a part that holds the loop is named with its owner, and its time is charged to its project", async () => {
  const meter = createWorkMeter({ blockedMs: 100 });
  const held: BlockedLoop[] = [];
  meter.onBlocked((each) => void held.push(each));
  const owner = { projectId: projectId("a"), callId: "call_1" };
  const work = meter.begin(owner);
  work.run(() => toil(5));
  expect(held).toEqual([]);
  work.run(() => work.run(() => toil(110)));
  expect(held).toEqual([{ ...owner, ms: expect.any(Number), isMeasured: true }]);
  expect(work.spent.ms).toBeGreaterThanOrEqual(115);
  expect(meter.spentMs().get(owner.projectId)).toBe(work.spent.ms);
});

test("a part that waits for the processor does not count as blocking, whichever work ran before it", () => {
  const meter = createWorkMeter({ blockedMs: 100 });
  const held: BlockedLoop[] = [];
  meter.onBlocked((each) => void held.push(each));
  meter.begin({ projectId: projectId("a") }).run(() => toil(80));
  const stalled = new Int32Array(new SharedArrayBuffer(4));
  meter.begin({ projectId: projectId("b") }).run(() => void Atomics.wait(stalled, 0, 0, 120));
  // On a busy machine, the 80 ms of the other project may take 100 ms, so it must not be reported as blocking.
  expect(held.map((each) => each.projectId)).not.toContain("prj_b");
});

test("what no part was timed of is put down to who was at work for most of the time", async () => {
  const meter = createWorkMeter({ blockedMs: 40, checkMs: 5 });
  const held: BlockedLoop[] = [];
  meter.onBlocked((each) => void held.push(each));
  meter.start();
  const other = meter.begin({ projectId: projectId("b") });
  await nextRound();
  const work = meter.begin({ projectId: projectId("a"), callId: "req_1" });
  work.atWork();
  toil(60);
  other.atWork();
  await new Promise((resolve) => void setTimeout(resolve, 20));
  meter.stop();
  expect(held[0]).toMatchObject({ projectId: projectId("a"), callId: "req_1", isMeasured: false });
});

test("a budget says when a bound is passed, and counts on", () => {
  const work = createWorkMeter().begin({ projectId: "" }, { steps: 10, bytes: 5 });
  expect(work.charge({ steps: 10, ms: 1_000 })).toBe(true);
  expect(work.charge({ bytes: 6 })).toBe(false);
  expect(work.charge({})).toBe(false);
  expect(work.spent).toEqual({ steps: 10, bytes: 6, ms: 1_000 });
});
