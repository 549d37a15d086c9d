import type { Plan } from "./plan.ts";

/** Connected accounts as they are made, used and renewed. */
export const connectionPlans: readonly Plan[] = [];
