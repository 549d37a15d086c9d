import type { Plan } from "./plan.ts";

/** Definitions, and what their calls are limited to. */
export const catalogPlans: readonly Plan[] = [];
