import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { readProviderTime } from "@svc/catalog";
import { isJsonNumber, isObject, scalarText } from "@svc/core";
import { canonicalJson, type JsonObject, type JsonValue, valueAt } from "@svc/program";
import type { PollCursor, WalkSpec } from "./definition.ts";
import { dayMs, type LastRow, type PollState } from "./state.ts";

/** The reason why svc cannot read the rows in a tool's answer to a poll. */
export type RowsFault = { readonly code: "POLL_ROWS_INVALID" | "POLL_ID_MISSING"; readonly message: string };

/** The reason why a cursor cannot be used for the next poll. */
type CursorFault = { readonly code: "POLL_BOUND_INVALID"; readonly message: string };

/** One row on a page of a polled list. `digest`: hash of the row's id, 16 bytes in hexadecimal. */
type PolledRow = {
  readonly digest: string;
  /**
   * Digest of the fields of the row that the poll passes on to runs. A new digest shows that the row has changed. Empty if the poll does
   * not look for changed rows.
   */
  readonly content: string;
  readonly row: JsonObject;
  readonly item: JsonValue;
};

/**
 * A row whose id svc already knows. `content`: digest of the row's kept fields. `seenAt`: when a poll last read the row, in epoch
 * milliseconds.
 */
export type KnownRow = { readonly content: string; readonly seenAt: number };

/** Function that returns the known rows among the given ids. It takes digests (hashes) of ids and returns the rows by digest. */
export type KnownReader = (digests: readonly string[]) => Promise<ReadonlyMap<string, KnownRow>>;

/** A new or changed row that a run receives. */
export type FoundRow = Pick<PolledRow, "digest" | "row">;

/**
 * Digests that svc stores for a polled row, to recognize the row in later polls. `digest`: of the row's id. `content`: of those fields of
 * the row that the schedule keeps.
 */
export type RememberedRow = { readonly digest: string; readonly content: string };

/** Properties of one reading of a polled list (a walk) that are needed to find the new rows. */
type WalkOfRows = {
  readonly spec: WalkSpec;
  readonly state: PollState;
  readonly nowMs: number;
  readonly startedAt: number;
  /**
   * True if the polled list takes the bound (the lower limit from which rows are read) as a number, for example an id. False if it takes a
   * time.
   */
  readonly takesNumbers: boolean;
};

/** Number of rows that are scanned without a pause. After that, other work of the node may run. */
const turnRows = 200;

/**
 * Scans the rows of a poll. It collects the new rows, and the rows whose ids svc must store to recognize them later. If the program is to
 * start with the last rows of the list, it collects the rows that may be the last.
 */
export class ScannedRows {
  readonly found: FoundRow[] = [];
  /**
   * Rows of the polled list that svc must store, so that later polls recognize them. They are rows with unknown ids, and known rows in
   * which a field that the program uses has changed.
   */
  readonly remembered = new Map<string, RememberedRow>();
  /** Known row ids that this poll has found again. The time at which they were last found must be stored. */
  readonly refreshed: string[] = [];
  /** Number of row ids in this poll that no earlier poll of the schedule had found. */
  unknown = 0;
  /** Number of characters of all new rows that this poll has found so far. */
  characters = 0;
  /**
   * The greatest bound among the rows that were read. A bound is a value, such as a time, from which the next reading of the list starts.
   * Null if no row has a bound.
   */
  highest: number | null;
  /**
   * The last rows of the list that were found so far. Used only by the first poll, if the schedule is to start with the last rows of the
   * list.
   */
  candidates: readonly LastRow[];
  readonly #walk: WalkOfRows;
  readonly #known: KnownReader;
  readonly #scanned = new Set<string>();
  /** Number of the first row that this poll reads. The numbers say in which order the polls of one reading of the list found the rows. */
  readonly #firstOrder: number;

  constructor(walk: WalkOfRows, known: KnownReader) {
    this.#walk = walk;
    this.#known = known;
    const { walk: open } = walk.state;
    this.highest = open?.highest ?? null;
    this.candidates = open?.candidates ?? [];
    this.#firstOrder = 1 + Math.max(0, ...this.candidates.map(({ order }) => Math.abs(order)));
  }

  /**
   * Scans the rows of one page. Returns `unknown`, the number of row ids that svc did not know before. Also returns `old`, the number of
   * row ids that an earlier reading of the list had already found. Returns a fault if the rows cannot be read.
   */
  async take(list: readonly JsonValue[]): Promise<{ unknown: number; old: number } | RowsFault | CursorFault> {
    const { spec, nowMs, startedAt, takesNumbers } = this.#walk;
    const rows: PolledRow[] = [];
    for (const [index, item] of list.entries()) {
      const row = rowOf(item, index, spec);
      if ("code" in row) return row;
      const bound = boundOfRow(spec.cursor, item, { takesNumbers, nowMs });
      if (typeof bound === "object") return bound;
      if (bound !== undefined) this.highest = Math.max(bound, this.highest ?? bound);
      // New rows can move a row that was already scanned to this page. Such a row is skipped.
      if (this.#scanned.has(row.digest)) continue;
      this.#scanned.add(row.digest);
      rows.push(row);
      this.#consider(row, bound);
      if (rows.length % turnRows === 0) await setImmediate();
    }
    const known = await this.#known(rows.map(({ digest }) => digest));
    const counts = { unknown: 0, old: 0 };
    for (const row of rows) {
      const before = known.get(row.digest);
      if (before === undefined) counts.unknown++;
      else if (before.seenAt < startedAt) counts.old++;
      this.#classify(row, before);
    }
    this.unknown += counts.unknown;
    return counts;
  }

  /** Adds the rows in `candidates` to the rows that the poll found. Called when the first reading of a list ends. */
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

  /**
   * Keeps a row as a candidate if it may be one of the last rows of the list. Does nothing unless this is the first walk (reading of the
   * whole list) and the program wants only the last rows. `bound`: value that orders the rows, if they have one.
   */
  #consider({ digest, row }: PolledRow, bound: number | undefined): void {
    const { spec, state } = this.#walk;
    const { first } = state;
    if (state.isPrimed || typeof first !== "object") return;
    const index = this.#firstOrder + this.#scanned.size;
    const order = bound ?? (spec.cursor.kind === "newest" ? -index : index);
    const least = this.candidates[0];
    if (least !== undefined && this.candidates.length >= first.last && order <= least.order) return;
    const kept = [...this.candidates, { digest, order, row }].sort((a, b) => a.order - b.order);
    this.candidates = kept.slice(-first.last);
  }
}

/**
 * Converts an item of a polled list to a row: the digest of the item's id, and the fields that are passed on to runs. Returns an error if
 * the item has no usable id.
 */
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
 * Returns the value of a row from which the next reading of the list may start: a number, or a time in epoch milliseconds. Returns
 * undefined if the row has no such value.
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
    const message = `${cursor.from?.join(".")} of a row is not ${wanted}, which ${cursor.arg} needs`;
    return { code: "POLL_BOUND_INVALID", message };
  };
  if (takesNumbers) {
    if (!isJsonNumber(value)) return invalid("number");
    return Number(scalarText(value));
  }
  // A numeric value is not used as a time, because it may be in seconds or in milliseconds.
  const atMs = typeof value === "string" && !/^[\s\d.+-]*$/.test(value) ? readProviderTime(value) : undefined;
  // A time in the future counts as now, because rows with earlier times may still appear.
  return atMs === undefined ? invalid("time") : Math.min(atMs, nowMs);
}
