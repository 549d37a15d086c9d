import type { Plan } from "./plan.ts";

/** Keys of projects. */
export const keyPlans: readonly Plan[] = [];
