import { type JsonObject, propertiesOf } from "../app/json.ts";
import type { Field, Fields } from "./fields.ts";
import { plainName } from "./words.ts";

/** How a list is ordered: by which field, and whether the greatest comes first. */
export type Order = { readonly field: Field; readonly isDescending: boolean };

const fieldNames = new Set(["sort", "sortby", "orderby", "sortfield", "order"]);
const directionNames = new Set(["order", "sortdir", "sortdirection", "direction"]);

/** The order that the arguments of a list ask for, as `sort_by` and `sort_direction` or in one text such as `name:desc`; undefined for none. */
export function orderOf(inputSchema: JsonObject, args: JsonObject, fields: Fields): Order | undefined {
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

/** Whether one value comes before another: numbers by size, all else by its text, and what is absent last. */
export function compareValues(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [first, second] = [String(a).toLowerCase(), String(b).toLowerCase()];
  return first < second ? -1 : Number(first > second);
}
