import { type Action, readProviderTime, type Toolkit } from "@svc/catalog";
import { isObject } from "@svc/core";
import { type AnyObject, propertiesOf, typesOf } from "../app/refusal.ts";
import { type Field, fieldsOf, type ObjectFields, type Order } from "./objects.ts";
import { isPageArgument } from "./page.ts";
import { isHost } from "./references.ts";
import { type Kind, roleOf } from "./roles.ts";
import { plainName, singularOf, wordsOf } from "./words.ts";

const fieldNames = new Set(["sort", "sortby", "orderby", "sortfield", "order"]);

const directionNames = new Set(["order", "sortdir", "sortdirection", "direction"]);

/** An object in a list, as a filter of the sandbox reads it. Its functions return the values of its fields. */
export type CriteriaRow = {
  readonly said: (name: string) => unknown;
  /** Returns the texts of the row that come from earlier calls to the sandbox. Made-up texts are left out. */
  readonly texts: () => readonly string[];
  readonly field: (field: Field) => unknown;
};

/** Returns true if a row passes the filter of one argument of a list. */
export type Criterion = (row: CriteriaRow) => boolean;

/** The meaning of the arguments of a list call: which list is read, the filters of its rows, and their order. */
export type ListRequest = {
  readonly bound: AnyObject;
  readonly criteria: readonly Criterion[];
  readonly order: Order | undefined;
};

/**
 * Limits that keep every call within milliseconds, because each word and value is compared with every row. `queryMax`: characters of a
 * query. `wordsMax`: words of a query. `wantedMax`: values of one argument.
 */
const [queryMax, wordsMax, wantedMax] = [2_000, 20, 100];

const queryNames = new Set(["query", "q", "term", "search", "searchterm", "keyword", "keywords", "text"]);
const lower = new Set(["since", "from", "min", "after"]);
const upper = new Set(["until", "to", "max", "before"]);
const vague = new Set(["time", "date", "at", "datetime", "day"]);
/** Pattern for names of arguments that do not filter rows, but set the presentation, the order or the search mode. */
const manner =
  /^(?:sort|order|fields|exactmatch|include|exclude|expand|with|show|timezone|facet|highlight|isoverview|earliest|singleevents)/;

/**
 * Returns how the emulated app understands the arguments of a tool that lists objects. Required arguments identify the list, for example a
 * channel. Search words and times filter the list.
 */
export function askedOf(toolkit: Toolkit, action: Action, args: AnyObject): ListRequest {
  const { required } = action.inputSchema as { required?: unknown };
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const fields = fieldsOf(toolkit, action);
  const { kind } = roleOf(toolkit, action);
  const bound: Record<string, unknown> = {};
  const criteria: Criterion[] = [];
  for (const [name, value] of Object.entries(withUnsaid(action, args))) {
    if (isPageArgument(action, name) || value === undefined || value === null || isHost(action, name)) continue;
    const isWhich = !queryNames.has(plainName(name)) && boundOf(name, value) === undefined;
    if (isRequired(name) && isWhich) bound[name] = value;
    else criteria.push(...criteriaOf(name, value, { fields, kind }));
  }
  return { bound, criteria, order: orderOf(action.inputSchema, args, fields) };
}

/** Returns the arguments with default values added. The defaults come from descriptions such as `Without it all but the deleted ones`. */
function withUnsaid({ inputSchema }: Action, args: AnyObject): AnyObject {
  const unsaid = propertiesOf(inputSchema).flatMap(([name, { enum: options, description }]) => {
    const [, allBut, sentence] = /\bWithout it (all but the )?([\w ,]+) ones\b/.exec(String(description)) ?? [];
    if (args[name] !== undefined || !Array.isArray(options) || sentence === undefined) return [];
    const words = new Set(sentence.split(/\W+/));
    return [[name, options.filter((option) => words.has(String(option)) === (allBut === undefined))] as const];
  });
  return { ...Object.fromEntries(unsaid), ...args };
}

type Known = { readonly fields: ObjectFields; readonly kind: Kind | undefined };

function criteriaOf(name: string, value: unknown, { fields, kind }: Known): Criterion[] {
  const plain = plainName(name);
  if (queryNames.has(plain)) return [hasWords(String(value), fields)];
  const limit = boundOf(name, value);
  if (limit !== undefined) {
    const times = timeFields(limit, fields);
    const [usual] = times;
    if (usual === undefined) return [];
    return [
      (row) => isWithin(timeOf(row.field((times.find(([own]) => row.said(own) !== undefined) ?? usual)[1])), limit),
    ];
  }
  if (manner.test(plain) || isObject(value)) return [];
  const field = fieldFor(plain, fields, kind);
  const given = (Array.isArray(value) ? value : [value]).filter((item) => !isObject(item)).map(plainText);
  const wanted = [...new Set(given)].slice(0, wantedMax);
  if (wanted.length === 0 || wanted.some((item) => item === "all" || item === "any")) return [];
  const isPart = field !== undefined && /(?:name|title|summary|email)$/i.test(field.path.at(-1) ?? "");
  return [
    (row) => {
      const held = row.said(plain) ?? (field && row.field(field));
      if (field === undefined && held === undefined) return true;
      const own = (Array.isArray(held) ? held : [held]).filter((item) => item !== undefined && !isObject(item));
      return own.map(plainText).some((item) => wanted.some((text) => (isPart ? item.includes(text) : item === text)));
    },
  ];
}

function plainText(value: unknown): string {
  return String(value).toLowerCase();
}

/**
 * Returns the field of an object that an argument refers to. First looks for a field with one of these names: the argument's name, its
 * singular, or its name without the kind of object (`title` for `issue_title`). If there is none, looks for a field whose path ends with
 * one of the names (for example `assignee.login` for `login`).
 */
function fieldFor(plain: string, fields: ObjectFields, kind: Kind | undefined): Field | undefined {
  const noun = kind?.words.join("") ?? "";
  const bare = noun !== "" && plain.startsWith(noun) ? plain.slice(noun.length) : plain;
  const names = [plain, singularOf(plain), bare, singularOf(bare), `${plain}id`, `is${plain}`].filter(
    (name) => name !== "",
  );
  const exact = names.map((name) => fields.get(name)).find((field) => field !== undefined);
  if (exact !== undefined) return exact;
  const [, inside] = [...fields].find(([name]) => names.some((own) => own.length > 3 && name.endsWith(own))) ?? [];
  return inside;
}

/** True if a field probably contains words that people search for, judged by the field's name. */
export function isText(name: string): boolean {
  return /(?:name|title|summary|subject|description|content|body|text|email|note|address|identifier)s?$/i.test(name);
}

/** Returns a filter for rows. A row passes if each word of the query occurs in the row's texts. */
function hasWords(query: string, fields: ObjectFields): Criterion {
  const words = query.slice(0, queryMax).toLowerCase().split(/\s+/);
  const wanted = [...new Set(words)].filter((word) => word !== "" && word !== "*").slice(0, wordsMax);
  const texts = [...fields.values()].filter(({ path, schema }) => {
    const types = typesOf(schema);
    return path.length === 1 && isText(path[0] ?? "") && (types.includes("string") || types.length === 0);
  });
  return (row) => {
    const held = plainText([...row.texts(), ...texts.map((field) => row.field(field) ?? "")].join("\n"));
    return wanted.every((word) => held.includes(word));
  };
}

/**
 * One limit of a time range in the arguments of a call. `end`: start or end of the range. `words`: the words in the argument's name that
 * say which field of the objects is compared.
 */
type Limit = {
  readonly end: "lower" | "upper";
  readonly ms: number;
  readonly words: readonly string[];
  readonly isDay: boolean;
};

function boundOf(name: string, value: unknown): Limit | undefined {
  if (typeof value !== "string") return undefined;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(value);
  const ms = isDay || /^\d{4}-\d{2}-\d{2}T/.test(value) ? readProviderTime(value) : undefined;
  if (ms === undefined) return undefined;
  const words = wordsOf(name);
  const strong = words.find((word) => lower.has(word) || upper.has(word));
  const weak = words[0] === "start" || words[0] === "end" ? words[0] : undefined;
  const said = strong ?? weak;
  if (said === undefined) return undefined;
  const end = lower.has(said) || said === "start" ? "lower" : "upper";
  return { end, ms, isDay, words: words.filter((word) => word !== said && !vague.has(word)) };
}

/** The fields that are tried, in this order, for a time argument that names no field. Times of creation or occurrence come first. */
const usualTimes = [
  /^(?:created|createdat|createtime|createdtime|addtime|datecreated)$/,
  /(?:occurredat|timestamp|^date|publishedat|receivedat)$/,
];
const timeEnds = new Set("time date timestamp at created updated since start end day".split(" "));

function isTime([, { path, schema }]: readonly [string, Field]): boolean {
  const types = typesOf(schema);
  return (
    timeEnds.has(wordsOf(path.at(-1) ?? "").at(-1) ?? "") && !types.includes("boolean") && !types.includes("array")
  );
}

/**
 * Returns the time fields of an object to which a lower or upper limit in the arguments applies (for example `created_after`). There are
 * several if an object has a time both as a day and as a point in time.
 */
function timeFields({ words, end }: Limit, fields: ObjectFields): readonly [string, Field][] {
  const times = [...fields].filter(isTime);
  const stems = words.map((word) => word.replace(/e?d$|e$/, ""));
  const isAbout = ([name]: readonly [string, Field]) => stems.every((stem) => name.includes(stem));
  if (stems.length > 0 && times.some(isAbout)) return alike(times, times.find(isAbout));
  if (!stems.every((stem) => /^(?:creat|add)$/.test(stem))) return [];
  const usual = usualTimes.map((pattern) => times.find(([name]) => pattern.test(name))).find((found) => found);
  // The field for an object that lasts for a time (has a start and an end). Such an object is in a range if the two overlap, so the lower
  // limit applies to its end and the upper limit to its start.
  const lasting = times.find(([name]) => name.startsWith(end === "lower" ? "end" : "start"));
  return alike(times, usual ?? lasting ?? times[0]);
}

/**
 * Returns the time field `found` and the other time fields of the same object, such as `start.dateTime` and `start.date`. The longest name
 * comes first. Returns an empty list if `found` is undefined.
 */
function alike(
  times: readonly [string, Field][],
  found: readonly [string, Field] | undefined,
): readonly [string, Field][] {
  if (found === undefined) return [];
  const [own, { path }] = found;
  const holder = path.slice(0, -1).join(".");
  const others = times.filter(
    ([name, field]) => name === own || (holder !== "" && field.path.slice(0, -1).join(".") === holder),
  );
  return others.toSorted(([a], [b]) => b.length - a.length);
}

const dayMs = 86_400_000;

/**
 * Returns the time in epoch milliseconds of a text, or of a number of seconds or milliseconds. Returns undefined if the value is not a
 * time.
 */
function timeOf(value: unknown): number | undefined {
  if (typeof value === "number") return value > 1e11 ? value : value * 1000;
  return typeof value === "string" ? readProviderTime(value) : undefined;
}

function isWithin(ms: number | undefined, { end, ms: limit, isDay }: Limit): boolean {
  if (ms === undefined) return false;
  return end === "lower" ? ms >= limit : ms < limit + (isDay ? dayMs : 0);
}

/**
 * Returns the sort order that a list's arguments ask for: `sort_by` and `sort_direction`, or one text such as `name:desc`. Returns
 * undefined if the arguments ask for no order.
 */
function orderOf(inputSchema: AnyObject, args: AnyObject, fields: ObjectFields): Order | undefined {
  let field: Field | undefined;
  let direction: string | undefined;
  for (const [name] of propertiesOf(inputSchema)) {
    const value = args[name];
    if (typeof value !== "string") continue;
    const [text = "", end] = value.split(":");
    if (fieldNames.has(plainName(name)) && !isDirection(text)) {
      field = fields.get(plainName(text)) ?? [...fields].find(([own]) => own.endsWith(plainName(text)))?.[1];
      direction = end ?? direction;
    }
    if (directionNames.has(plainName(name)) && isDirection(text)) direction = text;
  }
  return field && { field, isDescending: /^desc/i.test(direction ?? "") };
}

function isDirection(text: string): boolean {
  return /^(?:asc|desc)/i.test(text);
}
