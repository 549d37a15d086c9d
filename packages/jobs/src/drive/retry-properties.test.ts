import { writesFrom } from "@svc/program";
import { repeats } from "@svc/testing/sample";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isEnd, isRetryable, type JobStatus, mayMove } from "../state/statuses.ts";
import type { Interrupts } from "./port.ts";
import { createDriver, drive } from "./run/loop.ts";
import { stepStanding } from "./run/retry.ts";
import { type Chooser, createMemory, deskTools, type Memory, NodeDied } from "./test-memory.ts";

const tools = deskTools();
const send = (tool: string, id: string, args: object) => ({ id, call: tool, entity: "ops", args });
const items = {
  id: "items",
  call: "desk.list_items",
  entity: "ops",
  args: {},
  rows: { from: "items[]", key: "id", keep: ["id", "n"], page: { arg: "page", from: "next", max: 5 } },
};
const kinds = [
  ...(["map", "keyed", "call", "read", "filter", "wait", "handled", "block", "until", "parallel"] as const),
  ...(["skill", "skills"] as const),
];

function stepOf(kind: (typeof kinds)[number], id: string, tolerate: number): object {
  const map = { id, map: "items", concurrency: 2, tolerate: { count: tolerate, percent: 100 } };
  const inner = `${id}call`;
  switch (kind) {
    case "map":
      return {
        ...map,
        do: [
          send("desk.send_note", inner, { text: { $ref: "row.id" } }),
          send("desk.get_item", `${id}get`, { id: "x" }),
        ],
      };
    case "keyed":
      return { ...map, do: [send("desk.send_keyed", inner, { text: { $ref: "row.id" } })] };
    case "skill":
      return { id, run: "skills.late", input: {} };
    case "skills":
      return {
        ...map,
        do: [{ id: inner, run: "skills.late", input: {} }, send("desk.get_item", `${id}get`, { id: "x" })],
      };
    case "call":
      return { ...send("desk.send_note", id, { text: "hello" }), retry: { max: 1, initial: "1s" } };
    case "read":
      return send("desk.get_item", id, { id: "x" });
    case "filter":
      return { id, filter: "items", where: "row.n >= params.least" };
    case "wait":
      return { id, wait: "10m" };
    case "handled":
      return { ...stepOf("read", id, tolerate), onError: onErrorOf(id, tolerate) };
    case "block":
      return {
        id,
        if: "rows.items > 0",
        // biome-ignore lint/suspicious/noThenProperty: programs have the field.
        then: [
          stepOf("read", `${id}a`, tolerate),
          stepOf("call", `${id}b`, tolerate),
          stepOf("read", `${id}c`, tolerate),
        ],
        onError: onErrorOf(id, tolerate),
      };
    case "until":
      return {
        id,
        until: "true",
        do: [stepOf("read", `${id}a`, tolerate), stepOf("call", `${id}b`, tolerate)],
        max: 2,
      };
    case "parallel":
      return {
        id,
        parallel: {
          notes: [stepOf("wait", `${id}a`, tolerate), stepOf("call", `${id}b`, tolerate)],
          rows: [{ ...items, id: `${id}p` }, stepOf("map", `${id}c`, tolerate)],
          reads: [stepOf("handled", `${id}d`, tolerate), stepOf("call", `${id}e`, tolerate)],
          skills: [stepOf("skills", `${id}f`, tolerate)],
        },
      };
  }
}

/** Returns an error handler that reports the error, and then continues, or fails anyway. */
function onErrorOf(id: string, tolerate: number): object {
  // biome-ignore lint/suspicious/noThenProperty: programs have the field.
  return { do: [send("desk.send_note", `${id}told`, { text: "told" })], then: tolerate === 0 ? "fail" : "continue" };
}

const programs = fc
  .record({ middle: fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 4 }), tolerate: fc.nat({ max: 1 }) })
  .map(({ middle, tolerate }) => ({
    params: { least: 1 },
    limits: { rows: 20 },
    steps: [items, ...middle.map((kind, index) => stepOf(kind, `s${index}`, tolerate))],
  }));

const childEnds = [
  ...(["succeeded", "succeeded", "failed", "failed", "failed before it wrote", "failed for good"] as const),
];
const outcomes = ["ok", "ok", "ok", "provider_error", "outcome_unknown"] as const;

function chooserOf(choices: readonly number[], deaths: ReadonlySet<number>): Chooser {
  let at = 0;
  let chances = 0;
  return {
    dies: () => deaths.has(chances++),
    endOfChild: () => childEnds[(choices[at++ % choices.length] ?? 0) % childEnds.length] ?? "succeeded",
    answer({ action }, args) {
      const outcome = outcomes[(choices[at++ % choices.length] ?? 0) % outcomes.length] ?? "ok";
      const page = Number(args["page"] ?? 0);
      if (outcome !== "ok") return { outcome: action.class === "read" ? "provider_error" : outcome, value: {} };
      const rows = Array.from({ length: 3 }, (_, index) => ({ id: `i${page * 3 + index}`, n: index }));
      return { outcome, value: { id: "n1", items: rows, ...(page < 1 && { next: String(page + 1) }) } };
    },
  };
}

const uninterrupted: Interrupts = {
  isStopping: false,
  isCancelSeen: false,
  isPauseSeen: false,
  hasOthersWaiting: () => false,
};

/**
 * Runs one attempt of a job to its end. Cancels it before the given round, and answers every question about a write in doubt with `abort`.
 */
async function run(memory: Memory, cancelledAt: number | undefined): Promise<void> {
  for (let round = 0; round < 200; round++) {
    if (round === cancelledAt) memory.cancel = { atMs: memory.port.clock.now(), chain: ["key:other"] };
    const work = memory.reopen();
    if (isEnd(work.state.status)) return;
    if (memory.task === "end" && memory.pendingAsk() !== undefined) memory.settle({ continuation: "abort" });
    if (typeof memory.task === "object") await memory.port.clock.wait(memory.task.dueAtMs - memory.port.clock.now());
    try {
      await drive({ work, call: undefined }, createDriver(memory.port, uninterrupted));
    } catch (error) {
      if (!(error instanceof NodeDied)) throw error;
    }
  }
  throw new Error(`the job does not end: it is ${memory.reopen().state.status}`);
}

const attempts = fc.array(
  fc.record({ cancelledAt: fc.option(fc.nat({ max: 6 }), { nil: undefined }), resendsUnknown: fc.boolean() }),
  { minLength: 1, maxLength: 5 },
);
const cases = fc.record({
  program: programs,
  attempts,
  choices: fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 20 }),
  deaths: fc.array(fc.nat({ max: 60 }), { maxLength: 6 }),
});

test("however often a job is taken on, what ended well is not written again, nor what is in doubt unless that is wanted, and no attempt writes more than it may", {
  timeout: 900_000,
}, async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(cases, async ({ program, attempts: tries, choices, deaths }) => {
      const memory = createMemory(program, chooserOf(choices, new Set(deaths)), tools);
      const { loaded } = memory.reopen().state;
      const classOf = ({ tool }: { readonly tool: string }) => loaded.tools.get(tool)?.action.class ?? "read";
      let hasResent = false;
      for (const [index, { cancelledAt, resendsUnknown }] of tries.entries()) {
        const before = memory.reopen().state;
        if (index > 0) {
          if (!isRetryable(before.status) || before.lastError.startsWith("LIMIT_REACHED")) break;
          const refused = memory.retry({ fromStepId: "", params: {}, resendsUnknown, chain: ["key:other"] });
          if (refused !== undefined) {
            expect(refused).toMatch(/which has written$|a retry would write again$/);
            seen.add("refused");
            break;
          }
          hasResent ||= resendsUnknown;
          seen.add(`${before.status} taken on`);
        }
        const standing = stepStanding(memory.reopen().state);
        const most =
          before.used.writes +
          (standing ? writesFrom(loaded.program, { classOf, skills: loaded.skills }, standing.id) : 0);
        await run(memory, cancelledAt);
        const { state } = memory.reopen();
        expect(state.used.writes).toBeLessThanOrEqual(most);
        expect(state.used.writes).toBeLessThanOrEqual(loaded.program.limits.writes);
        expect([...state.steps.values()].filter(({ receipt }) => receipt.state === "")).toEqual([]);
        seen.add(state.status);
      }
      for (const [place, answers] of memory.written) {
        // If the same error occurs again, it is reported again, so these writes may be repeated.
        if (place.endsWith("told")) continue;
        expect([place, answers.filter((answer) => answer === "ok").length <= 1]).toEqual([place, true]);
        const isKeyed = place.startsWith("desk.send_keyed");
        if (!hasResent && !isKeyed) expect([place, answers]).toEqual([place, answers.slice(0, 1)]);
        if (answers.length > 1) seen.add(isKeyed ? "keyed again" : "sent again as wanted");
      }
      // If the child job of a skill has made a write, no other child job makes the same write, whatever happened to the job.
      for (const [place, times] of memory.writtenBySkills) expect([place, times]).toEqual([place, 1]);
      if (memory.log.some(({ type }) => type === "child-started")) seen.add("ran skills");
      const { state } = memory.reopen();
      const moves = memory.log.flatMap(({ type, payload }) => (type === "job-status-changed" ? [payload] : []));
      expect(moves.every(({ from, to }) => mayMove(from as JobStatus, to as JobStatus))).toBe(true);
      expect(memory.log.length).toBe(state.lastSeq);
      for (const [stepId, { receipt }] of state.steps) {
        const { rows, kind } = receipt;
        if (kind !== "map" || rows === undefined) continue;
        expect([stepId, rows.in]).toEqual([stepId, rows.ok + rows.failed + rows.skipped + rows.unknown]);
        // No row of the source set is missing, and none is taken twice.
        if (state.status === "succeeded") expect([stepId, rows.in]).toEqual([stepId, 6]);
      }
    }),
    { numRuns: repeats({ sample: 100, whole: 1_500 }), seed: 20_261_123 },
  );
  for (const what of [
    "failed taken on",
    "cancelled taken on",
    "aborted taken on",
    "succeeded",
    "sent again as wanted",
    "ran skills",
  ]) {
    expect(seen).toContain(what);
  }
});
