import type { CallStep, JsonObject, JsonValue, RowState } from "@svc/program";
import type { ProgressOf, RetryProgress } from "../state/progress.ts";
import { fillCall } from "./arguments.ts";
import type { SetRow, StepEffects, TakeRecord } from "./effects.ts";
import { type CallFault, invoke, type Tally } from "./invoke.ts";
import type { StepAt } from "./step-kind.ts";

/** A map under way. */
export type MapAt = StepAt<"map"> & { readonly progress: ProgressOf<"map"> };

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
  /** What its calls used and did in this act. */
  readonly tally: Tally;
  /** Undefined while the row has not ended. */
  state?: RowState;
  fault?: CallFault;
  /** The attempts before at the call that is next, and when that is due. */
  retry?: RetryProgress | undefined;
};

/** A row as it was read; `own` is what earlier acts left of it. */
export function rowWorkOf(
  { ordinal, rowNumber, data }: SetRow,
  own: SetRow | undefined,
  { tally, retries = {} }: { readonly tally: Tally; readonly retries: ProgressOf<"map">["retries"] },
): RowWork {
  const doneCalls = own?.doneCalls ?? 0;
  const retry = retries[`${ordinal}/${doneCalls}`];
  const outputs = { ...own?.outputs };
  return { ordinal, rowNumber, row: data, doneBefore: doneCalls, doneCalls, outputs, tally, retry };
}

/** Why a row was left: a limit of the job, or, until `fullUntilMs`, one that its calls share with others. */
export type RowEnd = "toolCalls" | "writes" | { readonly fullUntilMs: number } | undefined;

/** Runs the calls of one row that have not ended well, in order, until one does not; a limit that forbids one is returned. */
export async function runRow(
  { state, step, progress }: MapAt,
  work: RowWork,
  { effects, takeRecord }: { readonly effects: StepEffects; readonly takeRecord: TakeRecord },
): Promise<RowEnd> {
  while (work.doneCalls < step.calls.length) {
    const call = step.calls[work.doneCalls] as CallStep;
    const { retry, tally } = work;
    if (retry !== undefined && retry.dueAt > effects.clock.now()) return undefined;
    const filled = fillCall(call, { ...state.scope, row: work.row, calls: work.outputs }, state.stepArgs);
    if ("fault" in filled) {
      work.state = "failed";
      work.fault = filled.fault;
      return undefined;
    }
    const place = { stepId: step.id, ordinal: work.ordinal, callId: call.id };
    const generation = progress.generation ?? state.generation;
    const appGeneration = progress.appGeneration ?? generation;
    const invoked = await invoke(
      { call, place, args: filled.args, generation, appGeneration },
      { state, tally, effects, attempts: retry?.attempts ?? 0, takeRecord },
    );
    switch (invoked.kind) {
      case "ok":
        work.outputs[call.id] = invoked.value;
        work.doneCalls++;
        work.retry = undefined;
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
