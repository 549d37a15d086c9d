import { type Action, readProviderTime } from "@svc/catalog";
import { isJsonNumber, isoTime, scalarText } from "@svc/core";
import { argumentSchema } from "@svc/jobs";
import { type JsonObject, type JsonValue, typesOf, valueAt } from "@svc/program";
import type { PollCursor, WalkSpec } from "./spec.ts";

/** Why a cursor cannot go on. */
export type CursorFault = { readonly code: "POLL_BOUND_INVALID"; readonly message: string };

type Bound = { readonly bound: JsonValue; readonly takesNumbers: boolean };

/** Whether an argument that lists are asked for from on is a number, and not a time. */
export function takesNumbers(action: Action, name: string): boolean {
  const types = typesOf(argumentSchema(action, name));
  return types?.has("number") === true && !types.has("string");
}

/** The arguments of the pages of a walk, but for what asks for one page among them. */
export function argumentsOfWalk(
  { args, cursor }: Pick<WalkSpec, "args" | "cursor">,
  { bound, takesNumbers }: Bound,
): JsonObject {
  switch (cursor.kind) {
    case "seen":
      return args;
    case "newest":
      return { ...args, ...cursor.args };
    case "token":
      return bound === null ? args : { ...args, [cursor.arg]: bound };
    case "after": {
      if (typeof bound !== "number") return args;
      const value = takesNumbers ? bound : isoTime(Math.max(0, bound - cursor.overlapMs));
      return { ...args, [cursor.arg]: value };
    }
  }
}

/**
 * What a row says of the bound of the next walk: a number, or epoch milliseconds; undefined where it says nothing. A time to come is
 * taken for now: rows of before it are still to be found.
 */
export function boundOfRow(
  cursor: PollCursor,
  item: JsonValue,
  { takesNumbers, nowMs }: { readonly takesNumbers: boolean; readonly nowMs: number },
): number | undefined | CursorFault {
  if (cursor.kind !== "after" || cursor.from === undefined) return undefined;
  const value = valueAt(item, cursor.from);
  if (value === undefined || value === null || value === "") return undefined;
  const invalid = (wanted: string): CursorFault => {
    const message = `${cursor.from?.join(".")} of a row is no ${wanted}, which ${cursor.arg} takes`;
    return { code: "POLL_BOUND_INVALID", message };
  };
  if (takesNumbers) {
    if (!isJsonNumber(value)) return invalid("number");
    return Number(scalarText(value));
  }
  // A number is no time here: how it is counted is not known.
  const atMs = typeof value === "string" && !/^[\s\d.+-]*$/.test(value) ? readProviderTime(value) : undefined;
  return atMs === undefined ? invalid("time") : Math.min(atMs, nowMs);
}

/** The bound of the next walk, after one whose rows have `highest` at most. Without `from` it is when the walk began. */
export function nextBound(
  cursor: PollCursor,
  {
    bound,
    highest,
    startedAt,
  }: { readonly bound: JsonValue; readonly highest: number | null; readonly startedAt: number },
): JsonValue {
  if (cursor.kind !== "after") return bound;
  const found = cursor.from === undefined ? startedAt : highest === null ? null : highest + (cursor.step ?? 0);
  if (found === null) return bound;
  return typeof bound === "number" ? Math.max(bound, found) : found;
}
