import { createWorld } from "@svc/testing/desk";
import { countTasks, createBenches, fetchItems, sendAll, typesOf } from "@svc/testing/job-benches";
import { until } from "@svc/testing/until";
import { afterAll, afterEach, expect, test } from "vitest";

const benches = createBenches();
afterEach(benches.stop);
afterAll(benches.drop);

const ladder = [{ principal: "owner" }];

/** Returns the steps of a program: a question about the filtered items, and a send after it. */
function judged(continuations: readonly string[] = ["proceed", "retry-with", "skip", "abort"]) {
  return {
    params: { least: 1.0 },
    steps: [
      fetchItems(),
      { id: "some", filter: "items", where: "row.n >= params.least" },
      { id: "gate", judge: "many", when: "rows.some > 1" },
      {
        id: "send",
        map: "some",
        do: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text: { $ref: "row.id" } } }],
      },
      { id: "last", call: "desk.get_item", entity: "ops", args: { id: "x" } },
    ],
    points: {
      many: {
        question: "{rows.some} would go out. Continue?",
        continuations,
        overrides: { target: "params", rerunFrom: "some" },
        answerSchema: { type: "object", additionalProperties: false, properties: { least: { type: "number" } } },
        escalation: ladder,
      },
    },
  };
}

test("a judge parks the job without a task, and the answer proceed goes on", async () => {
  const bench = await benches.bench();
  bench.engine();
  const id = await bench.submit(judged());
  const parked = await bench.reach(id, "parked", "failed");
  expect(parked.job.lastError).toBe("");
  expect(parked.job.park).toMatchObject({
    reason: "judgment",
    stepId: "gate",
    judgment: { pointId: "many", question: "2 would go out. Continue?" },
  });
  expect(parked.job.deadlineAt).toBeNull();
  expect(await countTasks(bench)).toBe(0);
  bench.clock.advance(5 * 86_400_000);
  await bench.answer(id, { continuation: "proceed", note: "go" });
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.steps["gate"]).toMatchObject({
    state: "completed",
    decision: { continuation: "proceed", note: "go" },
  });
  expect(reading.steps["send"]).toMatchObject({ rows: { ok: 2 } });
  expect(reading.receipt.asks).toMatchObject({ raised: 1, answered: 1 });
  // The deadline's clock did not run while the job waited for a person.
  expect(reading.receipt.limits.used.deadlineSeconds).toBe(0);
  expect(reading.events.find(({ payload }) => payload["from"] === "parked")?.chain.at(-1)).toBe("contact:owner");
});

test("in a question the name of what an app left out stands in its place", async () => {
  const world = createWorld();
  world.script = ({ path }) => (path === "/items/x" ? { status: 200, body: { id: "x", text: null } } : undefined);
  const bench = await benches.bench(world);
  bench.engine();
  const steps = [
    { id: "look", call: "desk.get_item", entity: "ops", args: { id: "x" } },
    { id: "gate", judge: "fine" },
  ];
  const question = "Is {steps.look.text} of {steps.look.id} fine?";
  const fine = { question, continuations: ["proceed", "abort"], escalation: ladder };
  const id = await bench.submit({ steps, points: { fine } });
  const { job } = await bench.reach(id, "parked", "failed");
  expect(job.park?.judgment?.question).toBe("Is (no steps.look.text) of x fine?");
  await bench.answer(id, { continuation: "proceed" });
  await bench.reach(id, "succeeded");
});

test("a question takes what an app answered, without the characters that the store does not keep", async () => {
  const world = createWorld();
  world.script = ({ path }) =>
    path === "/items/x" ? { status: 200, body: { id: "x", text: "a\0b\ud83d" } } : undefined;
  const bench = await benches.bench(world);
  bench.engine();
  const steps = [
    { id: "look", call: "desk.get_item", entity: "ops", args: { id: "x" } },
    { id: "gate", judge: "fine" },
  ];
  const fine = { question: "Is {steps.look.text} fine?", continuations: ["proceed", "abort"], escalation: ladder };
  const id = await bench.submit({ steps, points: { fine } });
  const { job } = await bench.reach(id, "parked", "failed");
  expect(job.park?.judgment?.question).toBe("Is a\ufffdb\ufffd fine?");
  await bench.answer(id, { continuation: "proceed" });
  await bench.reach(id, "succeeded");
});

test("retry-with changes the params, goes back to rerunFrom and makes the sets anew", async () => {
  const world = createWorld({ items: 6 });
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit(judged());
  await bench.reach(id, "parked");
  await bench.answer(id, { continuation: "retry-with", overridesJson: '{"least": 5}' });
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.steps["some"]).toMatchObject({ attempts: 2, rows: { in: 6, ok: 1 } });
  expect(reading.steps["gate"]?.state).toBe("skipped");
  expect(world.seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"])).toEqual(["i5"]);
  expect(reading.events.find(({ type }) => type === "overrides-applied")?.payload).toEqual({
    target: "params",
    names: ["least"],
  });
});

test("skip skips the next step", async () => {
  const world = createWorld();
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit(judged());
  await bench.reach(id, "parked");
  await bench.answer(id, { continuation: "skip" });
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.steps["send"]?.state).toBe("skipped");
  expect(reading.steps["last"]?.state).toBe("completed");
  expect(world.seen.some(({ method }) => method === "POST")).toBe(false);
});

test("abort ends the job in the transaction that settles the ask", async () => {
  const bench = await benches.bench();
  const engine = bench.engine();
  const id = await bench.submit(judged());
  await bench.reach(id, "parked");
  await engine.drain(0);
  await bench.answer(id, { continuation: "abort" });
  const reading = await bench.read(id);
  expect(reading.job.status).toBe("aborted");
  expect(reading.receipt).toMatchObject({ outcome: "partial", lastSeq: reading.events.length });
  expect(await countTasks(bench)).toBe(0);
});

test("a cancelled job withdraws its ask", async () => {
  const bench = await benches.bench();
  bench.engine();
  const id = await bench.submit(judged());
  await bench.reach(id, "parked");
  await bench.cancel(id);
  const reading = await bench.reach(id, "cancelled");
  expect(reading.receipt.asks).toMatchObject({ raised: 1, withdrawn: 1 });
  expect(typesOf(reading).slice(-2)).toEqual(["ask-withdrawn", "job-status-changed"]);
  expect(reading.receipt.lastSeq).toBe(reading.events.length);
  expect(await countTasks(bench)).toBe(0);
});

test("a limit on asks fails the step instead of asking", async () => {
  const bench = await benches.bench();
  bench.engine();
  const id = await bench.submit({ ...judged(), limits: { asks: 0 } });
  const reading = await bench.reach(id, "failed", "parked");
  expect(reading.job.lastError).toMatch(/^LIMIT_REACHED/);
});

const rowPoints = {
  points: {
    rowsFailed: {
      question: "Some failed.",
      continuations: ["proceed", "retry-with", "skip", "abort"],
      escalation: ladder,
    },
    rowsUnknown: { question: "Some are in doubt.", continuations: ["proceed", "skip", "abort"], escalation: ladder },
  },
};
const onRows = { onRows: { failed: "rowsFailed", unknown: "rowsUnknown" } };

test("rows in doubt are asked about first, then those that failed; each answer does its part", async () => {
  const world = createWorld({ items: 6 });
  let isRepaired = false;
  world.script = ({ body }) => {
    if (body["text"] === "i1") return "timeout";
    return body["text"] === "i3" && !isRepaired ? { status: 422 } : undefined;
  };
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit(sendAll(onRows, rowPoints));
  const first = await bench.reach(id, "parked", "failed");
  expect(first.job.lastError).toBe("");
  expect(first.job.park).toMatchObject({
    judgment: { pointId: "rowsUnknown", counts: { in: 6, ok: 4, failed: 1, unknown: 1 } },
  });
  isRepaired = true;
  await bench.answer(id, { continuation: "proceed" });
  const second = await bench.reach(id, "parked");
  expect(second.job.park).toMatchObject({
    judgment: { pointId: "rowsFailed", counts: { in: 6, ok: 5, failed: 1, unknown: 0 } },
  });
  await bench.answer(id, { continuation: "retry-with" });
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.steps["send"]).toMatchObject({
    state: "completed",
    attempts: 2,
    rows: { in: 6, ok: 6, failed: 0, unknown: 0 },
  });
  expect(reading.steps["send"]?.calls).toMatchObject({ write: 7, unknown: 1 });
  const sent = world.seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);
  expect(sent.filter((text) => text === "i1")).toHaveLength(1);
  expect(sent.filter((text) => text === "i3")).toHaveLength(2);
});

test("skip marks failed rows skipped, and the step is partial", async () => {
  const world = createWorld({ items: 4 });
  world.script = ({ body }) => (body["text"] === "i2" ? { status: 422 } : undefined);
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit(sendAll(onRows, rowPoints));
  await bench.reach(id, "parked");
  await bench.answer(id, { continuation: "skip" });
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.steps["send"]).toMatchObject({ state: "partial", rows: { in: 4, ok: 3, failed: 0, skipped: 1 } });
});

test("failed rows go on at their first call that is not ok, with the outputs of the earlier ones", async () => {
  const world = createWorld({ items: 3 });
  let isRepaired = false;
  world.script = ({ body }) => (body["text"] === "note-i1" && !isRepaired ? { status: 422 } : undefined);
  const bench = await benches.bench(world);
  bench.engine();
  const call = (id: string, $ref: string) => ({ id, call: "desk.send_note", entity: "ops", args: { text: { $ref } } });
  const steps = { do: [call("first", "row.id"), call("second", "calls.first.id")], ...onRows };
  const id = await bench.submit(sendAll(steps, rowPoints));
  await bench.reach(id, "parked");
  isRepaired = true;
  await bench.answer(id, { continuation: "retry-with" });
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.job.lastError).toBe("");
  const sent = world.seen.filter(({ method }) => method === "POST").map(({ body }) => body["text"]);
  expect(sent.filter((text) => text === "i1")).toHaveLength(1);
  expect(sent.filter((text) => text === "note-i1")).toHaveLength(2);
});

test.each([
  ["proceed", "succeeded", "completed"],
  ["skip", "succeeded", "skipped"],
  ["abort", "aborted", "failed"],
] as const)("a write in doubt parks its step; %s decides", async (continuation, status, state) => {
  const world = createWorld();
  world.script = () => "timeout";
  const bench = await benches.bench(world);
  bench.engine();
  const id = await bench.submit({
    steps: [{ id: "note", call: "desk.send_note", entity: "ops", args: { text: "x" } }],
  });
  const parked = await bench.reach(id, "parked", "failed");
  expect(parked.job.park).toMatchObject({ reason: "in_doubt", stepId: "note" });
  expect(typesOf(parked)).toContain("call-in-doubt");
  await bench.answer(id, { continuation });
  const reading = await bench.reach(id, status);
  expect(reading.steps["note"]).toMatchObject({ state, calls: { write: 1, unknown: 1 } });
  expect(world.seen).toHaveLength(1);
});

test("an approval gate and the approval of a plan stand in the receipt", async () => {
  const bench = await benches.bench();
  bench.engine();
  const program = {
    steps: [
      { id: "gate", judge: "ok" },
      { id: "last", call: "desk.get_item", entity: "ops", args: { id: "x" } },
    ],
    points: { ok: { approval: true, question: "Sure?" } },
  };
  const id = await bench.submit(program, { needsApproval: true });
  const plan = await bench.reach(id, "pending_plan_approval");
  expect(plan.job.park).toMatchObject({ reason: "approval", stepId: "" });
  expect(plan.job.planApprovalId).toMatch(/^apr_/);
  await bench.answer(id, { continuation: "proceed" });
  const gate = await bench.reach(id, "parked", "failed");
  expect(gate.job.park).toMatchObject({ reason: "approval", stepId: "gate", judgment: { pointId: "approval" } });
  await bench.answer(id, { continuation: "proceed" });
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.receipt.approvals).toMatchObject([
    { approvalId: plan.job.planApprovalId, stepId: "", decision: { continuation: "proceed" } },
    { stepId: "gate", decision: { continuation: "proceed" } },
  ]);
});

test("a plan that is not approved is rejected and executed nothing", async () => {
  const bench = await benches.bench();
  bench.engine();
  const id = await bench.submit({ steps: [fetchItems()] }, { needsApproval: true });
  await bench.answer(id, { continuation: "abort" });
  const reading = await bench.read(id);
  expect(reading.job.status).toBe("rejected");
  expect(reading.receipt.outcome).toBe("none");
  expect(bench.world.seen).toHaveLength(0);
});

test("keyed rows in doubt are tried again under the app's same key, and failed ones under another", async () => {
  const world = createWorld({ items: 3 });
  let tries = 0;
  world.script = ({ body }) => {
    if (body["text"] === "i1") return ++tries < 3 ? "timeout" : undefined;
    return body["text"] === "i2" && tries < 3 ? { status: 422 } : undefined;
  };
  const bench = await benches.bench(world);
  bench.engine();
  const continuations = ["retry-with", "abort"];
  const points = {
    rowsFailed: { question: "Some failed.", continuations, escalation: ladder },
    rowsUnknown: { question: "Some are in doubt.", continuations, escalation: ladder },
  };
  const id = await bench.submit(sendAll(onRows, { tool: "desk.send_keyed", points }));
  for (const pointId of ["rowsUnknown", "rowsUnknown", "rowsFailed"]) {
    const parked = await bench.reach(id, "parked", "failed");
    expect(parked.job.park).toMatchObject({ judgment: { pointId } });
    await bench.answer(id, { continuation: "retry-with" });
    await until(async () => (await bench.read(id)).job.status !== "running");
  }
  const reading = await bench.reach(id, "succeeded", "failed");
  expect(reading.steps["send"]).toMatchObject({ state: "completed", attempts: 4, rows: { in: 3, ok: 3 } });
  const keysOf = (text: string) => world.seen.filter(({ body }) => body["text"] === text).map(({ key }) => key);
  expect(keysOf("i1")).toHaveLength(3);
  expect(new Set(keysOf("i1")).size).toBe(1);
  expect(new Set(keysOf("i2")).size).toBe(2);
});

test("answers and a cancellation at once: one of them moves the job, and its log has no gap", async () => {
  const bench = await benches.bench();
  bench.engine();
  bench.engine();
  const ids = await Promise.all(Array.from({ length: 12 }, () => bench.submit(judged())));
  for (const id of ids) await bench.reach(id, "parked");
  const outcomes = await Promise.all(
    ids.map((id) => {
      const acts = [
        bench.answer(id, { continuation: "proceed" }),
        bench.answer(id, { continuation: "abort" }),
        bench.cancel(id),
        bench.answer(id, { continuation: "skip" }),
      ];
      return Promise.allSettled(acts);
    }),
  );
  for (const [index, id] of ids.entries()) {
    const reading = await bench.reach(id, "succeeded", "aborted", "cancelled");
    const answered = outcomes[index]?.filter(({ status }, act) => status === "fulfilled" && act !== 2).length;
    expect(reading.receipt.asks.answered).toBe(answered);
    expect(reading.receipt.asks.answered + reading.receipt.asks.withdrawn).toBe(1);
    expect(reading.events.map(({ seq }) => seq)).toEqual(reading.events.map((_event, place) => place + 1));
    expect(reading.receipt.lastSeq).toBe(reading.events.length);
  }
  expect(await countTasks(bench)).toBe(0);
});
