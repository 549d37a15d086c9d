import type { Action, JsonSchema, PollCursorDocument } from "@svc/catalog";
import { isObject, parseDuration } from "@svc/core";
import { answerTypeOf, type JsonObject, type Paging, type Path, pagingOf, parsePath } from "@svc/program";

/**
 * Rows that start runs at the first poll of a schedule. `skip`: none. `all`: every row. `last`: only the last rows, at most this number.
 */
export type PollFirst = "skip" | "all" | { readonly last: number };

/**
 * How a poll finds new rows. A poll is a regular call of a tool that lists rows. `from` is a path to a value in a row or in an answer.
 * - `seen`: every poll reads all pages. A row is new if svc does not know its id.
 * - `after`: a poll sends a lower limit in the argument `arg`, and the app returns only rows above it. The limit is the greatest value at
 *   `from` so far. Without `from`, it is the time of the last poll. A time is lowered by `overlapMs`; a number is raised by `step`.
 * - `newest`: with the arguments `args`, the app returns the newest rows first. A poll ends at the first page on which svc knows every id.
 * - `token`: the app remembers the position. A poll sends the value at `from` of the previous answer in the argument `arg`. It ends when
 *   the app has no more rows.
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

/** How a poll reads the rows of a list. A walk is one reading of the list; it may continue over several polls. */
export type WalkSpec = {
  readonly args: JsonObject;
  /** Path of the list of rows in the answer of the polled tool. */
  readonly rows: Path;
  /** Path of the id in a row. */
  readonly id: Path;
  readonly cursor: PollCursor;
  /** How further pages are requested. Undefined if the list has only one page. */
  readonly paging: Paging | undefined;
  /** Name of the argument for the maximum number of rows in an answer. Used only for a list with a single page. */
  readonly size: string | undefined;
  /**
   * The fields that are passed on from each new row of the polled list to the job that the row starts. Undefined if all fields are passed
   * on.
   */
  readonly keep: readonly string[] | undefined;
  /**
   * True if a known row counts as new again when one of its kept fields (`keep`) changes. False if a known row never counts as new again.
   */
  readonly findsChanged: boolean;
};

/**
 * A poll (the regular call of a tool that finds new rows), as a schedule's definition declares it. Undefined fields are taken from the
 * tool's own definition.
 */
export type Poll = {
  readonly call: string;
  readonly entity: string;
  readonly args: JsonObject;
  readonly everyMs: number;
  readonly first: PollFirst;
  /**
   * Kinds of rows that a poll returns. `new`: a row whose id was not known. `changed`: also a known row if one of its kept fields (the
   * fields that the program wants) has a new value.
   */
  readonly on: "new" | "changed";
  /** `poll`: one run gets all new rows of a poll. `row`: each new row gets its own run. */
  readonly per: "poll" | "row";
  readonly keep: readonly string[] | undefined;
  readonly rows: string | undefined;
  readonly id: string | undefined;
  readonly size: string | undefined;
  readonly cursor: PollCursorDocument | undefined;
};

/**
 * How a poll finds the rows of a list. Each setting comes from the schedule's definition, or otherwise from the tool's definition. A
 * setting is undefined if neither definition has it.
 */
type FoundBy = {
  readonly rows: string | undefined;
  readonly id: string | undefined;
  readonly size: string | undefined;
  readonly cursor: PollCursorDocument | undefined;
};

/**
 * Returns the settings with which a poll finds rows: the path of the list, the id field, the page size, and the order of reading. A setting
 * in the program's definition replaces the setting of the tool.
 */
export function foundBy({ rows, id, size, cursor, on }: Poll, { poll }: Pick<Action, "poll">): FoundBy {
  const declared = on === "changed" ? (poll?.changed ?? poll?.cursor) : poll?.cursor;
  // The page size that the tool declares is valid only for the tool's own list. It is not used if the program's definition names another
  // list.
  const isSameList = rows === undefined || rows === poll?.rows;
  return {
    rows: rows ?? poll?.rows,
    id: id ?? poll?.id,
    size: size ?? (isSameList ? poll?.size : undefined),
    cursor: cursor ?? declared,
  };
}

/**
 * Returns how a poll reads the rows of a tool's list: their path, their id field, and the order of reading. Returns undefined if one of
 * these is declared neither in the tool nor in the program's definition.
 */
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

/** Returns the path of a list that is written as a text such as `items[]`. The text `[]` means that the answer itself is the list. */
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

/**
 * Returns the JSON Schema of a row of the polled list, with the fields that the poll passes on to a run. Returns undefined if the schema is
 * unknown.
 */
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
