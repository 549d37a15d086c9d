import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Action } from "@svc/catalog";
import { isObject } from "@svc/core";
import { type JsonObject, type JsonValue, type MapCall, type Paging, pagingOf, typesOf, valueAt } from "@svc/program";
import type { Edit } from "../state/change.ts";
import { toolOf } from "./invoke.ts";
import type { CallAt } from "./step-kind.ts";

/**
 * Progress of a step that reads a list page by page. `token`: value with which the next page is requested. `pages`: number of pages
 * fetched. `seen`: digest of the last page's rows.
 */
type PageProgress = { readonly token: JsonValue; readonly pages: number; readonly seen?: string };

/** The reason why a step cannot continue with another page. */
type PageFault = { readonly code: string; readonly message: string };

type AfterPage =
  | { readonly kind: "end" }
  | { readonly kind: "next"; readonly token: JsonValue }
  | { readonly kind: "fault"; readonly fault: PageFault };

/**
 * Result of a fetched page. `next`: another page follows. `fault`: the reason why the next page cannot be fetched. `repeated`: the app sent
 * the rows of the previous page a second time.
 */
type TurnedPage =
  | { readonly kind: "next"; readonly page: PageProgress }
  | { readonly kind: "fault"; readonly fault: PageFault }
  | { readonly kind: "repeated"; readonly fault: PageFault };

/** A fetched page: its request and its answer. `page`: the progress from which the page was requested; undefined for the first page. */
export type FetchedPage = {
  readonly paging: Paging;
  readonly action: Action;
  readonly args: JsonObject;
  readonly page: PageProgress | undefined;
  readonly answer: JsonValue;
  readonly list: readonly JsonValue[];
};

/**
 * Returns the arguments of the call that fetches a page, including the argument that selects the page. The first page of a list with tokens
 * has no such argument.
 */
export function argumentsOfPage(paging: Paging, args: JsonObject, page: PageProgress | undefined): JsonObject {
  if (page !== undefined) return { ...args, [paging.arg]: page.token };
  return paging.kind === "token" ? args : { ...args, [paging.arg]: firstOf(paging, args) };
}

/**
 * Returns the next page, or the reason why it cannot be fetched. Returns undefined if the fetched page is the last. `max`: maximum number
 * of pages that the step may fetch.
 */
export async function turnPage(fetched: FetchedPage, max: number): Promise<TurnedPage | undefined> {
  const { page, list, paging } = fetched;
  const after = afterPage(fetched);
  const mayRepeat =
    page?.seen !== undefined && (list.length > 0 || (after.kind === "next" && after.token === page.token));
  const seen = mayRepeat || after.kind === "next" ? await digestOfPage(list) : undefined;
  const pages = (page?.pages ?? 0) + 1;
  if (mayRepeat && seen === page.seen) {
    const message = `page ${pages} has the rows of the page before: the app ignores ${paging.arg}`;
    return { kind: "repeated", fault: { code: "PAGE_REPEATED", message } };
  }
  if (after.kind === "end") return undefined;
  if (after.kind === "fault") return after;
  if (pages < max) return { kind: "next", page: { token: after.token, pages, ...(seen !== undefined && { seen }) } };
  const more = paging.kind === "token" ? "there are more pages" : "the last page was full";
  return { kind: "fault", fault: { code: "PAGE_LIMIT", message: `${pages} pages were fetched and ${more}` } };
}

function afterPage(fetched: FetchedPage): AfterPage {
  const { paging, answer } = fetched;
  const isMore = paging.more === undefined ? undefined : valueAt(answer, paging.more);
  if (isMore === false) return { kind: "end" };
  if (paging.kind !== "token") return afterCount(paging, fetched, isMore === true);
  const after = afterToken(paging, fetched);
  if (after.kind !== "end" || isMore !== true) return after;
  const message = `${paging.more?.join(".")} of the answer is true, but there is no value at ${paging.from.join(".")}`;
  return { kind: "fault", fault: { code: "PAGE_TOKEN_MISSING", message } };
}

/**
 * True if the app has more pages of a list than the first one, and the program reads only the first. The answer shows this by a next token
 * or a full page.
 */
function hasMorePages(fetched: FetchedPage): boolean {
  const { paging, action, args, answer, list } = fetched;
  if (paging.more !== undefined && typeof valueAt(answer, paging.more) === "boolean") {
    return valueAt(answer, paging.more) === true;
  }
  if (paging.kind === "token") return afterToken(paging, fetched).kind !== "end";
  const size = paging.size === undefined ? undefined : sizeOfPage(paging.size, action, args);
  return size !== undefined && size > 0 && list.length >= size;
}

type TokenPaging = Extract<Paging, { kind: "token" }>;
type CountedPaging = Exclude<Paging, { kind: "token" }>;

function afterToken({ arg, from, query }: TokenPaging, { action, answer }: FetchedPage): AfterPage {
  const given = tokenAt(answer, from);
  if (given === undefined || given === null || given === "") return { kind: "end" };
  if (query === undefined) return { kind: "next", token: given };
  const link = typeof given === "string" ? URL.parse(given, "https://app.invalid/") : null;
  const text = link?.searchParams.get(query);
  if (text === undefined || text === null) {
    const message = `the value at ${from.join(".")} is not a link with a query parameter ${query}`;
    return { kind: "fault", fault: { code: "PAGE_LINK_INVALID", message } };
  }
  const types = typesOf(argumentSchema(action, arg));
  const isNumber = types?.has("number") === true && !types.has("string") && /^\d{1,15}$/.test(text);
  return { kind: "next", token: isNumber ? Number(text) : text };
}

/** Returns the value at a path of an answer. The step -1 of the path is the last item of a list. */
function tokenAt(answer: JsonValue, [...path]: TokenPaging["from"]): JsonValue | undefined {
  const last = path.indexOf(-1);
  if (last < 0) return valueAt(answer, path);
  const list = valueAt(answer, path.slice(0, last));
  return Array.isArray(list) ? tokenAt(list.at(-1) ?? null, path.slice(last + 1)) : undefined;
}

/**
 * Returns the number or offset of the next page, or that the list has ended. If the size of a full page is unknown, only an empty page
 * shows that end.
 */
function afterCount(paging: CountedPaging, { action, args, page, list }: FetchedPage, isMore: boolean): AfterPage {
  if (list.length === 0 && !isMore) return { kind: "end" };
  const size = paging.size === undefined ? undefined : sizeOfPage(paging.size, action, args);
  if (!isMore && size !== undefined && list.length < size) return { kind: "end" };
  const here = typeof page?.token === "number" ? page.token : firstOf(paging, args);
  return { kind: "next", token: here + (paging.kind === "number" ? 1 : list.length) };
}

/**
 * Returns the number (or offset) of the first page: the value in the call's arguments, or else the number at which the app's pages begin.
 */
function firstOf({ arg, start }: CountedPaging, args: JsonObject): number {
  const given = args[arg];
  return typeof given === "number" ? given : start;
}

/**
 * Returns the number of rows on a full page: the value of the call's argument `name`, or else its default in the tool's schema. Returns
 * undefined if it has neither.
 */
export function sizeOfPage(name: string, action: Action, args: JsonObject): number | undefined {
  const size = args[name] ?? argumentSchema(action, name)?.default;
  return typeof size === "number" ? size : undefined;
}

/** Returns the schema of an argument of a tool, or undefined if the tool has no such argument. */
export function argumentSchema({ inputSchema: { properties } }: Action, name: string) {
  const schema = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isObject(schema) ? schema : undefined;
}

/** Number of characters that are hashed at a time, before other work of the node can run. This takes about two milliseconds. */
const turnCharacters = 500_000;

/** Returns a digest of a page's rows as the app sent them. The digest shows if the app sends the same page twice. */
async function digestOfPage(list: readonly JsonValue[]): Promise<string> {
  const hash = createHash("sha256");
  let characters = 0;
  for (const item of list) {
    const text = `${JSON.stringify(item)}\n`;
    hash.update(text);
    characters += text.length;
    if (characters < turnCharacters) continue;
    characters = 0;
    await setImmediate();
  }
  return hash.digest("base64url");
}

/** A call step whose arguments are filled in. `isSample`: true if a simulation did not send the call, so its value is a sample. */
export type CalledAt = CallAt & { readonly args: JsonObject; readonly isSample?: boolean };

type PageAt = { readonly paging: Paging; readonly page: PageProgress | undefined };

/** Returns the arguments of the call that fetches a page. For an HTTP request, its query selects the page. */
export function argumentsOfStep(step: MapCall, args: JsonObject, { paging, page }: PageAt): JsonObject {
  if (step.http === undefined) return argumentsOfPage(paging, args, page);
  return { ...args, query: argumentsOfPage(paging, askingOf(step, args), page) };
}

/** Returns those arguments of a call that select the page: the query of an HTTP request, or else all arguments. */
function askingOf({ http }: MapCall, args: JsonObject): JsonObject {
  if (http === undefined) return args;
  return isObject(args["query"]) ? args["query"] : {};
}

/**
 * Returns how the app's pages are requested, or undefined if the step reads only one page. Throws an Error if neither the program nor the
 * pinned tool definition describes the paging, because a single page would look like the whole list. The checker rejects such programs.
 */
export function pagingOfStep({ state, step }: Pick<CallAt, "state" | "step">): Paging | undefined {
  if (step.rows?.page === undefined) return undefined;
  const paging = pagingOf(step.rows.page, toolOf(state, step).action);
  if (paging === undefined) throw new Error(`the pins of a job lack the paging of ${step.tool}`);
  return paging;
}

/**
 * If the program reads only the first page of a list and the list has more pages, returns edits (changes to the job's state) that report
 * this. Returns an empty list otherwise.
 */
export function leftPages(at: CalledAt, answer: JsonValue, list: readonly JsonValue[]): Edit[] {
  const { state, step, args } = at;
  // An HTTP request of the program has no tool, so no tool definition describes its paging.
  const action = state.loaded.tools.get(step.tool)?.action;
  if (step.rows?.page !== undefined || action?.class !== "read" || at.isSample === true) return [];
  const asking = askingOf(step, args);
  const paging = pagingOf({ paging: undefined }, action);
  if (paging === undefined) return [];
  if (!hasMorePages({ paging, action, args: asking, page: undefined, answer, list })) return [];
  const message = `the rows are those of one page, and there are more: read them with "page": {"max": 20}`;
  return [
    { kind: "error", stepId: step.id, code: "PAGES_LEFT", ordinal: 0, message },
    {
      kind: "note",
      note: { type: "pages-left", stepId: step.id, payload: { toolSlug: step.tool, rows: list.length } },
    },
  ];
}

/** Returns the next page of the step, or the reason why it cannot be fetched. Returns undefined if the fetched page is the last. */
export async function turnPageOfStep(
  at: CalledAt,
  answer: JsonValue,
  list: readonly JsonValue[],
): Promise<TurnedPage | undefined> {
  const { state, step, progress, args } = at;
  const { action } = toolOf(state, step);
  const paging = pagingOfStep(at);
  // The sample of a call that a simulation did not send has only one page.
  if (step.rows?.page === undefined || paging === undefined || at.isSample === true) return;
  const asking = askingOf(step, args);
  return turnPage({ paging, action, args: asking, page: progress?.page, answer, list }, step.rows.page.max);
}
