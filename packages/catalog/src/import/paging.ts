import { isObject } from "@svc/core";
import { faultsOfPaging } from "../check/check-paging.ts";
import type { JsonSchema, PagingDocument } from "../read/documents.ts";
import { typesOf } from "./schema.ts";
import { snakeCase } from "./texts.ts";

/**
 * Names of arguments and fields that concern pages, in snake case. A name in another spelling, such as `pageToken` for `page_token`, has the
 * same meaning. Earlier names of a list are preferred.
 */
const known = {
  token:
    "cursor page_token next_token page_cursor next_cursor continuation_token starting_after start_cursor after marker",
  from: "next_cursor next_page_token next_token next_page_cursor continuation_token end_cursor next_marker cursor after",
  page: "page page_number page_no page_num seite pagina",
  offset: "offset skip start_index start",
  size: "per_page page_size limit count size max_results take groesse seitengroesse anzahl taille tamano",
  more: "has_more more has_next has_next_page",
};

/** Names of other languages. They count only if the result of the tool has a field of the same name. */
const otherLanguages = new Set("seite pagina groesse seitengroesse anzahl taille tamano".split(" "));

/** Returns the item whose name is the most preferred of the known names. Undefined if no item has such a name. */
function preferred<Item extends { readonly name: string }>(kind: keyof typeof known, items: readonly Item[]) {
  const names = known[kind].split(" ");
  const ranked = items
    .map((item) => ({ item, rank: names.indexOf(snakeCase(item.name)) }))
    .filter(({ rank }) => rank >= 0);
  return ranked.sort((a, b) => a.rank - b.rank)[0]?.item;
}

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
  const more = preferred(
    "more",
    fields.filter(({ schema }) => typesOf(schema)?.includes("boolean")),
  );
  const isAnswered = (word: string) => fields.some(({ name }) => snakeCase(name) === word);
  const args = Object.entries(propertiesOf(input))
    .map(([name, schema]) => ({ name, schema }))
    .filter(({ name }) => !otherLanguages.has(snakeCase(name)) || isAnswered(snakeCase(name)));
  const found = pagingBy(args, { fields, list });
  if (found === undefined) return undefined;
  const paging = { ...found, ...(more !== undefined && { more: more.path }) };
  return faultsOfPaging({ paging, input, output }).length === 0 ? paging : undefined;
}

type Field = { readonly name: string; readonly path: string; readonly schema: JsonSchema };

function pagingBy(
  args: readonly { readonly name: string; readonly schema: unknown }[],
  { fields, list }: { readonly fields: readonly Field[]; readonly list: Field },
): PagingDocument | undefined {
  const token = preferred("token", args)?.name;
  if (token !== undefined) {
    const from = preferred(
      "from",
      fields.filter(({ schema }) => isScalar(schema)),
    );
    if (from !== undefined) return { arg: token, from: from.path };
    const rowId = isObject(list.schema["items"]) ? propertiesOf(list.schema["items"])["id"] : undefined;
    if (["starting_after", "after"].includes(snakeCase(token)) && isObject(rowId) && isScalar(rowId))
      return { arg: token, from: `${list.path}[-1].id` };
  }
  const numbers = args.filter(({ schema }) => isWhole(schema));
  const size = preferred("size", numbers)?.name;
  const sized = size === undefined ? {} : { size };
  const page = preferred("page", numbers);
  if (page !== undefined) return { arg: page.name, start: firstOf(page.schema), ...sized };
  const offset = preferred("offset", numbers)?.name;
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
