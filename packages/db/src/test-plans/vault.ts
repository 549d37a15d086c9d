import type { Plan } from "./plan.ts";

/** Keys of the vault, their rotations, what they sealed, and secrets. */
export const vaultPlans: readonly Plan[] = [];
