export { apiKeys, projectPolicies, projects, routingState } from "./projects.ts";
export {
  type AttemptEntry,
  accountReferences,
  deliveries,
  deliveryTasks,
  events,
  quarantinedPosts,
  subscriptions,
} from "./triggers.ts";
