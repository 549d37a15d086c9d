import { InvalidArgumentError } from "commander";

/** Reads a place among hooks, which may be negative. Throws InvalidArgumentError. */
export function parsePosition(text: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number");
}
