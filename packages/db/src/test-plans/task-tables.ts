import type { Plan } from "./plan.ts";

/** Task tables that are rid of their dead rows. */
export const taskTablePlans: readonly Plan[] = [];
