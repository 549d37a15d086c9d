import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { JobSchema, type JobStep, JobStepSchema, StepReceiptSchema } from "@svc/gen/jobs";
import { expect, test } from "vitest";
import { readProgram } from "./program.ts";
import { type DrawnCall, jobTimes, rowsWords, timeWords, workedMs } from "./timeline-rows.ts";

const zero = 1_700_000_000_000;
const at = (ms: number) => timestampFromMs(zero + ms);

type Times = { from: number; to?: number; state?: string; attempt?: number; round?: number }[];
type Wait = { reason: string; since: number; until?: number; principalId?: string };

/** Returns a step as the service lists it. Times are in milliseconds after the start of the job. */
function step(stepId: string, state: string, times: Times = [], waits: Wait[] = []): JobStep {
  const [first, last] = [times[0], times.at(-1)];
  return create(JobStepSchema, {
    ...{ stepId, state, title: `does ${stepId}` },
    ...(first && { startedAt: at(first.from) }),
    ...(last?.to !== undefined && { finishedAt: at(last.to) }),
    spans: times.map(({ from, to, state: ended = "completed", attempt = 1, round = 0 }) => ({
      ...{ attempt, round, state: to === undefined ? "" : ended, startedAt: at(from) },
      ...(to !== undefined && { finishedAt: at(to) }),
    })),
    waits: waits.map(({ reason, since, until, principalId = "" }) => ({
      ...{ reason, principalId, since: at(since) },
      ...(until !== undefined && { until: at(until) }),
    })),
  });
}

function timesOf(steps: object[], listed: JobStep[], endMs?: number, calls: readonly DrawnCall[] = []) {
  const job = create(JobSchema, { createdAt: at(0), ...(endMs !== undefined && { finishedAt: at(endMs) }) });
  const now = { steps: new Map(listed.map((one) => [one.stepId, one])), receipts: new Map(), calls };
  const times = jobTimes(job, readProgram(JSON.stringify({ steps })), now);
  const barsOf = (id: string) =>
    times.rows
      .find((row) => row.id === id)
      ?.bars.map(({ from, to, look, number, words }) => [from - zero, to && to - zero, look, number, words]);
  return { times, barsOf };
}

const gather = {
  id: "gather",
  parallel: { a: [{ id: "deals", call: "sales_crm.list_deals" }], b: [{ id: "who", call: "messaging_bot.get_me" }] },
};

test("a block spans the steps inside it, which are rows below it, named by their branch", () => {
  const { times, barsOf } = timesOf(
    [gather],
    [
      step("gather", "completed", [{ from: 0, to: 1 }]),
      step("deals", "completed", [{ from: 1, to: 90 }]),
      step("who", "completed", [{ from: 2, to: 400 }]),
    ],
    500,
  );
  expect(barsOf("gather")).toEqual([[0, 400, "ok", 0, "done"]]);
  expect(times.rows.map(({ id, parent, level, block, title }) => [id, parent, level, block, title])).toEqual([
    ["gather", undefined, 1, "", "does gather"],
    ["deals", "gather", 2, "a", "does deals"],
    ["who", "gather", 2, "b", "does who"],
  ]);
  expect(workedMs(times, zero + 500)).toBe(399);
});

test("rounds and attempts are numbered bars on one line, and each says how it ended", () => {
  const { barsOf } = timesOf(
    [
      { id: "poll", until: "true", do: [{ id: "look", call: "a.b" }] },
      { id: "send", call: "a.c" },
    ],
    [
      step("poll", "completed", [{ from: 0, to: 90 }]),
      step("look", "completed", [
        { from: 0, to: 10, round: 1 },
        { from: 50, to: 60, round: 2 },
      ]),
      step("send", "completed", [
        { from: 100, to: 110, state: "failed" },
        { from: 900, to: 910, attempt: 2 },
      ]),
    ],
    1_000,
  );
  expect(barsOf("look")).toEqual([
    [0, 10, "ok", 1, "round 1, done"],
    [50, 60, "ok", 2, "round 2, done"],
  ]);
  expect(barsOf("send")).toEqual([
    [100, 110, "bad", 1, "attempt 1, failed"],
    [900, 910, "ok", 2, "attempt 2, done"],
  ]);
});

test("a wait says for whom, and a step does not work while it waits", () => {
  const { times, barsOf } = timesOf(
    [
      { id: "gate", judge: "sure" },
      { id: "remind", map: "deals", do: [{ id: "send", call: "bot.send_message" }] },
    ],
    [
      step(
        "gate",
        "completed",
        [{ from: 0, to: 5_000 }],
        [{ reason: "judgment", since: 10, until: 5_000, principalId: "lead" }],
      ),
      step("remind", "running", [{ from: 5_000 }], [{ reason: "paused", since: 6_000 }]),
    ],
  );
  expect(barsOf("gate")).toEqual([[10, 5_000, "wait", 0, "waited for lead"]]);
  expect(barsOf("remind")).toEqual([
    [5_000, undefined, "info", 0, "running"],
    [6_000, undefined, "wait", 0, "waiting while the job was paused"],
  ]);
  expect(times.waits.map(({ words }) => words)).toEqual(["for lead", "while the job was paused"]);
  expect(workedMs(times, zero + 9_000)).toBe(1_000);
  expect(times.rows.map(({ id, stepId, level, title }) => [id, stepId, level, title])).toEqual([
    ["gate", "gate", 1, "does gate"],
    ["remind", "remind", 1, "does remind"],
    ["remind/send", "remind", 2, "Send message"],
  ]);
});

test("an undone step is hatched; a step that did not begin has words in place of a time", () => {
  const { times, barsOf } = timesOf(
    [
      { id: "send", call: "a.b" },
      { id: "rest", wait: "1h" },
    ],
    [step("send", "undone", [{ from: 0, to: 10 }]), step("rest", "not_reached")],
    20,
  );
  expect(barsOf("send")).toEqual([[0, 10, "undone", 0, "undone"]]);
  expect(times.rows.map((row) => timeWords(row, zero))).toEqual(["10 ms", "not reached"]);
});

test("rows are said as people say them: some, none, of how many, failed", () => {
  const none = { in: 0, ok: 0, failed: 0, skipped: 0, unknown: 0 };
  const words = (one: Partial<JobStep>, rows?: Partial<typeof none>) =>
    rowsWords(
      create(JobStepSchema, one as object),
      rows === undefined ? undefined : create(StepReceiptSchema, { rows: { ...none, ...rows } }),
    );
  expect(words({ state: "completed", rowsMade: 3 })).toBe("3 rows");
  expect(words({ state: "completed", rowsDone: 3, rowsMade: 1 }, { in: 3, ok: 1 })).toBe("1 of 3");
  expect(words({ state: "completed", rowsDone: 1 }, { in: 1, ok: 1 })).toBe("1 row");
  expect(words({ state: "completed" }, {})).toBe("no rows");
  expect(words({ state: "failed", rowsDone: 3 }, { in: 3, ok: 1, failed: 2 })).toBe("2 failed");
  expect(words({ state: "running", rowsDone: 12, rowsRemaining: 1_188 })).toBe("12/1,200");
  expect(words({ state: "waiting" })).toBe("");
});

test("each call of a map is a bar of its row, failures are counted, and two calls of one tool have none", () => {
  const call = (id: string, toolSlug: string, outcome: string, ms: number): DrawnCall => ({
    ...{ id, stepId: "remind", toolSlug, outcome, createdAt: at(ms), durationMs: 20 },
  });
  const send = { id: "send", call: "messaging_bot.send_message" };
  const remind = { id: "remind", map: "deals", do: [send, { id: "note", call: "sales_crm.update_deal" }] };
  const listed = [step("remind", "failed", [{ from: 0, to: 100, state: "failed" }])];
  const calls = [call("c1", send.call, "ok", 10), call("c2", "sales_crm.update_deal", "provider_error", 40)];
  const { times, barsOf } = timesOf([remind], listed, 100, calls);
  expect(barsOf("remind/send")).toEqual([[10, 30, "ok", 0, "ok"]]);
  expect(barsOf("remind/note")).toEqual([[40, 60, "bad", 0, "app error"]]);
  expect(times.rows.map(({ rows }) => rows)).toEqual(["", "1 call", "1 failed"]);
  expect(workedMs(times, zero + 100)).toBe(100);
  const twice = timesOf([{ ...remind, do: [send, { ...send, id: "again" }] }], listed, 100, calls);
  expect(twice.barsOf("remind/send")).toEqual([]);
});
