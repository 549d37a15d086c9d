import type { Plan } from "./plan.ts";

/** What is exported of an entity, and restores. */
export const exportPlans: readonly Plan[] = [];
