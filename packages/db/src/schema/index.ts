export { apiKeys, projectPolicies, projects, routingState, vaultCheck } from "./projects.ts";
export {
  type AttemptEntry,
  accountReferences,
  deliveries,
  deliveryTasks,
  events,
  quarantinedPosts,
  subscriptions,
} from "./triggers.ts";
