import { formatValue, parseDuration } from "@svc/core";
import type { ConfigFault, Environment } from "./environment.ts";
import type { VariableName } from "./variables.ts";

/**
 * Reads variables as typed values. For an invalid value, returns the default and adds a fault to `faults`, so that all faults can be
 * reported together.
 */
export type ConfigReader = {
  readonly faults: ConfigFault[];
  text(name: VariableName): string | undefined;
  /** Returns the value of a variable as a whole number. */
  integer(name: VariableName, bounds: { fallback: number; min: number; max: number }): number;
  /** Returns the value of a variable as a duration in milliseconds. */
  duration(name: VariableName, bounds: { fallbackMs: number; minMs: number; maxMs: number }): number;
  choice<Choice extends string>(name: VariableName, choices: readonly [Choice, ...Choice[]], fallback: Choice): Choice;
  /** Returns the value of a variable that must be one of `choices`. Returns undefined if the variable is not set. */
  optionalChoice<Choice extends string>(
    name: VariableName,
    choices: readonly [Choice, ...Choice[]],
  ): Choice | undefined;
  /** Returns the entries of a variable that contains a list, separated by commas or white space. */
  list(name: VariableName): string[];
  /** Returns the value of a variable that contains a secret. The value must have at least 32 visible ASCII characters. */
  secret(name: VariableName): string | undefined;
  /** Returns the value of a variable after `parse` was applied. If `parse` throws, its message becomes the fault. */
  parsed<Value>(name: VariableName, parse: (text: string) => Value): Value | undefined;
  fault(name: VariableName, message: string): void;
};

/** Creates a reader of the environment's variables. */
export function createConfigReader(environment: Environment): ConfigReader {
  const faults: ConfigFault[] = [];
  const text = (name: VariableName) => environment.get(name)?.trim() || undefined;
  const fault = (variable: VariableName, message: string) => void faults.push({ variable, message });
  const parsed = <Value>(name: VariableName, parse: (value: string) => Value): Value | undefined => {
    const value = text(name);
    if (value === undefined) return undefined;
    try {
      return parse(value);
    } catch (error) {
      fault(name, error instanceof Error ? error.message : String(error));
      return undefined;
    }
  };
  return {
    faults,
    text,
    fault,
    parsed,
    integer: (name, bounds) => parsed(name, (value) => parseInteger(value, bounds)) ?? bounds.fallback,
    duration: (name, bounds) => parsed(name, (value) => parseBoundedDuration(value, bounds)) ?? bounds.fallbackMs,
    choice: (name, choices, fallback) => parsed(name, (value) => parseChoice(value, choices)) ?? fallback,
    optionalChoice: (name, choices) => parsed(name, (value) => parseChoice(value, choices)),
    list: (name) =>
      text(name)
        ?.split(/[,\s]+/)
        .filter((entry) => entry !== "") ?? [],
    secret: (name) => parsed(name, parseSecret),
  };
}

function parseInteger(text: string, { min, max }: { min: number; max: number }): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(`${formatValue(text)} is not a whole number from ${min} to ${max}`);
}

/**
 * Returns a duration in milliseconds. If the text is not a duration from `minMs` to `maxMs`, throws an Error whose message says which form
 * is correct.
 */
export function parseBoundedDuration(text: string, { minMs, maxMs }: { minMs: number; maxMs: number }): number {
  const ms = parseDuration(text);
  if (ms >= minMs && ms <= maxMs) return ms;
  throw new Error(`${formatValue(text)} is ${ms} ms; expected ${minMs} to ${maxMs} ms`);
}

function parseChoice<Choice extends string>(text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((candidate) => candidate === text);
  if (choice !== undefined) return choice;
  throw new Error(`${formatValue(text)} is not one of ${choices.join(", ")}`);
}

function parseSecret(text: string): string {
  if (!/^[\x21-\x7e]*$/.test(text))
    throw new Error("has white space or characters that are not ASCII, which a header cannot carry");
  if (text.length >= 32) return text;
  throw new Error(`has ${text.length} characters; expected at least 32, such as the output of "openssl rand -hex 32"`);
}
