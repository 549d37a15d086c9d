import { isObject } from "@svc/core";
import { faultsOfPaging } from "../check/check-paging.ts";
import type { JsonSchema, PagingDocument } from "../read/documents.ts";
import { typesOf } from "./schema.ts";

const tokenArguments = [
  "cursor",
  "page_token",
  "pageToken",
  "next_token",
  "nextToken",
  "page_cursor",
  "next_cursor",
  "nextCursor",
  "continuation_token",
  "continuationToken",
  "starting_after",
  "start_cursor",
  "after",
  "marker",
];
const tokenFields = [
  "next_cursor",
  "nextCursor",
  "next_page_token",
  "nextPageToken",
  "next_token",
  "nextToken",
  "next_page_cursor",
  "continuation_token",
  "continuationToken",
  "end_cursor",
  "endCursor",
  "next_marker",
  "cursor",
  "after",
];
const pageArguments = ["page", "page_number", "pageNumber", "pageNo", "page_num"];
const offsetArguments = ["offset", "skip", "start_index", "startIndex", "start"];
const sizeArguments = [
  "per_page",
  "perPage",
  "page_size",
  "pageSize",
  "limit",
  "count",
  "size",
  "max_results",
  "maxResults",
  "take",
];
const moreFields = ["has_more", "hasMore", "more", "has_next", "hasNext", "has_next_page", "hasNextPage"];

/** Input and output schemas of a tool that may return a list. */
type ListTool = { readonly input: JsonSchema; readonly output: JsonSchema };

/**
 * Returns how the next page of a tool's list is requested, guessed from the names of arguments and result fields. Undefined if the result
 * has no list, or if no known names occur.
 */
export function pagingOf({ input, output }: ListTool): PagingDocument | undefined {
  const fields = fieldsOf(output);
  const list = fields.find(({ schema }) => typesOf(schema)?.includes("array"));
  if (list === undefined) return undefined;
  const more = fields.find(({ name, schema }) => moreFields.includes(name) && typesOf(schema)?.includes("boolean"));
  const found = pagingBy(new Set(Object.keys(propertiesOf(input))), input, { fields, list });
  if (found === undefined) return undefined;
  const paging = { ...found, ...(more !== undefined && { more: more.path }) };
  return faultsOfPaging({ paging, input, output }).length === 0 ? paging : undefined;
}

type Field = { readonly name: string; readonly path: string; readonly schema: JsonSchema };

function pagingBy(
  names: ReadonlySet<string>,
  input: JsonSchema,
  { fields, list }: { readonly fields: readonly Field[]; readonly list: Field },
): PagingDocument | undefined {
  const token = tokenArguments.find((name) => names.has(name));
  if (token !== undefined) {
    const from = tokenFields
      .map((wanted) => fields.find(({ name, schema }) => name === wanted && isScalar(schema)))
      .find((field) => field !== undefined);
    if (from !== undefined) return { arg: token, from: from.path };
    const rowId = isObject(list.schema["items"]) ? propertiesOf(list.schema["items"])["id"] : undefined;
    if (["starting_after", "after"].includes(token) && isObject(rowId) && isScalar(rowId))
      return { arg: token, from: `${list.path}[-1].id` };
  }
  const size = sizeArguments.find((name) => names.has(name) && isWhole(propertiesOf(input)[name]));
  const sized = size === undefined ? {} : { size };
  const page = pageArguments.find((name) => names.has(name) && isWhole(propertiesOf(input)[name]));
  if (page !== undefined) return { arg: page, start: firstOf(propertiesOf(input)[page]), ...sized };
  const offset = offsetArguments.find((name) => names.has(name) && isWhole(propertiesOf(input)[name]));
  if (offset === undefined || (size === undefined && offset === "start")) return undefined;
  return { arg: offset, by: "rows", ...sized };
}

/**
 * Returns the fields that the schema of a tool's result declares, down to three levels of objects. Outer fields come before inner fields.
 */
function fieldsOf(output: JsonSchema): Field[] {
  const found: Field[] = [];
  let level: readonly (readonly [path: string, schema: JsonSchema])[] = [["", output]];
  for (let depth = 0; depth < 3; depth++) {
    const next: (readonly [string, JsonSchema])[] = [];
    for (const [path, schema] of level) {
      for (const [name, child] of Object.entries(propertiesOf(schema))) {
        if (!isObject(child) || !/^[\w$@-]+$/.test(name)) continue;
        const field = { name, path: path === "" ? name : `${path}.${name}`, schema: child };
        found.push(field);
        next.push([field.path, child]);
      }
    }
    level = next;
  }
  return found;
}

function propertiesOf(schema: JsonSchema): JsonSchema {
  return isObject(schema["properties"]) ? schema["properties"] : {};
}

function isScalar(schema: JsonSchema): boolean {
  const types = typesOf(schema) ?? [];
  return types.some((type) => type !== "null") && types.every((type) => ["string", "integer", "null"].includes(type));
}

function isWhole(schema: unknown): boolean {
  return isObject(schema) && (typesOf(schema)?.some((type) => type === "integer" || type === "number") ?? false);
}

function firstOf(schema: unknown): number {
  const { default: fallback, minimum }: JsonSchema = isObject(schema) ? schema : {};
  if (fallback === 0 || fallback === 1) return fallback;
  return minimum === 0 && fallback === undefined ? 0 : 1;
}
