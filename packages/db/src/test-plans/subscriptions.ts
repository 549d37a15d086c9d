import type { Plan } from "./plan.ts";

/** Subscriptions of agents, and endpoints of asks. */
export const agentSubscriptionPlans: readonly Plan[] = [];
