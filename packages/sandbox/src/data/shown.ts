import type { Facts } from "./facts.ts";
import type { Seed } from "./seed.ts";

/**
 * An object of an emulated app in the form in which answers show it. `facts`: the known values of the object. `seed`: a text from which all
 * other values are made up.
 */
export type ShownObject = {
  readonly id: string | number | undefined;
  readonly seed: Seed;
  readonly facts: Facts;
  /**
   * True if a call to the sandbox made the object. `madeMs`: when a call made the object. `changedMs`: when a call last changed it. Both
   * times are in epoch milliseconds.
   */
  readonly isMade?: boolean;
  readonly madeMs?: number | undefined;
  readonly changedMs?: number | undefined;
};

/** Placeholder for the value of a field that could refer to an object, but refers to none. */
export const nothing = Symbol("nothing");
