import type { Action, PagingDocument, Tool } from "@svc/catalog";
import { formatValue, isObject } from "@svc/core";
import type { Check } from "../../check/context.ts";
import type { FaultList } from "../../faults.ts";
import type { Path } from "../../json.ts";
import { type ObjectForm, wholeSchema } from "../../read/form.ts";
import { parsePath, parseTokenPath } from "../../read/reference.ts";
import type { ShapeFields, ShapeNode, ShapeReader } from "../../read/shape.ts";
import { fieldType, namesOf, typesOf, walkType } from "../../types/schema-type.ts";

/**
 * How the next page is requested. The argument `arg` of the call gets:
 * - `token`: the value at the path `from` in the answer. If `query` is set, this value is a link, and `arg` gets the parameter of the link
 *   whose name is in `query`.
 * - `number`: the page number, counted from `start`.
 * - `rows`: the number of rows to skip, counted from `start`.
 *
 * For `number` and `rows`, `size` is the argument with the number of rows per page. For all kinds, `more` is the path of a boolean in the
 * answer, which is false on the last page.
 */
export type Paging =
  | {
      readonly kind: "token";
      readonly arg: string;
      readonly from: Path;
      readonly query: string | undefined;
      readonly more: Path | undefined;
    }
  | {
      readonly kind: "number" | "rows";
      readonly arg: string;
      readonly start: number;
      readonly size: string | undefined;
      readonly more: Path | undefined;
    };

/**
 * How a `call` step reads the pages of a list. `max`: maximum number of pages. `paging`: how pages are requested; undefined means as the
 * tool declares it. `unclear`: the reason why the fields of `page` in the program cannot be used.
 */
export type PageSpec = { readonly max: number; readonly paging: Paging | undefined; readonly unclear?: string };

const pageCount = { min: 1, max: 1000 };
const startNumber = { min: 0, max: 1_000_000 };

const tokenPattern = String.raw`^[^.\[\]{}\s"]+(\.[^.\[\]{}\s"]+|\[(\d{1,6}|-1)\])*$`;
const pathPattern = String.raw`^[^.\[\]{}\s"]+(\.[^.\[\]{}\s"]+|\[\d{1,6}\])*$`;

/** The required and optional fields of `page`, with their schemas. The object says how the pages of a list are read. */
export const pageForm: ObjectForm = {
  description:
    "Reads page after page. With only max, as the tool declares it; else by a token (arg, from), a link (arg, from, query), the page number (arg, start) or an offset (arg, by). More pages than allowed fail the step with PAGE_LIMIT, a page equal to the one before with PAGE_REPEATED.",
  required: { max: wholeSchema("Most pages.", pageCount, 40) },
  optional: {
    arg: {
      description: "Argument that takes the token, the page number or the offset.",
      type: "string",
      minLength: 1,
      maxLength: 200,
      examples: ["page_token"],
    },
    from: {
      description: "Path of the next page's token or link in the answer; absent, null or empty on the last page.",
      type: "string",
      minLength: 1,
      maxLength: 512,
      pattern: tokenPattern,
      examples: ["nextPageToken"],
    },
    query: {
      description: "If from is the path of a link: the query parameter whose value arg takes.",
      type: "string",
      minLength: 1,
      maxLength: 200,
      examples: ["cursor"],
    },
    start: wholeSchema(
      "Without from: the number of the first page, or with by the first offset, default 0. Ends at an empty or short page.",
      startNumber,
      1,
    ),
    by: {
      description: "rows: arg is an offset, the number of rows to skip. Ends at an empty or short page.",
      const: "rows",
      examples: ["rows"],
    },
    size: {
      description:
        "Without from: argument for the number of rows on a page. The last page is a page with fewer rows; without size, the last page is an empty one.",
      type: "string",
      minLength: 1,
      maxLength: 200,
      examples: ["page_size"],
    },
    more: {
      description: "Path of a boolean in the answer that is false on the last page.",
      type: "string",
      minLength: 1,
      maxLength: 512,
      pattern: pathPattern,
      examples: ["has_more"],
    },
  },
  rules: {
    dependentSchemas: {
      arg: { anyOf: [{ required: ["from"] }, { required: ["start"] }, { required: ["by"] }] },
      from: { required: ["arg"], properties: { start: false, by: false, size: false } },
      query: { required: ["from"] },
      start: { required: ["arg"] },
      by: { required: ["arg"] },
      size: { required: ["arg"] },
      more: { required: ["arg"] },
    },
  },
  examples: [
    { max: 20 },
    { arg: "page_token", from: "nextPageToken", max: 40 },
    { arg: "page", start: 1, size: "page_size", max: 20 },
    { arg: "offset", by: "rows", size: "limit", max: 20 },
    { from: "links.next", query: "cursor", arg: "cursor", max: 20 },
  ],
};

/** Text for hints: shows correct forms of the field `page`, which says how the pages of a tool's list are read. */
const shapes =
  'write {"max": 20} if the tool declares its paging, else {"arg": "page_token", "from": "nextPageToken", "max": 20} by token, ' +
  '{"arg": "page", "start": 1, "size": "page_size", "max": 20} by number, {"arg": "offset", "by": "rows", "size": "limit", "max": 20} ' +
  'by offset, or {"arg": "cursor", "from": "links.next", "query": "cursor", "max": 20} by link';

/**
 * Reads the object `page` of a step, which says how the step requests the pages of a list. If its fields do not say how to request the next
 * page, `unclear` in the result is the reason. Returns undefined if `page` cannot be read at all. Every fault is recorded.
 */
export function readPage(node: ShapeNode, reader: ShapeReader): PageSpec | undefined {
  if (node.value !== undefined && !isObject(node.value)) {
    reader.faults.add("PROGRAM_MALFORMED", node.path, `is ${formatValue(node.value)}, not an object`, shapes);
    return undefined;
  }
  const fields = reader.fields(node, pageForm);
  if (fields === undefined) return undefined;
  // If `max` is missing, the other fields are still checked.
  const max = reader.number(fields.at("max"), pageCount) ?? pageCount.min;
  const isDeclared = Object.keys(pageForm.optional).every((name) => !fields.has(name));
  const paging = isDeclared ? undefined : readPaging(node, fields, reader);
  if (isDeclared || paging !== undefined) return { max, paging };
  const unclear = whyUnclear(fields);
  if (unclear === undefined) return undefined;
  reader.faults.add("PROGRAM_MALFORMED", node.path, unclear, shapes);
  return { max, paging, unclear };
}

/**
 * Returns what is wrong or missing in the fields of `page` that say how to request the next page. Returns undefined if these fields are
 * sufficient.
 */
function whyUnclear(fields: ShapeFields): string | undefined {
  const by = fields.at("by").value;
  if (by !== undefined && by !== "rows") return `has ${formatValue(by)} for by, which must be "rows" or left out`;
  // A `query` without `from` counts as sufficient here, because another check reports this fault.
  const hasWay = fields.has("arg") && ["from", "start", "by", "query"].some((name) => fields.has(name));
  return hasWay ? undefined : "does not say how to request the next page";
}

const nameArgument = "write the name of the argument that takes the token, the page number or the offset";
const nameSize =
  "write the name of the argument for the number of rows on a page, such as page_size; its value goes into args";

/**
 * Reads how pages are requested, from all fields of `page` except `max`. Returns undefined if there are too few or too many fields. Records
 * every fault.
 */
function readPaging(node: ShapeNode, fields: ShapeFields, reader: ShapeReader): Paging | undefined {
  const arg = reader.text(fields.at("arg"), { max: 200, hint: nameArgument });
  const more = readPath(fields.at("more"), "has_more", reader);
  const size = reader.text(fields.at("size"), { max: 200, hint: nameSize });
  const from = readPath(fields.at("from"), "nextPageToken", reader);
  const query = reader.text(fields.at("query"), { max: 200 });
  const start = reader.number(fields.at("start"), startNumber);
  checkWay(node, fields, reader);
  if (arg === undefined) return undefined;
  if (fields.has("from")) return from && { kind: "token", arg, from, query, more };
  if (fields.has("by") && fields.at("by").value !== "rows") return undefined;
  if (fields.has("by")) return { kind: "rows", arg, start: start ?? 0, size, more };
  return start === undefined ? undefined : { kind: "number", arg, start, size, more };
}

/**
 * Checks that the first page of a list is given only once: by the field `start` of the page rule, or in the arguments of the call. Records
 * every fault.
 */
export function checkStart(
  rows: ShapeNode,
  page: PageSpec | undefined,
  given: { readonly value: readonly (readonly [string, unknown])[] | undefined; readonly path: Path },
  { faults }: ShapeReader,
): void {
  const { paging } = page ?? {};
  const written = isObject(rows.value) && isObject(rows.value["page"]) ? rows.value["page"] : {};
  if (paging === undefined || paging.kind === "token" || written["start"] === undefined) return;
  if (given.value?.some(([name]) => name === paging.arg) !== true) return;
  const hint = `leave out ${given.path.at(-1)}.${paging.arg}: start is the first page`;
  const path = [...given.path, paging.arg];
  // True if version 0.1 also refused the argument that `page.start` sets. It did so only for pages that are counted by number. In this case
  // the rule also applies to stored programs.
  const isOld = paging.kind === "number" && given.path.at(-1) === "args";
  faults[isOld ? "add" : "addYounger"]("PROGRAM_MALFORMED", path, "is not allowed next to page.start", hint);
}

/**
 * Checks that a step's fields describe exactly one way to request the next page: a position from the answer (`from`), or a counter
 * (`start`, `by`, `size`). Records every fault.
 */
function checkWay({ path }: ShapeNode, fields: ShapeFields, { faults }: ShapeReader): void {
  const add = (name: string, message: string) => faults.add("PROGRAM_MALFORMED", [...path, name], message, shapes);
  if (fields.has("query") && !fields.has("from")) add("query", "query is given without from");
  for (const name of fields.has("from") ? ["start", "by", "size"] : []) {
    if (fields.has(name)) add(name, `${name} is given together with from`);
  }
}

function readPath(node: ShapeNode, example: string, reader: ShapeReader): Path | undefined {
  const hint = `write the path of a field of the answer, such as ${example}`;
  const text = reader.text(node, { max: 512, hint });
  const parse = example === "nextPageToken" ? parseTokenPath : parsePath;
  const path = text === undefined ? undefined : parse(text);
  if (text !== undefined && path === undefined) {
    reader.faults.add("PROGRAM_MALFORMED", node.path, "is not a path", hint);
  }
  return path;
}

/**
 * Returns how the pages of a tool's list are requested. The step's own rule takes precedence over the rule that the tool declares. Returns
 * undefined if neither the step nor the tool has a rule.
 */
export function pagingOf({ paging }: Pick<PageSpec, "paging">, { paging: declared }: Action): Paging | undefined {
  return paging ?? (declared && declaredPaging(declared));
}

/** Returns a list with the name of the argument that svc sets to request a page. Returns an empty list if the step requests no pages. */
export function argumentOfPage(page: PageSpec | undefined, tool: Tool | undefined): string[] {
  const arg = page?.paging?.arg ?? (page && tool?.kind === "action" ? tool.paging?.arg : undefined);
  return arg === undefined ? [] : [arg];
}

function declaredPaging({ arg, from, query, start = 0, by, size, more }: PagingDocument): Paging | undefined {
  const isMoreAt = more === undefined ? undefined : parsePath(more);
  if (from === undefined) return { kind: by ?? "number", arg, start, size, more: isMoreAt };
  const path = parseTokenPath(from);
  return path && { kind: "token", arg, from: path, query, more: isMoreAt };
}

/**
 * Checks the rule by which a step requests further pages. The paths that it reads must exist in the tool's output, and the values there
 * must fit the arguments that they are copied to. Records every fault.
 */
export function checkPage(page: PageSpec, path: Path, action: Action, check: Check): void {
  const { faults } = check;
  if (page.unclear !== undefined) {
    const hint = `${declaredHint(page)}: ${action.slug} declares its paging`;
    if (action.paging) faults.rehint("PROGRAM_MALFORMED", path, page.unclear, hint);
    return;
  }
  const paging = pagingOf(page, action);
  if (paging === undefined) {
    const takes = `${action.slug} takes ${namesOf(action.inputSchema).join(", ") || "no arguments"}`;
    const isPaged = hasPageArgument(action);
    const message = `${action.slug} declares no paging${isPaged ? "" : ", and has no argument for another page"}`;
    const hint = isPaged ? `${shapes}; ${takes}` : `leave page out, and request as many rows as you need: ${takes}`;
    faults.add("PROGRAM_REFERENCE_INVALID", path, message, hint);
    return;
  }
  // If `page` is only `{"max": …}`, the way to request pages comes from the tool's definition. That definition was checked when it was
  // loaded, so nothing is checked here.
  if (page.paging === undefined) return;
  const declared = action.paging && declaredPaging(action.paging);
  if (declared !== undefined && declared.arg === paging.arg && declared.kind !== paging.kind && !check.isStored) {
    // If pages are counted in the wrong unit, an offset would skip or repeat rows without any error.
    const message = `takes ${paging.arg} for ${wordsOf[paging.kind]}, but ${action.slug} declares it as ${wordsOf[declared.kind]}`;
    faults.add("PROGRAM_ARGUMENT_INVALID", path, message, `${declaredHint(page)}, which pages as declared`);
    return;
  }
  if (paging.kind === "token") checkToken(paging, path, action, faults);
  else checkCount(paging, path, action, check);
  if (paging.more !== undefined) checkMore(paging.more, path, action, faults);
}

/**
 * Returns the hint for a program that describes paging although the tool's definition already does. The hint says to write only `{"max":
 * …}` in the field `page`.
 */
function declaredHint({ max }: PageSpec): string {
  return `write {"max": ${max === pageCount.min ? 20 : max}}`;
}

const wordsOf = { token: "a token", number: "the page number", rows: "an offset in rows" };

function hasPageArgument({ inputSchema }: Action): boolean {
  return namesOf(inputSchema).some((name) => /page|cursor|offset|token|skip|after/i.test(name));
}

/** Returns the types that an argument allows, or undefined if it allows any type. Reports an unknown argument. */
function typesOfArgument(name: string, path: Path, action: Action, faults: FaultList) {
  const taken = fieldType(action.inputSchema, name);
  if ("type" in taken) return typesOf(taken.type);
  const message = `${formatValue(name)} is not an argument of ${action.slug}`;
  const hint = action.paging
    ? `name one of ${namesOf(action.inputSchema).join(", ")}; or write {"max": 20}: ${action.slug} declares its paging`
    : `name one of ${namesOf(action.inputSchema).join(", ")}`;
  faults.add("PROGRAM_REFERENCE_INVALID", path, message, hint);
  return undefined;
}

type TokenPaging = Extract<Paging, { kind: "token" }>;

function checkToken({ arg, from, query }: TokenPaging, path: Path, action: Action, faults: FaultList): void {
  const takenTypes = typesOfArgument(arg, [...path, "arg"], action, faults);
  const given = walkType(action.outputSchema, from);
  if ("fault" in given) {
    const hint = "name the output field that has the next page's token";
    faults.add("PROGRAM_REFERENCE_INVALID", [...path, "from"], `is not a field of the output: it ${given.fault}`, hint);
    return;
  }
  const types = typesOf(given.type);
  if (query !== undefined) {
    if (types === undefined || types.has("string")) return;
    const message = `is ${[...types].join(" or ")}, which is not a link`;
    faults.add("PROGRAM_ARGUMENT_INVALID", [...path, "from"], message, "name the field that holds a link");
    return;
  }
  if (types === undefined || takenTypes === undefined || [...types].some((type) => takenTypes.has(type))) return;
  const message = `is ${[...types].join(" or ")}, but ${arg} is ${[...takenTypes].join(" or ")}`;
  faults.add("PROGRAM_ARGUMENT_INVALID", [...path, "from"], message, "name the field that fits the argument");
}

type CountedPaging = Exclude<Paging, { kind: "token" }>;

function checkCount({ kind, arg, start, size }: CountedPaging, path: Path, action: Action, check: Check): void {
  for (const [key, name] of Object.entries({ arg, size })) {
    if (name === undefined) continue;
    const types = typesOfArgument(name, [...path, key], action, check.faults);
    if (types === undefined || types.has("number")) continue;
    const message = `${name} is ${[...types].join(" or ")}, not a number`;
    const hint = key === "arg" ? "to request pages by a text, use from" : "name the argument that counts";
    check.faults.add("PROGRAM_ARGUMENT_INVALID", [...path, key], message, hint);
  }
  const taken = fieldType(action.inputSchema, arg);
  if (!("type" in taken) || taken.type === undefined) return;
  const [fault] = check.validator(action, taken.type)(start);
  if (fault === undefined || typesOf(taken.type)?.has("number") === false) return;
  const message = `begins at ${start}, but ${arg} ${fault.message}`;
  const hint = kind === "number" ? "write the number of the first page" : "write the first offset as start";
  check.faults.add("PROGRAM_ARGUMENT_INVALID", [...path, "start"], message, hint);
}

function checkMore(more: Path, path: Path, action: Action, faults: FaultList): void {
  const given = walkType(action.outputSchema, more);
  const hint = "name the boolean of the output that is false on the last page, or leave it out";
  if ("fault" in given) {
    faults.add("PROGRAM_REFERENCE_INVALID", [...path, "more"], `is not a field of the output: it ${given.fault}`, hint);
    return;
  }
  const types = typesOf(given.type);
  if (types === undefined || types.has("boolean")) return;
  const message = `is ${[...types].join(" or ")}, not true or false`;
  faults.add("PROGRAM_REFERENCE_INVALID", [...path, "more"], message, hint);
}
