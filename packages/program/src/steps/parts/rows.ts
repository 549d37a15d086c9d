import type { Action, JsonSchema } from "@svc/catalog";
import { formatValue, isObject } from "@svc/core";
import type { Check } from "../../check/context.ts";
import type { Path } from "../../json.ts";
import { type ObjectForm, ref } from "../../read/form.ts";
import { parsePath } from "../../read/reference.ts";
import type { ShapeFields, ShapeNode, ShapeReader } from "../../read/shape.ts";
import { fieldType, namesOf, typesOf, type ValueType, walkType } from "../../types/schema-type.ts";
import type { RowSet } from "../../types/scope.ts";
import { type PageSpec, readPage } from "./page.ts";

/** The rule by which each item of a list becomes a row: the fields that the row keeps, and the field that identifies it. */
export type ItemRows = {
  /** The field that identifies a row. Undefined if the position of the row identifies it. */
  readonly key: string | undefined;
  /**
   * Names of the fields that a row keeps from its list item, including the key. If an item is not an object, its row has the field `value`.
   */
  readonly keep: readonly string[];
};

/** How a list in an answer becomes a set of rows. The set has the name of the step. */
export type RowsSpec = ItemRows & {
  /** Path of the list in the answer. The answer has only the fields of the tool's output schema. */
  readonly from: Path;
  readonly page: PageSpec | undefined;
};

const fieldPattern = String.raw`^[^.\[\]{}\s"]+$`;
/** Rules for the name of a field: its maximum length, its pattern, and the hint for a wrong name. */
export const fieldName = {
  max: 200,
  pattern: new RegExp(fieldPattern),
  hint: "write the name of a field of the items",
};
const keptCount = { min: 1, max: 50 };

/** Returns the JSON Schema for the name of a field of a list's items. */
export function fieldSchema(description: string, example: string): JsonSchema {
  return { description, type: "string", maxLength: fieldName.max, pattern: fieldPattern, examples: [example] };
}

/** The fields of a step that say how each item of a list becomes a row, with their schemas. `keep`: the fields of the item to keep. */
export const itemRowsForm = {
  keep: {
    description: "Fields of the items to keep. An item that is not an object has one field, value.",
    type: "array",
    minItems: keptCount.min,
    maxItems: keptCount.max,
    uniqueItems: true,
    items: fieldSchema("Name of a field.", "summary"),
    examples: [["id", "summary", "attendees"]],
  },
  key: fieldSchema(
    "Field that identifies a row, a text or number; it is kept too. If items have the same key, on any page, only the first becomes a row. Default: every item is a row.",
    "id",
  ),
};

/** The required and optional fields of `rows` (how an answer becomes rows), with their schemas. */
export const rowsForm: ObjectForm = {
  description: "Makes a row set of a list in the answer, with the name of the step. Only the kept fields are stored.",
  required: {
    from: {
      description: "Path of the list in the answer, ending in []; [] alone is the answer itself.",
      type: "string",
      minLength: 1,
      maxLength: 512,
      pattern: String.raw`^([^.\[\]{}\s"]+(\.[^.\[\]{}\s"]+|\[\d{1,6}\])*)?\[\]$`,
      examples: ["items[]"],
    },
    keep: itemRowsForm.keep,
  },
  optional: {
    key: itemRowsForm.key,
    page: ref("page"),
  },
  examples: [
    {
      from: "items[]",
      key: "id",
      keep: ["id", "summary"],
      page: { max: 40 },
    },
  ],
};

/** Reads the field `rows` of a call, which says how its answer becomes rows. */
export function readRows(node: ShapeNode, reader: ShapeReader): RowsSpec | undefined {
  const fields = reader.fields(node, rowsForm);
  if (fields === undefined) return undefined;
  const from = readListPath(fields.at("from"), reader);
  const rows = readItemRows(fields, reader);
  const page = fields.has("page") ? readPage(fields.at("page"), reader) : undefined;
  return from === undefined || rows === undefined ? undefined : { from, ...rows, page };
}

/** Reads the fields `keep` and `key`, which define how each item of a list becomes a row. Returns undefined if `keep` cannot be read. */
export function readItemRows(fields: ShapeFields, reader: ShapeReader): ItemRows | undefined {
  const kept = reader.items(fields.at("keep"), keptCount, ["id", "title"]);
  const named = kept?.flatMap((item) => reader.text(item, { ...fieldName, hint: hintOfField(item.value) }) ?? []);
  const key = fields.has("key") ? reader.text(fields.at("key"), fieldName) : undefined;
  if (named === undefined) return undefined;
  if (new Set(named).size < named.length) {
    reader.faults.add("PROGRAM_MALFORMED", fields.at("keep").path, "names a field twice", "name each field once");
  }
  // The key is always kept, because a row that was already fetched with an earlier page is recognized by its key.
  return { keep: key === undefined || named.includes(key) ? named : [...named, key], key };
}

/**
 * Returns the hint for a name that cannot be the name of a row's field. For a path such as `owner.name`, the hint says to keep the whole
 * field `owner`, and to write `row.owner.name` later.
 */
function hintOfField(value: ShapeNode["value"]): string {
  const [, field] = typeof value === "string" ? (/^([A-Za-z_]\w{0,63})[.[]/.exec(value) ?? []) : [];
  return field === undefined
    ? fieldName.hint
    : `write ${JSON.stringify(field)} here, and row.${String(value).slice(0, 100)} later for the value inside it`;
}

/** Reads a list's path, which is written with brackets, such as `items[]`. `[]` means that the answer itself is the list. */
function readListPath(node: ShapeNode, reader: ShapeReader): Path | undefined {
  const hint = "write the path of the list and [], such as items[] or data.items[]";
  const text = reader.text(node, { max: 512, hint });
  if (text === undefined) return undefined;
  if (text === "[]") return [];
  const path = text.endsWith("[]") ? parsePath(text.slice(0, -2)) : undefined;
  if (path === undefined) {
    const message = `is ${formatValue(text)}, which is not the path of a list`;
    // Converts the forms of JSONPath and jq, such as `$.items[*]`, so that the hint can show the right form.
    const bare = text.replace(/^\$?\./, "").replace(/\[\*?\]$/, "");
    const mended = parsePath(bare) === undefined ? hint : `write "${bare}[]"`;
    reader.faults.add("PROGRAM_MALFORMED", node.path, message, mended);
  }
  return path;
}

/**
 * Checks the field `rows` of a call step (the rule by which the tool's answer becomes rows) against the output schema of the tool. Does not
 * check its part `page`. Records every fault. Returns the set of rows that the step makes.
 */
export function setOfRows(
  rows: RowsSpec,
  path: Path,
  action: Pick<Action, "slug" | "outputSchema">,
  { faults }: Check,
): RowSet | "any" {
  const list = walkType(action.outputSchema, rows.from);
  const types = "fault" in list ? undefined : typesOf(list.type);
  if ("type" in list && (types === undefined || types.has("array"))) return setOfItems(rows, path, list.type, faults);
  const why = "fault" in list ? list.fault : `it is ${[...(types ?? [])].join(" or ")}`;
  const message = `is not a list in the output of ${action.slug}: ${why}`;
  const hint = `name a list of the output: ${listsText(action)}`;
  faults.add("PROGRAM_REFERENCE_INVALID", [...path, "from"], message, hint);
  return "any";
}

/** Returns the fields and types of the rows that a step makes from the items of a list. Records every fault. */
export function setOfItems(rows: ItemRows, path: Path, list: ValueType, faults: Check["faults"]): RowSet {
  const item = list === undefined || !isObject(list.items) ? undefined : list.items;
  noteUnknown(item, [...path, "keep"], rows.keep, faults);
  const types = typesOf(item);
  const isObjects = types === undefined || types.has("object");
  const look = (name: string, at: Path): ValueType => {
    const field = isObjects ? fieldType(item, name) : scalarField(item, name);
    if ("type" in field) return field.type;
    const message = `${formatValue(name)} is not a field of the items: the item ${field.fault}`;
    const hint = isObjects ? "name a field of the items" : "items that are not objects have one field, value";
    faults.add("PROGRAM_REFERENCE_INVALID", at, message, hint);
    return undefined;
  };
  const keyType = rows.key === undefined ? undefined : look(rows.key, [...path, "key"]);
  const fields = new Map(
    rows.keep.map((name, index) => [name, name === rows.key ? keyType : look(name, [...path, "keep", index])]),
  );
  const key = typesOf(keyType);
  if (key !== undefined && !key.has("string") && !key.has("number")) {
    const message = `is ${[...key].join(" or ")}, which cannot identify a row`;
    faults.add("PROGRAM_REFERENCE_INVALID", [...path, "key"], message, "name a field of text or numbers");
  }
  return { fields, hasStates: false };
}

/**
 * Adds a note if the type of the list's items is unknown, because the check then cannot find wrong names of fields. The note asks the author
 * to compare `names` with a real item.
 */
export function noteUnknown(item: ValueType, path: Path, names: readonly string[], faults: Check["faults"]): void {
  if (names.length === 0 || !isUnknownItem(item)) return;
  const shown = names.slice(0, 10).join(", ");
  const message = `names ${shown}, but the form of the items is not known: a name that they do not have is null in each row`;
  const hint = "compare the names with a real item; for a list of the input, describe its items in inputSchema";
  faults.note("FIELD_UNVERIFIED", path, message, hint);
}

/** True if a schema of a list's items does not describe the fields of an item. */
function isUnknownItem(item: ValueType): boolean {
  if (item === undefined) return true;
  const types = typesOf(item);
  return (types === undefined || types.has("object")) && namesOf(item).length === 0;
}

function scalarField(item: ValueType, name: string): { readonly type: ValueType } | { readonly fault: string } {
  return name === "value" ? { type: item } : { fault: "is not an object" };
}

/** Maximum number of levels to which a tool's output is searched for lists. `listsMax`: maximum number of lists that are named. */
const listsDepthMax = 4;
const listsMax = 20;

/** Returns the paths of lists in a tool's output, as they are written in `rows.from`. Less nested lists come first. */
function listsOf(schema: JsonSchema): string[] {
  const found: string[] = [];
  let level: readonly (readonly [path: string, schema: JsonSchema])[] = [["", schema]];
  for (let depth = 0; depth < listsDepthMax && found.length < listsMax; depth++) {
    level = level.flatMap(([path, node]) => {
      const isList = typesOf(node)?.has("array") === true;
      if (isList) found.push(`${path}[]${fieldsText(node.items)}`);
      // A path cannot begin with an index, so the items of a top-level list are not searched for lists.
      const fields = isList && path === "" ? undefined : isList ? node.items : node;
      const properties = isObject(fields) && isObject(fields.properties) ? Object.entries(fields.properties) : [];
      const prefix = path === "" ? "" : `${path}${isList ? "[0]" : ""}.`;
      return properties.flatMap(([name, child]) => (isObject(child) ? [[`${prefix}${name}`, child] as const] : []));
    });
  }
  return found.slice(0, listsMax);
}

/** Returns the lists in a tool's output, each with the fields of its items, for a hint. */
function listsText({ outputSchema }: Pick<Action, "outputSchema">): string {
  return listsOf(outputSchema).join(", ") || "this tool has none";
}

/** Returns the fields of items that the schema describes, as text for a hint. */
function fieldsText(item: unknown): string {
  const names = isObject(item) ? namesOf(item) : [];
  return names.length === 0 ? "" : ` (of ${names.join(", ")})`;
}

/**
 * Records an error for a step that takes rows from a tool's answer and does not name the list that contains them. The hint names the lists
 * in the tool's answer, so the author need not look them up.
 */
export function tellLists(path: Path, action: Action, { faults }: Check): void {
  const hint = `name a list of the output in from, and fields of its items in keep: ${listsText(action)}`;
  faults.add("PROGRAM_MALFORMED", path, "does not say which rows it takes", hint);
}
