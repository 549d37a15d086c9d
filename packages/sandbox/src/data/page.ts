import type { Action, Toolkit } from "@svc/catalog";
import { type AnyObject, itemsOf, propertiesOf, typesOf } from "../app/refusal.ts";
import type { ResultPlace } from "./layout.ts";
import { plainName } from "./words.ts";

/**
 * Names of the arguments by which a list tool is paged: page size, page token, offset and page number. Undefined if the tool has no such
 * argument.
 */
type PageArguments = {
  readonly size: string | undefined;
  readonly token: string | undefined;
  readonly offset: string | undefined;
  readonly page: string | undefined;
};

/**
 * A part of a list. `start`: index of the first item. `end`: index after the last item. `total`: number of all items. `size`: items per
 * page.
 */
export type ListSlice = {
  readonly start: number;
  readonly end: number;
  readonly total: number;
  readonly size: number;
  /** Number of the page, counted from 1. */
  readonly number: number;
};

const sizeNames = ["limit", "maxresults", "pagesize", "perpage", "itemsperpage", "count", "numresults", "first", "n"];
const tokenNames = ["pagetoken", "cursor", "startcursor", "nexttoken", "nextcursor", "pagecursor", "after"];
const offsetNames = ["offset", "skip"];
const pageNames = ["page", "pagenumber"];
const tokenFields = [
  "nextpagetoken",
  "nextcursor",
  "cursor",
  "nextpagecursor",
  "nexttoken",
  "endcursor",
  "next",
  "nextpageoffset",
];
const moreFields = ["more", "hasmore", "hasnextpage", "hasnext"];
const totalFields = [
  "total",
  "totalitems",
  "totalcount",
  "totalentries",
  "totalresults",
  "numresults",
  "nbitems",
  "found",
  "outof",
];
const pageCountFields = ["numpages", "nbpages", "totalpages", "pagecount"];

/** Number of items in a list if the call does not ask for a number of items. */
const itemsUsual = 3;
/** Number of items on a page in the sandbox scenario `pages` (long lists). It applies if neither the call nor the tool sets a page size. */
const pageSizeUsual = 250;
/** Maximum number of items that the sandbox (apps that svc plays itself) returns on one page of a list. */
const pageSizeMax = 2500;

/**
 * Returns the paging arguments of a tool, as its definition declares them. Definitions that were made for svc 0.1 do not declare them;
 * there, the arguments are found by their names.
 */
function pageArgumentsOf(action: Action): PageArguments {
  const names = propertiesOf(action.inputSchema).map(([name]) => name);
  const find = (wanted: readonly string[]) => names.find((name) => wanted.includes(plainName(name)));
  if (action.paging !== undefined) {
    const { arg, from, by, size = find(sizeNames) } = action.paging;
    const kind = from !== undefined ? "token" : by === "rows" ? "offset" : "page";
    return { size, token: undefined, offset: undefined, page: undefined, [kind]: arg };
  }
  const offset = find(offsetNames);
  // If a list returns the offset of the next page, this offset is its token.
  const isToken = offset !== undefined && propertyNames(action.outputSchema).has("nextpageoffset");
  return {
    size: find(sizeNames),
    token: isToken ? offset : find(tokenNames),
    offset: isToken ? undefined : offset,
    page: find(pageNames),
  };
}

function propertyNames(schema: AnyObject, depth = 0): Set<string> {
  const names = new Set<string>();
  if (depth > 4) return names;
  for (const [name, child] of [...propertiesOf(schema), ...propertiesOf(itemsOf(schema))]) {
    names.add(plainName(name));
    for (const inner of propertyNames(child, depth + 1)) names.add(inner);
  }
  return names;
}

/** True if an argument selects a part of a list. False if it determines which list is read. */
export function isPageArgument(action: Action, name: string): boolean {
  const { size, token, offset, page } = pageArgumentsOf(action);
  return [size, token, offset, page].includes(name);
}

/**
 * A list that is read in pages. `count`: returns the number of rows in the list; `usual` is the sandbox's usual number. `pages`: number of
 * full pages to make; undefined for a list of the usual length. `startAfter`: returns the index after the row with this id.
 */
type PageSource = {
  readonly count: (usual: number) => number;
  readonly pages: number | undefined;
  readonly startAfter: (id: string, total: number) => number;
};

/** Returns which rows of a list a call asks for. */
export function pageOf(
  toolkit: Toolkit,
  action: Action,
  args: AnyObject,
  { count, pages, startAfter }: PageSource,
): ListSlice {
  const names = pageArgumentsOf(action);
  const asked = sizeOf(action, args, names.size);
  const size = asked ?? (pages === undefined ? pageSizeMax : pageSizeUsual);
  const isPaged = names.offset !== undefined || names.page !== undefined || takesToken(toolkit, action);
  const total = pages === undefined ? count(Math.min(size, itemsUsual)) : (isPaged ? pages : 1) * size;
  const after = action.paging?.from?.includes("[-1]") === true ? args[action.paging.arg] : undefined;
  const start =
    after === undefined ? Math.max(0, startOf(args, names, size, action)) : startAfter(String(after), total);
  return { start, end: Math.min(start + size, total), total, size, number: Math.floor(start / size) + 1 };
}

function sizeOf(action: Action, args: AnyObject, name: string | undefined): number | undefined {
  if (name === undefined) return undefined;
  const fallback = new Map(propertiesOf(action.inputSchema)).get(name)?.["default"];
  const size = args[name] ?? fallback;
  return typeof size === "number" && size >= 1 ? Math.min(Math.trunc(size), pageSizeMax) : undefined;
}

function startOf(args: AnyObject, { token, offset, page }: PageArguments, size: number, action: Action): number {
  const [, fromToken] = /^sandbox-page-(\d{1,9})$/.exec(String(token === undefined ? "" : args[token])) ?? [];
  if (fromToken !== undefined) return (Number(fromToken) - 1) * size;
  if (token !== undefined && typeof args[token] === "number" && !allowsText(action, token)) {
    return (args[token] - 1) * size;
  }
  const declared = action.paging?.start;
  if (offset !== undefined && typeof args[offset] === "number") return Math.trunc(args[offset]) - (declared ?? 0);
  if (page === undefined || typeof args[page] !== "number") return 0;
  const first = declared ?? (new Map(propertiesOf(action.inputSchema)).get(page)?.["default"] === 0 ? 0 : 1);
  return (Math.trunc(args[page]) - first) * size;
}

function allowsText(action: Action, name: string): boolean {
  return typesOf(new Map(propertiesOf(action.inputSchema)).get(name)).includes("string");
}

const continuing = new WeakMap<Toolkit, boolean>();

/**
 * True if a token can request the next page of this tool's list. The token may be an argument of this tool or of another tool of the app.
 */
function takesToken(toolkit: Toolkit, action: Action): boolean {
  if (pageArgumentsOf(action).token !== undefined) return true;
  let known = continuing.get(toolkit);
  if (known === undefined) {
    known = toolkit.actions.some((other) => {
      const { token } = pageArgumentsOf(other);
      const required = other.inputSchema["required"];
      return token !== undefined && Array.isArray(required) && required.includes(token) && other.class === "read";
    });
    continuing.set(toolkit, known);
  }
  return known && tokenFields.some((field) => propertyNames(action.outputSchema).has(field));
}

/**
 * Returns the values of the fields around a list: next token, total, number of pages, and whether there are more items. A field whose value
 * is undefined is left out.
 */
export function pageFields(toolkit: Toolkit, action: Action, page: ListSlice, listPlace: ResultPlace | undefined) {
  const hasNext = page.end < page.total;
  const { from, more } = action.paging ?? {};
  const totalName = `total${plainName(listPlace?.findLast((step) => step !== "*") ?? "-")}`;
  return (place: ResultPlace, schema: AnyObject): { value: unknown } | undefined => {
    if (listPlace === undefined || isInside(place, listPlace)) return undefined;
    const path = place.join(".");
    if (path === more) return { value: hasNext };
    if (path === from) return { value: hasNext ? nextOf(action, page, schema) : undefined };
    const name = plainName(place.at(-1) ?? "");
    const types = typesOf(schema);
    const isNumber = types.includes("integer") || types.includes("number");
    if (from === undefined && tokenFields.includes(name) && (types.includes("string") || isNumber)) {
      if (!hasNext || !takesToken(toolkit, action)) return { value: undefined };
      return { value: types.includes("string") ? `sandbox-page-${page.number + 1}` : page.number + 1 };
    }
    if (moreFields.includes(name) && types.includes("boolean")) return { value: hasNext };
    if (!isNumber) return undefined;
    if (totalFields.includes(name) || name === totalName) return { value: page.total };
    if (pageCountFields.includes(name)) return { value: Math.ceil(page.total / page.size) };
    return pageNames.includes(name) ? { value: page.number } : undefined;
  };
}

/**
 * Returns the value with which a call asks for the next page: the number of the page, or a token. If the tool's definition reads the token
 * from a link, the value is a link that contains the token.
 */
function nextOf({ paging }: Action, { number }: ListSlice, schema: AnyObject): string | number {
  if (!typesOf(schema).includes("string") && typesOf(schema).length > 0) return number + 1;
  const token = `sandbox-page-${number + 1}`;
  return paging?.query === undefined ? token : `/next?${new URLSearchParams({ [paging.query]: token })}`;
}

function isInside(place: ResultPlace, outer: ResultPlace): boolean {
  return place.length > outer.length && outer.every((step, index) => step === place[index]);
}
