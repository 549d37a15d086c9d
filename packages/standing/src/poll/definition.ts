import type { Action, JsonSchema, PollCursorDocument } from "@svc/catalog";
import { isObject, parseDuration } from "@svc/core";
import { answerTypeOf, type JsonObject, type Paging, type Path, pagingOf, parsePath } from "@svc/program";

/** Rows that the first poll of a program finds: none, all, or the last ones. */
export type PollFirst = "skip" | "all" | { readonly last: number };

/**
 * How a poll continues. `seen`: every poll walks all pages and compares ids. `after`: argument `arg` takes the bound, which is the greatest
 * `from` of the rows so far, less the overlap if that is a time, or plus `step`; without `from` it is the time of the last poll. `newest`: with
 * `args` the newest rows come first, and a poll ends at a page without unknown ids. `token`: `arg` takes the value at `from` of the previous
 * answer, until there are no further rows.
 */
export type PollCursor =
  | { readonly kind: "seen" }
  | {
      readonly kind: "after";
      readonly arg: string;
      readonly from: Path | undefined;
      readonly overlapMs: number;
      readonly step: number | undefined;
    }
  | { readonly kind: "newest"; readonly args: JsonObject }
  | { readonly kind: "token"; readonly arg: string; readonly from: Path; readonly more: Path | undefined };

/** How the rows of a list are walked. */
export type WalkSpec = {
  readonly args: JsonObject;
  /** Path of the list in the answer. */
  readonly rows: Path;
  /** Path of the id in a row. */
  readonly id: Path;
  readonly cursor: PollCursor;
  /** Undefined if the list has one page. */
  readonly paging: Paging | undefined;
  /** The argument for the maximum rows, if the list has one page. */
  readonly size: string | undefined;
  /** Fields of a row that runs get; undefined for all. */
  readonly keep: readonly string[] | undefined;
  /** True if a known row is found again when its kept fields differ. */
  readonly findsChanged: boolean;
};

/** A polled list, as a definition declares it. The tool's own definition supplies undefined fields. */
export type Poll = {
  readonly call: string;
  readonly entity: string;
  readonly args: JsonObject;
  readonly everyMs: number;
  readonly first: PollFirst;
  /** `new` finds a row once; `changed` finds it again when its kept fields differ. */
  readonly on: "new" | "changed";
  /** `poll`: a run gets all rows of a poll; `row`: one row. */
  readonly per: "poll" | "row";
  readonly keep: readonly string[] | undefined;
  readonly rows: string | undefined;
  readonly id: string | undefined;
  readonly size: string | undefined;
  readonly cursor: PollCursorDocument | undefined;
};

/** How rows are found, by the definition or otherwise by the tool; undefined if neither declares it. */
type FoundBy = {
  readonly rows: string | undefined;
  readonly id: string | undefined;
  readonly size: string | undefined;
  readonly cursor: PollCursorDocument | undefined;
};

/** Returns how the rows of a poll are found. */
export function foundBy({ rows, id, size, cursor, on }: Poll, { poll }: Pick<Action, "poll">): FoundBy {
  const declared = on === "changed" ? (poll?.changed ?? poll?.cursor) : poll?.cursor;
  // The size of the one page belongs to its list.
  const isSameList = rows === undefined || rows === poll?.rows;
  return {
    rows: rows ?? poll?.rows,
    id: id ?? poll?.id,
    size: size ?? (isSameList ? poll?.size : undefined),
    cursor: cursor ?? declared,
  };
}

/** Returns how a poll walks the list of a tool; undefined if neither the tool nor the definition declares it. */
export function walkSpecOf(poll: Poll, action: Action): WalkSpec | undefined {
  const { rows, id, size, cursor } = foundBy(poll, action);
  const rowsPath = rows === undefined ? undefined : listPathOf(rows);
  const idPath = id === undefined ? undefined : parsePath(id);
  const read = cursor && cursorOf(cursor);
  if (rowsPath === undefined || idPath === undefined || read === undefined) return undefined;
  return {
    args: poll.args,
    rows: rowsPath,
    id: idPath,
    cursor: read,
    paging: pagingOf({ paging: undefined }, action),
    size,
    keep: poll.keep,
    findsChanged: poll.on === "changed",
  };
}

/** Returns the path of a list, such as `items[]`; `[]` alone is the answer itself. */
function listPathOf(text: string): Path | undefined {
  return text === "[]" ? [] : parsePath(text.slice(0, -2));
}

function cursorOf({ kind, arg, from, overlap, step, more, args }: PollCursorDocument): PollCursor | undefined {
  const fromPath = from === undefined ? undefined : parsePath(from);
  switch (kind) {
    case "seen":
      return { kind };
    case "newest":
      return isObject(args) ? { kind, args: args as JsonObject } : undefined;
    case "after": {
      const overlapMs = overlap === undefined ? 0 : parseDuration(overlap);
      return arg === undefined ? undefined : { kind, arg, from: fromPath, overlapMs, step };
    }
    case "token": {
      const morePath = more === undefined ? undefined : parsePath(more);
      return arg === undefined || fromPath === undefined ? undefined : { kind, arg, from: fromPath, more: morePath };
    }
  }
}

/** Returns the JSON Schema of a row with its kept fields; undefined if it is unknown. */
export function rowTypeOf(poll: Poll, action: Action): JsonSchema | undefined {
  const { rows } = foundBy(poll, action);
  const path = rows === undefined ? undefined : listPathOf(rows);
  let node: unknown = answerTypeOf(action);
  for (const step of path ?? []) {
    if (!isObject(node)) return undefined;
    const group: unknown = typeof step === "number" ? node : node.properties;
    node = typeof step === "number" ? node.items : isObject(group) ? group[step] : undefined;
  }
  const item: unknown = path !== undefined && isObject(node) ? node.items : undefined;
  if (!isObject(item)) return undefined;
  if (!isObject(item.properties)) return isScalar(item) ? { type: "object", properties: { value: item } } : undefined;
  const { keep } = poll;
  const kept = Object.entries(item.properties).filter(([name]) => keep === undefined || keep.includes(name));
  return { type: "object", properties: Object.fromEntries(kept) };
}

function isScalar({ type }: JsonSchema): boolean {
  return ["string", "integer", "number", "boolean"].includes(String(type));
}
