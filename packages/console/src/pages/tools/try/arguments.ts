import { isExactDouble } from "@svc/core/number-text";
import { type Values, valuesOf } from "../../../form/value.ts";
import { prettyJson } from "../../../words/pretty-json.ts";

/**
 * The arguments of a tool call as the user writes them in the console: values of the form on the page, or JSON text. svc receives JSON text
 * unchanged.
 */
export type TypedArguments =
  | { readonly mode: "form"; readonly values: Values }
  | { readonly mode: "json"; readonly text: string };

/** Returns the arguments of a tool call as JSON text, as the page sends them. */
export function argumentsText(typed: TypedArguments): string {
  return typed.mode === "form" ? JSON.stringify(typed.values) : typed.text;
}

/** Returns the arguments in the mode `json`: as a JSON text instead of the form's values. */
export function toJson(typed: TypedArguments): TypedArguments {
  return typed.mode === "json" ? typed : { mode: "json", text: prettyJson(JSON.stringify(typed.values)) };
}

/**
 * Returns the arguments as values of the form. Returns JSON unchanged if it is invalid or if the form would lose digits of a number;
 * `formFault` returns the reason.
 */
export function toForm(typed: TypedArguments): TypedArguments {
  if (typed.mode === "form" || textFault(typed.text) !== undefined || losesDigits(typed.text)) return typed;
  return { mode: "form", values: valuesOf(JSON.parse(typed.text)) };
}

/** Returns the reason why the form cannot show this JSON; undefined if the form can show it. */
export function formFault(typed: TypedArguments): string | undefined {
  if (typed.mode === "form") return undefined;
  return (
    textFault(typed.text) ?? (losesDigits(typed.text) ? "A number has more digits than the form can show." : undefined)
  );
}

/** Returns the error of a text that must be the JSON of an object; undefined if the text has no error. */
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

/** Matches a string in quotes, or a number, in a JSON text. */
const tokens = /"(?:\\.|[^"\\])*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function losesDigits(text: string): boolean {
  return [...text.matchAll(tokens)].some(([token]) => !token.startsWith('"') && !isExactDouble(token));
}

/** True if a JSON object (as text) has the property `confirm`, with which a call confirms a destructive tool call itself. */
export function confirmsItself(text: string): boolean {
  return textFault(text) === undefined && Object.hasOwn(JSON.parse(text), "confirm");
}

/** Returns the JSON of an object with `confirm: true` as its first property. The other properties stay as the user wrote them. */
export function confirmed(text: string): string {
  const rest = text.trim().slice(1);
  return `{"confirm":true${/^\s*\}/.test(rest) ? "" : ","}${rest}`;
}
