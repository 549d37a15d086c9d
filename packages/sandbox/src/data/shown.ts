import type { Facts } from "./facts.ts";
import type { Seed } from "./seed.ts";

/** An object to show: its facts, and the seed of all other values. */
export type ShownObject = {
  readonly id: string | number | undefined;
  readonly seed: Seed;
  readonly facts: Facts;
  /** True if a call made it, with the time; and the time of the last change by a call. */
  readonly isMade?: boolean;
  readonly madeMs?: number | undefined;
  readonly changedMs?: number | undefined;
};

/** Value of a reference field without an object. */
export const nothing = Symbol("nothing");
