import { addExactly, isBelow, isJsonNumber, isObject, type JsonNumber, nearestDouble } from "@svc/core";
import {
  type JsonObject,
  type JsonValue,
  listedRowsMax,
  type Path,
  type Reduction,
  type Reductions,
  type RunScope,
  resolveText,
  valueAt,
} from "@svc/program";
import type { Total } from "../state/progress.ts";
import type { ReadRow } from "./effects.ts";

/** Reason why a step cannot compute a value over its rows (for example a sum), with an error code. */
export type TotalFault = { readonly code: string; readonly message: string };

/**
 * A value that a step is computing over its rows, for example a sum, with its memory in bytes. It exists during one step action (the part of
 * a step between two commits).
 */
export type RunningTotal = {
  count: number;
  sum: Total["sum"];
  best: Total["best"];
  text: string;
  list: JsonValue[];
  bytes: number;
};

type Of<Kind extends Reduction["kind"]> = Extract<Reduction, { readonly kind: Kind }>;

/** Maximum size of a text or list that is computed over rows, in bytes. The value of a step has the same limit. */
const bytesMax = 65_536;

/**
 * Returns the state from which a value (such as a sum) is computed over rows. The computation continues from the stored state. If no state
 * is stored, the state is empty.
 */
export function runningTotal({ count, sum, best, text = "", list = [], bytes = 0 }: Total = nothing): RunningTotal {
  return { count, sum, best, text, list: [...list], bytes };
}

const nothing: Total = { count: 0, sum: 0, best: null };

/** The properties of a row that are needed to compute a value over many rows (for example a sum). */
type ReducedRow = Pick<ReadRow, "data" | "state" | "ordinal">;

/**
 * Includes rows in running totals (for example a sum or a list of texts). Pauses after each row, so that other work can run. Returns a
 * fault if a row cannot be included, otherwise undefined. `scope`: names that templates of texts can use in addition to the row's fields.
 */
export function* addRows(
  totals: readonly RunningTotal[],
  reductions: Reductions,
  rows: readonly ReducedRow[],
  scope: RunScope,
): Generator<undefined, TotalFault | undefined> {
  for (const row of rows) {
    const fault = addRow(totals, reductions, row, scope);
    if (fault !== undefined) return fault;
    yield;
  }
  return undefined;
}

/**
 * Includes one row in running totals (for example a sum or a list of texts). Returns a fault if the row cannot be included, otherwise
 * undefined. `scope`: the names that text templates can use in addition to the row's fields.
 */
export function addRow(
  totals: readonly RunningTotal[],
  reductions: Reductions,
  row: ReducedRow,
  scope: RunScope,
): TotalFault | undefined {
  for (const [index, [name, reduction]] of reductions.entries()) {
    const fault = addTo(totals[index] as RunningTotal, reduction, row, scope);
    if (fault !== undefined) return { ...fault, message: `${name} ${fault.message}` };
  }
  return undefined;
}

/** Returns the values that a step computes over all its rows (for example a sum or a count), by the name of the value. */
export function valuesOf(totals: readonly RunningTotal[], reductions: Reductions): JsonObject {
  return Object.fromEntries(
    reductions.map(([name, reduction], index) => [name, resultOf(totals[index] as RunningTotal, reduction)]),
  );
}

function addTo(
  total: RunningTotal,
  reduction: Reduction,
  { data, state, ordinal }: ReducedRow,
  scope: RunScope,
): TotalFault | undefined {
  switch (reduction.kind) {
    case "count":
      if (reduction.state === undefined || state === reduction.state) total.count++;
      return undefined;
    case "list":
      return addToList(total, fieldOf(data, reduction.field) ?? null);
    case "text":
      return addToText(total, reduction, { ...scope, row: data });
    default: {
      const value = fieldOf(data, reduction.field) ?? null;
      if (value === null) return undefined;
      const fault =
        reduction.kind === "sum" || reduction.kind === "avg"
          ? addNumber(total, value)
          : addBest(total, reduction.kind, value);
      return (
        fault && {
          code: "VALUE_UNFIT",
          message: `${fault(reduction.field.join("."))}, at the row with position ${ordinal}`,
        }
      );
    }
  }
}

/**
 * Returns the value of a field of a row. Single names have a fast path, because most fields are single names and there are very many rows.
 */
function fieldOf(data: JsonObject, field: Path): JsonValue | undefined {
  const [name = ""] = field;
  return field.length === 1 && Object.hasOwn(data, name) ? data[name] : valueAt(data, field);
}

/**
 * Returns the reason why a row's value cannot be part of a total. `field`: name of the value's field. The reason does not contain the
 * value, because values are private.
 */
type Misfit = (field: string) => string;

/**
 * Returns an example for an error message about a field that is not a number. The example shows how a `compute` step converts the field to
 * a number.
 */
function computed(field: string): string {
  return `{"${field.split(".").at(-1)}": "double(row.${field})"}`;
}

/**
 * Adds a number to a sum. If the value is not a number, returns a function that makes the error message, because a sum without this value
 * would be wrong.
 */
function addNumber(total: RunningTotal, value: JsonValue): Misfit | undefined {
  if (!isJsonNumber(value)) {
    return (field) => {
      const cure = typeof value === "string" ? `: compute it before, as in ${computed(field)}` : "";
      return `adds up ${field}, which is ${kindOf(value)} and not a number${cure}`;
    };
  }
  if (!Number.isFinite(nearestDouble(value)))
    return (field) => `adds up ${field}, which is larger than the largest double`;
  total.count++;
  total.sum = addExactly(total.sum, value);
  return undefined;
}

/**
 * Compares a value of a row with the least (`min`) or greatest (`max`) value so far, and keeps the better one. Returns a misfit (the
 * reason) if the values cannot be compared. Numbers are compared as numbers, and texts by their characters, so dates of the same form are
 * in order.
 */
function addBest(total: RunningTotal, kind: "min" | "max", value: JsonValue): Misfit | undefined {
  const { best } = total;
  if (!isJsonNumber(value) && typeof value !== "string") {
    return (field) => `compares ${field}, which is ${kindOf(value)} and neither a number nor a text`;
  }
  if (best !== null && (typeof best === "string") !== (typeof value === "string")) {
    return (field) => {
      const cure = `: compute it before, as in ${computed(field)}`;
      return `compares ${field}, which is ${kindOf(value)} here and ${kindOf(best)} in earlier rows${cure}`;
    };
  }
  if (typeof value === "string" && Buffer.byteLength(value) > bytesMax) {
    return (field) => `compares ${field}, which is a text of more than ${bytesMax} bytes`;
  }
  total.count++;
  if (best === null || (kind === "min" ? isLess(value, best) : isLess(best, value))) {
    total.best = value;
    if (typeof value === "string") total.bytes = Math.max(total.bytes, Buffer.byteLength(value));
  }
  return undefined;
}

function isLess(a: JsonNumber | string, b: JsonNumber | string): boolean {
  if (typeof a === "string" || typeof b === "string") return a < b;
  return isBelow(a, b);
}

function kindOf(value: JsonValue): string {
  if (isJsonNumber(value)) return "a number";
  if (typeof value === "string") return "a text";
  if (Array.isArray(value)) return "a list";
  return isObject(value) ? "an object" : "a boolean";
}

function addToList(total: RunningTotal, value: JsonValue): TotalFault | undefined {
  if (total.list.length >= listedRowsMax) {
    const message = `would be a list of more than ${listedRowsMax} values: take fewer rows, with a limit or a distinct`;
    return { code: "LIST_TOO_LONG", message };
  }
  total.list.push(value);
  return hold(total, Buffer.byteLength(JSON.stringify(value)) + 1);
}

/**
 * Adds a row to a text that joins values of rows. Rows beyond the maximum are only counted. Returns the reason if the row cannot be added,
 * or undefined.
 */
function addToText(total: RunningTotal, { of, separator, max }: Of<"text">, scope: RunScope): TotalFault | undefined {
  total.count++;
  if (total.count > max) return undefined;
  const resolved = resolveText(of, scope, () => "");
  if ("fault" in resolved) return resolved.fault;
  const added = total.count === 1 ? resolved.value : separator + resolved.value;
  total.text += added;
  return hold(total, Buffer.byteLength(added));
}

function hold(total: RunningTotal, bytes: number): TotalFault | undefined {
  total.bytes += bytes;
  if (total.bytes <= bytesMax) return undefined;
  const message = `would have more than ${bytesMax} bytes: take fewer rows, or shorter texts`;
  return { code: "VALUE_TOO_LARGE", message };
}

function resultOf(total: RunningTotal, reduction: Reduction): JsonValue {
  switch (reduction.kind) {
    case "count":
      return total.count;
    case "sum":
      return total.sum;
    case "avg":
      return total.count === 0 ? null : nearestDouble(total.sum) / total.count;
    case "min":
    case "max":
      return total.best;
    case "list":
      return total.list;
    case "text":
      return withOthers(total, reduction);
  }
}

function withOthers({ text, count }: RunningTotal, { max, more, separator }: Of<"text">): string {
  return count <= max || more === undefined ? text : text + separator + more.join(String(count - max));
}
