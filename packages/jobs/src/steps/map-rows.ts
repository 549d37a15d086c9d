import type { CallStep, JsonObject, JsonValue, RowState, StepOf } from "@svc/program";
import type { JobState } from "../state/job.ts";
import type { ProgressOf, RetryProgress } from "../state/progress.ts";
import { fillCall } from "./arguments.ts";
import type { RowRange, SetRow, StepEffects } from "./effects.ts";
import { type CallFault, invoke, type Tally } from "./invoke.ts";
import type { StepAt } from "./step-kind.ts";

/** Rows whose calls are committed together: what a crash has replayed from the ledger. */
const chunkRows = 50;

/** A row on its way through the calls of a map; it belongs to one act. */
export type RowWork = {
  readonly ordinal: number;
  readonly rowNumber: number;
  readonly row: JsonObject;
  /** Calls that had ended well before. */
  readonly doneBefore: number;
  doneCalls: number;
  /** Answers of the calls that ended well, by call id. */
  readonly outputs: Record<string, JsonValue>;
  /** Undefined while the row has not ended. */
  state?: RowState;
  fault?: CallFault;
  retry?: RetryProgress;
};

/** A map under way. */
export type MapUnderWay = {
  readonly state: JobState;
  readonly step: StepOf<"map">;
  readonly progress: ProgressOf<"map">;
};

/** The next rows that have not ended; `last` is the ordinal of the last row looked at, undefined after the end. */
export async function chunkOf(
  { state, step, progress }: MapUnderWay,
  effects: StepEffects,
): Promise<{ readonly works: RowWork[]; readonly last: number | undefined }> {
  const { next = 0, again, ended = [], retries } = progress;
  const own: RowRange = { setId: step.id, fromOrdinal: next, limit: chunkRows, state: again };
  const source: RowRange = { setId: step.source, fromOrdinal: next, limit: chunkRows };
  const rows = await effects.readRows(state, again === undefined ? source : own);
  // What earlier looks at the same chunk left of rows that have not ended.
  const left =
    again === undefined && retries !== undefined ? await effects.readRows(state, { ...own, withData: false }) : [];
  const leftOf = new Map(left.map((row) => [row.ordinal, row]));
  const last = rows.at(-1)?.ordinal;
  if (again === undefined && rows.length === chunkRows && last !== undefined) {
    effects.readAhead(state, { ...source, fromOrdinal: last + 1 });
  }
  const works = rows
    .filter(({ ordinal }) => !ended.includes(ordinal))
    .map((row) => workOf(row, again === undefined ? leftOf.get(row.ordinal) : row));
  return { works, last };
}

function workOf({ ordinal, rowNumber, data }: SetRow, own: SetRow | undefined): RowWork {
  const doneCalls = own?.doneCalls ?? 0;
  return {
    ordinal,
    rowNumber,
    row: data,
    doneBefore: doneCalls,
    doneCalls,
    outputs: { ...own?.outputs },
  };
}

/** What the rows of one act share. */
export type RowsEffects = { readonly tally: Tally; readonly effects: StepEffects };
type Limit = "toolCalls" | "writes";
type MapAt = StepAt<"map"> & { readonly progress: ProgressOf<"map"> };

/** Why rows of a chunk were left: a limit of the job, or, until `fullUntilMs`, one that its calls share with others. */
export type RowsEnd = { readonly limit?: Limit | undefined; readonly fullUntilMs?: number | undefined };

/**
 * Runs rows, `concurrency` at a time; no further one is begun once a limit of the job is reached or the driver is to pause. Where a call
 * limit is full, those that are under way go on, one after another as their places become free; when none is, the rest waits.
 */
export async function runRows(at: MapAt, works: readonly RowWork[], shared: RowsEffects): Promise<RowsEnd> {
  const queue = [...works];
  const { step, state } = at;
  const size = Math.min(step.concurrency, state.loaded.program.limits.concurrency, works.length);
  let active = size;
  let limit: Limit | undefined;
  let fullUntilMs: number | undefined;
  const work = async () => {
    for (let row = queue.shift(); row !== undefined; row = queue.shift()) {
      if (limit !== undefined || shared.effects.mustPause(at.state)) return;
      const end = await runRow(at, row, shared);
      if (typeof end !== "object") {
        limit = end ?? limit;
        continue;
      }
      queue.unshift(row);
      if (active === 1) fullUntilMs = end.fullUntilMs;
      return;
    }
  };
  const worker = async () => {
    try {
      await work();
    } finally {
      active--;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: size }, worker));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return { limit, fullUntilMs };
}

/** Runs the calls of one row that have not ended well, in order, until one does not; a limit that forbids one is returned. */
async function runRow(
  at: MapAt,
  work: RowWork,
  { tally, effects }: RowsEffects,
): Promise<Limit | { readonly fullUntilMs: number } | undefined> {
  const { state, step, progress } = at;
  while (work.doneCalls < step.calls.length) {
    const call = step.calls[work.doneCalls] as CallStep;
    const retry = progress.retries?.[`${work.ordinal}/${work.doneCalls}`];
    if (retry !== undefined && retry.dueAt > effects.clock.now()) {
      work.retry = retry;
      return undefined;
    }
    const filled = fillCall(call, { ...state.scope, row: work.row, calls: work.outputs }, state.stepArgs);
    if ("fault" in filled) {
      work.state = "failed";
      work.fault = filled.fault;
      return undefined;
    }
    const invoked = await invoke(
      {
        call,
        place: { stepId: step.id, ordinal: work.ordinal, callId: call.id },
        args: filled.args,
        appGeneration: progress.appGeneration ?? state.generation,
      },
      { state, tally, effects, attempts: retry?.attempts ?? 0 },
    );
    switch (invoked.kind) {
      case "ok":
        work.outputs[call.id] = invoked.value;
        work.doneCalls++;
        break;
      case "failed":
      case "unknown":
        work.state = invoked.kind;
        work.fault = invoked.fault;
        return undefined;
      case "postponed":
        if (invoked.isLimited && invoked.attempts === 0) return { fullUntilMs: effects.clock.now() + invoked.waitMs };
        work.retry = { attempts: invoked.attempts, dueAt: effects.clock.now() + invoked.waitMs };
        return undefined;
      case "limit":
        return invoked.limit;
    }
  }
  work.state = "ok";
  return undefined;
}
