import type { Plan } from "./plan.ts";

/** Skills. */
export const skillPlans: readonly Plan[] = [];
