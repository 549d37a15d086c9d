import { addExactly, isBelow, isJsonNumber, nearestDouble } from "@svc/core";
import { type JsonObject, type JsonValue, type Reduction, valueAt } from "@svc/program";
import type { Change, Edit } from "../state/change.ts";
import { noRows } from "../state/counts.ts";
import type { Total } from "../state/progress.ts";
import type { SetRow, StepEffects } from "./effects.ts";
import { type StepAt, type StepKind, setChunkRows, sourceOf } from "./step-kind.ts";

/** Numbers over a set: a chunk an act. */
export const reduceKind: StepKind<"reduce"> = {
  needs: "rows",
  set: undefined,
  advance: advanceReduce,
  answer: undefined,
};

async function advanceReduce(at: StepAt<"reduce">, effects: StepEffects): Promise<Change> {
  const { state, step, instruction, progress } = at;
  const begun: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const { next: fromOrdinal = 0, totals: before = {} } = progress ?? {};
  const withData = step.as.some(([, { kind }]) => kind !== "count");
  const rows = await effects.readRows(state, { ...sourceOf(step), fromOrdinal, limit: setChunkRows, withData });
  const totals = Object.fromEntries(
    step.as.map(([name, reduction]) => [name, addRows(before[name] ?? nothing, reduction, rows)]),
  );
  const counts = state.steps.get(step.id)?.receipt.rows ?? noRows;
  const looked: Edit = {
    kind: "receipt",
    stepId: step.id,
    rows: { ...counts, in: counts.in + rows.length, ok: counts.ok + rows.length },
  };
  const last = rows.at(-1);
  if (last === undefined || rows.length < setChunkRows) {
    const value: JsonObject = Object.fromEntries(
      step.as.map(([name, reduction]) => [name, resultOf(totals[name] ?? nothing, reduction)]),
    );
    return {
      edits: [
        ...begun,
        looked,
        { kind: "value", stepId: step.id, value },
        { kind: "finish", stepId: step.id, state: "completed", to: instruction.next },
      ],
      next: { kind: "on" },
    };
  }
  return {
    edits: [
      ...begun,
      looked,
      { kind: "progress", progress: { kind: "reduce", stepId: step.id, next: last.ordinal + 1, totals } },
      { kind: "logProgress", stepId: step.id },
    ],
    next: { kind: "commit" },
  };
}

const nothing: Total = { count: 0, sum: 0, best: null };

function addRows(before: Total, reduction: Reduction, rows: readonly SetRow[]): Total {
  if (reduction.kind === "count") {
    const counted = rows.filter(({ state }) => reduction.state === undefined || state === reduction.state).length;
    return { ...before, count: before.count + counted };
  }
  let { count, sum, best } = before;
  for (const { data } of rows) {
    const value = valueAt(data, reduction.field);
    if (!isJsonNumber(value) || !Number.isFinite(nearestDouble(value))) continue;
    count += 1;
    sum = addExactly(sum, value);
    if (best === null || (reduction.kind === "min" ? isBelow(value, best) : isBelow(best, value))) best = value;
  }
  return { count, sum, best };
}

function resultOf(total: Total, { kind }: Reduction): JsonValue {
  switch (kind) {
    case "count":
      return total.count;
    case "sum":
      return total.sum;
    case "avg":
      return total.count === 0 ? null : nearestDouble(total.sum) / total.count;
    case "min":
    case "max":
      return total.best;
  }
}
