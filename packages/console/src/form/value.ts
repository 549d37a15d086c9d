import { parseExactJson } from "@svc/core/exact-json";
import { isExactDouble } from "@svc/core/number-text";
import type { FieldSpec, JsonShape, ObjectShape, Shape } from "./read-schema.ts";

/** What a form holds: the arguments themselves. What is not filled in is not there. */
export type Values = Readonly<Record<string, unknown>>;

/** An object of any value; empty for what is none, so that a form can be filled whatever was there. */
export function valuesOf(value: unknown): Values {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

/**
 * What a number's text stands for. What is no number, or has more digits than a number keeps, stays text: the service then says what is
 * wrong with it, and nothing is sent that was not typed. Empty is undefined.
 */
export function numberOf(text: string): number | string | undefined {
  const typed = text.trim();
  if (typed === "") return undefined;
  return numberForm.test(typed) && isExactDouble(typed) ? Number(typed) : typed;
}

const numberForm = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** What the text of a cell of JSON stands for. Text that is not JSON is a text: right where one may stand, else the service says so. */
export function cellOf(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return parseExactJson(text);
  } catch {
    return text;
  }
}

/** How a value is written in a cell of JSON, so that `cellOf` reads it as it is. */
export function cellText(value: unknown, { isLine }: Pick<JsonShape, "isLine">): string {
  if (value === undefined) return "";
  if (typeof value === "string" && cellOf(value) === value) return value;
  return JSON.stringify(value, undefined, isLine ? undefined : 2);
}

/** What a new item of a list begins with. */
export function emptyOf(shape: Shape): unknown {
  if (shape.type === "object") return {};
  return shape.type === "boolean" ? false : shape.type === "choice" ? shape.options[0] : "";
}

/** The values without what is sensitive: what may be kept in a browser. What no field asks for goes, too. */
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
