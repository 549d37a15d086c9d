import { setImmediate } from "node:timers/promises";
import type { Action } from "@svc/catalog";
import { isoTime } from "@svc/core";
import { argumentSchema, argumentsOfPage, type FetchedPage, sizeOfPage, turnPage } from "@svc/jobs";
import { type JsonObject, type JsonValue, type Path, typesOf, valueAt } from "@svc/program";
import type { PollCursor, WalkSpec } from "./definition.ts";
import { type FoundRow, type KnownReader, MetRows, type SeenRow } from "./scanned-rows.ts";
import type { RowsFault } from "./rows.ts";
import type { OpenPage, OpenWalk, PollState } from "./state.ts";
import { afterWholeWalk } from "./whole-walks.ts";

type Bound = { readonly bound: JsonValue; readonly takesNumbers: boolean };

const pageRowsMax = 500;

/** A read that failed. `code` is the outcome of the call, or says what its answer lacks. */
export type ReadFault = {
  readonly code: string;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
  /** A limit of the project let it not go: nothing failed. */
  readonly isLimited?: boolean;
  /** The app refused it, and would again. */
  readonly isFinal?: boolean;
};

/** What a walk does to the world outside. */
export type WalkPort = {
  read(args: JsonObject): Promise<{ readonly answer: JsonValue } | { readonly fault: ReadFault }>;
  readonly known: KnownReader;
};

/** How far one poll goes. */
export type WalkBounds = {
  readonly pagesMax: number;
  readonly rowsMax: number;
  /** New rows after which it goes on with the next poll. */
  readonly foundMax: number;
  /** Characters of new rows after which it does. */
  readonly charactersMax: number;
};

/** What one poll sets out with. */
export type Walk = {
  readonly spec: WalkSpec;
  readonly action: Action;
  readonly state: PollState;
  readonly nowMs: number;
  readonly bounds: WalkBounds;
};

/** What one poll came to. */
export type PollResult =
  | {
      readonly kind: "read";
      readonly found: readonly FoundRow[];
      /** Ids that were unknown, and those whose kept fields differ. */
      readonly remembered: readonly SeenRow[];
      /** How many of these were unknown. */
      readonly unknown: number;
      /** Known ids whose last sight is to be written. */
      readonly refreshed: readonly string[];
      readonly state: PollState;
      /** It came to its cap: the next poll goes on at once. */
      readonly hasMore: boolean;
      readonly pages: number;
      readonly rows: number;
      /** Ids last seen before are forgotten; undefined for none. */
      readonly forgetBefore: number | undefined;
    }
  | { readonly kind: "failed"; readonly fault: ReadFault };

/** Walks a list from where the polls of a program stand. Nothing is written: what it answers is for one transaction. */
export async function walk(asked: Walk, port: WalkPort): Promise<PollResult> {
  const walker = new Walker(asked, port);
  const walked = await walker.go();
  const { walk: open } = asked.state;
  const isStale = walked.kind === "failed" && walker.isAtSavedPage && walked.fault.isFinal === true;
  if (!isStale || open === null) return walked;
  // The app may know the page of an earlier poll no more. The walk begins anew, and what it met by then is remembered.
  return new Walker({ ...asked, state: { ...asked.state, walk: { ...open, page: null } } }, port).go();
}

type PageEnd = { readonly kind: "end" | "cap" } | { readonly kind: "next"; readonly page: OpenPage | null };

class Walker {
  readonly #asked: Walk;
  readonly #port: WalkPort;
  readonly #takesNumbers: boolean;
  readonly #startedAt: number;
  readonly #met: MetRows;
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
    this.#met = new MetRows(rowsOf, port.known);
    // What was there before is of no interest: the list is asked for from now on.
    const isFromNow = !state.isPrimed && state.first === "skip" && spec.cursor.kind === "after" && !this.#takesNumbers;
    this.#bound = state.bound === null && isFromNow ? this.#startedAt : state.bound;
  }

  /** Whether what it reads is the page that an earlier poll left off before. */
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
        this.#met.found.length >= bounds.foundMax ||
        this.#met.characters >= bounds.charactersMax;
      if (isAtCap && this.#needsNoMore()) return this.#finish(false);
      if (isAtCap) return this.#cut();
      await setImmediate();
    }
  }

  /** The newest rows up to a cap are enough to know from: what is behind them is not walked to any more. */
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
    const met = await this.#met.take(list);
    if ("code" in met) return { fault: met };
    const { unknown, old } = met;
    this.#rows += list.length;
    const { state } = this.#asked;
    // Rows that this walk met before say nothing: others that came meanwhile moved them on.
    if (spec.cursor.kind === "newest" && state.isPrimed && unknown === 0 && old > 0) return { kind: "end" };
    if (spec.cursor.kind === "token") return this.#afterToken(read.answer, list.length);
    if (spec.paging === undefined) return this.#afterOnlyPage(fixed, list.length, unknown);
    return this.#turn({ paging: spec.paging, action, args: fixed, page, answer: read.answer, list });
  }

  /** Rows that come meanwhile can move a page on by as many as it has, so that it is the one before once more; twice, it is the app. */
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

  /** A list of one page that is full may have more behind it. */
  #afterOnlyPage(args: JsonObject, count: number, unknown: number): PageEnd | { readonly fault: ReadFault } {
    const { spec, action, state } = this.#asked;
    const size = spec.size === undefined ? undefined : sizeOfPage(spec.size, action, args);
    if (size === undefined || count < size) return { kind: "end" };
    // The bound moves on, and the next poll finds what is behind.
    if (spec.cursor.kind === "after" && unknown > 0) return { kind: "cap" };
    if (spec.cursor.kind === "newest" && (!state.isPrimed || unknown < count)) return { kind: "end" };
    const message = `${count} rows fill the one page that the list has: what is behind them is not to be seen`;
    return { fault: { code: "PAGE_LIMIT", message, isFinal: true } };
  }

  /** The walk goes on with the next poll. */
  #cut(): PollResult {
    const walk = this.#open(this.#page);
    const state = { ...this.#asked.state, bound: this.#bound, walk };
    return this.#walked(state, { hasMore: true, forgetBefore: undefined });
  }

  #open(page: OpenPage | null): OpenWalk {
    const { highest, candidates } = this.#met;
    return { startedAt: this.#startedAt, page, highest, candidates };
  }

  /** The walk is over. `goesOn`: the list does not end here, and the bound leads the next walk to what is behind. */
  #finish(goesOn: boolean): PollResult {
    const { spec, state, nowMs } = this.#asked;
    const bound = nextBound(spec.cursor, {
      bound: this.#bound,
      highest: this.#met.highest,
      startedAt: this.#startedAt,
    });
    const isPrimed = state.isPrimed || !goesOn;
    if (!state.isPrimed && isPrimed) this.#met.findCandidates();
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
    const { found, unknown, refreshed } = this.#met;
    const remembered = [...this.#met.remembered.values()];
    const counts = { pages: this.#pages, rows: this.#rows };
    return { kind: "read", found, remembered, unknown, refreshed, state, hasMore, ...counts, forgetBefore };
  }
}

function isList(list: readonly JsonValue[] | RowsFault): list is readonly JsonValue[] {
  return Array.isArray(list);
}

/** A page has as many rows as it may, where the tool says how many that is and the call does not say how many it wants. */
function withPageSize({ paging, size }: WalkSpec, action: Action, args: JsonObject): JsonObject {
  const name = size ?? (paging === undefined || paging.kind === "token" ? undefined : paging.size);
  if (name === undefined || Object.hasOwn(args, name)) return args;
  const most = argumentSchema(action, name)?.maximum;
  return typeof most === "number" ? { ...args, [name]: Math.min(most, pageRowsMax) } : args;
}

/** The list of an answer; an app that leaves an empty list out has none. */
function listOf(answer: JsonValue, path: Path): readonly JsonValue[] | RowsFault {
  const list = valueAt(answer, path);
  if (list === undefined || list === null) return [];
  if (Array.isArray(list)) return list as readonly JsonValue[];
  return { code: "POLL_ROWS_INVALID", message: `what the app answered at ${path.join(".") || "the top"} is no list` };
}

/** The arguments of the pages of a walk, but for what asks for one page among them. */
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

/** Whether an argument that lists are asked for from on is a number, and not a time. */
function takesNumbers(action: Action, name: string): boolean {
  const types = typesOf(argumentSchema(action, name));
  return types?.has("number") === true && !types.has("string");
}

/** The bound of the next walk, after one whose rows have `highest` at most. Without `from` it is when the walk began. */
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
