import { type Action, fitInput, type JsonSchema, nearest, type SchemaFault } from "@svc/catalog";
import { isObject } from "@svc/core";
import type { ArgumentFault } from "../../outcome.ts";
import { mask, maskArguments, masked } from "../redact/mask.ts";

/** Arguments ready to send: defaults applied, `confirm` removed. */
export type CheckedArguments = {
  readonly params: Readonly<Record<string, unknown>>;
  readonly isConfirmed: boolean;
};

const givenMax = 200;

/**
 * Checks arguments against the tool's input schema. Returns the arguments ready to send, or all faults, each with the value that the caller
 * gave. `excess`: faults of arguments that the schema does not allow and that were already removed from `given`.
 */
export function checkArguments(
  action: Pick<Action, "class" | "inputSchema" | "validateInput">,
  given: Readonly<Record<string, unknown>>,
  excess: readonly SchemaFault[] = [],
): CheckedArguments | { readonly faults: readonly ArgumentFault[] } {
  const fitted = fitInput(action.inputSchema, action.validateInput, given);
  const faults = [...excess, ...fitted.faults];
  if (faults.length > 0) {
    const shown = { ...maskedArguments(action.inputSchema, given), ...misspelt(action.inputSchema, given) };
    const texts = new Map<string, string>();
    // The text of a value is cached, because many faults may concern the same value, even the whole input.
    const givenAt = (pointer: string) => {
      const known = texts.get(pointer);
      if (known !== undefined) return known;
      const value = valueAt(shown, pointer);
      const text = value === masked ? "" : textOf(value);
      texts.set(pointer, text);
      return text;
    };
    return {
      faults: within(
        faults.map(({ pointer, message, missing }) => {
          const fault = { pointer, message, givenJson: givenAt(pointer) };
          return missing === undefined ? fault : { ...fault, missing };
        }),
        listedCharactersMax,
      ),
    };
  }
  const filled = fitted.value as Record<string, unknown>;
  if (action.class !== "destructive") return { params: filled, isConfirmed: true };
  const { confirm, ...params } = filled;
  return { params, isConfirmed: confirm === true };
}

function maskedArguments(schema: JsonSchema, given: Readonly<Record<string, unknown>>): object {
  const shown = maskArguments(schema, given);
  return isObject(shown) ? shown : {};
}

/**
 * Returns those given arguments whose names are probably misspelt, because they are similar to a declared name. Only arguments with short
 * values are returned. Arguments whose declared name is sensitive are not returned.
 */
function misspelt(schema: JsonSchema, given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const declared = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  const entries = Object.entries(given).filter(([name, value]) => {
    if (declared.includes(name) || typeof value === "object" || String(value).length > misspeltMax) return false;
    const meant = nearest(name, declared);
    const shown = meant === undefined ? undefined : mask(schema, { [meant]: value });
    return meant !== undefined && isObject(shown) && shown[meant] === value;
  });
  return Object.fromEntries(entries);
}

/** Maximum characters of a value under a misspelled name. A longer value is not shown. */
const misspeltMax = 40;

/**
 * Maximum characters of all faults in the list of an error answer. `describedCharactersMax`: maximum characters of the faults that the
 * answer's message quotes.
 */
const listedCharactersMax = 4_000;
const describedCharactersMax = 2_000;

/**
 * Returns the first faults, up to `charactersMax` characters. If faults are left out, the last entry says how many. Without this limit, an
 * answer could be far longer than the request.
 */
function within(faults: readonly ArgumentFault[], charactersMax: number): readonly ArgumentFault[] {
  let characters = 0;
  const listed = faults.findIndex(({ pointer, message, givenJson }) => {
    characters += pointer.length + message.length + givenJson.length;
    return characters > charactersMax;
  });
  if (listed < 0 || faults.length === 1) return faults;
  const kept = faults.slice(0, Math.max(1, listed));
  const message = `and ${faults.length - kept.length} more faults, which are not listed`;
  return [...kept, { pointer: "", message, givenJson: "" }];
}

/** Maximum number of faults that the answer's sentence names. The answer's list has more. */
const describedMax = 20;

/** Returns faults as one sentence that says what the caller must correct. */
export function describeFaults(faults: readonly ArgumentFault[]): string {
  const named = within(faults.slice(0, describedMax), describedCharactersMax);
  const texts = named.map(({ pointer, message, givenJson }) => {
    const place = pointer === "" ? "the arguments" : pointer;
    return `${place} ${message}${givenJson === "" || pointer === "" ? "" : `, and is ${givenJson}`}`;
  });
  const others = faults.length > describedMax ? `; and ${faults.length - describedMax} more` : "";
  return `${faults.length === 1 ? "1 problem" : `${faults.length} problems`} in the arguments: ${texts.join("; ")}${others}`;
}

/** Returns the value at a JSON Pointer (RFC 6901); undefined if none exists. */
function valueAt(value: unknown, pointer: string): unknown {
  let found = value;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > givenMax ? `${text.slice(0, givenMax - 3).toWellFormed()}...` : text;
}
