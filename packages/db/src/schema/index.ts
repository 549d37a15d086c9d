export { apiKeys, projectPolicies, projects, routingState } from "./projects.ts";
export {
  accountReferences,
  dedupeKeys,
  deliveries,
  deliveryAttempts,
  deliveryTasks,
  events,
  quarantinedPosts,
  subscriptions,
} from "./triggers.ts";
