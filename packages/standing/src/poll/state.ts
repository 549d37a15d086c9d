import { isJsonObject, readJsonObject } from "@svc/core";
import type { JsonObject, JsonValue } from "@svc/program";
import type { PollFirst } from "./definition.ts";

/** A row that is kept while a list is read for the first time. At the end, the rows with the greatest `order` start runs. */
export type LastRow = { readonly digest: string; readonly order: number; readonly row: JsonObject };

/**
 * The next page to read of a list that was not read to its end. `token`: the app's token for this page. `pages`: number of pages that were
 * already read. `seen`: recognizes a page that the app returns repeatedly. Jobs that read lists store their next page in the same form.
 */
export type OpenPage = { readonly token: JsonValue; readonly pages: number; readonly seen?: string };

/** A reading of a list that is not finished, because a poll reached its limit of pages or rows. The next poll continues it. */
export type OpenWalk = {
  /** Time in epoch milliseconds at which the reading of the tool's list began. The reading may continue over several polls. */
  readonly startedAt: number;
  /** The next page to read. Null means that the first page is next. */
  readonly page: OpenPage | null;
  /**
   * The greatest value so far of the field by which the poll finds new rows, such as a time of change. The next reading of the list begins
   * at this value. Null if no row has such a value.
   */
  readonly highest: number | null;
  /** The last rows of the list among those read so far. Used only in the first reading of the list, if only its last rows count as new. */
  readonly candidates: readonly LastRow[];
};

/**
 * State of a program's polls (regular calls that read a tool's list), such as the position in the list. It is stored encrypted, because it
 * contains data of the project.
 */
export type PollState = {
  readonly version: 1;
  /**
   * Decides which rows of the first walk (first reading of the whole list) count as new: all rows, no rows (`skip`), or only the last ones.
   */
  readonly first: PollFirst;
  /**
   * True after svc has read the whole polled list for the first time. From then on, every row with an unknown id is new. Before, the
   * schedule's setting `first` decides which rows are new.
   */
  readonly isPrimed: boolean;
  /**
   * Value from which the next poll reads the list. For the cursor `after`, it is a time (epoch milliseconds) or a number. For the cursor
   * `token`, it is the app's token. Null before the first value is known.
   */
  readonly bound: JsonValue;
  readonly walk: OpenWalk | null;
  /**
   * Start times of polls that read the complete list, at most one a day, oldest first. svc forgets the ids of rows that these polls no
   * longer found.
   */
  readonly wholeWalks: readonly number[];
};

/** Returns the state before the first poll. */
export function newPollState(first: PollFirst): PollState {
  return { version: 1, first, isPrimed: false, bound: null, walk: null, wholeWalks: [] };
}

/** Reads the stored state of a program's polls. Throws an Error if svc does not know the version of its format. */
export function parsePollState(text: string): PollState {
  const {
    version,
    first,
    isPrimed,
    bound = null,
    walk = null,
    wholeWalks,
  } = readJsonObject(text, "the state of a poll");
  if (version !== 1) throw malformed("version");
  return {
    version,
    first: firstOf(first),
    isPrimed: isPrimed === true,
    bound,
    walk: walk === null ? null : walkOf(objectOf(walk)),
    wholeWalks: listOf(wholeWalks).map(numberOf),
  };
}

function firstOf(value: JsonValue | undefined): PollFirst {
  if (value === "skip" || value === "all") return value;
  return { last: numberOf(objectOf(value)["last"]) };
}

function walkOf({ startedAt, page = null, highest = null, candidates }: JsonObject): OpenWalk {
  return {
    startedAt: numberOf(startedAt),
    page: page === null ? null : pageOf(objectOf(page)),
    highest: highest === null ? null : numberOf(highest),
    candidates: listOf(candidates).map((one) => {
      const { digest, order, row } = objectOf(one);
      if (typeof digest !== "string") throw malformed("a digest");
      return { digest, order: numberOf(order), row: objectOf(row) };
    }),
  };
}

function pageOf({ token = null, pages, seen }: JsonObject): OpenPage {
  return { token, pages: numberOf(pages), ...(typeof seen === "string" && { seen }) };
}

function objectOf(value: JsonValue | undefined): JsonObject {
  if (value === undefined || !isJsonObject(value)) throw malformed("an object");
  return value;
}

function listOf(value: unknown): readonly JsonValue[] {
  if (!Array.isArray(value)) throw malformed("a list");
  return value as readonly JsonValue[];
}

function numberOf(value: unknown): number {
  if (typeof value !== "number") throw malformed("a number");
  return value;
}

function malformed(what: string): Error {
  return new Error(`the stored state of a poll does not have the form of its version: ${what}`);
}

/** One day in milliseconds. */
export const dayMs = 86_400_000;
/**
 * Time for which svc remembers the id of a row that has disappeared from the polled list, in milliseconds (7 days). The time counts from
 * the last complete reading of the list that found the id.
 */
const rememberMs = 7 * dayMs;

/**
 * Notes that a poll has read the whole list. `walks`: start times of such polls, at most one a day. Returns the new `walks` and the time
 * `forgetBefore`. svc forgets rows that were last found before this time; undefined if svc forgets none.
 */
export function afterWholeWalk(
  walks: readonly number[],
  startedAt: number,
  nowMs: number,
): { readonly walks: readonly number[]; readonly forgetBefore: number | undefined } {
  const last = walks.at(-1);
  if (last !== undefined && startedAt < last + dayMs) return { walks, forgetBefore: undefined };
  const missed = walks.filter((at) => at <= nowMs - rememberMs).at(-1);
  const kept = walks.filter((at) => missed === undefined || at >= missed);
  // The time at which a row was last found is stored only once a day, so it can be up to a day too early.
  return { walks: [...kept, startedAt], forgetBefore: missed === undefined ? undefined : missed - dayMs };
}
