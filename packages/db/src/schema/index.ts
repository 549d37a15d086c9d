export { activityHours, activityMinutes } from "./activity.ts";
export { auditChains, auditEvents } from "./audit.ts";
export { callLimits, callPaces } from "./call-limits.ts";
export { ledgerState, toolCalls } from "./calls.ts";
export { privateToolkits } from "./catalog.ts";
export { connectedAccounts } from "./connections.ts";
export { consoleLinks, consoleSeats, consoleSessions } from "./console.ts";
export { erasurePrograms, erasures } from "./erasures.ts";
export { grantClients, grantCodes, grants, grantTokens } from "./grants.ts";
export { callHooks, hookAnswers } from "./hooks.ts";
export {
  contacts,
  jobAsks,
  jobAttempts,
  jobEvents,
  jobPrograms,
  jobRows,
  jobSetRows,
  jobSteps,
  jobs,
  jobTasks,
  jobUndoEntries,
  skills,
} from "./jobs.ts";
export { apiKeys, projectPolicies, projects, routingState, vaultCheck } from "./projects.ts";
export { replays } from "./replays.ts";
export { restores } from "./restores.ts";
export { deploymentSecrets, secrets } from "./secrets.ts";
export {
  dueTasks,
  standingArrivals,
  standingBackfills,
  standingDedupe,
  standingListeners,
  standingNotices,
  standingPolls,
  standingPrograms,
  standingRates,
  standingRunEvents,
  standingRuns,
  standingSeen,
  standingState,
  standingUsage,
  standingVersions,
} from "./standing.ts";
export { toolVectors } from "./tool-vectors.ts";
export {
  accountReferences,
  deliveries,
  deliveryEpoch,
  deliveryTasks,
  events,
  quarantinedPosts,
  subscriptions,
} from "./triggers.ts";
export { dataKeys, oldSubkeys, vaultNodes, vaultRotations } from "./vault.ts";
