import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { readProviderTime } from "@svc/catalog";
import { isJsonNumber, isObject, scalarText } from "@svc/core";
import { canonicalJson, type JsonObject, type JsonValue, valueAt } from "@svc/program";
import type { PollCursor, WalkSpec } from "./definition.ts";
import type { RowsFault } from "./rows.ts";
import type { LastRow, PollState } from "./state.ts";
import { dayMs } from "./whole-walks.ts";

/** Why a cursor cannot go on. */
type CursorFault = { readonly code: "POLL_BOUND_INVALID"; readonly message: string };

/** A row of a page. Digests are 16 bytes, in hex. */
type PolledRow = {
  readonly digest: string;
  /** Of its kept fields; empty where nothing compares them. */
  readonly content: string;
  readonly row: JsonObject;
  readonly item: JsonValue;
};

/** What an id was when it was last seen. */
export type KnownRow = { readonly content: string; readonly seenAt: number };

/** Which of these ids are known, by digest. */
export type KnownReader = (digests: readonly string[]) => Promise<ReadonlyMap<string, KnownRow>>;

/** A row that makes a run, or a part of one. */
export type FoundRow = Pick<PolledRow, "digest" | "row">;

/** An id that is to be remembered, or that was seen again. */
export type SeenRow = { readonly digest: string; readonly content: string };

/** The walk whose rows they are. */
type WalkOfRows = {
  readonly spec: WalkSpec;
  readonly state: PollState;
  readonly nowMs: number;
  readonly startedAt: number;
  /** Whether the list is asked for from a number on, and not from a time. */
  readonly takesNumbers: boolean;
};

/** Rows that are taken before others have a turn. */
const turnRows = 200;

/** The rows that a poll meets, and what it makes of each: what is new, what is to be remembered, what may be among the last. */
export class MetRows {
  readonly found: FoundRow[] = [];
  /** Ids that were unknown, and those whose kept fields differ. */
  readonly remembered = new Map<string, SeenRow>();
  /** Known ids whose last sight is to be written. */
  readonly refreshed: string[] = [];
  /** Ids that were unknown. */
  unknown = 0;
  /** Of what was found. */
  characters = 0;
  /** The greatest bound among the walk's rows; null where none has one. */
  highest: number | null;
  /** Of a first walk of which the last rows are wanted: the best so far. */
  candidates: readonly LastRow[];
  readonly #walk: WalkOfRows;
  readonly #known: KnownReader;
  readonly #met = new Set<string>();
  /** Where rows of this poll stand behind those of the polls before. */
  readonly #firstOrder: number;

  constructor(walk: WalkOfRows, known: KnownReader) {
    this.#walk = walk;
    this.#known = known;
    const { walk: open } = walk.state;
    this.highest = open?.highest ?? null;
    this.candidates = open?.candidates ?? [];
    this.#firstOrder = 1 + Math.max(0, ...this.candidates.map(({ order }) => Math.abs(order)));
  }

  /** Takes the rows of a page. Answers how many of them are unknown, and how many were known before this walk. */
  async take(list: readonly JsonValue[]): Promise<{ unknown: number; old: number } | RowsFault | CursorFault> {
    const { spec, nowMs, startedAt, takesNumbers } = this.#walk;
    const rows: PolledRow[] = [];
    for (const [index, item] of list.entries()) {
      const row = rowOf(item, index, spec);
      if ("code" in row) return row;
      const bound = boundOfRow(spec.cursor, item, { takesNumbers, nowMs });
      if (typeof bound === "object") return bound;
      if (bound !== undefined) this.highest = Math.max(bound, this.highest ?? bound);
      // A row that a page before had moved on since.
      if (this.#met.has(row.digest)) continue;
      this.#met.add(row.digest);
      rows.push(row);
      this.#consider(row, bound);
      if (rows.length % turnRows === 0) await setImmediate();
    }
    const known = await this.#known(rows.map(({ digest }) => digest));
    const met = { unknown: 0, old: 0 };
    for (const row of rows) {
      const before = known.get(row.digest);
      if (before === undefined) met.unknown++;
      else if (before.seenAt < startedAt) met.old++;
      this.#classify(row, before);
    }
    this.unknown += met.unknown;
    return met;
  }

  /** The first walk is over: its last rows are what was found. */
  findCandidates(): void {
    for (const candidate of this.candidates) this.#find(candidate);
  }

  #classify(row: PolledRow, before: KnownRow | undefined): void {
    const { spec, state, nowMs } = this.#walk;
    const { digest, content } = row;
    const isNew = before === undefined || (spec.findsChanged && before.content !== content);
    if (!isNew) {
      if (before.seenAt < nowMs - dayMs) this.refreshed.push(digest);
      return;
    }
    this.remembered.set(digest, { digest, content });
    if (state.isPrimed || state.first === "all") this.#find(row);
  }

  #find({ digest, row }: FoundRow): void {
    this.found.push({ digest, row });
    this.characters += JSON.stringify(row).length;
  }

  /** Keeps a row of a first walk where it may be one of the last. */
  #consider({ digest, row }: PolledRow, bound: number | undefined): void {
    const { spec, state } = this.#walk;
    const { first } = state;
    if (state.isPrimed || typeof first !== "object") return;
    const place = this.#firstOrder + this.#met.size;
    const order = bound ?? (spec.cursor.kind === "newest" ? -place : place);
    const least = this.candidates[0];
    if (least !== undefined && this.candidates.length >= first.last && order <= least.order) return;
    const kept = [...this.candidates, { digest, order, row }].sort((a, b) => a.order - b.order);
    this.candidates = kept.slice(-first.last);
  }
}

/** The row of an item: its id and what runs are given of it. */
function rowOf(
  item: JsonValue,
  index: number,
  { id, keep, findsChanged }: Pick<WalkSpec, "id" | "keep" | "findsChanged">,
): PolledRow | RowsFault {
  const value = valueAt(item, id);
  const text = value === undefined || value === null ? undefined : scalarText(value);
  if (text === undefined || text === "") {
    const message = `row ${index + 1} of a page has no text or number at ${id.join(".")}`;
    return { code: "POLL_ID_MISSING", message };
  }
  const row = keptOf(item, keep);
  return { digest: digestOf(text), content: findsChanged ? digestOf(canonicalJson(row)) : "", row, item };
}

function keptOf(item: JsonValue, keep: readonly string[] | undefined): JsonObject {
  if (!isObject(item)) return { value: item };
  const fields = item as JsonObject;
  if (keep === undefined) return fields;
  return Object.fromEntries(
    keep.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, fields[name] ?? null]] : [])),
  );
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/**
 * What a row says of the bound of the next walk: a number, or epoch milliseconds; undefined where it says nothing. A time to come is
 * taken for now: rows of before it are still to be found.
 */
function boundOfRow(
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
