import { parseExactJson } from "@svc/core/exact-json";
import { isExactDouble } from "@svc/core/number-text";
import type { FieldSpec, JsonShape, ObjectShape, Shape } from "./read-schema.ts";

/** The values of a form, by field name. They are the tool's arguments themselves. A field that is not filled in has no property. */
export type Values = Readonly<Record<string, unknown>>;

/** Returns the value if it is an object, else an empty object, so that a form can start from any value. */
export function valuesOf(value: unknown): Values {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

/**
 * Returns the number that a text means; undefined for an empty text. A text that is not a number, or has too many digits for a number, is
 * returned unchanged: the service then reports the error, and the user's input is not lost.
 */
export function numberOf(text: string): number | string | undefined {
  const typed = text.trim();
  if (typed === "") return undefined;
  return numberForm.test(typed) && isExactDouble(typed) ? Number(typed) : typed;
}

const numberForm = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Returns the value of a JSON text that was typed into a form. Text that is not JSON is returned as a string; for an empty text, the value
 * is undefined.
 */
export function cellOf(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return parseExactJson(text);
  } catch {
    return text;
  }
}

/** Returns the text that a form's JSON field shows for a value. `cellOf` reads the same value back from this text. */
export function cellText(value: unknown, { isLine }: Pick<JsonShape, "isLine">): string {
  if (value === undefined) return "";
  if (typeof value === "string" && cellOf(value) === value) return value;
  return JSON.stringify(value, undefined, isLine ? undefined : 2);
}

/** Returns the value with which a new list item starts when the user adds one to the form. */
export function emptyOf(shape: Shape): unknown {
  if (shape.type === "object") return {};
  return shape.type === "boolean" ? false : shape.type === "choice" ? shape.options[0] : "";
}

/** Returns the values that may be kept in a browser. Sensitive values, and values that have no field, are removed. */
export function withoutSecrets({ fields }: ObjectShape, values: Values): Values {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const kept = Object.hasOwn(values, field.name) ? keptOf(field, values[field.name]) : undefined;
      return kept === undefined ? [] : [[field.name, kept]];
    }),
  );
}

function keptOf({ shape, isKept }: Pick<FieldSpec, "shape" | "isKept">, value: unknown): unknown {
  if (!isKept) return undefined;
  if (shape.type === "object") return withoutSecrets(shape, valuesOf(value));
  if (shape.type !== "list" || !Array.isArray(value)) return value;
  return shape.isKept ? value.map((item) => keptOf({ shape: shape.item, isKept: true }, item)) : undefined;
}
