import type { CatalogView } from "@svc/catalog";
import { type Continuation, checkProgram } from "@svc/program";
import { catalogOf } from "@svc/testing/catalog";
import { desk } from "@svc/testing/desk";
import { repeats } from "@svc/testing/sample";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Change } from "../../state/change.ts";
import type { JobRequest, JobState } from "../../state/job.ts";
import { isEnd, isParkable, type JobStatus, mayMove } from "../../state/statuses.ts";
import type { Interrupts } from "../port.ts";
import { hold, release } from "../schedule/park.ts";
import { isPausable, pauseNow, pauseWaiting, resumeNow } from "../schedule/pause.ts";
import { type Chooser, createMemory, deskTools, type Memory, NodeDied } from "../test-memory.ts";
import { follow } from "./follow.ts";
import { createDriver, drive } from "./loop.ts";

const tools = deskTools();
const view = catalogOf({ toolkits: [desk] }) as CatalogView;

const kindsOfSteps = [
  "filter",
  "map",
  "keyed",
  "judge",
  "call",
  "if",
  "wait",
  "reduce",
  "until",
  "chosen",
  "skipped",
  "sets",
  "handled",
  "block",
  "parallel",
  "http",
  "requests",
  "fail",
];

/** Generates programs for the test app: first a step that makes a set of rows, then any steps, each of which may fail. */
const programs = fc
  .record({
    middle: fc.array(fc.constantFrom(...kindsOfSteps), { maxLength: 5 }),
    tolerate: fc.nat({ max: 3 }),
    hasPoints: fc.boolean(),
    isUndone: fc.boolean(),
    isCounted: fc.boolean(),
    writes: fc.constantFrom(3, 1_000),
  })
  .map(({ middle, tolerate, hasPoints, isUndone, isCounted, writes }) => ({
    params: { least: 1 },
    limits: { writes, asks: 20 },
    ...askedBy([
      isCounted ? fetchCounted : fetch,
      ...middle.flatMap((kind, index) => stepOf(kind, `s${index}`, { tolerate, hasPoints, isUndone })),
    ]),
    ...(isUndone && { saga: { on: ["failed", "aborted", "cancelled"] } }),
    result: { count: { $ref: "rows.items" } },
  }));

/**
 * Returns the steps with the questions that they ask. Other questions are left out, because a program with a question that no step asks is
 * refused.
 */
function askedBy(steps: readonly object[]) {
  const continuations = ["proceed", "retry-with", "skip", "abort"];
  const points = ["gate", "rows"].filter((id) => JSON.stringify(steps).includes(`:"${id}"`));
  const point = { question: "Go on?", continuations, overrides, answerSchema, escalation };
  return { steps, points: Object.fromEntries(points.map((id) => [id, point])) };
}

const escalation = [{ principal: "lead" }];
const overrides = { target: "params" };
const answerSchema = { type: "object", additionalProperties: false, properties: { least: { type: "number" } } };
const fetch = {
  id: "items",
  call: "desk.list_items",
  entity: "ops",
  args: {},
  rows: { from: "items[]", key: "id", keep: ["id", "n"], page: { arg: "page", from: "next", max: 5 } },
};
const fetchCounted = {
  ...fetch,
  call: "desk.list_shelf",
  rows: { ...fetch.rows, page: { arg: "page", start: 1, max: 5 } },
};

function stepOf(
  kind: string,
  id: string,
  { tolerate, hasPoints, isUndone }: { tolerate: number; hasPoints: boolean; isUndone: boolean },
): object | readonly object[] {
  const undo = isUndone && {
    undo: { call: "desk.delete_note", entity: "ops", args: { id: { $ref: "output.id" }, confirm: true } },
  };
  const send = (tool: string) => ({
    id: `${id}call`,
    call: tool,
    entity: "ops",
    args: { text: { $ref: "row.id" } },
    ...undo,
  });
  const rowsOf = {
    concurrency: 2,
    tolerate: { count: tolerate, percent: 100 },
    ...(hasPoints && { onRows: { failed: "rows", unknown: "rows" } }),
  };
  switch (kind) {
    case "filter":
      return { id, filter: "items", where: "row.n >= params.least" };
    case "map":
      return {
        id,
        map: "items",
        ...rowsOf,
        do: [send("desk.send_note"), { id: `${id}read`, call: "desk.get_item", entity: "ops", args: { id: "x" } }],
      };
    case "keyed":
      return { id, map: "items", ...rowsOf, do: [send("desk.send_keyed")] };
    case "chosen":
      return [
        {
          id,
          map: "items",
          ...rowsOf,
          keep: { note: `calls.${id}call.id` },
          do: [{ ...send("desk.send_note"), when: "row.n != 1.0" }],
        },
        {
          id: `${id}ok`,
          map: id,
          states: ["ok"],
          ...rowsOf,
          do: [{ ...send("desk.send_note"), id: `${id}next`, args: { text: { $ref: "row.note" } } }],
        },
      ];
    case "sets":
      return [
        { id, sort: "items", by: [{ field: "n", order: "desc" }] },
        { id: `${id}d`, distinct: id, by: ["n"] },
        { id: `${id}j`, join: id, with: `${id}d`, on: { n: "n" }, kind: "left", keep: { other: "right.id" } },
        { id: `${id}g`, group: `${id}j`, by: ["other"], as: { all: "count", ids: "list id" } },
        { id: `${id}c`, compute: `${id}g`, fields: { half: "row.all / 2.0" } },
        { id: `${id}f`, flatten: `${id}c`, field: "ids", keep: { id: "item" } },
        { id: `${id}l`, limit: `${id}f`, max: 4 },
        { id: `${id}m`, map: `${id}l`, ...rowsOf, do: [send("desk.send_note")] },
      ];
    case "skipped":
      return { ...send("desk.send_note"), id, args: { text: "hello" }, when: "rows.items < 9" };
    case "judge":
      return { id, judge: "gate", when: "rows.items > 1" };
    case "call":
      return {
        id,
        call: "desk.send_note",
        entity: "ops",
        args: { text: "hello" },
        retry: { max: 2, initial: "1s" },
        ...undo,
      };
    case "if":
      return {
        id,
        if: "rows.items > 2",
        // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
        then: [{ id: `${id}then`, wait: "5m" }],
        else: [{ id: `${id}else`, filter: "items", where: "true" }],
      };
    case "until":
      // The number of repetitions depends on other writes: the condition reads the result of the note.
      return {
        id,
        until: `rows.items > 2 && steps.${id}send.id == "n1"`,
        do: [
          { id: `${id}send`, call: "desk.send_note", entity: "ops", args: { text: "again" }, ...undo },
          { id: `${id}some`, filter: "items", where: "row.n >= params.least" },
        ],
        every: "1m",
        factor: 2,
        max: 3,
      };
    case "parallel": {
      const options = { tolerate, hasPoints, isUndone };
      const inner = (kind: string, name: string) => [stepOf(kind, `${id}${name}`, options)].flat();
      return {
        id,
        parallel: {
          notes: [...inner("call", "a"), ...inner("until", "b")],
          rows: [...inner("judge", "c"), ...inner(tolerate === 0 ? "keyed" : "map", "d")],
          late: [...inner("wait", "e"), ...inner("handled", "f"), ...inner("judge", "g")],
        },
        // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
        ...(tolerate !== 1 && { onError: { do: inner("wait", "h"), then: "continue" } }),
      };
    }
    case "handled":
      return {
        ...stepOf("call", id, { tolerate, hasPoints, isUndone }),
        onError: {
          ...(tolerate > 1 && { codes: ["provider_error"] }),
          do: [{ id: `${id}instead`, call: "desk.send_note", entity: "ops", args: { text: "instead" }, ...undo }],
          // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
          then: tolerate === 1 ? "fail" : "continue",
        },
      };
    case "block":
      return {
        id,
        if: "rows.items > 0",
        // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
        then: [
          stepOf("until", `${id}in`, { tolerate, hasPoints, isUndone }),
          stepOf("map", `${id}map`, { tolerate, hasPoints, isUndone }),
        ],
        // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
        onError: { do: [stepOf("wait", `${id}late`, { tolerate, hasPoints, isUndone })], then: "continue" },
      };
    case "http":
      // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
      return { ...requestOf(id, tolerate), onError: { do: [{ id: `${id}late`, wait: "1m" }], then: "fail" } };
    case "requests":
      return { id, map: "items", ...rowsOf, do: [requestOf(`${id}call`, tolerate)] };
    case "wait":
      return { id, wait: "10m" };
    case "fail":
      return { id, fail: "Only {rows.items} items", when: `rows.items < ${tolerate > 2 ? 100 : 1}` };
    default:
      return { id, reduce: "items", as: { all: "count", sum: "sum n", best: "max n" } };
  }
}

/** Returns a step with an HTTP request that writes, with or without a key header. */
function requestOf(id: string, number: number): object {
  const http = {
    method: "POST",
    url: "https://api.example.com/notes",
    headers: { authorization: { $secret: "token" } },
    body: { least: { $ref: "params.least" } },
  };
  const key = number > 1 ? { idempotency: { header: "idempotency-key" } } : {};
  return { id, http, ...key, retry: { max: 2, initial: "1s" } };
}

/**
 * Returns the result of checking a program for the test app. Returns undefined if the program is refused, for example because it may send a
 * write twice.
 */
async function estimateOf(program: object) {
  const yes = async (asked: readonly unknown[]) => asked.map(() => true);
  // The checker refuses limits below the needs of the steps. They are lowered here after the check, so that the job reaches them.
  const limits = { writes: 1_000, asks: 20 };
  const checked = await checkProgram(JSON.stringify({ version: 1, title: "Test", ...program, limits }), {
    view,
    hasAccounts: yes,
    hasContacts: yes,
    hasSecrets: yes,
    httpHosts: async () => new Set(["api.example.com"]),
  });
  return "faults" in checked ? undefined : checked.estimate;
}

const outcomes = ["ok", "ok", "ok", "ok", "provider_error", "rate_limited", "outcome_unknown"] as const;

/** Chooses the events of a test from a list of choices, which is repeated. `deaths`: the opportunities at which the node dies. */
function chooserOf(choices: readonly number[], deaths: ReadonlySet<number>): Chooser {
  let at = 0;
  let chances = 0;
  const next = () => choices[at++ % choices.length] ?? 0;
  return {
    dies: () => deaths.has(chances++),
    answer({ action }, args) {
      const outcome = outcomes[next() % outcomes.length] ?? "ok";
      const page = Number(args["page"] ?? 0);
      if (action.class === "read" && outcome === "outcome_unknown")
        return { outcome: "timeout", value: {}, retryable: true };
      if (outcome !== "ok") return { outcome, value: {}, retryable: outcome === "rate_limited" };
      const items = Array.from({ length: page < 3 ? 3 : 0 }, (_, index) => ({ id: `i${page * 3 + index}`, n: index }));
      return { outcome, value: { id: "n1", items, ...(page < 2 && { next: String(page + 1) }) } };
    },
  };
}

type Interruptions = {
  readonly parks: readonly number[];
  readonly pauses: readonly number[];
  readonly pausesWhileDriven: readonly number[];
};

/**
 * Runs a job to its end over any number of nodes, and answers its questions. The job is parked or paused before it runs and while it runs.
 */
async function run(memory: Memory, answers: readonly Continuation[], interruptions: Interruptions): Promise<void> {
  for (let round = 0; round < 400; round++) {
    if (interruptions.parks.includes(round)) await parkAndRelease(memory);
    if (interruptions.pauses.includes(round)) await pauseAndResume(memory);
    const work = memory.reopen();
    if (isEnd(work.state.status)) return;
    if (memory.task === "end") memory.settle({ continuation: answers[round % answers.length] ?? "abort" });
    if (typeof memory.task === "object") await memory.port.clock.wait(memory.task.dueAtMs - memory.port.clock.now());
    // The job's driver finds the request at its next commit.
    if (interruptions.pausesWhileDriven.includes(round)) memory.pause = pauseOf(memory);
    try {
      await drive({ work: work, call: undefined }, createDriver(memory.port, uninterrupted));
    } catch (error) {
      if (!(error instanceof NodeDied)) throw error;
    }
    if (memory.pause !== undefined) await resume(memory);
  }
  throw new Error(`the job does not end: it is ${memory.reopen().state.status}`);
}

const uninterrupted: Interrupts = {
  isStopping: false,
  isCancelSeen: false,
  isPauseSeen: false,
  hasOthersWaiting: () => false,
};

/** Parks and releases the job as an administrator does: in its last committed state. Repeats this if the node dies. */
async function parkAndRelease(memory: Memory): Promise<void> {
  const { status, lastError } = memory.reopen().state;
  if (!isParkable(status)) return;
  const how = { reason: "administrator", chain: ["administrator"] } as const;
  await commitOnce(memory, (state, nowMs) => (isParkable(state.status) ? hold(state, how, nowMs) : undefined));
  expect(memory.reopen().state).toMatchObject({
    status: "parked",
    park: { reason: "administrator", before: { status } },
  });
  await commitOnce(memory, (state, nowMs) =>
    state.park === null ? undefined : release(state, { chain: how.chain, reason: "released" }, nowMs),
  );
  expect(memory.reopen().state).toMatchObject({ status, park: null, lastError });
}

function pauseOf({ port }: Memory): JobRequest {
  return { atMs: port.clock.now(), chain: ["key:other"] };
}

/** Pauses the job as PauseJob does if no driver runs it, and resumes it after a year. */
async function pauseAndResume(memory: Memory): Promise<void> {
  const before = memory.reopen().state;
  if (isEnd(before.status)) return;
  const request = pauseOf(memory);
  memory.pause = request;
  await commitOnce(memory, (state, nowMs) => {
    if (isPausable(state)) return pauseNow(state, nowMs);
    return state.status === "parked" && "atMs" in state.deadline ? pauseWaiting(state, request) : undefined;
  });
  const paused = memory.reopen().state;
  if (isParkable(before.status)) {
    expect(paused).toMatchObject({ status: "parked", park: { reason: "paused", before: { status: before.status } } });
  } else expect([paused.status, paused.park]).toEqual([before.status, before.park]);
  await memory.port.clock.wait(365 * 86_400_000);
  await resume(memory);
  const { status, deadline } = memory.reopen().state;
  expect(status).toBe(before.status);
  expect(leftOf(deadline, memory)).toBe(leftOf(before.deadline, { ...memory, nowMs: request.atMs }));
}

function leftOf(
  deadline: JobState["deadline"],
  { port, nowMs = port.clock.now() }: Memory & { nowMs?: number },
): number {
  return "leftMs" in deadline ? deadline.leftMs : Math.max(0, deadline.atMs - nowMs);
}

async function resume(memory: Memory): Promise<void> {
  memory.pause = undefined;
  await commitOnce(memory, (state, nowMs) => {
    const isStanding = state.status === "parked" && state.park?.judgment === undefined && "leftMs" in state.deadline;
    return isStanding ? resumeNow(state, ["key:other"], nowMs) : undefined;
  });
}

async function commitOnce(
  { port, reopen }: Memory,
  change: (state: JobState, nowMs: number) => Change | undefined,
): Promise<void> {
  for (;;) {
    const work = reopen();
    const startedMs = port.clock.now();
    const wanted = change(work.state, startedMs);
    if (wanted === undefined) return;
    try {
      await follow(work, wanted, { port, startedMs, isSliceOver: () => false });
    } catch (error) {
      if (!(error instanceof NodeDied)) throw error;
    }
  }
}

function rounds(): fc.Arbitrary<number[]> {
  return fc.subarray(Array.from({ length: 30 }, (_, round) => round));
}

const cases = fc.record({
  program: programs,
  choices: fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 20 }),
  deaths: fc.array(fc.nat({ max: 60 }), { maxLength: 8 }),
  answers: fc.array(fc.constantFrom<Continuation>("proceed", "skip", "abort", "retry-with", "proceed"), {
    minLength: 3,
    maxLength: 6,
  }),
  interruptions: fc.record({ parks: rounds(), pauses: rounds(), pausesWhileDriven: rounds() }),
});

test("whatever apps answer, people choose and nodes die of, a job ends by the table, once, and nothing is executed twice in silence", {
  timeout: 900_000,
}, async () => {
  const kinds = new Set<string>();
  await fc.assert(
    fc.asyncProperty(cases, async ({ program, choices, deaths, interruptions, answers }) => {
      const memory = createMemory(program, chooserOf(choices, new Set(deaths)), tools);
      await run(memory, [...answers, "abort"], interruptions);
      const { state } = memory.reopen();
      const moves = memory.log.flatMap(({ type, payload }) => (type === "job-status-changed" ? [payload] : []));
      expect(moves.every(({ from, to }) => mayMove(from as JobStatus, to as JobStatus))).toBe(true);
      expect(moves.map(({ from }) => from)).toEqual(["queued", ...moves.slice(0, -1).map(({ to }) => to)]);
      expect(moves.at(-1)?.["to"]).toBe(state.status);
      for (const { from, reason } of moves) {
        if (reason === "administrator") kinds.add(`parked while ${from}`);
        if (reason === "paused") kinds.add(`paused while ${from}`);
      }
      // The log has an entry for each number, and the receipt contains the last number.
      expect(memory.log.length).toBe(state.lastSeq);
      expect(memory.receipts.map(({ lastSeq }) => lastSeq)).toEqual([state.lastSeq]);
      expect([...state.steps.values()].filter(({ receipt }) => receipt.state === "")).toEqual([]);
      for (const { receipt } of state.steps.values()) {
        const { rows, kind } = receipt;
        kinds.add(`${kind} ${receipt.state}`);
        if (kind === "map" && rows) expect(rows.in).toBe(rows.ok + rows.failed + rows.skipped + rows.unknown);
      }
      const { limits } = state.loaded.program;
      expect(state.used.writes).toBeLessThanOrEqual(limits.writes);
      const estimate = await estimateOf(program);
      if (estimate !== undefined) {
        expect(state.used.toolCalls).toBeLessThanOrEqual(estimate.callsMax);
        expect(state.used.writes).toBeLessThanOrEqual(estimate.writesMax);
        expect(state.used.rows).toBeLessThanOrEqual(estimate.rowsMax);
        for (const { receipt } of state.steps.values()) kinds.add(`estimated ${receipt.kind}`);
      }
      // Even if nodes died, a set that is made from other sets has each row once.
      const sizeOf = (id: string) => state.steps.get(id)?.receipt.rows?.ok ?? 0;
      for (const [id, { receipt }] of state.steps) {
        if (receipt.kind === "flatten" && receipt.state === "completed")
          expect(sizeOf(id)).toBe(sizeOf(id.slice(0, -1)));
      }
      expect(new Set(memory.executed).size).toBe(memory.executed.length);
      if (state.status === "succeeded") expect(state.blocks).toEqual({});
      for (const { receipt, value } of state.steps.values()) {
        const isHandled = receipt.state === "failed" && typeof value === "object" && value !== null && "error" in value;
        if (isHandled) kinds.add(`handled ${receipt.kind}`);
        if (isHandled) expect(value).toMatchObject({ error: { status: 0 } });
      }
      for (const { id, onError } of state.loaded.program.steps) {
        const { receipt, value } = state.steps.get(id) ?? {};
        const goesOn = state.status === "succeeded" && receipt?.state === "failed" && onError !== undefined;
        if (goesOn) expect(value).toBeDefined();
      }
      expect(memory.task).toBe("end");
      if ([...state.steps.values()].some(({ receipt: { kind, rows } }) => kind === "map" && (rows?.skipped ?? 0) > 0)) {
        kinds.add("rows skipped");
      }
      kinds.add(state.status);
    }),
    { numRuns: repeats({ sample: 300, whole: 3_000 }), seed: 5 },
  );
  // The generated programs reach each of these kinds of steps.
  for (const kind of [
    "succeeded",
    "failed",
    "aborted",
    "map partial",
    "map failed",
    "call failed",
    "http completed",
    "call skipped",
    "rows skipped",
    "estimated map",
    "estimated until",
    "estimated flatten",
    "flatten completed",
    "judge completed",
    "fail failed",
    "wait completed",
    "until completed",
    "until failed",
    "handled parallel",
    "parallel completed",
    "parallel failed",
    "handled if",
    "parked while queued",
    "parked while running",
    "parked while compensating",
    "paused while queued",
    "paused while running",
    "paused while compensating",
  ]) {
    expect(kinds).toContain(kind);
  }
});

/** Branches that write, next to a branch whose rounds give its own calls a new generation. */
const besideRounds = {
  ...{ params: { least: 1 }, limits: { writes: 1_000 }, points: {} },
  steps: [
    {
      id: "ways",
      parallel: {
        rounds: [
          {
            id: "again",
            until: "false",
            do: [{ id: "look", call: "desk.get_item", entity: "ops", args: { id: "x" } }],
            every: "1m",
            max: 4,
            // biome-ignore lint/suspicious/noThenProperty: it is the word of the language
            onError: { then: "continue" },
          },
        ],
        rows: [fetch, stepOf("map", "each", { tolerate: 9, hasPoints: false, isUndone: false })].flat(),
        waits: [
          stepOf("wait", "first", { tolerate: 9, hasPoints: false, isUndone: false }),
          stepOf("call", "note", { tolerate: 9, hasPoints: false, isUndone: false }),
        ].flat(),
      },
    },
  ],
};

test("what a branch sent is not sent again, whatever nodes die of and however many rounds another one makes", async () => {
  const deaths = fc.array(fc.nat({ max: 150 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(deaths, async (given) => {
      const program = { ...besideRounds, steps: [...besideRounds.steps] };
      const memory = createMemory(program, chooserOf([0], new Set(given)), tools);
      await run(memory, ["proceed", "abort"], { parks: [], pauses: [], pausesWhileDriven: [] });
      for (const [place, sent] of memory.written) expect([place, sent]).toEqual([place, [sent[0]]]);
    }),
    { numRuns: repeats({ sample: 200, whole: 2_000 }), seed: 1 },
  );
});
