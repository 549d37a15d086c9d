import type { Facts } from "./facts.ts";
import type { Seed } from "./seed.ts";

/** An object to show: what is said of it, and the seed of everything else. */
export type ShownObject = {
  readonly id: string | number | undefined;
  readonly seed: Seed;
  readonly facts: Facts;
  /** Whether a call made it, and when; and when one changed it last. */
  readonly isMade?: boolean;
  readonly madeMs?: number | undefined;
  readonly changedMs?: number | undefined;
};

/** What a field holds that refers to no object. */
export const nothing = Symbol("nothing");
