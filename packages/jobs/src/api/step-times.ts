import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { StepReceiptDocument } from "@svc/db/documents/step-receipt";
import type { JobEventRecord } from "@svc/db/jobs/record";
import type { StepSpanSchema, StepWaitSchema } from "@svc/gen/jobs";
import { type Flow, type StepInstruction, stepOf } from "../state/flow.ts";

/** Maximum numbers of times in which a step ran or waited that the API returns. */
const spansMax = 50;
const waitsMax = 20;

/** A time in which a step ran, in epoch milliseconds. */
type Span = {
  readonly attempt: number;
  readonly round: number;
  startedAt: number;
  finishedAt: number | undefined;
  state: string;
};

/** A time in which a step waited, in epoch milliseconds. `askId`: the question that it waited for. */
type Wait = {
  readonly reason: string;
  readonly askId: string | undefined;
  readonly since: number;
  until: number | undefined;
  principalId: string;
};

/** The time spans in which each step of a job ran and waited, by step id. They are read from the job's log. */
export type StepTimes = {
  readonly spans: ReadonlyMap<string, readonly Span[]>;
  readonly waits: ReadonlyMap<string, readonly Wait[]>;
};

/** The reason of a wait for each kind of question, as in Park.reason. */
const askReasons: Readonly<Record<string, string>> = {
  approval: "approval",
  in_doubt: "in_doubt",
  undo_stuck: "undo_stuck",
};

/** Reasons of waits that no log entry of a question names. */
const jobReasons: ReadonlySet<string> = new Set(["wait", "child", "paused", "poisoned", "administrator"]);

/**
 * Reads from the entries of a job's log when each step ran and waited. `events`: the newest entries of the log, in order. `attempt`: number
 * of the job's current attempt.
 */
export function readStepTimes(
  events: readonly JobEventRecord[],
  { flow, attempt }: { readonly flow: Flow; readonly attempt: number },
): StepTimes {
  const reader = new TimesReader(flow, events, attempt);
  for (const event of events) reader.take(event);
  return reader;
}

class TimesReader implements StepTimes {
  readonly spans = new Map<string, Span[]>();
  readonly waits = new Map<string, Wait[]>();
  readonly #flow: Flow;
  /** True if the entries begin with the first entry of the log. Otherwise the number of a loop's rounds is not known. */
  readonly #isWhole: boolean;
  /** Number of the last round in which each step inside a loop has begun. */
  readonly #rounds = new Map<string, number>();
  #attempt: number;

  constructor(flow: Flow, events: readonly JobEventRecord[], attempt: number) {
    const retried = events.find(({ type }) => type === "job-retried");
    const first = retried && Number(payloadOf(retried)["attempt"]);
    this.#flow = flow;
    this.#isWhole = events[0]?.seq === 1;
    this.#attempt = first === undefined || !Number.isInteger(first) ? attempt : first - 1;
  }

  take(event: JobEventRecord): void {
    const { type, stepId, at } = event;
    switch (type) {
      case "step-started":
        this.#start(stepId, at);
        break;
      case "step-finished":
        this.#finish(stepId, at, String(payloadOf(event)["state"] ?? ""));
        break;
      case "job-retried":
        this.#retry(payloadOf(event));
        break;
      case "job-status-changed":
        this.#move(payloadOf(event), at);
        break;
      case "ask-raised":
      case "ask-escalated":
        this.#ask(stepId, payloadOf(event), at);
        break;
      case "ask-settled":
      case "ask-withdrawn":
        this.#settle(stepId, String(payloadOf(event)["requestId"]), at);
        break;
    }
  }

  #start(stepId: string, at: number): void {
    const round = this.#roundOf(stepId);
    add(this.spans, stepId, { attempt: this.#attempt, round, startedAt: at, finishedAt: undefined, state: "" });
  }

  /** Returns the round of a step that starts. The step stays in its round if a new attempt of the job continues it after it failed. */
  #roundOf(stepId: string): number {
    const last = this.spans.get(stepId)?.at(-1);
    const isContinued = last?.state === "failed" && last.attempt !== this.#attempt;
    if (this.#kindOf(stepId) === "until" && !isContinued) this.#forgetRounds(stepId);
    const isInLoop = this.#blocksAround(stepId).some((block) => this.#kindOf(block) === "until");
    if (!this.#isWhole || !isInLoop) return 0;
    const round = (this.#rounds.get(stepId) ?? 0) + (isContinued ? 0 : 1);
    this.#rounds.set(stepId, round);
    return round;
  }

  /** The rounds of a loop are counted again from 1, because the loop starts again. */
  #forgetRounds(loopId: string): void {
    for (const stepId of this.#rounds.keys()) {
      if (this.#blocksAround(stepId).includes(loopId)) this.#rounds.delete(stepId);
    }
  }

  #finish(stepId: string, at: number, state: string): void {
    const last = this.spans.get(stepId)?.at(-1);
    if (last !== undefined && last.finishedAt === undefined) {
      last.finishedAt = at;
      last.state = state;
    } else add(this.spans, stepId, { attempt: this.#attempt, round: 0, startedAt: at, finishedAt: at, state });
  }

  #retry({ attempt, fromStepId }: Readonly<Record<string, unknown>>): void {
    if (typeof attempt === "number") this.#attempt = attempt;
    if (fromStepId !== undefined) this.#rounds.clear();
  }

  #move({ from, to, reason }: Readonly<Record<string, unknown>>, at: number): void {
    if (isParked(from)) this.#endJobWaits(at);
    if (!isParked(to) || typeof reason !== "string" || !jobReasons.has(reason)) return;
    const open = [...this.spans.keys()].filter((stepId) => this.spans.get(stepId)?.at(-1)?.finishedAt === undefined);
    // A block waits only if no step inside it runs, such as an `until` step between two rounds.
    const around = new Set(open.flatMap((stepId) => this.#blocksAround(stepId)));
    for (const stepId of open) {
      if (around.has(stepId) || (reason === "wait" && this.#kindOf(stepId) === "wait")) continue;
      add(this.waits, stepId, { reason, askId: undefined, since: at, until: undefined, principalId: "" });
    }
  }

  #blocksAround(stepId: string): readonly string[] {
    return this.#flow.indexOf.has(stepId) ? stepOf(this.#flow, stepId).inside.map((block) => block.stepId) : [];
  }

  #kindOf(stepId: string): string | undefined {
    return this.#flow.indexOf.has(stepId) ? stepOf(this.#flow, stepId).step.kind : undefined;
  }

  #endJobWaits(at: number): void {
    for (const waits of this.waits.values()) {
      for (const wait of waits) if (wait.askId === undefined) wait.until ??= at;
    }
  }

  #ask(stepId: string, { requestId, principalId, kind }: Readonly<Record<string, unknown>>, at: number): void {
    if (stepId === "" || typeof requestId !== "string") return;
    const asked = typeof principalId === "string" ? principalId : "";
    const known = this.waits.get(stepId)?.find(({ askId }) => askId === requestId);
    if (known !== undefined) known.principalId = asked || known.principalId;
    else {
      const reason = askReasons[String(kind)] ?? "judgment";
      add(this.waits, stepId, { reason, askId: requestId, since: at, until: undefined, principalId: asked });
    }
  }

  #settle(stepId: string, requestId: string, at: number): void {
    const wait = this.waits.get(stepId)?.find(({ askId }) => askId === requestId);
    if (wait !== undefined) wait.until = at;
  }
}

function isParked(status: unknown): boolean {
  return status === "parked" || status === "JOB_STATUS_PARKED";
}

function add<T>(lists: Map<string, T[]>, stepId: string, item: T): void {
  const list = lists.get(stepId);
  if (list === undefined) lists.set(stepId, [item]);
  else list.push(item);
}

function payloadOf({ payload }: JobEventRecord): Readonly<Record<string, unknown>> {
  return JSON.parse(payload) as Readonly<Record<string, unknown>>;
}

/**
 * Returns the time spans in which a step ran, for the API. The start and the end come from the step's receipt, because log entries that were
 * written together have only one time.
 */
export function spansOf(
  { step }: StepInstruction,
  receipt: StepReceiptDocument | undefined,
  { spans }: StepTimes,
): MessageInitShape<typeof StepSpanSchema>[] {
  if (receipt === undefined) return [];
  const { startedAt, finishedAt, state } = receipt;
  const logged = spans.get(step.id) ?? [{ attempt: 0, round: 0, startedAt, finishedAt, state }];
  const isAll = logged.length >= receipt.attempts;
  return logged.slice(-spansMax).map((span, index, kept) => {
    const isFirst = index === 0 && isAll && kept.length === logged.length;
    const start = isFirst ? startedAt : span.startedAt;
    const end = index === kept.length - 1 ? finishedAt : span.finishedAt;
    return {
      attempt: span.attempt,
      round: span.round,
      state: span.state,
      startedAt: timestampFromMs(start),
      ...(end !== undefined && { finishedAt: timestampFromMs(Math.max(start, end)) }),
    };
  });
}

/**
 * Returns the time spans in which a step waited, with the reasons, for the API. A step of kind `wait` waits for the whole time in which it
 * runs.
 */
export function waitsOf(
  { step }: StepInstruction,
  receipt: StepReceiptDocument | undefined,
  { spans, waits }: StepTimes,
): MessageInitShape<typeof StepWaitSchema>[] {
  const slept = step.kind !== "wait" || receipt === undefined ? [] : (spans.get(step.id) ?? [receipt]);
  const all = [
    ...slept.map(({ startedAt, finishedAt }) => ({
      reason: "wait",
      since: startedAt,
      until: finishedAt,
      principalId: "",
    })),
    ...(waits.get(step.id) ?? []),
  ];
  return all.slice(-waitsMax).map(({ reason, since, until, principalId }) => ({
    reason,
    principalId,
    since: timestampFromMs(since),
    ...(until !== undefined && { until: timestampFromMs(until) }),
  }));
}
