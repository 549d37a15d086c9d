import { setImmediate } from "node:timers/promises";
import type { Action } from "@svc/catalog";
import { isoTime } from "@svc/core";
import { argumentSchema, argumentsOfPage, type FetchedPage, sizeOfPage, turnPage } from "@svc/jobs";
import { type JsonObject, type JsonValue, type Path, typesOf, valueAt } from "@svc/program";
import type { PollCursor, WalkSpec } from "./definition.ts";
import { type FoundRow, type KnownReader, type RememberedRow, type RowsFault, ScannedRows } from "./scanned-rows.ts";
import { afterWholeWalk, type OpenPage, type OpenWalk, type PollState } from "./state.ts";

type Bound = { readonly bound: JsonValue; readonly takesNumbers: boolean };

const pageRowsMax = 500;

/** The failure to read a page of a polled list. `code`: the outcome of the tool call, or the code of a problem with the app's answer. */
export type ReadFault = {
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
  /**
   * True if a call limit of the project did not allow the read in time. The poll is then repeated later, and this does not count as a
   * failure of the poll. Default false.
   */
  readonly isLimited?: boolean;
  /** True if reading the same page again would fail in the same way, so that svc does not try again in this poll. Default false. */
  readonly isFinal?: boolean;
};

/**
 * Functions that a walk needs (a walk is one reading of a polled list, page by page). `read`: makes the call that returns a page. `known`:
 * looks up which row ids svc already knows.
 */
export type WalkPort = {
  read(args: JsonObject): Promise<{ readonly answer: JsonValue } | { readonly fault: ReadFault }>;
  readonly known: KnownReader;
};

/** Limits of one poll. When a limit is reached, the poll ends, and the next poll continues to read the list. */
export type WalkBounds = {
  readonly pagesMax: number;
  readonly rowsMax: number;
  /** Maximum number of new rows that one poll finds in the list. The poll then ends, and the next poll continues. */
  readonly foundMax: number;
  /** Maximum number of characters of all new rows that one poll finds in the list. */
  readonly charactersMax: number;
};

/** Input of one poll: the list to read, the tool to call, the state after the last poll, and limits. */
export type Walk = {
  readonly spec: WalkSpec;
  readonly action: Action;
  readonly state: PollState;
  readonly nowMs: number;
  readonly bounds: WalkBounds;
};

/** Result of one poll. */
export type PollResult =
  | {
      readonly kind: "read";
      readonly found: readonly FoundRow[];
      /**
       * Ids of list rows that the poll must store. They are ids of new rows, and ids of known rows in which a field that the program uses
       * has changed.
       */
      readonly remembered: readonly RememberedRow[];
      /** Number of ids in `remembered` (row ids to store) that svc did not know before this poll. */
      readonly unknown: number;
      /** Known row ids that this poll has read again. For these, the stored time of the last reading must be updated. */
      readonly refreshed: readonly string[];
      readonly state: PollState;
      /**
       * True if the poll stopped at a limit and the list may have more rows. The next poll then starts at once. False if the poll read
       * everything that it needed.
       */
      readonly hasMore: boolean;
      readonly pages: number;
      readonly rows: number;
      /** Known row ids that no poll has found since this time are deleted. Undefined means that no id is deleted. */
      readonly forgetBefore: number | undefined;
    }
  | { readonly kind: "failed"; readonly fault: ReadFault };

/**
 * Reads a list once, continuing from the stored state of the program's polls. Returns the result and writes nothing. The caller writes the
 * result in one transaction.
 */
export async function walk(asked: Walk, port: WalkPort): Promise<PollResult> {
  const walker = new Walker(asked, port);
  const walked = await walker.go();
  const { walk: open } = asked.state;
  const isStale = walked.kind === "failed" && walker.isAtSavedPage && walked.fault.isFinal === true;
  if (!isStale || open === null) return walked;
  // The app may no longer accept the page token that an earlier poll stored. The poll then starts again at the first page of the list. svc
  // still knows the row ids that it has already read.
  return new Walker({ ...asked, state: { ...asked.state, walk: { ...open, page: null } } }, port).go();
}

type PageEnd = { readonly kind: "end" | "cap" } | { readonly kind: "next"; readonly page: OpenPage | null };

class Walker {
  readonly #asked: Walk;
  readonly #port: WalkPort;
  readonly #takesNumbers: boolean;
  readonly #startedAt: number;
  readonly #scanned: ScannedRows;
  #page: OpenPage | null;
  #bound: JsonValue;
  #isRepeated = false;
  #pages = 0;
  #rows = 0;

  constructor(asked: Walk, port: WalkPort) {
    this.#asked = asked;
    this.#port = port;
    const { state, spec, action, nowMs } = asked;
    this.#startedAt = state.walk?.startedAt ?? nowMs;
    this.#page = state.walk?.page ?? null;
    this.#takesNumbers = spec.cursor.kind === "after" && takesNumbers(action, spec.cursor.arg);
    const rowsOf = { spec, state, nowMs, startedAt: this.#startedAt, takesNumbers: this.#takesNumbers };
    this.#scanned = new ScannedRows(rowsOf, port.known);
    // Rows from the time before the program began are not needed, so the poll requests only rows from now on.
    const isFromNow = !state.isPrimed && state.first === "skip" && spec.cursor.kind === "after" && !this.#takesNumbers;
    this.#bound = state.bound === null && isFromNow ? this.#startedAt : state.bound;
  }

  /**
   * True if the next page to read is the one at which an earlier poll stopped. False if this poll has already read a page. False also if
   * this poll reads the list from its start.
   */
  get isAtSavedPage(): boolean {
    return this.#pages === 0 && (this.#asked.state.walk?.page ?? null) !== null;
  }

  async go(): Promise<PollResult> {
    const { bounds } = this.#asked;
    for (;;) {
      const end = await this.#readPage();
      if ("fault" in end) return { kind: "failed", fault: end.fault };
      this.#pages++;
      if (end.kind !== "next") return this.#finish(end.kind === "cap");
      this.#page = end.page;
      const isAtCap =
        this.#pages >= bounds.pagesMax ||
        this.#rows >= bounds.rowsMax ||
        this.#scanned.found.length >= bounds.foundMax ||
        this.#scanned.characters >= bounds.charactersMax;
      if (isAtCap && this.#needsNoMore()) return this.#finish(false);
      if (isAtCap) return this.#cut();
      await setImmediate();
    }
  }

  /** True if this poll may stop here, because it is the first poll and needs only the newest rows. */
  #needsNoMore(): boolean {
    const { spec, state } = this.#asked;
    return spec.cursor.kind === "newest" && !state.isPrimed && state.first !== "all";
  }

  async #readPage(): Promise<PageEnd | { readonly fault: ReadFault }> {
    const { spec, action } = this.#asked;
    const bound = { bound: this.#bound, takesNumbers: this.#takesNumbers };
    const fixed = withPageSize(spec, action, argumentsOfWalk(spec, bound));
    const page = this.#page ?? undefined;
    const args = spec.paging === undefined ? fixed : argumentsOfPage(spec.paging, fixed, page);
    const read = await this.#port.read(args);
    if ("fault" in read) return read;
    const list = listOf(read.answer, spec.rows);
    if (!isList(list)) return { fault: list };
    const scanned = await this.#scanned.take(list);
    if ("code" in scanned) return { fault: scanned };
    const { unknown, old } = scanned;
    this.#rows += list.length;
    const { state } = this.#asked;
    // `old` is the number of known rows on this page. It does not count rows that the current reading of the list has already read: new
    // rows may have moved them to this page.
    if (spec.cursor.kind === "newest" && state.isPrimed && unknown === 0 && old > 0) return { kind: "end" };
    if (spec.cursor.kind === "token") return this.#afterToken(read.answer, list.length);
    if (spec.paging === undefined) return this.#afterOnlyPage(fixed, list.length, unknown);
    return this.#turn({ paging: spec.paging, action, args: fixed, page, answer: read.answer, list });
  }

  /**
   * Returns the next page to read, or the end of the list. A page may repeat once, because new rows can move all rows by one page. If it
   * repeats a second time, returns a fault, because the app's paging is wrong.
   */
  async #turn(fetched: FetchedPage): Promise<PageEnd | { readonly fault: ReadFault }> {
    const { seen: _seen, ...unseen } = fetched.page ?? { token: null, pages: 0 };
    let turned = await turnPage(fetched, Infinity);
    const isRepeated = turned?.kind === "repeated";
    if (turned?.kind === "repeated" && !this.#isRepeated && fetched.page !== undefined) {
      turned = await turnPage({ ...fetched, page: unseen }, Infinity);
    }
    this.#isRepeated = isRepeated;
    if (turned === undefined) return { kind: "end" };
    return turned.kind === "next" ? { kind: "next", page: turned.page } : { fault: { ...turned.fault, isFinal: true } };
  }

  #afterToken(answer: JsonValue, count: number): PageEnd {
    const { spec } = this.#asked;
    if (spec.cursor.kind !== "token") return { kind: "end" };
    const { from, more } = spec.cursor;
    const next = valueAt(answer, from);
    const before = this.#bound;
    const isSame = next === undefined || next === null || next === "" || next === before;
    if (!isSame) this.#bound = next;
    const isMore = more === undefined ? count > 0 : valueAt(answer, more) === true;
    return isSame || !isMore ? { kind: "end" } : { kind: "next", page: null };
  }

  /**
   * Returns how a poll ends after it has read the only page that the tool can return. Returns an error if the page is full and later polls
   * would not find the further rows.
   */
  #afterOnlyPage(args: JsonObject, count: number, unknown: number): PageEnd | { readonly fault: ReadFault } {
    const { spec, action, state } = this.#asked;
    const size = spec.size === undefined ? undefined : sizeOfPage(spec.size, action, args);
    if (size === undefined || count < size) return { kind: "end" };
    // The page is full, so the list may have more rows. Because there were new rows, the next poll reads from a later value (`bound`), so
    // it finds these rows.
    if (spec.cursor.kind === "after" && unknown > 0) return { kind: "cap" };
    if (spec.cursor.kind === "newest" && (!state.isPrimed || unknown < count)) return { kind: "end" };
    const message = `${count} rows fill the only page of the list: later rows cannot be read`;
    return { fault: { code: "PAGE_LIMIT", message, isFinal: true } };
  }

  /** Returns the result of a poll that reached its limit of pages or rows. The next poll continues at the page where this one stopped. */
  #cut(): PollResult {
    const walk = this.#open(this.#page);
    const state = { ...this.#asked.state, bound: this.#bound, walk };
    return this.#walked(state, { hasMore: true, forgetBefore: undefined });
  }

  #open(page: OpenPage | null): OpenWalk {
    const { highest, candidates } = this.#scanned;
    return { startedAt: this.#startedAt, page, highest, candidates };
  }

  /**
   * Ends the reading of the list, and returns the result of the poll. `goesOn`: true if the list has more rows. The next poll then starts
   * at once.
   */
  #finish(goesOn: boolean): PollResult {
    const { spec, state, nowMs } = this.#asked;
    const bound = nextBound(spec.cursor, {
      bound: this.#bound,
      highest: this.#scanned.highest,
      startedAt: this.#startedAt,
    });
    const isPrimed = state.isPrimed || !goesOn;
    if (!state.isPrimed && isPrimed) this.#scanned.findCandidates();
    const whole = spec.cursor.kind === "seen" ? afterWholeWalk(state.wholeWalks, this.#startedAt, nowMs) : undefined;
    const wholeWalks = whole?.walks ?? state.wholeWalks;
    const walk = isPrimed ? null : this.#open(null);
    const next = { ...state, isPrimed, bound, walk, wholeWalks };
    return this.#walked(next, { hasMore: goesOn, forgetBefore: whole?.forgetBefore });
  }

  #walked(
    state: PollState,
    { hasMore, forgetBefore }: { readonly hasMore: boolean; readonly forgetBefore: number | undefined },
  ): PollResult {
    const { found, unknown, refreshed } = this.#scanned;
    const remembered = [...this.#scanned.remembered.values()];
    const counts = { pages: this.#pages, rows: this.#rows };
    return { kind: "read", found, remembered, unknown, refreshed, state, hasMore, ...counts, forgetBefore };
  }
}

function isList(list: readonly JsonValue[] | RowsFault): list is readonly JsonValue[] {
  return Array.isArray(list);
}

/** Returns the arguments with the maximum page size, if the tool declares a page size and the poll sets none. */
function withPageSize({ paging, size }: WalkSpec, action: Action, args: JsonObject): JsonObject {
  const name = size ?? (paging === undefined || paging.kind === "token" ? undefined : paging.size);
  if (name === undefined || Object.hasOwn(args, name)) return args;
  const most = argumentSchema(action, name)?.maximum;
  return typeof most === "number" ? { ...args, [name]: Math.min(most, pageRowsMax) } : args;
}

/** Returns the list at a path of a tool's answer. Returns an empty list if there is no value, and a fault if the value is not a list. */
function listOf(answer: JsonValue, path: Path): readonly JsonValue[] | RowsFault {
  const list = valueAt(answer, path);
  if (list === undefined || list === null) return [];
  if (Array.isArray(list)) return list as readonly JsonValue[];
  return { code: "POLL_ROWS_INVALID", message: `the answer at ${path.join(".") || "the top"} is not a list` };
}

/**
 * Returns the arguments for the calls of a walk (the reading of a list, page by page). These arguments are the same for all pages of the
 * walk.
 */
function argumentsOfWalk(
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

/** True if the tool's argument for the bound (the value from which a polled list is read) takes a number. False if it takes a time. */
function takesNumbers(action: Action, name: string): boolean {
  const types = typesOf(argumentSchema(action, name));
  return types?.has("number") === true && !types.has("string");
}

/**
 * Returns the value from which the next poll reads the list. `highest`: the greatest value among the rows that were read. `startedAt`: when
 * the present reading began.
 */
function nextBound(
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
