export { callHooks, callLimits, callPaces, hookAnswers, ledgerState, toolCalls } from "./calls.ts";
export { connectedAccounts, privateToolkits, toolkitClients, toolkitSources, toolVectors } from "./connections.ts";
export { eventSettings, eventTypes, eventTypeVersions } from "./event-types.ts";
export {
  consoleLinks,
  consoleSeats,
  consoleSessions,
  grantClients,
  grantCodes,
  grants,
  grantTokens,
} from "./grants.ts";
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
export { deviceCodes, invitations, people, personSeats, usedAssertions } from "./people.ts";
export {
  activityHours,
  activityMinutes,
  apiKeys,
  auditChains,
  auditEvents,
  erasurePrograms,
  erasures,
  exportPositions,
  failureGroups,
  projectPolicies,
  projects,
  restores,
  routingState,
  sweepTurns,
  vaultCheck,
} from "./projects.ts";
export {
  dueTasks,
  standingArrivals,
  standingBackfills,
  standingDedupe,
  standingListeners,
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
export {
  accountReferences,
  deliveries,
  deliveryEpoch,
  deliveryTasks,
  events,
  quarantinedPosts,
  replays,
  routingShards,
  subscriptionPaces,
  subscriptions,
} from "./triggers.ts";
export {
  dataKeys,
  deploymentSecrets,
  oldSubkeys,
  secrets,
  vaultNodes,
  vaultRotations,
  webhookSecrets,
} from "./vault.ts";
