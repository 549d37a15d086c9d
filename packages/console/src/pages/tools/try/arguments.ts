import { isExactDouble } from "@svc/core/number-text";
import { type Values, valuesOf } from "../../../form/value.ts";
import { prettyJson } from "../../../words/pretty-json.ts";

/** The arguments of a call as somebody writes them: in the form, or as JSON, where the text itself is what is sent. */
export type TypedArguments =
  | { readonly mode: "form"; readonly values: Values }
  | { readonly mode: "json"; readonly text: string };

/** The JSON text that is sent. */
export function argumentsText(typed: TypedArguments): string {
  return typed.mode === "form" ? JSON.stringify(typed.values) : typed.text;
}

/** The arguments as JSON, as the form has them. */
export function toJson(typed: TypedArguments): TypedArguments {
  return typed.mode === "json" ? typed : { mode: "json", text: prettyJson(JSON.stringify(typed.values)) };
}

/** The arguments in the form. JSON that a form cannot hold as it is stays JSON; `textFault` says why. */
export function toForm(typed: TypedArguments): TypedArguments {
  if (typed.mode === "form" || textFault(typed.text) !== undefined || losesDigits(typed.text)) return typed;
  return { mode: "form", values: valuesOf(JSON.parse(typed.text)) };
}

/** Why JSON cannot be shown in the form; undefined where it can. */
export function formFault(typed: TypedArguments): string | undefined {
  if (typed.mode === "form") return undefined;
  return textFault(typed.text) ?? (losesDigits(typed.text) ? "The form would lose digits of a number." : undefined);
}

/** What is wrong with a text that is to be the JSON of an object; undefined for nothing. */
export function textFault(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? undefined
      : "The arguments are an object: { … }.";
  } catch (err) {
    return err instanceof Error ? `Not JSON: ${err.message}` : "Not JSON.";
  }
}

/** Text in quotes, or a number. */
const tokens = /"(?:\\.|[^"\\])*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function losesDigits(text: string): boolean {
  return [...text.matchAll(tokens)].some(([token]) => !token.startsWith('"') && !isExactDouble(token));
}

/** Whether the JSON of an object confirms a destructive call itself. */
export function confirmsItself(text: string): boolean {
  return textFault(text) === undefined && Object.hasOwn(JSON.parse(text), "confirm");
}

/** The JSON of an object with `confirm: true` set before the rest, which stays as it was written. */
export function confirmed(text: string): string {
  const rest = text.trim().slice(1);
  return `{"confirm":true${/^\s*\}/.test(rest) ? "" : ","}${rest}`;
}
