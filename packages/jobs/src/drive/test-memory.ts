import type { AskInput, AskView, PreparedAsk } from "@svc/asks";
import { type Clock, createId, createWorkMeter } from "@svc/core";
import type { ReceiptDocument } from "@svc/db/documents/jobs";
import type { DecisionDocument } from "@svc/db/documents/programs";
import { createEvaluator, type JsonObject, type PinnedTool, type Program, parseCheckedProgram } from "@svc/program";
import { catalogOf } from "@svc/testing/catalog";
import { desk } from "@svc/testing/desk";
import { newJobDocuments } from "@svc/testing/job-documents";
import { apply, committedWork, type WorkingJob, workOf } from "../state/apply.ts";
import type { Edit } from "../state/change.ts";
import { noUse } from "../state/counts.ts";
import { flatten } from "../state/flow.ts";
import type { JobState } from "../state/job.ts";
import type { AttemptResult, SetRow } from "../steps/effects.ts";
import { stepKinds } from "../steps/index.ts";
import type { CommitParts, Port } from "./port.ts";
import { type RetryRequest, retryEdits } from "./run/retry.ts";
import { type ChildEnd, createMemoryChildren, memorySkills } from "./test-children.ts";

// A database, an app and a clock in memory, used through the port of one driver. Tests run the engine's step actions on them without
// PostgreSQL. A test decides the answer of every call, and the commits after which the node dies.

/** The answer that a test chooses for a call; the test app returns it. */
export type ScriptedAnswer = Pick<Extract<AttemptResult, { kind: "answered" }>, "outcome" | "value"> & {
  readonly retryable?: boolean;
};

/** For tests: chooses what happens next, the app's answer to a call or the death of the node. */
export type Chooser = {
  /** Returns the app's answer to a call of a tool. */
  answer(tool: PinnedTool, args: JsonObject): ScriptedAnswer;
  /** True if the node dies at this moment: before a commit, after a commit or after a call. */
  dies(where: "before-commit" | "after-commit" | "after-call"): boolean;
  /** Returns how a child job ends. If this function is absent, the child succeeds. */
  endOfChild?(): ChildEnd;
};

/** For tests: thrown when a simulated node dies. The node's memory is lost, and its committed changes stay. */
export class NodeDied extends Error {}

/** The part of a log entry that tests read. */
export type LogRecord = { readonly type: string; readonly payload: Record<string, unknown> };

/** For tests: a job that runs in memory, with its log, its receipts and the writes that the test's app executed. */
export type Memory = {
  readonly port: Port;
  readonly log: LogRecord[];
  readonly receipts: ReceiptDocument[];
  /**
   * Keys of the writes that the test's app executed, in order. A key consists of the tool, the position of the write in the job, and the
   * generation (number that grows when calls are made again).
   */
  readonly executed: string[];
  /** The app's answers to writes that it executed or may have executed, by the place of the write in the job. */
  readonly written: Map<string, string[]>;
  /** Number of writes that child jobs made. The key is the call in the parent job that started the child. */
  readonly writtenBySkills: ReadonlyMap<string, number>;
  /** Queues the next attempt of an ended job. Returns the reason if the job cannot have one. */
  retry(request: RetryRequest): string | undefined;
  /** Set if an end of the job was requested. */
  cancel: JobState["cancel"];
  /** Set if a pause of the job was requested. */
  pause: JobState["pause"];
  /** The task that runs the job, as the last commit stored it. It is due at a time, is being worked on, or has ended. */
  task: CommitParts["task"];
  /** Returns the job in its state of the last commit. */
  reopen(): WorkingJob;
  pendingAsk(): AskView | undefined;
  settle(decision: Pick<DecisionDocument, "continuation">): void;
};

const nowMs = Date.UTC(2026, 0, 5, 9, 0, 0);

/** Returns the tools of the test app `desk`, in the form in which a stored program contains the definitions of its tools. */
export function deskTools(): ReadonlyMap<string, PinnedTool> {
  const tools = new Map<string, PinnedTool>();
  for (const toolkit of catalogOf({ toolkits: [desk] }).toolkits.values()) {
    for (const action of toolkit.actions) tools.set(action.slug, { toolkit, action });
  }
  return tools;
}

/** For tests: returns a queued job of a program with all that it needs to run in memory, such as a database, an app and a clock. */
export function createMemory(program: object, chooser: Chooser, tools: ReadonlyMap<string, PinnedTool>): Memory {
  const parsed = parseCheckedProgram(JSON.stringify({ version: 1, title: "Test", ...program }));
  let stored = firstState(parsed, tools);
  const clock = createClock();
  const evaluator = createEvaluator(undefined);
  const metered = createWorkMeter().begin({ projectId: "" });
  const rows = new Map<number, JsonObject>();
  const sets = new Map<string, SetRow[]>();
  const undo = new Map<
    number,
    { stepId: string; toolSlug: string; entityId: string; args: JsonObject; isArmed: boolean }
  >();
  const asks = new Map<string, AskView>();
  const ledger = new Map<string, AttemptResult>();
  const children = createMemoryChildren(() => chooser.endOfChild?.() ?? "succeeded");

  const disarm = (entry: number) => {
    const found = undo.get(entry);
    if (found !== undefined) undo.set(entry, { ...found, isArmed: false });
  };
  const die = (where: Parameters<Chooser["dies"]>[0]) => {
    if (chooser.dies(where)) throw new NodeDied(where);
  };

  const store = (work: WorkingJob, parts: CommitParts): WorkingJob => {
    const { state, pending } = work;
    for (const setId of pending.clearedSets) sets.delete(setId);
    for (const { rowNumber, data } of pending.rows) rows.set(rowNumber, data);
    for (const { setId, outputs = {}, ...row } of pending.placed) {
      const set = sets.get(setId)?.filter(({ ordinal }) => ordinal !== row.ordinal) ?? [];
      const placed = [...set, { ...row, outputs, data: {}, bytes: 0 }].toSorted((a, b) => a.ordinal - b.ordinal);
      sets.set(setId, placed);
    }
    for (const { setId, fromOrdinal, rowNumbers } of pending.runs) {
      const set = sets.get(setId) ?? [];
      const placed = rowNumbers.map((rowNumber, index): SetRow => {
        const ordinal = fromOrdinal + index;
        if (set.some((row) => row.ordinal === ordinal)) throw new Error(`${setId} has two rows at ${ordinal}`);
        return { ordinal, rowNumber, state: "in", doneCalls: 0, outputs: {}, data: {}, bytes: 0 };
      });
      sets.set(setId, [...set, ...placed]);
    }
    for (const { setId, from, to } of pending.turned) {
      sets.set(
        setId,
        (sets.get(setId) ?? []).map((row) => (row.state === from ? { ...row, state: to } : row)),
      );
    }
    for (const { entry, ...rest } of pending.armed) undo.set(entry, { ...rest, isArmed: true });
    for (const { entry } of pending.undone) disarm(entry);
    for (const ask of pending.asks) void ask.write(undefined as never);
    children.store(work);
    for (const { type, payload } of pending.events) memory.log.push({ type, payload: JSON.parse(payload) });
    if (parts.receipt !== undefined) memory.receipts.push(parts.receipt);
    memory.task = parts.task;
    const committed = committedWork(work, {
      lastSeq: state.lastSeq + pending.events.length,
      cancel: memory.cancel,
      pause: memory.pause,
    });
    stored = structuredStore(committed.state);
    return committed;
  };

  let asked = 0;
  let timesAsked = 0;
  const memory: Memory = {
    log: [],
    receipts: [],
    executed: [],
    written: new Map(),
    writtenBySkills: children.written,
    cancel: undefined,
    pause: undefined,
    retry(request) {
      const { status } = stored;
      memory.cancel = undefined;
      const opened = workOf({ ...stored, attempt: stored.attempt + 1, finishedAt: null, cancel: undefined });
      const edits = retryEdits(opened.state, { status, request, children: children.faults() });
      if ("outcome" in edits) return edits.why;
      const begun: Edit[] = [
        { kind: "move", to: "queued", reason: "retried" },
        { kind: "deadline", clock: "runs" },
      ];
      store(apply(opened, [...edits, ...begun], clock.now()), { task: { dueAtMs: clock.now() } });
      return undefined;
    },
    task: { dueAtMs: nowMs },
    reopen: () => workOf({ ...stored, pause: memory.pause, cancel: memory.cancel }),
    pendingAsk: () => [...asks.values()].find(({ state }) => state === "pending"),
    settle({ continuation }) {
      const pending = memory.pendingAsk();
      if (pending === undefined) throw new Error("nothing is asked");
      const decision = {
        continuation,
        principalId: "owner",
        keyId: "",
        surface: "api",
        note: "",
        overridesJson: "",
        at: nowMs,
      };
      asks.set(pending.id, { ...pending, state: "answered", decision, principalChain: ["contact:owner"] });
      memory.task = { dueAtMs: clock.now() };
    },
    port: {
      clock,
      knownKeys: new Map(),
      atWork: () => {},
      confirmerOf: async () => undefined,
      patienceMs: 2_000,
      busyPollMs: 2_000,
      sliceMs: 1_000,
      lossesMax: 3,
      undoTries: 2,
      undoBackoffMs: 1_000,
      async call(_state, { place, args, call, generation }, { tool, attempt }) {
        const isRead = tool.action.class === "read";
        const key = [generation, place.stepId, place.ordinal, place.callId, attempt].join("/");
        const known = isRead ? undefined : ledger.get(key);
        if (known !== undefined) return { ...known, isReplay: true } as AttemptResult;
        // From time to time, a call reaches a call limit. This can be any call.
        asked++;
        if (asked % 5 === 0) return { kind: "limited", waitMs: asked % 2 === 0 ? 100 : 5_000 };
        const { outcome, value, retryable = false } = chooser.answer(tool, args);
        const faults: [] = [];
        const rest = { message: "", retryable, retryAfterMs: undefined, providerStatus: 0, faults, isReplay: false };
        const called: AttemptResult = { kind: "answered", outcome, value, ...rest };
        if (!isRead) {
          ledger.set(key, called);
          if (outcome === "ok" || outcome === "outcome_unknown") {
            memory.executed.push(`${call.tool} ${key}`);
            const at = [call.tool, place.stepId, place.ordinal, place.callId].join("/");
            memory.written.set(at, [...(memory.written.get(at) ?? []), outcome]);
          }
        }
        die("after-call");
        return called;
      },
      ready: async () => undefined,
      async readRows(_state, { setId, fromOrdinal, limit, state, states }) {
        const found = (sets.get(setId) ?? []).filter(
          (row) =>
            row.ordinal >= fromOrdinal &&
            (state ?? row.state) === row.state &&
            (states?.some((name) => name === row.state) ?? true),
        );
        const page = found.slice(0, limit).map((row) => ({ ...row, data: rows.get(row.rowNumber) ?? {}, bytes: 0 }));
        return { rows: page, hasMore: found.length >= limit };
      },
      async readChunk(state, range) {
        const limit = 50;
        const { rows: found } = await memory.port.readRows(state, { ...range, limit, bytesMax: 1_000_000 });
        return { rows: found, next: found.length < limit ? undefined : (found.at(-1)?.ordinal ?? 0) + 1, bytes: 0 };
      },
      async openRows(_state, rowNumbers) {
        const fields = new Map(rowNumbers.map((number) => [number, rows.get(number) ?? {}]));
        return { rows: rowNumbers.length, fields, bytes: 0 };
      },
      saveRecords: async () => {},
      holdMemory: () => metered.hold(),
      // From time to time, the driver must wait here, as on a busy node.
      spareTime: () => (++timesAsked % 3 === 0 ? new Promise((resolve) => setImmediate(resolve)) : undefined),
      async inTurns(parts) {
        for (;;) {
          const reached = parts.next();
          if (reached.done === true) return reached.value;
          await reached.value;
        }
      },
      test: ({ scope }, condition, at) => {
        return evaluator.test(condition, { ...scope, calls: at?.calls }, metered, at?.row);
      },
      computeRows({ scope }, expression, found, isDue) {
        const data = found.map((row) => row.data);
        return evaluator.computeRows(expression, data, scope, { work: metered, isDue });
      },
      testRows({ scope }, condition, found, isDue) {
        const data = found.map((row) => row.data);
        return evaluator.testRows(condition, data, scope, { work: metered, isDue });
      },
      compute: (scope, expression) => evaluator.compute(expression, scope, scope.row ?? null, metered),
      async commit(work, parts) {
        die("before-commit");
        const committed = store(work, parts);
        die("after-commit");
        return { work: committed, hasBegunCall: false };
      },
      async commitUnlessLogged(work, parts) {
        await memory.port.commit(work, parts);
        return true;
      },
      locked: (run) =>
        run({
          lastSeq: stored.lastSeq,
          isPaused: memory.pause !== undefined,
          async closeAsks(chain) {
            const pending = chain && memory.pendingAsk();
            if (pending === undefined) return { events: [], asks: [...asks.values()] };
            asks.set(pending.id, { ...pending, state: "withdrawn" });
            const events = [
              { type: "ask-withdrawn", stepId: pending.stepId, payload: "{}", principalChain: [] } as const,
            ];
            return { events, asks: [...asks.values()] };
          },
          commit: async (work, parts) => ({ work: store(work, parts), hasBegunCall: false }),
        }),
      prepareAsk: async (input) => prepared(input, asks),
      async findAsk(_state, askId) {
        const ask = asks.get(askId);
        return ask && { ...ask, overridesJson: ask.decision?.overridesJson ?? "" };
      },
      async nextUndo() {
        const armed = [...undo].filter(([, { isArmed }]) => isArmed).map(([entry]) => entry);
        const entry = Math.max(...armed);
        return armed.length === 0
          ? undefined
          : { entry, ...(undo.get(entry) as NonNullable<ReturnType<typeof undo.get>>) };
      },
      loadSkill: async () => children.load(),
      readChildren: async (_state, ids) => children.read(ids),
      whyNotTakenOn: async (_state, id) => children.why(id),
      async awaitChildren(work) {
        await memory.port.commit(work, { task: { dueAtMs: clock.now() } });
        children.end();
      },
      cancelChildren: async (_state, ids) => children.cancel(ids),
      waitForTwin: async () => ({ kind: "gone" }),
      cancelTwin: async () => {},
      hashReceipt: () => "",
      onFaultPoint: undefined,
    },
  };
  return memory;
}

/** Returns a job's state after it was written to JSON and read back, as a database would do. */
function structuredStore({ loaded, steps, ...state }: JobState): JobState {
  return { ...structuredClone(state), loaded, steps: new Map(structuredClone([...steps])) };
}

function prepared(input: AskInput, asks: Map<string, AskView>): PreparedAsk {
  const { stepId, pointId, kind } = input;
  const id = createId("ask", nowMs);
  const view: AskView = {
    id,
    stepId,
    pointId,
    kind,
    state: "pending",
    approvalId: "",
    refusedAnswers: 0,
    decision: undefined,
    principalChain: [],
  };
  return {
    id,
    approvalId: "",
    events: [{ type: "ask-raised", stepId, payload: "{}", principalChain: [] }],
    tasks: [],
    write: async () => {
      asks.set(id, view);
    },
  };
}

/** Creates a clock whose waits end at once. Each wait moves the clock's time forward. */
function createClock(): Clock {
  let now = nowMs;
  return {
    now: () => now,
    wait: async (ms) => {
      // Lets other pending work, for example an evaluation, run first.
      await new Promise((resolve) => setImmediate(resolve));
      now += ms;
    },
  };
}

function firstState(program: Program, tools: ReadonlyMap<string, PinnedTool>): JobState {
  const work = workOf({
    id: createId("job", nowMs),
    projectId: createId("prj", nowMs),
    keyId: createId("key", nowMs),
    binding: null,
    isSimulated: false,
    isRehearsal: false,
    simulatedFrom: null,
    parent: null,
    standingProgramId: "",
    standingRunId: null,
    callSeed: "",
    restoredFrom: null,
    traceparent: null,
    attempt: 1,
    principalChain: ["key:test"],
    submitChain: ["key:test"],
    estimate: newJobDocuments.estimate,
    loaded: {
      program,
      programHash: "",
      flow: flatten(program.steps, stepKinds),
      tools,
      skills: memorySkills,
      hasSensitive: false,
      isOld: false,
    },
    createdAt: nowMs,
    input: program.input,
    status: "queued",
    positions: [{ index: 0, progress: undefined }],
    blocks: {},
    plan: undefined,
    undo: undefined,
    steps: new Map(),
    params: program.params,
    stepArgs: {},
    generation: 0,
    used: noUse,
    rowsMade: 0,
    simulated: {},
    saga: { state: program.sagaOn.length > 0 ? "armed" : "none", entries: 0, done: 0, failed: 0 },
    park: null,
    planApprovalId: "",
    deadline: { atMs: nowMs + program.limits.deadlineMs },
    lastError: "",
    finishedAt: null,
    lastSeq: 0,
    cancel: undefined,
    pause: undefined,
    progressLoggedAt: 0,
  });
  return work.state;
}
