import { isJsonObject, readJsonObject } from "@svc/core";
import type { JsonObject, JsonValue } from "@svc/program";
import type { PollFirst } from "./definition.ts";

/** A row that may be among the last ones of a first walk. `order` is where it stands among them. */
export type LastRow = { readonly digest: string; readonly order: number; readonly row: JsonObject };

/** What asks for the next page of a walk, as a job keeps it. */
export type OpenPage = { readonly token: JsonValue; readonly pages: number; readonly seen?: string };

/** A walk that goes on with the next poll, since it came to its cap. */
export type OpenWalk = {
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Null where the next page is the first. */
  readonly page: OpenPage | null;
  /** The greatest bound among its rows; null where none has one. */
  readonly highest: number | null;
  /** Of a first walk of which the last rows are wanted: the best so far. */
  readonly candidates: readonly LastRow[];
};

/** Where the polls of a program stand. It is kept sealed: bounds, tokens and rows are the project's data. */
export type PollState = {
  readonly version: 1;
  /** What the first walk finds. */
  readonly first: PollFirst;
  /** Whether the first walk has ended: from then on what is unknown is new. */
  readonly isPrimed: boolean;
  /** Of `after`: epoch milliseconds of a time, or a number; of `token` the token. Null where there is none yet. */
  readonly bound: JsonValue;
  readonly walk: OpenWalk | null;
  /** When walks of the whole list began, one a day at most, the oldest first; as far back as ids are remembered for. */
  readonly wholeWalks: readonly number[];
};

/** Before the first poll. */
export function newPollState(first: PollFirst): PollState {
  return { version: 1, first, isPrimed: false, bound: null, walk: null, wholeWalks: [] };
}

/** Reads a state that was stored. Throws an Error for one of no version that is known. */
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
  return new Error(`the stored state of a poll has not the form of its version: ${what}`);
}
