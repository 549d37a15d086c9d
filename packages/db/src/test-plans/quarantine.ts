import type { Plan } from "./plan.ts";

/** Posts that nobody could take. */
export const quarantinePlans: readonly Plan[] = [];
