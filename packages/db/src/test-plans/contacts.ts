import type { Plan } from "./plan.ts";

/** Contacts. */
export const contactPlans: readonly Plan[] = [];
