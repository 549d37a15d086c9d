import type { Action, JsonSchema, PollCursorDocument } from "@svc/catalog";
import { isObject, parseDuration } from "@svc/core";
import { answerTypeOf, type JsonObject, type Paging, type Path, pagingOf, parsePath } from "@svc/program";

/** What of a list is new at the first poll of a program: nothing, everything, or the last ones. */
export type PollFirst = "skip" | "all" | { readonly last: number };

/**
 * Where a poll goes on. `seen`: every poll walks all pages, and compares ids. `after`: argument `arg` takes the bound: the greatest `from`
 * of the rows so far, less the overlap where that is a time, or plus `step`; without `from` the time of the last poll. `newest`: with
 * `args` the newest rows come first, and a poll ends at a page without an unknown id. `token`: `arg` takes what stood at `from` in the
 * answer before, as long as there is more.
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
  /** Where the list stands in the answer. */
  readonly rows: Path;
  /** Where the id stands in a row. */
  readonly id: Path;
  readonly cursor: PollCursor;
  /** Undefined: the list has one page. */
  readonly paging: Paging | undefined;
  /** Of a list of one page: the argument that says how many rows it answers at most. */
  readonly size: string | undefined;
  /** Fields of a row that runs are given; undefined for all. */
  readonly keep: readonly string[] | undefined;
  /** Whether a row that is known is found again where its kept fields differ. */
  readonly findsChanged: boolean;
};

/** A list that is polled, as a definition says it. What is undefined stands in the tool's own definition. */
export type Poll = {
  readonly call: string;
  readonly entity: string;
  readonly args: JsonObject;
  readonly everyMs: number;
  readonly first: PollFirst;
  /** Whether rows are found once, or again where their kept fields differ. */
  readonly on: "new" | "changed";
  /** Whether a run gets all rows of a poll, or one. */
  readonly per: "poll" | "row";
  readonly keep: readonly string[] | undefined;
  readonly rows: string | undefined;
  readonly id: string | undefined;
  readonly size: string | undefined;
  readonly cursor: PollCursorDocument | undefined;
};

/** How rows are found: what the definition says, else what the tool declares; undefined where neither does. */
type FoundBy = {
  readonly rows: string | undefined;
  readonly id: string | undefined;
  readonly size: string | undefined;
  readonly cursor: PollCursorDocument | undefined;
};

/** What of a poll its definition says, and what its tool. */
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

/** How a poll walks the list of a tool; undefined where the tool does not say it (any more) and the definition neither. */
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

/** `items[]`: the path of a list; `[]` alone is the answer itself. */
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

/** What a row is, as a JSON Schema: an item of the list, with its kept fields; undefined where that is not known. */
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
